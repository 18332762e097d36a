#!/bin/bash
# Waits up to SECONDS for train.sh, tells how it goes, and copies what is there of RUNs to OUT (a checkpoint of English has
# 25 MB, of Japanese 16): status.sh DIR SECONDS OUT [RUN…]
dir=$1; until [ -e "$dir/finished" ] || [ "$SECONDS" -ge "$2" ]; do sleep 1; done
cat "$dir/progress"; for log in "$dir"/runs/*.log; do echo "== $log"; tail -c 400 "$log" | tr '\r' '\n' | tail -n 3; done
nvidia-smi --query-gpu=utilization.gpu,memory.used --format=csv,noheader 2> /dev/null; uptime
runs=("${@:4}"); for run in "${runs[@]:-en}"; do cp "$dir/out/$run".pt.* "$3/"; done
tar -C "$dir" --exclude='*.pt' --exclude='*.tmp' -czf "$3/logs.tgz" progress runs $(cd "$dir"; ls out/*.json 2> /dev/null)
ls -l "$3"
