"""`replay check`: everything that is wrong with a manifest and its recordings, at once, before anything is played."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.qa.desk import exported
from app.qa.replay.comparing import policy as policies
from app.qa.replay.labelling.vocabulary import label_faults
from app.qa.replay.manifests import readers, remote
from app.qa.replay.manifests.manifest import Case, CaseTurn, Manifest, by_people
from app.qa.replay.playing.player import source_of
from app.qa.replay.sound.audio import Clip, decode
from app.settings import read_settings
from schemas.audio import SAMPLE_RATE
from schemas.errors import TellerlineError

_THREADS: Final = 4


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What is wrong, and what is there, in words."""

    faults: tuple[str, ...]
    says: tuple[str, ...]


def examine(path: Path, policy: str = "", mirror: Path | None = None) -> CheckReport:
    """Read all of a manifest, decode all of its recordings; what lies elsewhere is brought into `mirror`.

    Raises NotFound, TooLarge, BadInput, DependencyFailed.
    """
    if mirror is not None and (sealed := exported.references(path)):
        with exported.unsealed(sealed, read_settings()) as manifest:
            return _examined(manifest, (), policy)
    manifest, unread = readers.read(path if mirror is None else remote.brought(path, mirror))
    if mirror is not None:
        unbrought: list[str] = []
        manifest = remote.with_sound(manifest, path, mirror, unbrought)
        unread = (*unread, *unbrought)
    return _examined(manifest, unread, policy)


def _examined(manifest: Manifest, unread: tuple[str, ...], policy: str) -> CheckReport:
    faults = [*unread, *label_faults(manifest)]
    seconds, channels = 0.0, Counter[str]()
    with ThreadPoolExecutor(_THREADS) as pool:
        for where, heard in pool.map(lambda turn: _heard(*turn), _recorded(manifest)):
            if isinstance(heard, str):
                faults.append(f"{where}: {heard}")
            else:
                seconds += heard[0]
                channels[heard[1]] += 1
    if policy:
        faults += [f"policy {policy} needs {lacking}" for lacking in policies.policy(policy).lacks(manifest)]
    return CheckReport(tuple(faults), tuple(_says(manifest, seconds, channels)))


def _recorded(manifest: Manifest) -> Iterator[tuple[Case, int, CaseTurn, Path]]:
    for case in manifest.cases:
        for number, turn in enumerate(case.turns, 1):
            if turn.audio is not None:
                yield case, number, turn, manifest.base


def _heard(case: Case, number: int, turn: CaseTurn, base: Path) -> tuple[str, str | tuple[float, str]]:
    """The turn, and what is wrong with its sound, or its seconds and its channel."""
    where = f"{case.id}#{number}"
    try:
        clip: Clip = source_of(turn, base)
        decoded = decode(clip)
    except TellerlineError as error:
        return where, error.message
    of = "" if decoded.channels == 1 else f" of {decoded.channels}"
    return where, (len(decoded.samples) / SAMPLE_RATE, f"channel {decoded.channel}{of}, {decoded.chosen}")


def _says(manifest: Manifest, seconds: float, channels: Counter[str]) -> Iterator[str]:
    turns = [turn for case in manifest.cases for turn in case.turns]
    labels = Counter(name for turn in turns if turn.expect for name in turn.expect.named)
    people = sum(1 for turn in turns if (expect := by_people(turn.expect)) and expect.behaviour)
    machine = sum(1 for turn in turns if turn.expect and turn.expect.by_machine)
    yield f"{len(manifest.cases)} calls, {len(turns)} turns, {seconds / 60:.1f} min of sound"
    yield from (f"{count} recordings: {channel}" for channel, count in channels.most_common())
    yield f"{people} turns labelled by people, {machine} with a machine's labels"
    yield "labels: " + (", ".join(f"{name} {count}" for name, count in sorted(labels.items())) or "none")
