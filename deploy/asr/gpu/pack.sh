#!/bin/bash
# Packs everything that synthesis and training need into parts of 20 MiB, for a GPU machine that reaches no registry.
#   pack.sh OUT SPEECH     SPEECH holds voices/ (open_jtalk), human/, noise/ and rir/
# Run it on x86-64 Linux with the Debian packages of ../README.md installed. On the GPU machine: train.sh DIR.
# The programs travel with the libraries that they load, so the other machine's distribution does not matter.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd); mkdir -p "$1"; out=$(cd "$1" && pwd); speech=$(cd "$2" && pwd); work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/asr; mkdir -p "$root"/{bin,lib,wrap,wheels,code}
for program in flite espeak-ng pico2wave RHVoice-test open_jtalk; do
  path=$(command -v "$program")
  cp -L "$path" "$root/bin/"
  ldd "$path" | grep -o '/[^ )]*' | sort -u | xargs -I{} cp -Lu {} "$root/lib/"
  cat > "$root/wrap/$program" <<WRAP
#!/bin/sh
exec /opt/asr/lib/ld-linux-x86-64.so.2 --library-path /opt/asr/lib /opt/asr/bin/$program "\$@"
WRAP
  chmod +x "$root/wrap/$program"
done
# Data, unpacked at / on the other machine. Voices that may not be trained on stay here.
tar -C / -cf - usr/share/pico/lang usr/lib/x86_64-linux-gnu/espeak-ng-data var/lib/mecab/dic/open-jtalk etc/RHVoice \
  usr/share/RHVoice/languages usr/share/RHVoice/voices/{alan,clb,slt} usr/share/dict/american-english-small \
  usr/share/games/fortunes > "$root/data.tar"
python3 -m pip download -q --no-deps --only-binary=:all: --python-version 3.12 --implementation cp \
  --platform manylinux_2_28_x86_64 --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 \
  -d "$root/wheels" soundfile soxr cffi pycparser faker tzdata pyopenjtalk-plus
cp -r "$here"/../*.py "$here"/../text "$here/train.sh" "$root/code/"
cp -r "$speech/voices" "$speech/human" "$speech/noise" "$root/"
find "$root" -name __pycache__ -prune -exec rm -rf {} +
tar -C "$work" -cf - asr | xz -T2 -6 | split -b 20M -d - "$work/asr.xz."
for part in "$work"/asr.xz.*; do mkdir -p "$out/part-${part##*.}" && mv "$part" "$out/part-${part##*.}/"; done
du -sh "$out"/part-*
