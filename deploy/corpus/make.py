"""Make the demo corpus: `python -m deploy.corpus.make --noise FOLDER --voices FOLDER --out tests/data/corpus`.

Every case has a fixed voice and condition (drawn from its id), so making it again gives the same corpus. Recordings
that exist are kept: the command can be stopped and run again. Engines and licences: README.md beside this file.
"""

import argparse
import hashlib
import lzma
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import av
import numpy as np
import orjson
import soxr
from numpy.typing import NDArray
from rich.progress import track

from deploy.corpus.sentences import CUSTOMERS, NOW, Script, calls, sounds, utterances

RATE = 16_000
BITRATE = 18_000
TELEPHONE_BAND = (300, 3_400)
"""Hertz."""
DICTIONARY = "/var/lib/mecab/dic/open-jtalk/naist-jdic"
NITECH = Path("/usr/share/hts-voice/nitech-jp-atr503-m001/nitech_jp_atr503_m001.htsvoice")
HELD_OUT = {"rhvoice:bdl", "festival:ked_diphone", "jtalk:nitech_jp_atr503_m001"}
"""Voices that the bundled recogniser was never trained on (see deploy/asr/recogniser/evaluate/acceptance.py)."""
_BDL, _NITECH = "rhvoice:bdl", "jtalk:nitech_jp_atr503_m001"
VOICES = {
    "en-US": (
        _BDL,
        "festival:ked_diphone",
        _BDL,
        "rhvoice:slt",
        "rhvoice:clb",
        "flite:rms",
        "pico:en-US",
        "espeak:en-us",
    ),
    "en-GB": (_BDL, "rhvoice:alan", "pico:en-GB", "flite:awb", "espeak:en-gb"),
    "ja-JP": (_NITECH, _NITECH, "jtalk:mei_normal", "jtalk:takumi_normal", "jtalk:tohoku-f01-neutral"),
}
CONDITIONS = ("clean", "telephone", "noisy", "clean")
NOISES = ("coffee-shop.flac", "office.flac", "sb_noise1.flac", "sb_noise5.flac", "diffuse.flac")
AGAIN = {"transfer_money", "bill_payment", "card_lock", "balance_inquiry"}
"""Groups whose sentences are said a second time, by another voice over the telephone or in noise."""

Samples = NDArray[np.float32]


def main() -> None:
    """Speak, distort, encode, and write the manifest."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--noise", type=Path, required=True, help="folder of the noise recordings")
    options.add_argument("--voices", type=Path, required=True, help="folder of .htsvoice files")
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--manifest-only", action="store_true", help="write the manifest of recordings that exist")
    given = options.parse_args()
    speak_it = not given.manifest_only
    told = track(list(scripts()), "speaking")
    cases = [case(script, given.noise, given.voices, given.out, speak_it=speak_it) for script in told]
    lines = [orjson.dumps(line, option=orjson.OPT_SORT_KEYS) for line in cases]
    body = lzma.compress(b"\n".join(lines) + b"\n", preset=9 | lzma.PRESET_EXTREME)
    (given.out / "manifest.jsonl.xz").write_bytes(body)
    print(f"{len(cases)} cases, {sum(p.stat().st_size for p in given.out.rglob('*.opus')) / 1e6:.1f} MB")


def scripts() -> Iterator[Script]:
    """All cases with their voice and condition."""
    for script in utterances():
        yield cast_it(script, 0)
        if script.tags["group"] in AGAIN:
            yield cast_it(replace(script, id=f"{script.id}b"), 1)
    for script in calls():
        yield cast_it(script, 0)
    for script in sounds():
        yield replace(script, tags=script.tags | {"kind": script.kind})


def cast_it(script: Script, again: int) -> Script:
    """Draw voice and condition from the id."""
    draw = hashlib.sha256(script.id.encode()).digest()
    voice = VOICES[script.locale][draw[0] % len(VOICES[script.locale])]
    condition = ("telephone", "noisy")[draw[1] % 2] if again else CONDITIONS[draw[1] % len(CONDITIONS)]
    speaker = "held-out" if voice in HELD_OUT else "trained"
    more = {"condition": condition, "voice": voice.replace(":", "-"), "speaker": speaker, "kind": script.kind}
    return replace(script, tags=script.tags | more)


def case(script: Script, noise: Path, voices: Path, out: Path, *, speak_it: bool) -> dict[str, Any]:
    """One line of the manifest; its recordings are made where they are missing."""
    turns = []
    for number, turn in enumerate(script.turns, 1):
        name = f"audio/{script.id}-{number}.opus" if script.kind == "call" else f"audio/{script.id}.opus"
        if speak_it and not (out / name).exists():
            draw = np.random.default_rng(list(hashlib.sha256(name.encode()).digest()))
            said = speak(script.tags["voice"].replace("-", ":", 1), turn.words, voices)
            encode(distort(said, script.tags["condition"], noise, draw), out / name)
        turns.append({"audio": name, "expect": turn.expect})
    if script.kind == "sound":
        name = f"audio/{script.id}.opus"
        if speak_it and not (out / name).exists():
            encode(sound(script, noise), out / name)
        turns = [{"audio": name, "expect": {"transcript": "", "decision": "nothing"}}]
    head = {"id": script.id, "locale": script.locale, "customer": CUSTOMERS[script.locale], "now": NOW[script.locale]}
    return head | {"tags": script.tags, "turns": turns}


def speak(voice: str, words: str, voices: Path) -> Samples:
    """Speech at 16 kHz, its own silence trimmed, at a common level."""
    engine, name = voice.split(":")
    text = words.lower() if words.isascii() else words
    with tempfile.TemporaryDirectory() as folder:
        wav = Path(folder) / "said.wav"
        hts = NITECH if "nitech" in name else voices / f"{name}.htsvoice"
        spoken: dict[str, tuple[list[str | Path], str | None]] = {
            "espeak": (["espeak-ng", "-v", name, "-s", "160", "-w", wav, text], None),
            "flite": (["flite", "-voice", name, "-t", text, "-o", wav], None),
            "festival": (["text2wave", "-eval", f"(voice_{name})", "-o", wav], text),
            "rhvoice": (["RHVoice-test", "-p", name, "-R", str(RATE), "-o", wav], text),
            "pico": (["pico2wave", "-l", name, "-w", wav, text], None),
            "jtalk": (["open_jtalk", "-x", DICTIONARY, "-m", hts, "-ow", wav], text),
        }
        command, typed = spoken[engine]
        subprocess.run(command, input=typed, text=True, check=True, capture_output=True)
        said = decode(wav)
    loud = np.flatnonzero(np.abs(said) > 0.01 * np.abs(said).max())
    said = said[loud[0] : loud[-1] + 1]
    levelled: Samples = (said * (0.08 / np.sqrt(np.mean(said**2)))).astype(np.float32)
    return levelled


def decode(path: Path) -> Samples:
    """A mono file at 16 kHz."""
    with av.open(str(path)) as container:
        resampler = av.AudioResampler(format="flt", layout="mono", rate=RATE)
        frames = [*container.decode(container.streams.audio[0]), None]
        parts = [out.to_ndarray().reshape(-1) for frame in frames for out in resampler.resample(frame)]
    return np.concatenate(parts).astype(np.float32)


def distort(said: Samples, condition: str, noise: Path, draw: np.random.Generator) -> Samples:
    """Silence around the words and a little room noise; then the telephone, or a louder place."""
    before, after = draw.uniform(0.15, 0.35), draw.uniform(0.3, 0.5)
    whole = np.pad(said, (int(before * RATE), int(after * RATE)))
    whole = whole + draw.normal(0, 2e-4, len(whole)).astype(np.float32)
    if condition == "noisy":
        ratio_db = draw.uniform(10, 20)
        bed = excerpt(noise / str(draw.choice(NOISES)), len(whole), draw)
        bed *= 0.08 / 10 ** (ratio_db / 20) / max(float(np.sqrt(np.mean(bed**2))), 1e-6)
        whole = whole + bed
    if condition == "telephone":
        whole = telephone(whole + draw.normal(0, 1e-3, len(whole)).astype(np.float32))
    return np.clip(whole, -1, 1).astype(np.float32)


def excerpt(path: Path, length: int, draw: np.random.Generator) -> Samples:
    """A stretch of a recording, repeated where it is too short."""
    bed = decode(path)
    bed = np.tile(bed, length // len(bed) + 1)
    start = int(draw.integers(0, len(bed) - length + 1))
    return bed[start : start + length].copy()


def telephone(samples: Samples) -> Samples:
    """300 to 3,400 Hz, 8 kHz, 8-bit µ-law and back."""
    spectrum = np.fft.rfft(samples)
    hertz = np.fft.rfftfreq(len(samples), 1 / RATE)
    spectrum[(hertz < TELEPHONE_BAND[0]) | (hertz > TELEPHONE_BAND[1])] = 0
    narrow = soxr.resample(np.fft.irfft(spectrum, len(samples)), RATE, RATE // 2)
    steps = np.sign(narrow) * np.log1p(255 * np.abs(np.clip(narrow, -1, 1))) / np.log(256)
    coarse = np.round(steps * 127) / 127
    heard = np.sign(coarse) * (256 ** np.abs(coarse) - 1) / 255
    return np.asarray(soxr.resample(heard, RATE // 2, RATE), dtype=np.float32)


def sound(script: Script, noise: Path) -> Samples:
    """Silence, or the beginning of a recording."""
    length = int(script.seconds * RATE)
    if not script.file:
        return np.zeros(length, dtype=np.float32)
    return excerpt(noise / script.file, length, np.random.default_rng(1)) * np.float32(0.5)


def encode(samples: Samples, path: Path) -> None:
    """Opus in Ogg."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w", format="ogg") as container:
        stream = container.add_stream("libopus", rate=RATE, layout="mono")
        stream.bit_rate = BITRATE
        stream.options = {"application": "voip"}
        fifo = av.AudioFifo()
        frame = av.AudioFrame.from_ndarray(
            (samples * 32_767).astype(np.int16).reshape(1, -1), format="s16", layout="mono"
        )
        frame.sample_rate = RATE
        fifo.write(frame)
        while (piece := fifo.read(RATE // 50, partial=True)) is not None:
            container.mux(stream.encode(piece))
        container.mux(stream.encode(None))


if __name__ == "__main__":
    main()
