"""Changes of a corpus: its manifest, its recordings, and the weights that hear them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import av
import numpy as np
import orjson

from app.qa.replay.sound.audio import read_audio
from app.recordings.files import flac
from deploy.bench._gate import weights
from deploy.bench._lines import json_lines
from schemas.audio import SAMPLE_RATE, Samples

Cases = list[dict[str, Any]]
SEED: Final = weights.SEED


def cases_of(manifest: Path) -> Cases:
    """The lines of a manifest."""
    return json_lines(manifest)


def _written(manifest: Path, cases: Cases) -> None:
    manifest.unlink()
    manifest.write_bytes(b"".join(orjson.dumps(case) + b"\n" for case in cases))


def _recorded(manifest: Path) -> list[Path]:
    names = [turn["audio"] for case in cases_of(manifest) for turn in case["turns"] if "audio" in turn]
    return [manifest.parent / name for name in dict.fromkeys(names)]


def _said(manifest: Path) -> list[Path]:
    """The recordings in which somebody speaks."""
    turns = [turn for case in cases_of(manifest) for turn in case["turns"] if "audio" in turn]
    return [manifest.parent / turn["audio"] for turn in turns if turn["expect"].get("transcript")]


def _heard_as(change: Callable[[Samples, np.random.Generator], Samples]) -> Callable[[Path, Path], None]:
    """Every recording changed by a function."""

    def apply(manifest: Path, _tree: Path) -> None:
        generator = np.random.default_rng(SEED)
        for path in _recorded(manifest):
            body = flac(np.clip(change(read_audio(path), generator), -1, 1).astype(np.float32))
            path.unlink()
            path.write_bytes(body)

    return apply


def _pink(samples: Samples, generator: np.random.Generator) -> Samples:
    spectrum = np.fft.rfft(generator.normal(size=len(samples)))
    noise = np.fft.irfft(spectrum / np.sqrt(np.maximum(np.arange(len(spectrum)), 1)), len(samples))
    level = np.sqrt(np.mean(samples**2)) / max(float(np.sqrt(np.mean(noise**2))), 1e-9)
    return np.asarray(samples + noise * level, dtype=np.float32)


def _half(samples: Samples, _: np.random.Generator) -> Samples:
    return samples[: len(samples) // 2]


def _faster(samples: Samples, _: np.random.Generator) -> Samples:
    at = np.arange(0, len(samples) - 1, 1.4)
    return np.asarray(np.interp(at, np.arange(len(samples)), samples), dtype=np.float32)


def _clipped(samples: Samples, _: np.random.Generator) -> Samples:
    return np.asarray(np.clip(samples * 60, -1, 1), dtype=np.float32)


def _other_container(manifest: Path, _tree: Path) -> None:
    """The very samples that are heard, in a WAV: any codec of whole numbers would round them, and rounding is heard."""
    for path in _recorded(manifest):
        samples = read_audio(path)
        path.unlink()
        with av.open(str(path), "w", format="wav") as container:
            stream = container.add_stream("pcm_f32le", rate=SAMPLE_RATE, layout="mono")
            frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="flt", layout="mono")
            frame.sample_rate = SAMPLE_RATE
            container.mux([*stream.encode(frame), *stream.encode(None)])


def _swapped(manifest: Path, _tree: Path) -> None:
    """Calls in two channels, and the manifest names the agent's, in which another caller's words lie here."""
    said = _said(manifest)
    agent = [read_audio(path) for path in said]
    for i, path in enumerate(said):
        caller, other = agent[i], agent[(i + 7) % len(agent)]
        length = max(len(caller), len(other))
        both = np.zeros((2, length), dtype=np.float32)
        both[0, : len(other)], both[1, : len(caller)] = other, caller
        path.unlink()
        _stereo(path, both)
    cases = cases_of(manifest)
    for case in cases:
        for turn in case["turns"]:
            if "audio" in turn:
                turn["channel"] = 0
    _written(manifest, cases)


def _unsaid_channel(manifest: Path, tree: Path) -> None:
    _swapped(manifest, tree)
    cases = cases_of(manifest)
    for case in cases:
        for turn in case["turns"]:
            turn.pop("channel", None)
    _written(manifest, cases)


def _stereo(path: Path, both: Samples) -> None:
    with av.open(str(path), "w", format="flac") as container:
        stream = container.add_stream("flac", rate=SAMPLE_RATE, layout="stereo")
        pcm = (np.clip(both, -1, 1) * 32_767).astype(np.int16).T.reshape(1, -1).copy()
        frame = av.AudioFrame.from_ndarray(pcm, format="s16", layout="stereo")
        frame.sample_rate = SAMPLE_RATE
        container.mux([*stream.encode(frame), *stream.encode(None)])


def _exchanged(manifest: Path, _tree: Path) -> None:
    """Recordings that lie in each other's places, in pairs, six of them."""
    said = _said(manifest)
    for i in range(0, 6, 2):
        one, two = said[i * 5], said[i * 5 + 7]
        first, second = one.read_bytes(), two.read_bytes()
        one.unlink()
        two.unlink()
        one.write_bytes(second)
        two.write_bytes(first)


def _no_recordings(manifest: Path, _tree: Path) -> None:
    for path in _recorded(manifest):
        path.unlink()


def _three_missing(manifest: Path, _tree: Path) -> None:
    for path in _recorded(manifest)[5:50:15]:
        path.unlink()


def _three_empty(manifest: Path, _tree: Path) -> None:
    for path in _said(manifest)[5:50:15]:
        path.unlink()
        path.write_bytes(b"")


def _silent(manifest: Path, _tree: Path) -> None:
    """Three recordings of nothing at all."""
    for path in _said(manifest)[4:64:20]:
        length = len(read_audio(path))
        path.unlink()
        path.write_bytes(flac(np.zeros(length, dtype=np.float32)))


def _manifest(change: Callable[[Cases], Cases]) -> Callable[[Path, Path], None]:
    def apply(manifest: Path, _tree: Path) -> None:
        _written(manifest, change(cases_of(manifest)))

    return apply


def _expected(cases: Cases, name: str) -> list[dict[str, Any]]:
    """The expectations that have a field, in order."""
    return [turn["expect"] for case in cases for turn in case["turns"] if name in turn.get("expect", {})]


def _wrong_amounts(cases: Cases) -> Cases:
    amounts = [e["slots"]["amount"] for e in _expected(cases, "slots") if "amount" in e["slots"]]
    for amount in amounts[4:40:12]:
        amount["amount_minor"] *= 10
    return cases


def _unlabelled(cases: Cases) -> Cases:
    for expect in _expected(cases, "decision")[10:40]:
        for name in [n for n in expect if n != "transcript"]:
            del expect[name]
    return cases


def _machines(cases: Cases) -> Cases:
    for expect in _expected(cases, "decision"):
        expect["by_machine"] = [name for name in expect if name != "transcript"]
    return cases


def _misspelt(cases: Cases) -> Cases:
    _expected(cases, "intent")[3]["intent"] = "trasnfer_monney"
    return cases


def _other_callers(cases: Cases) -> Cases:
    for case in [c for c in cases if c.get("customer") == "alex-morgan"][2:60:10]:
        case["customer"] = "imogen-hartley"
    return cases


def _nobody(cases: Cases) -> Cases:
    cases[7]["customer"] = "nobody-known"
    return cases


def _tags(cases: Cases) -> Cases:
    for case in cases:
        case["tags"]["reviewed"] = "yes"
    return cases


def _more(cases: Cases) -> Cases:
    return [*cases, cases[0] | {"id": "one more"}]


def _first_label(cases: Cases) -> Cases:
    """A label more, of what is so."""
    for expect in _expected(cases, "decision")[:5]:
        expect["route"] = ["fast", "clarify", "extract", "qna", "human"]
    return cases


def _heard_for_said(manifest: Path, _tree: Path) -> None:
    """References made of what a machine heard, as somebody does who wants a lower word error rate."""
    cases = cases_of(manifest)
    for expect in _expected(cases, "transcript")[::3]:
        expect["transcript"] = " ".join(expect["transcript"].split()[:-1]) or expect["transcript"]
    _written(manifest, cases)


def _anything_goes(cases: Cases) -> Cases:
    """Labels that no outcome can be against."""
    for expect in _expected(cases, "decision")[::2]:
        expect["decision"] = ["execute", "confirm", "clarify", "answer", "refuse", "handoff", "nothing"]
        for name in ("slots", "intent", "payee", "reply", "outcome"):
            expect.pop(name, None)
    return cases


def _another_day(cases: Cases) -> Cases:
    for case in cases[::4]:
        case["now"] = "2026-01-19T17:00:00Z"
    return cases


def _full_stops(cases: Cases) -> Cases:
    for expect in _expected(cases, "transcript"):
        if expect["transcript"] and expect["transcript"].isascii():
            expect["transcript"] += "."
    return cases


def _one_for_all(manifest: Path, _tree: Path) -> None:
    said = _said(manifest)
    body = said[0].read_bytes()
    for path in said[1:]:
        path.unlink()
        path.write_bytes(body)


CHANGES: Final[dict[str, Callable[[Path, Path], None]]] = {
    "pink noise": _heard_as(_pink),
    "cut in half": _heard_as(_half),
    "wrong rate": _heard_as(_faster),
    "clipped": _heard_as(_clipped),
    "other container": _other_container,
    "the agent's channel": _swapped,
    "channel not said": _unsaid_channel,
    "exchanged": _exchanged,
    "no recordings": _no_recordings,
    "three missing": _three_missing,
    "three empty": _three_empty,
    "three silent": _silent,
    "last lines lost": _manifest(lambda cases: cases[:-30]),
    "wrong amounts": _manifest(_wrong_amounts),
    "unlabelled": _manifest(_unlabelled),
    "machine labels": _manifest(_machines),
    "misspelt": _manifest(_misspelt),
    "other callers": _manifest(_other_callers),
    "nobody": _manifest(_nobody),
    "tags": _manifest(_tags),
    "reversed": _manifest(lambda cases: cases[::-1]),
    "one more": _manifest(_more),
    "first labels": _manifest(_first_label),
    "worse weights": weights.worse_weights,
    "torn weights": weights.torn_weights,
    "noisy weights": weights.swapped_bytes,
    "heard for said": _heard_for_said,
    "anything goes": _manifest(_anything_goes),
    "another day": _manifest(_another_day),
    "full stops": _manifest(_full_stops),
    "noisy language": weights.noisy_language,
    "shifted tokens": weights.shifted_tokens,
    "repacked": weights.repacked,
    "beginnings cut": _heard_as(lambda samples, _: samples[min(len(samples) // 4, SAMPLE_RATE // 2) :]),
    "one for all": _one_for_all,
    "louder": _heard_as(lambda samples, _: np.asarray(samples * 1.12, dtype=np.float32)),
}
