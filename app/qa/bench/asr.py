"""`tellerline bench asr`: word and character error rates by condition, language, category and voice; speed."""

import asyncio
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import jiwer
import numpy as np
import orjson
import typer

from app.qa.bench._asr_audio import phantoms, telephone
from app.qa.bench._asr_speed import speed
from app.qa.bench._report import Figure, percentile, publish
from schemas.audio import SAMPLE_RATE, Samples
from schemas.ids import EN_US, JA_JP, Locale
from services.ports import Recognizer

DEFAULT_DATA: Final = Path("tests/data/asr")
EXACT_CATEGORIES: Final = frozenset({"amount", "digits"})
MONEY_WORDS: Final = {
    "en": ("send", "transfer", "pay", "wire", "remit", "forward"),
    "ja": ("振り込", "振込", "送金", "送って", "払って", "支払"),
}
"""Words that open a command which moves money; out-of-domain speech must not become one."""
OUT_OF_DOMAIN: Final = frozenset({"everyday", "sentence", "words", "kathleen_arctic", "ljspeech_part1"})


@dataclass(frozen=True, slots=True)
class Case:
    """One recording and what is said in it."""

    path: Path
    text: str
    lang: str
    voice: str
    category: str


@dataclass(frozen=True, slots=True)
class Heard:
    """What came out in one condition."""

    case: Case
    condition: str
    text: str
    decode_ms: float


def cases(folder: Path) -> list[Case]:
    """The cases of a folder's manifest.jsonl."""
    rows = [orjson.loads(line) for line in (folder / "manifest.jsonl").read_bytes().splitlines()]
    return [Case(folder / r["file"], r["text"], r["lang"], r["voice"], r["category"]) for r in rows]


def error_rate(pairs: Iterable[tuple[str, str]], lang: str) -> float:
    """Percent of words (of characters in Japanese) that are wrong, over all pairs of reference and hypothesis."""
    references, hypotheses = zip(*pairs, strict=True)
    rate = jiwer.cer if lang == "ja" else jiwer.wer
    return 100 * float(rate(list(references), list(hypotheses)))


def hear(found: Sequence[Case], recognizer: Recognizer, progress: Callable[[], object]) -> list[Heard]:
    """Decode every case clean and over a noisy telephone."""
    from services.audio.files import read_file

    async def each() -> list[Heard]:
        heard = []
        for number, case in enumerate(found):
            samples = read_file(case.path.read_bytes())
            for condition, sound in (("clean", samples), ("phone", telephone(samples, seed=number))):
                transcript = await recognizer.transcribe(sound, _locale(case.lang), final=True)
                heard.append(Heard(case, condition, transcript.text, transcript.decode_ms))
            progress()
        return heard

    return asyncio.run(each())


def _locale(lang: str) -> Locale:
    return JA_JP if lang == "ja" else EN_US


def _group(voice: str) -> str:
    """`held_out`, `human` or `moved`: what kind of test a voice is."""
    return {"human": "human", "moved": "moved"}.get(voice.partition(":")[0], "held_out")


def rates(heard: Sequence[Heard]) -> dict[str, Figure]:
    """Error rates by language and condition, then by voice and by category (clean)."""
    groups: dict[str, list[Heard]] = defaultdict(list)
    for h in heard:
        kind = _group(h.case.voice)
        groups[f"{h.case.lang}_{kind}_{h.condition}"].append(h)
        if h.condition == "clean":
            groups[f"{h.case.lang}_voice_{h.case.voice.replace(':', '_').replace('-', '_')}"].append(h)
            if kind == "held_out":
                groups[f"{h.case.lang}_category_{h.case.category}"].append(h)
    flat: dict[str, Figure] = {}
    for name, members in sorted(groups.items()):
        unit = "cer" if members[0].case.lang == "ja" else "wer"
        flat[f"{name}_{unit}_percent"] = error_rate(((m.case.text, m.text) for m in members), members[0].case.lang)
        flat[f"{name}_utterances"] = len(members)
    return flat


def exact(heard: Sequence[Heard]) -> dict[str, Figure]:
    """Share of amounts and digits heard without any error, clean, by language."""
    flat: dict[str, Figure] = {}
    for lang in ("en", "ja"):
        chosen = [
            h
            for h in heard
            if h.condition == "clean" and h.case.lang == lang and h.case.category in EXACT_CATEGORIES
            and _group(h.case.voice) == "held_out"
        ]  # fmt: skip
        if chosen:
            flat[f"{lang}_amounts_digits_exact_percent"] = 100 * statistics.fmean(h.text == h.case.text for h in chosen)
    return flat


def commands_heard(heard: Sequence[Heard]) -> dict[str, Figure]:
    """Out-of-domain utterances whose transcript has a word that moves money and whose reference has none."""
    outside = [h for h in heard if h.case.category in OUT_OF_DOMAIN]
    moved = [h for h in outside if _moves(h.text, h.case.lang) and not _moves(h.case.text, h.case.lang)]
    return {"out_of_domain_utterances": len(outside), "out_of_domain_heard_as_money": len(moved)}


def _moves(text: str, lang: str) -> bool:
    return any(text.startswith(w) if lang == "en" else w in text for w in MONEY_WORDS[lang])


def phantom_words(recognizer: Recognizer) -> dict[str, Figure]:
    """How many files of silence, tones and noise gave words, in each language."""

    async def each() -> dict[str, Figure]:
        sounds: Mapping[str, Samples] = phantoms()
        spoke = [
            name
            for name, samples in sounds.items()
            for locale in (EN_US, JA_JP)
            if (await recognizer.transcribe(samples, locale, final=True)).text
        ]
        return {"phantom_files": 2 * len(sounds), "phantom_files_with_words": len(spoke)}

    return asyncio.run(each())


def bench(
    data: Annotated[
        Path, typer.Option(help="A folder with manifest.jsonl, by deploy/asr/acceptance.py.")
    ] = DEFAULT_DATA,
    model: Annotated[
        str, typer.Option(envvar="ASR_MODEL", help="bundled, or a faster-whisper checkpoint.")
    ] = "bundled",
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
    limit: Annotated[int, typer.Option(min=0, help="At most so many cases of each voice; 0 is all.")] = 0,
    ratios: Annotated[bool, typer.Option(help="Also time against faster-whisper's tiny with random weights.")] = True,
    listing: Annotated[Path | None, typer.Option(help="Write reference and transcript of every case here.")] = None,
) -> None:
    """Score the recogniser on held-out voices, sentences and people, and time it."""
    from rich.progress import track

    from services.asr.load import decoders, load

    found = _limited(cases(data), limit)
    recognizer = load(model, workers=1)
    asyncio.run(recognizer.warm_up())
    ticks = iter(track(range(len(found)), description="decoding", transient=True))
    heard = hear(found, recognizer, lambda: next(ticks, None))
    figures = rates(heard) | exact(heard) | commands_heard(heard) | phantom_words(recognizer)
    timed = [h.decode_ms for h in heard]
    figures |= {"decode_p50_ms": percentile(timed, 50), "decode_p95_ms": percentile(timed, 95)}
    if ratios:
        with tempfile.TemporaryDirectory() as folder:
            figures |= speed(decoders(model)["en"], _three_seconds(found), Path(folder))
    asyncio.run(recognizer.close())
    if listing is not None:
        listing.write_text("".join(_row(h) for h in heard), encoding="utf-8")
    seconds = np.unique([str(c.path) for c in found]).size
    publish("asr", f"{seconds} recordings of {data}, clean and telephone with noise at 10 to 20 dB", figures, json)


def _three_seconds(found: Sequence[Case]) -> Samples:
    """The English recording nearest to three seconds."""
    from services.audio.files import read_file

    sounds = [read_file(c.path.read_bytes()) for c in found[:200] if c.lang == "en"]
    return min(sounds, key=lambda s: abs(s.size - 3 * SAMPLE_RATE))


def _limited(found: Sequence[Case], limit: int) -> list[Case]:
    taken: dict[str, int] = defaultdict(int)
    kept = []
    for case in found:
        taken[case.voice] += 1
        if not limit or taken[case.voice] <= limit:
            kept.append(case)
    return kept


def _row(h: Heard) -> str:
    return f"{h.case.voice}\t{h.condition}\t{h.case.category}\t{h.case.text}\t{h.text}\n"
