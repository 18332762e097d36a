"""`tellerline bench asr`: word and character error rates by condition, language, category and voice; speed."""

import asyncio
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final

import orjson
import typer

from app.qa.figures import Figure
from app.qa.locales import LOCALES
from deploy.bench._asr.amounts import amounts_asked
from deploy.bench._asr.audio import line, phantoms, stretches, telephone
from deploy.bench._asr.score import Recognition, SpokenCase, missed, scores
from deploy.bench._asr.speed import speed
from deploy.bench._asr.spread import spread
from deploy.bench.cases.waiting import CUSTOMERS
from deploy.reporting import percentile, publish
from schemas.audio import SAMPLE_RATE, Samples
from schemas.transcript import Decode
from services.ports import Recognizer

DEFAULT_DATA: Final = Path("tests/data/asr")


def cases(folder: Path) -> list[SpokenCase]:
    """The cases of a folder's manifest.jsonl."""
    rows = [orjson.loads(line) for line in (folder / "manifest.jsonl").read_bytes().splitlines()]
    return [SpokenCase(folder / r["file"], r["text"], r["lang"], r["voice"], r["category"]) for r in rows]


def hear(found: Sequence[SpokenCase], recognizer: Recognizer, progress: Callable[[], object]) -> list[Recognition]:
    """Decode every case clean, over a telephone line, and over a noisy one."""
    from services.audio.files import read_file

    async def each() -> list[Recognition]:
        heard = []
        for number, case in enumerate(found):
            samples = read_file(case.path.read_bytes())
            ways = ("clean", samples), ("line", line(samples)), ("phone", telephone(samples, seed=number))
            for condition, sound in ways:
                transcript = await recognizer.transcribe(sound, LOCALES[case.lang], Decode.FINAL)
                heard.append(Recognition(case, condition, transcript.text, transcript.decode_ms, transcript.hypotheses))
            progress()
        return heard

    return asyncio.run(each())


def money_commands() -> Callable[[str, str], bool]:
    """Whether a sentence at the start of a call would be taken as a command to move money, complete or begun."""
    from deploy.bench.cases.labelled import Judge
    from deploy.bench.cases.negatives import SentenceTally as Became
    from deploy.bench.cases.player import ConversationPlayer

    judges = {lang: Judge(ConversationPlayer.of(customer), customer) for lang, customer in CUSTOMERS.items()}

    def commands(text: str, lang: str) -> bool:
        became = Became()
        became.take(judges[lang], text)
        return bool(became.money or became.started)

    return commands


def phantom_words(recognizer: Recognizer, sounds: Mapping[str, Samples], name: str) -> dict[str, Figure]:
    """How many decodes of what is not speech gave words, each sound in each language."""

    async def each() -> list[str]:
        return [
            text
            for samples in sounds.values()
            for locale in LOCALES.values()
            if (text := (await recognizer.transcribe(samples, locale, Decode.FINAL)).text)
        ]

    return {f"{name}_files": 2 * len(sounds), f"{name}_files_with_words": len(asyncio.run(each()))}


def bench(
    data: Annotated[
        Path, typer.Option(help="A folder with manifest.jsonl, by `recogniser acceptance`.")
    ] = DEFAULT_DATA,
    model: Annotated[
        str, typer.Option(envvar="ASR_MODEL", help="bundled, or a faster-whisper checkpoint.")
    ] = "bundled",
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
    limit: Annotated[int, typer.Option(min=0, help="At most so many cases of each voice; 0 is all.")] = 0,
    ratios: Annotated[bool, typer.Option(help="Also time against faster-whisper's tiny with random weights.")] = True,
    noise: Annotated[Path | None, typer.Option(help="A folder of noise; 4 s of every 8 are decoded.")] = None,
    listing: Annotated[Path | None, typer.Option(help="Write reference and transcript of every case here.")] = None,
) -> None:
    """Score the recogniser on held-out voices, sentences and people, and time it."""
    from rich.progress import track

    from services.asr.load import BUNDLED, MODEL_FOLDER, decoders, load

    found = _limited(cases(data), limit)
    recognizer = load(model, workers=1, device=device)
    asyncio.run(recognizer.warm_up())
    ticks = iter(track(range(len(found)), description="decoding", transient=True))
    heard = hear(found, recognizer, lambda: next(ticks, None))
    figures = scores(heard, money_commands()) | spread(heard) | amounts_asked(heard)
    figures |= phantom_words(recognizer, phantoms(), "phantom")
    if noise is not None:
        figures |= phantom_words(recognizer, stretches(noise), "noise")
    timed = [h.decode_ms for h in heard]
    figures |= {"decode_p50_ms": percentile(timed, 50), "decode_p95_ms": percentile(timed, 95)}
    if ratios:
        with tempfile.TemporaryDirectory() as folder:
            figures |= speed(decoders(model, device=device)["en"], _three_seconds(found), Path(folder))
    asyncio.run(recognizer.close())
    if model == BUNDLED:
        figures["weights_mb"] = sum(p.stat().st_size for p in MODEL_FOLDER.rglob("*") if p.is_file()) / 1e6
    figures["goals_missed"] = ", ".join(missed(figures)) or "none"
    if listing is not None:
        listing.write_text("".join(_row(h) for h in heard), encoding="utf-8")
    publish("asr", f"{len(found)} recordings of {data}, clean, 8 kHz, and 8 kHz in noise of 10 to 20 dB", figures, json)


def _three_seconds(found: Sequence[SpokenCase]) -> Samples:
    """The English recording nearest to three seconds."""
    from services.audio.files import read_file

    sounds = [read_file(c.path.read_bytes()) for c in found[:200] if c.lang == "en"]
    return min(sounds, key=lambda s: abs(s.size - 3 * SAMPLE_RATE))


def _limited(found: Sequence[SpokenCase], limit: int) -> list[SpokenCase]:
    taken: dict[str, int] = defaultdict(int)
    kept = []
    for case in found:
        taken[case.voice] += 1
        if not limit or taken[case.voice] <= limit:
            kept.append(case)
    return kept


def _row(h: Recognition) -> str:
    return f"{h.case.voice}\t{h.condition}\t{h.case.category}\t{h.case.text}\t{h.text}\n"
