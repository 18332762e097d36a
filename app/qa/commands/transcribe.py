"""`tellerline transcribe`: what the recogniser hears in recordings, one JSON line a file."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
import typer

from schemas.errors import TellerlineError
from schemas.ids import Locale
from schemas.transcript import Decode
from services.audio.channels import Channel, named
from services.ports import Recognizer


def line(
    file: Path, locale: Locale, recognizer: Recognizer, runner: asyncio.Runner, channel: Channel | None = None
) -> dict[str, Any]:
    """The output object of one file; `error` with the error's code instead of words where it can't be heard."""
    from services.audio.files import read_file

    try:
        samples = read_file(file.read_bytes(), channel)
        heard = runner.run(recognizer.transcribe(samples, locale, Decode.FINAL))
    except OSError as error:
        return {"file": str(file), "error": "unreadable", "message": error.strerror}
    except TellerlineError as error:
        return {"file": str(file), "error": error.code, "message": error.message}
    return {
        "file": str(file),
        "text": heard.text,
        "alternatives": list(heard.alternatives),
        "avg_logprob": round(heard.avg_logprob, 4),
        "no_speech_prob": round(heard.no_speech_prob, 4),
        "decode_ms": round(heard.decode_ms, 2),
    }


def lines(
    files: list[Path], locale: Locale, model: str, device: str, channel: Channel | None = None
) -> Iterator[dict[str, Any]]:
    """The output objects of all files, in order."""
    from services.asr import load

    with asyncio.Runner() as runner:
        recognizer = load(model, workers=1, device=device)
        runner.run(recognizer.warm_up())
        try:
            for file in files:
                yield line(file, locale, recognizer, runner, channel)
        finally:
            runner.run(recognizer.close())


def register(main: typer.Typer) -> None:
    """Add the subcommand."""

    @main.command()
    def transcribe(
        files: Annotated[list[Path], typer.Argument(metavar="FILES", help="WAV, FLAC, Ogg or MP3, any sample rate.")],
        locale: Annotated[str, typer.Option(help="A locale that has rules, such as ja-JP.")] = "en-US",
        model: Annotated[str, typer.Option(envvar="ASR_MODEL", help="bundled, or a faster-whisper checkpoint.")] = (
            "bundled"
        ),
        device: Annotated[Literal["cpu", "cuda"], typer.Option(help="What it is decoded on.")] = "cpu",
        channel: Annotated[
            Literal["0", "1", "mix"] | None, typer.Option(help="The caller's, where two have sound.")
        ] = None,
    ) -> None:
        """Transcribe recordings, one JSON line a file. Exit 1 when a file could not be heard."""
        from rules.locales import locale_rules

        tag = Locale(locale)
        locale_rules(tag)
        failed = False
        for found in lines(files, tag, model, device, named(channel)):
            failed |= "error" in found
            typer.echo(orjson.dumps(found).decode())
        raise typer.Exit(1 if failed else 0)
