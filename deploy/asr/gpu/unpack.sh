#!/bin/bash
# Unpacks one of pack.sh's archives to /opt/asr and / on the GPU machine, once: unpack.sh FOLDER
set -euo pipefail
cd "$1"; n=$(ls asr.*.xz.00 | cut -d. -f2)
if [ -e "/opt/asr/.unpacked-$n" ]; then exit 0; fi
sha256sum --quiet -c sums; mkdir -p /opt
cat asr."$n".xz.* | python3 -c 'import sys, tarfile; tarfile.open(fileobj=sys.stdin.buffer, mode="r|xz").extractall("/opt", filter="fully_trusted")'
if [ -e "/opt/asr/data-$n.tar" ]; then tar -C / -xf "/opt/asr/data-$n.tar"; fi
if [ -d /opt/asr/wheels ] && [ ! -d /opt/asr/site ]; then
  python3 -m pip install -q --no-index --no-deps --no-compile --no-cache-dir --target /opt/asr/site /opt/asr/wheels/*.whl
fi
touch "/opt/asr/.unpacked-$n"; echo "unpacked $n after ${SECONDS} s"
