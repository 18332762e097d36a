#!/bin/bash
# Waits up to SECONDS for train.sh, tells how it goes, and copies what is there to OUT: status.sh DIR SECONDS OUT
dir=$1; until [ -e "$dir/finished" ] || [ "$SECONDS" -ge "$2" ]; do sleep 1; done
cat "$dir/progress"; for log in "$dir"/runs/*.log; do echo "== $log"; tail -c 400 "$log" | tr '\r' '\n' | tail -n 3; done
nvidia-smi --query-gpu=utilization.gpu,memory.used --format=csv,noheader 2> /dev/null; uptime
cp "$dir"/out/*.pt.* "$dir"/out/*.json "$3/" 2> /dev/null; tar -C "$dir" --exclude='*.pt' --exclude='*.tmp' -czf "$3/logs.tgz" progress runs
ls -l "$3"
