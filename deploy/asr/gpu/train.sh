#!/bin/bash
# Speaks, trains both languages side by side, scores and bundles, on a GPU machine with archive 1 unpacked:
#   train.sh DIR MINUTES [EN [JA]]
# MINUTES from now until the bundles lie in DIR/out; EN and JA utterances to speak at most. Japanese begins as soon as
# archive 2 is unpacked; people are taken in, and scores begin, with archive 3. DIR is an absolute path. Start it in the
# background (setsid nohup … &) and look with status.sh. After an interruption run it again: shards and checkpoints are
# taken up. Checkpoints of an earlier round (`recogniser bundle --join`) go to DIR/from/{en,ja}.
set -euo pipefail
dir=${1:?folder}; minutes=${2:?minutes}; english=${3:-160000}; japanese=${4:-80000}
begun=$(date +%s); end=$((begun + minutes * 60)); bundling=${ASR_BUNDLING_S:-60}; head=${ASR_HEAD_SHARDS:-40}
langs=${ASR_LANGS:-en ja}; device=${ASR_DEVICE:-cuda}; cores=${ASR_CORES:-$(nproc)}; data=$dir/corpus; runs=$dir/runs
export PATH=/opt/asr/wrap:$PATH PYTHONPATH=/opt/asr/site:/opt/asr/python PYTHONUNBUFFERED=1 ASR_HTS_VOICES=/opt/asr/voices
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 ASR_READINGS=/opt/asr/readings.json ASR_KOKORO=/opt/asr/kokoro
cd "$(dirname "$0")/.."; mkdir -p "$data" "$runs" "$dir/out"
say() { echo "$(($(date +%s) - begun)) s: $*" | tee -a "$dir/progress"; }
shards() { ls "$data/$1" 2> /dev/null | grep -c '[0-9]\.npz$' || true; }

speak() { # language, utterances, workers: in the background, giving way to training
  if [ -d "/opt/asr/pressed/$1" ]; then say "spoken already: $(python3 -m recogniser press open "/opt/asr/pressed/$1" "$data/$1" 2> "$runs/open-$1.log")"; fi
  mkdir -p "$data/$1"; say "$(python3 -m recogniser speak --lang "$1" --check 2>&1 | tail -1)"
  nice -n 10 timeout $((end - $(date +%s) - bundling)) python3 -m recogniser speak --lang "$1" --count "$2" \
    --seed "${ASR_SEED:-11}" --out "$data/$1" --workers "$3" ${ASR_SPEAK_OPTIONS:-} > "$runs/speak-$1.log" 2>&1 \
    || say "speaking $1 ended: $(tail -c 200 "$runs/speak-$1.log" | tail -1)"
}
train() { # run, GPUs, settings: a trainer on each GPU; the second try is plainer, the third one alone, without graphs
  local run=$1 lang=${1%%-*} enough=$head mates=($2) quick=() plainer=(); if [ "$lang" = ja ]; then enough=$((head / 3 + 1)); fi # its engines are slower
  until [ "$(shards "$lang")" -ge "$enough" ]; do sleep 1; done
  say "training $run on $(shards "$lang") shards"
  local from=(); if [ -e "$dir/from/$lang/last.pt" ]; then
    from=("start_from=$dir/from/$lang/last.pt"); mkdir -p "$runs/$run"; cp "$dir/from/$lang/tokenizer.json" "$runs/$run/"
  fi
  if [ "$device" = cuda ]; then quick=(graphs=true); fi
  for try in 1 2 3; do # a checkpoint a minute, so another try loses little
    rm -f "$runs/$run/meeting"; local pids=()
    for rank in "${!mates[@]}"; do
      CUDA_VISIBLE_DEVICES=${mates[rank]} python3 -m recogniser train "gpu-$lang" "data=$data" noise=/opt/asr/noise \
        rooms=/opt/asr/rooms.npy "run=$runs/$run" "device=$device" "until=$((end - bundling))" \
        "peers=${#mates[@]}" "rank=$rank" "${@:3}" "${quick[@]}" "${from[@]}" ${ASR_TRAIN_OPTIONS:-} \
        "${plainer[@]}" >> "$runs/train-$run.log${rank/#0/}" 2>&1 & pids+=($!)
    done
    if wait "${pids[0]}"; then break; fi
    say "$run broke off, try $try"; kill "${pids[@]}" 2> /dev/null || true; plainer=(without=larynx,borrowed)
    if [ $try = 2 ]; then mates=("${mates[0]}"); quick=(); fi
  done
  say "trained $run"
}
score() { # every few minutes while it trains, and at the end
  [ -d /opt/asr/tests ] && [ -e "$runs/$1/last.pt" ] || return 0
  CUDA_VISIBLE_DEVICES=${ASR_SCORE_GPU:-${gpus[0]}} python3 -m recogniser score --run "$runs/$1" --lang "$1" --tests /opt/asr/tests --device "$device" \
    --json "$dir/out/$1-score.json" ${ASR_SCORE_OPTIONS:-} >> "$runs/score-$1.log" 2>&1 && say "$1: $(tail -1 "$runs/score-$1.log")" || true
}
await() { until [ -e "/opt/asr/.unpacked-$1" ]; do sleep 1; done; }
people() {
  await 3
  if [ ! -e "$data/human/train.npz" ]; then
    python3 -m recogniser people --source /opt/asr/human --out "$data/human" > "$runs/human.log" 2>&1 && say "people are ready"
  fi
  mkdir -p "$data/units"; if [ -d /opt/asr/phones ]; then cp -r /opt/asr/phones "$data/units/"; fi
  nice -n 10 python3 -m recogniser units --source /opt/asr/human --out "$data/units" --count "$((english / 4))" --seed "${ASR_SEED:-11}" \
    --japanese $([[ $langs = *ja* ]] && echo 6 || echo 0) --workers $((cores / 4)) > "$runs/units.log" 2>&1 && say "people say everything" &
  if [[ $langs = *en* ]]; then
    LD_LIBRARY_PATH=/opt/asr/shared:${LD_LIBRARY_PATH:-} nice -n 10 python3 -m recogniser diphones --source /opt/asr/human --phones "$data/units/phones" \
      --out "$data/diphones" --count "$((english / 4))" --shard 100 --seed "${ASR_SEED:-11}" --workers $((cores / 5)) \
      > "$runs/diphones.log" 2>&1 || say "diphones ended: $(tail -c 200 "$runs/diphones.log" | tail -1)" &
  fi
  if [ -e "$dir/from/en/last.pt" ]; then # one that hears well enough to find their words
    python3 -m recogniser splice --run "$dir/from/en" --human "$data/human" --out "$data/spliced" --seed "${ASR_SEED:-11}" \
      > "$runs/splice.log" 2>&1 && say "people say new sentences"
  fi
}
# Where there are two GPUs each language has its own. ASR_EN_GPUS, ASR_JA_GPUS (more than one is trained on together),
# ASR_SCORE_GPU and ASR_CORES leave the rest of a machine to others; Japanese waits for the file ASR_JA_AFTER, if one is named.
# ASR_LANGS=en leaves Japanese out. ASR_EN_TWINS="2 3" trains English again on each of these, with other draws, from the same
# checkpoint and on the same speech (en-2, en-3): weights for a mixture; ASR_EN_TWIN_OPTIONS is for them alone.
gpus=($(python3 -c 'import torch; print(*range(min(2, max(1, torch.cuda.device_count()))))'))
people &
(await 4; speak en "$english" $((cores * 5 / 8))) &
if [[ $langs = *ja* ]]; then (await 2; await 4; speak ja "$japanese" $((cores / 2))) & fi
train en "${ASR_EN_GPUS:-${gpus[0]}}" ${ASR_EN_OPTIONS:-} & first=$!
twins=(); for gpu in ${ASR_EN_TWINS:-}; do
  twin=en-$((${#twins[@]} + 2)); twins+=("$twin")
  train "$twin" "$gpu" seed=$((${#twins[@]} + 1)) ${ASR_EN_OPTIONS:-} ${ASR_EN_TWIN_OPTIONS:-} &
done
(if [[ $langs != *ja* ]]; then exit; fi
 until [ -e "${ASR_JA_AFTER:-/}" ]; do sleep 1; done
 train ja "${ASR_JA_GPUS:-${gpus[-1]}}" ${ASR_JA_OPTIONS:-}) & second=$!
while kill -0 $first 2> /dev/null || kill -0 $second 2> /dev/null; do
  sleep "${ASR_SCORE_EVERY:-150}" & pause=$!
  while kill -0 $pause 2> /dev/null && { kill -0 $first 2> /dev/null || kill -0 $second 2> /dev/null; }; do sleep 1; done
  for run in en "${twins[@]}" ja; do if [ -e "$runs/$run/last.pt" ]; then python3 -m recogniser bundle "$runs" "$dir/out" "$run" || true; fi; done
  for lang in en ja; do score "$lang"; done
done
say "done: $(shards en) and $(shards ja) shards"; touch "$dir/finished"
