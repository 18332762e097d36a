#!/bin/bash
# Unpacks one of pack.sh's archives to /opt/asr and / on the GPU machine, once: unpack.sh FOLDER
set -euo pipefail
cd "$1"; n=$(ls asr.*.xz.00 | cut -d. -f2)
if [ -e "/opt/asr/.unpacked-$n" ]; then exit 0; fi
sha256sum --quiet -c sums; mkdir -p /opt
cat asr."$n".xz.* | python3 -c 'import sys, tarfile; tarfile.open(fileobj=sys.stdin.buffer, mode="r|xz").extractall("/opt", filter="fully_trusted")'
if [ -e "/opt/asr/data-$n.tar" ]; then tar -C / -xf "/opt/asr/data-$n.tar"; fi
if [ -d /opt/asr/wheels ] && [ ! -d /opt/asr/site ]; then # wheels without scripts or data are plain archives; no pip needed
  python3 -c 'import glob, zipfile; [zipfile.ZipFile(w).extractall("/opt/asr/site") for w in glob.glob("/opt/asr/wheels/*.whl")]'
fi
touch "/opt/asr/.unpacked-$n"; echo "unpacked $n after ${SECONDS} s"
