"""What an image has to do besides being small: calls, recordings of three kinds, its own commands."""

import asyncio
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import av
import httpx

from app.client import demo_token
from deploy.trial.around import CUSTOMERS

SAID: Final = Path(__file__).parents[2] / "app/demo/calls/balance-1.opus"
MEANT: Final = "balance_inquiry"
CALLS: Final = ("transfer", "furikomi")
"""By the Realtime protocol, in both languages."""
_CODED: Final = {"flac": "flac", "mp3": "libmp3lame"}
_RATE: Final = 48_000

Inside = Callable[[list[str]], int]
"""Runs a command in the image, as its user; the exit status."""


def faults(url: str, state: Path, inside: Inside) -> list[str]:
    """What the image at `url`, whose own folder is `state`, does not do as it must."""
    folder = state / "recordings"
    folder.mkdir()
    _record(folder)
    sounds = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix != ".json"}
    shutil.copy2(CUSTOMERS, state)
    owner = state.stat()
    for path in (folder, *folder.iterdir(), state / CUSTOMERS.name):
        os.chown(path, owner.st_uid, owner.st_gid)
    commands = [
        ["tellerline", "demo", "--url", url, *(word for call in CALLS for word in ("--call", call))],
        ["tellerline", "doctor"],
        ["tellerline", "bank", "import", "--dry-run", CUSTOMERS.name],
        ["tellerline", "replay", "run", folder.name, "--out", "run", "--jobs", "1"],
    ]
    found = [f"{' '.join(words[:3])} ended with {status}" for words in commands if (status := inside(words))]
    return found + list(_unheard(state / "run/decisions.jsonl")) + asyncio.run(_unanswered(url, sounds))


def _record(folder: Path) -> None:
    """One recording as Ogg Opus, FLAC and MP3, each with what it means."""
    shutil.copy2(SAID, folder)
    for ending, codec in _CODED.items():
        with av.open(str(SAID)) as heard, av.open(str(folder / f"balance-1-{ending}.{ending}"), "w") as made:
            stream = made.add_stream(codec, rate=_RATE)
            assert isinstance(stream, av.AudioStream)
            stream.layout = "mono"
            resampler = av.AudioResampler(format=stream.format, layout="mono", rate=_RATE)
            for frame in (part for whole in heard.decode(audio=0) for part in resampler.resample(whole)):
                made.mux(stream.encode(frame))
            made.mux(stream.encode(None))
    for path in list(folder.iterdir()):
        path.with_suffix(".json").write_text(json.dumps({"locale": "en-US", "expect": {"intent": MEANT}}))


def _unheard(decisions: Path) -> Iterator[str]:
    """Recordings that replay made something else of."""
    lines = decisions.read_text().splitlines() if decisions.exists() else []
    told = {line["case"]: line["intent"] for line in map(json.loads, lines)}
    if len(told) != 1 + len(_CODED):
        yield f"replay played {len(told)} recordings"
    yield from (f"{case} was replayed as {intent}" for case, intent in told.items() if intent != MEANT)


async def _unanswered(url: str, sounds: dict[str, bytes]) -> list[str]:
    """Recordings that the running service, asked for each, made nothing of."""
    signed = {"Authorization": f"Bearer {await demo_token(url, 'alex-morgan')}"}
    found = []
    async with httpx.AsyncClient(base_url=url, headers=signed, timeout=30) as client:
        for name, sound in sounds.items():
            answer = await client.post("/v1/utterances", params={"locale": "en-US"}, content=sound)
            if not answer.is_success or answer.json()["decision"].get("intent") != MEANT:
                found.append(f"{name} was answered by {answer.status_code}: {answer.text[:200]}")
    return found
