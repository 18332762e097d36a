"""A shadow: every call at once through this pipeline and through another, and what differs is kept.

The other has another recogniser, other rules, or is another tree altogether. Each runs in a process of its own that
plays one call at a time, so that neither can change what the other does.
"""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

import orjson

from app.qa.replay.judging.judge import judge
from app.qa.replay.judging.stats import mcnemar
from app.qa.replay.judging.verdicts import FieldChange, changes
from app.qa.replay.manifests.manifest import Case, CaseTurn, Manifest
from app.qa.replay.playing.house import PipelineSpec
from app.qa.replay.playing.player import source_of
from app.qa.replay.playing.run import guarded
from app.qa.replay.playing.trees import OtherPipeline, tree_of
from app.qa.replay.records.record import TurnRecord
from app.qa.replay.sound.audio import decode
from app.recordings.files import flac
from app.settings import read_settings
from schemas.errors import InternalFault, TellerlineError

KEPT: Final = "differs.jsonl"
SOUND: Final = "sound"
_END_S: Final = 20.0


@dataclass(slots=True)
class ShadowReport:
    """How many turns went through both, how many differ in which value, and how many only one has right."""

    turns: int = 0
    differ: int = 0
    values: Counter[str] = field(default_factory=Counter)
    money: list[str] = field(default_factory=list)
    ours_alone: int = 0
    others_alone: int = 0

    def says(self) -> Iterator[str]:
        """The report in lines."""
        yield f"{self.turns} turns through both, {self.differ} differ"
        yield from (f"{count} differ in {name}" for name, count in self.values.most_common())
        if self.money:
            yield f"money differs in {len(self.money)}: {', '.join(self.money[:8])}"
        p = mcnemar(self.ours_alone, self.others_alone)
        yield f"right here alone {self.ours_alone}, right there alone {self.others_alone} (p = {p:.2g}, McNemar)"


def shadow(manifest: Manifest, other: OtherPipeline, out: Path) -> ShadowReport:
    """Play every call through both at once; turns that differ are written into `out`, with their sound.

    Raises BadInput, and InternalFault where one of the two breaks off.
    """
    out.mkdir(parents=True, exist_ok=True)
    report = ShadowReport()
    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(2))
        kept = stack.enter_context((out / KEPT).open("wb"))
        sound = any(turn.audio for case in manifest.cases for turn in case.turns)
        both = [stack.enter_context(_started(one, sound)) for one in (other, OtherPipeline())][::-1]
        for case in manifest.cases:
            asked = case.model_dump(mode="json", exclude_defaults=True)
            line = orjson.dumps({"case": asked, "base": str(manifest.base.resolve())})
            ours, theirs = pool.map(lambda running, line=line: running.ask(line), both)
            for place, (here, there) in enumerate(zip(ours, theirs, strict=True)):
                if found := _noted(report, here, there):
                    kept.write(_kept(here, there, found))
                    _keep_sound(case.turns[place], manifest.base, out / SOUND / f"{report.differ}.flac")
    return report


def _noted(report: ShadowReport, here: TurnRecord, there: TurnRecord) -> tuple[FieldChange, ...]:
    found = changes(here, there, here.expect)
    report.turns += 1
    right = judge(here).right, judge(there).right
    report.ours_alone += right == (True, False)
    report.others_alone += right == (False, True)
    if found:
        report.differ += 1
        report.values.update(change.name for change in found)
        if any(change.money for change in found):
            report.money.append(here.id)
    return found


def _kept(here: TurnRecord, there: TurnRecord, found: Sequence[FieldChange]) -> bytes:
    told: dict[str, Any] = {"id": here.id, "differs": [[c.name, c.before.shown, c.after.shown] for c in found]}
    for name, record in (("here", here), ("there", there)):
        told[name] = record.model_dump(mode="json", exclude_defaults=True)
    return orjson.dumps(told) + b"\n"


def _keep_sound(turn: CaseTurn, base: Path, target: Path) -> None:
    """What both heard. A recording that could not be decoded is told of in the turn itself."""
    if turn.audio is None:
        return
    try:
        body = flac(decode(source_of(turn, base)).samples)
    except TellerlineError:
        return
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(body)


class RunningPipeline:
    """A pipeline in a process of its own."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process

    def ask(self, line: bytes) -> list[TurnRecord]:
        """Have a call played. Raises InternalFault where the process breaks off."""
        given, taken = self._process.stdin, self._process.stdout
        assert given is not None
        assert taken is not None
        try:
            given.write(line + b"\n")
            given.flush()
            answer = taken.readline()
        except OSError:
            answer = b""
        if not answer:
            raise InternalFault("one of the two pipelines broke off: its error stands above")
        return [TurnRecord.model_validate(record) for record in orjson.loads(answer)]


@contextmanager
def _started(other: OtherPipeline, sound: bool) -> Iterator[RunningPipeline]:
    """A pipeline as `other` says. Raises BadInput where a folder is not what it should be."""
    command = [sys.executable, "-m", "app.cli", "replay", "stand", "--asr-model", other.asr_model]
    command += ["--sound"] if sound else []
    with (
        tree_of(other) as tree,
        subprocess.Popen(command, cwd=tree, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process,  # noqa: S603
    ):
        try:
            yield RunningPipeline(process)
        finally:
            assert process.stdin is not None
            with suppress(OSError):
                process.stdin.close()
            try:
                process.wait(_END_S)
            except subprocess.TimeoutExpired:
                process.kill()


async def stand(given: IO[bytes], taken: IO[bytes], asr_model: str, *, sound: bool) -> None:
    """Play what is asked for, line by line, until nothing more is. An empty `asr_model` is the settings' own."""
    settings = read_settings()
    if asr_model:
        settings = settings.model_copy(update={"asr_model": asr_model})
    player = await PipelineSpec(settings, sound).open()
    try:
        for line in given:
            asked = orjson.loads(line)
            results = await guarded(player, Case.model_validate(asked["case"]), Path(asked["base"]))
            records = [result.record.model_dump(mode="json", exclude_defaults=True) for result in results]
            taken.write(orjson.dumps(records) + b"\n")
            taken.flush()
    finally:
        await player.close()
