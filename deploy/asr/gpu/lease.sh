#!/bin/bash
# One call on a lent machine: lease.sh PART SECONDS [FETCH…]
# Takes in a part of `recogniser payload`'s (a folder with this code beside it), begins training on every GPU once the weights
# are there, waits so many seconds or until training has ended, and leaves under $OUT the logs and what FETCH names
# (a/ships, b/next: checkpoints in pieces). ASR_RUNS has the settings of each GPU's training, a line each, ASR_PROFILE what
# they begin as (whisper or heads); ASR_END, if given, the second of the epoch at which they end. A Kokoro (`recogniser
# kokoro`, as kokoro.tar.xz in two parts) speaks too.
set -u
here=$(cd "$(dirname "$0")/.." && pwd); dir=${ASR_DIR:-/tmp/asr}; part=${1:-}; wait=${2:-5}; shift 2
mkdir -p "$dir/code"
if [ ! -e "$dir/code/recogniser" ]; then cp -r "$here/config.toml" "$here/gpu" "$here/recogniser" "$dir/code/"; fi
if [ -d "$here/whl" ] && [ ! -d "$dir/site" ]; then
  python3 -m pip install -q --no-index --no-deps --no-compile --no-cache-dir --target "$dir/site" "$here"/whl/*.whl
fi
export PYTHONPATH=$dir/code:$dir/site PYTHONUNBUFFERED=1 TOKENIZERS_PARALLELISM=false OMP_NUM_THREADS=4
if [ -n "$part" ] && [ -d "$part" ]; then
  for file in "$part"/*; do cp "$file" "$dir/.arriving"; mv "$dir/.arriving" "$dir/$(basename "$file")"; done
fi
if [ -n "${ASR_END:-}" ]; then echo "$ASR_END" > "$dir/end"; fi
if [ -e "$dir/weights.1" ] && [ -e "$dir/weights.2" ] && [ ! -e "$dir/started" ]; then
  touch "$dir/started"; gpu=0
  while read -r options; do
    CUDA_VISIBLE_DEVICES=$gpu setsid nohup python3 -m recogniser fine-tune "${ASR_PROFILE:-whisper}" "folder=$dir" $options > "$dir/run-$gpu.log" 2>&1 < /dev/null &
    gpu=$((gpu + 1))
  done <<< "${ASR_RUNS:-name=a}"
fi
unpacked() { tar -C "$2" -xJf "$1" || python3 -m tarfile -e "$1" "$2"; }
if [ -e "$dir/kokoro.tar.xz.00" ] && [ -e "$dir/kokoro.tar.xz.01" ] && [ ! -d "$dir/kokoro" ]; then # a synthesiser beside the engines
  cat "$dir"/kokoro.tar.xz.0[01] > "$dir/kokoro.tar.xz"; mkdir "$dir/.kokoro"; unpacked "$dir/kokoro.tar.xz" "$dir/.kokoro"
  mv "$dir/.kokoro/kokoro" "$dir/kokoro"
fi
export ASR_KOKORO=$dir/kokoro
for lang in en ja; do # voices speak on while training goes on
  if [ -e "$dir/engines-$lang.tar.xz" ] && [ -e "$dir/items-$lang.xz" ] && [ ! -e "$dir/speaking-$lang" ]; then
    touch "$dir/speaking-$lang"; unpacked "$dir/engines-$lang.tar.xz" /
    PATH=/opt/asr/wrap:$PATH ASR_HTS_VOICES=/opt/asr/voices OMP_NUM_THREADS=1 setsid nohup nice -n 10 python3 -m recogniser aloud speak \
      "$dir/items-$lang.xz" "$dir" --lang $lang --workers $(($(env -u OMP_NUM_THREADS nproc) * 2 / 5)) > "$dir/speak-$lang.log" 2>&1 < /dev/null &
  fi
done
for _ in $(seq "$wait"); do
  sleep 1
  if [ -e "$dir/started" ] && [ "$(ls "$dir"/out/*/finished 2> /dev/null | wc -l)" = "$(ls "$dir"/run-*.log | wc -l)" ]; then break; fi
done
date; nvidia-smi --query-gpu=name,memory.used,utilization.gpu --format=csv,noheader 2> /dev/null
for log in "$dir"/run-*.log "$dir"/speak-*.log; do if [ -e "$log" ]; then echo "== $log"; tail -c 2500 "$log" | tr '\r' '\n' | tail -n 12; fi; done
if [ -n "${OUT:-}" ]; then
  for run in "$dir"/out/*; do if [ -e "$run/log" ]; then cp "$run/log" "$OUT/log-$(basename "$run")"; fi; done
  for name in "$@"; do for piece in "$dir/out/$name".[0-9]; do cp "$piece" "$OUT/$(basename "$(dirname "$piece")")-$(basename "$piece")"; done; done
fi
