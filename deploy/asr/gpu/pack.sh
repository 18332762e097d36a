#!/bin/bash
# Packs what synthesis and training need for a GPU machine without network, as archives of about 50 MB, each in
# pieces of 20 MiB:   pack.sh OUT SPEECH [TESTS [PHONES]]
#   SPEECH holds voices/ (open_jtalk), human/, noise/ and rir/; TESTS is the folder of `recogniser acceptance`, to be scored
#   there; PHONES what `recogniser units` found in recordings (its OUT/phones), which takes twenty minutes.
#   OUT/1 code, noise and the English engines: with it speaking and training begin. OUT/2 Japanese. OUT/3 people, tests.
#   OUT/4 the voices of other languages that say English; unpack it first, for no voice may be missing when speaking begins.
#   OUT/5 hibari, and Kokoro, if ASR_KOKORO names its folder; likewise.
#   ASR_WHEELS names a folder of wheels to take along that are on no index: pyworld's.
#   OUT/6 what ASR_PRESSED holds, if it is named: en/ and ja/ of `recogniser press`, with which training begins at once; likewise.
# Run it on x86-64 Linux with the Debian packages of ../README.md installed; then ../README.md says how to go on.
# The programs travel with the libraries that they load, so the other machine's distribution does not matter.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd); mkdir -p "$1"; out=$(cd "$1" && pwd); speech=$(cd "$2" && pwd); tests=${3:-} phones=${4:-}
work=$(mktemp -d -p "$out"); trap 'rm -rf "$work"' EXIT

program() { # archive, name: the program, its libraries, and a script that starts it with them
  local root=$work/$1/asr path; path=$(command -v "$2"); mkdir -p "$root"/{bin,lib,wrap}
  cp -L "$path" "$root/bin/"
  ldd "$path" | grep -o '/[^ )]*' | sort -u | xargs -I{} cp -Lu {} "$root/lib/"
  printf '#!/bin/sh\nexec /opt/asr/lib/ld-linux-x86-64.so.2 --library-path /opt/asr/lib /opt/asr/bin/%s "$@"\n' "$2" > "$root/wrap/$2"
  chmod +x "$root/wrap/$2"
}
for name in flite espeak-ng pico2wave RHVoice-test; do program 1 "$name"; done
program 2 open_jtalk; program 4 festival
one=$work/1/asr two=$work/2/asr three=$work/3/asr four=$work/4/asr; mkdir -p "$one"/{wheels,code} "$two" "$three" "$four"
mkdir "$one/shared" # eSpeak for Python, which has a C library of its own
for library in $(ldd "$one/bin/espeak-ng" | grep -o '/[^ )]*' | grep -v '/ld-linux\|/lib\(c\|m\|stdc++\|gcc_s\)\.so'); do
  ln -s "../lib/${library##*/}" "$one/shared/"
done
for library in {"$two","$four"}/lib/*; do # a library in use can't be overwritten: archive 1 brings the common ones
  if [ -e "$one/lib/${library##*/}" ]; then rm "$library"; fi
done
cp -L "$(command -v text2wave)" "$four/bin/"
printf '#!/bin/sh\nexec /opt/asr/wrap/festival --script /opt/asr/bin/text2wave "$@"\n' > "$four/wrap/text2wave"; chmod +x "$four/wrap/text2wave"
# Data, unpacked at / on the other machine. Voices that may not be trained on stay here.
tar -C / --exclude='voices/*/16000' --exclude='espeak-ng-data/[!ej]*_dict' \
  -cf "$one/data-1.tar" usr/share/pico/lang usr/lib/x86_64-linux-gnu/espeak-ng-data etc/RHVoice \
  usr/share/RHVoice/languages/English usr/share/RHVoice/voices/{alan,clb,slt} usr/share/dict/american-english-small \
  usr/share/games/fortunes usr/share/wordnet/data.{noun,verb,adj,adv}
tar -C / -cf "$two/data-2.tar" var/lib/mecab/dic/open-jtalk
tar -C / --exclude='voices/*/16000' --exclude='dicts/[!uw]*' --exclude='dicts/upc/*t*-valencia.*' \
  --exclude='festival/voices/[!cef]*' --exclude='voices/czech' --exclude='voices/english/[!d]*' -cf "$four/data-4.tar" \
  etc/festival.scm usr/share/festival usr/share/RHVoice/languages/{Russian,Ukrainian,Kyrgyz,Esperanto} \
  usr/share/RHVoice/voices/{anna,elena,irina,aleksandr,anatol,natalia,azamat,nazgul,spomenka}
python3 -m pip download -q --no-deps --only-binary=:all: --python-version 3.12 --implementation cp \
  --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 --platform manylinux_2_17_x86_64 \
  --platform manylinux2014_x86_64 -d "$one/wheels" soundfile soxr cffi pycparser faker tzdata 'setuptools<81'
if [ -d "${ASR_WHEELS:-}" ]; then cp "$ASR_WHEELS"/*.whl "$one/wheels/"; fi
cp -r "$here"/../{config.toml,gpu,recogniser} "$one/code/"
cp -r "$speech/noise" "$one/"; (cd "$here/.." && python3 -m recogniser rooms --measured "$speech/rir" --out "$one/rooms.npy")
cp -r "$speech/voices" "$two/"; cp -r "$speech/human" "$three/"
if [ -n "$tests" ]; then cp -r "$tests" "$three/tests"; fi
if [ -n "$phones" ]; then cp -r "$phones" "$three/phones"; fi
mkdir -p "$work/5/asr/python"; cp -r "$(python3 -c 'import hibari; print(hibari.__path__[0])')" "$work/5/asr/python/"
if [ -d "${ASR_KOKORO:-}" ]; then cp -r "$ASR_KOKORO" "$work/5/asr/kokoro"; fi
if [ -d "${ASR_PRESSED:-}" ]; then mkdir -p "$work/6/asr"; cp -r "$ASR_PRESSED" "$work/6/asr/pressed"; fi
(cd "$here/.." && python3 -m recogniser speak --lang ja --count 40000 --readings "$two/readings.json")
find "$work" -name __pycache__ -prune -exec rm -rf {} +
for n in $(cd "$work"; ls); do
  rm -rf "${out:?}/$n"; mkdir "$out/$n"; cp "$here/unpack.sh" "$out/$n/"
  tar -C "$work/$n" -cf - asr | xz -T1 -3 | split -b 20M -d - "$out/$n/asr.$n.xz."
  (cd "$out/$n" && sha256sum asr.* > sums)
done
du -sh "$out"/[1-6]
