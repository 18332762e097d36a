#!/bin/bash
# Speaks, trains and leaves the checkpoints, all on one GPU machine: train.sh DIR [MINUTES [EN [JA]]]
#   DIR holds the files of pack.sh's parts, or the unpacked folder at /opt/asr. MINUTES of training for both languages at
#   once; EN and JA utterances to speak. Everything is resumable: run it again after an interruption.
# While the cores speak, the GPU trains on what there is; it takes up the rest a third of the way through.
set -euo pipefail
dir=${1:?folder}; minutes=${2:-22}; english=${3:-60000}; japanese=${4:-36000}
device=${ASR_DEVICE:-cuda}; cores=$(nproc); data=$dir/corpus; runs=$dir/runs
if [ ! -d /opt/asr ]; then
  cat "$dir"/asr.xz.* | python3 -c 'import sys, tarfile; tarfile.open(fileobj=sys.stdin.buffer, mode="r|xz").extractall("/opt")'
  tar -C / -xf /opt/asr/data.tar
  python3 -m pip install -q --no-index --no-deps --no-cache-dir --target /opt/asr/site /opt/asr/wheels/*.whl
fi
export PATH=/opt/asr/wrap:$PATH PYTHONPATH=/opt/asr/site PYTHONUNBUFFERED=1 ASR_HTS_VOICES=/opt/asr/voices
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
cd /opt/asr/code; mkdir -p "$data" "$runs"
[ -e "$data/human/train.npz" ] || python3 human.py --source /opt/asr/human --out "$data/human" > "$runs/human.log" 2>&1
python3 synthesise.py --lang en --count "$english" --out "$data/en" --workers $((cores / 2)) > "$runs/speak-en.log" 2>&1 &
python3 synthesise.py --lang ja --count "$japanese" --out "$data/ja" --workers $((cores / 2)) > "$runs/speak-ja.log" 2>&1 &
sleep "${ASR_HEAD_START:-150}"
train() { # language, word pieces, further options
  python3 train.py --data "$data" --noise /opt/asr/noise --run "$runs/$1" --lang "$1" --pieces "$2" --device "$device" \
    --minutes "$minutes" --say-every 100 "${@:3}" ${ASR_TRAIN_OPTIONS:-} >> "$runs/train-$1.log" 2>&1
}
size=(--width 320 --encoder 6 --decoder 2 --stack 2 --frames 50000 --most 320 --lr 1.2e-3 --dropout 0.05)
for leave in $((minutes / 3)) $((2 * minutes / 3)) 0; do
  train en 400 "${size[@]}" --leave-at "$leave" & first=$!
  train ja 0 "${size[@]}" --human 6 --leave-at "$leave" & second=$!
  wait $first $second
  grep -h . "$runs"/train-*.log | tail -2
done
python3 - "$runs" "${OUT:-$runs}" <<'PY'
import shutil, sys, torch
from pathlib import Path
for run in ("en", "ja"):
    state = torch.load(Path(sys.argv[1]) / run / "last.pt", map_location="cpu", weights_only=True)
    state.pop("optimiser"), state.pop("model")
    state["average"] = {k: v.half() for k, v in state["average"].items()}
    packed = Path(sys.argv[1]) / f"{run}.pt"
    torch.save(state, packed)
    data = packed.read_bytes()
    for number, at in enumerate(range(0, len(data), 15 << 20)):  # pieces, for machines that limit a file's size
        (Path(sys.argv[2]) / f"{run}.pt.{number}").write_bytes(data[at : at + (15 << 20)])
    shutil.copyfile(Path(sys.argv[1]) / run / "tokenizer.json", Path(sys.argv[2]) / f"{run}-tokenizer.json")
PY
