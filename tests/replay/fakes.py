"""A player that needs no models, for tests of the runner: it says what the manifest expects."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from app.qa.replay.manifests.manifest import Case, Manifest
from app.qa.replay.records.journal import RunHead
from app.qa.replay.records.record import TurnRecord, TurnResult, TurnTiming
from schemas.errors import MalformedAudio


class FakePlayer:
    """Hears the reference; a case called `bad…` can't be decoded, one called `slow…` takes a while."""

    def __init__(self, played: Path) -> None:
        self._played = played

    async def play(self, case: Case, base: Path) -> tuple[TurnResult, ...]:
        with self._played.open("a") as log:
            log.write(case.id + "\n")
        if case.id.startswith("bad"):
            raise MalformedAudio("no samples")
        if case.id.startswith("slow"):
            await asyncio.sleep(0.05)
        return tuple(self._turn(case, n) for n in range(1, len(case.turns) + 1))

    def _turn(self, case: Case, number: int) -> TurnResult:
        said = case.turns[number - 1]
        record = TurnRecord(case=case.id, turn=number, locale=case.locale, heard=said.text or "", expect=said.expect)
        return TurnResult(record=record, timing=TurnTiming(case=case.id, turn=number, audio_s=1.0, total_ms=2.0))

    async def close(self) -> None:
        pass


@dataclass(frozen=True)
class FakeSpec:
    """Makes FakePlayers that note in `played` what they were given."""

    played: Path
    ruleset: str = "rules"

    def head(self, manifest: Manifest, corpus: str) -> RunHead:
        return RunHead(manifest.digest(), self.ruleset, "fake", "", "0", "in process", corpus, len(manifest.cases))

    def weights(self) -> dict[str, str]:
        return {}

    def prepare(self) -> None:
        pass

    async def open(self) -> FakePlayer:
        return FakePlayer(self.played)
