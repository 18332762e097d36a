#!/bin/bash
# Synthesisers with their libraries and voices, for a machine without network: engines.sh OUT SPEECH
# OUT/en/engines-en.tar.xz (flite, pico, eSpeak) and OUT/ja/engines-ja.tar.xz (Open JTalk; SPEECH has its voices/), to be
# unpacked at /. Programs travel with the libraries that they load, so the other machine's distribution does not matter.
set -euo pipefail
out=$1; speech=$2; work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
program() { # language, name
  local root=$work/$1/opt/asr path; path=$(command -v "$2"); mkdir -p "$root"/{bin,lib,wrap}
  cp -L "$path" "$root/bin/"
  ldd "$path" | grep -o '/[^ )]*' | sort -u | xargs -I{} cp -Lu {} "$root/lib/"
  printf '#!/bin/sh\nexec /opt/asr/lib/ld-linux-x86-64.so.2 --library-path /opt/asr/lib /opt/asr/bin/%s "$@"\n' "$2" > "$root/wrap/$2"
  chmod +x "$root/wrap/$2"
}
for name in flite espeak-ng pico2wave; do program en "$name"; done
program ja open_jtalk
for library in "$work"/ja/opt/asr/lib/*; do if [ -e "$work/en/opt/asr/lib/${library##*/}" ]; then rm "$library"; fi; done
tar -C / --exclude='espeak-ng-data/[!e]*_dict' -cf - usr/share/pico/lang/en-US_ta.bin usr/share/pico/lang/en-US_lh0_sg.bin \
  usr/share/pico/lang/en-GB_ta.bin usr/share/pico/lang/en-GB_kh0_sg.bin usr/lib/x86_64-linux-gnu/espeak-ng-data | tar -C "$work/en" -xf -
tar -C / -cf - var/lib/mecab/dic/open-jtalk | tar -C "$work/ja" -xf -
mkdir -p "$work/ja/opt/asr/voices"; cp "$speech"/voices/*.htsvoice "$work/ja/opt/asr/voices/"
for lang in en ja; do
  mkdir -p "$out/$lang"; tar -C "$work/$lang" -cf - . | xz -T1 -3 > "$out/$lang/engines-$lang.tar.xz"
done
