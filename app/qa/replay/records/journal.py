"""The folder of a run: its head, the journal that makes it resumable, and the files that are made of the journal."""

import fcntl
import lzma
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Final

import orjson
from pydantic import JsonValue

from app.qa.replay.provenance import Sitting
from app.qa.replay.records.record import TurnRecord, TurnResult, TurnTiming, line, parse
from schemas.errors import MalformedMessage, NotFound, WrongState

HEAD: Final = "run.json"
JOURNAL: Final = "journal.jsonl"
DECISIONS: Final = "decisions.jsonl"
TIMINGS: Final = "timings.jsonl"
SCORES: Final = "scores.json"
REPORT: Final = "report.html"
SOURCES: Final = "sources.json"
HELD: Final = "held.json"
RULES: Final = "rules.json.xz"
LOCK: Final = ".lock"
_MADE: Final = (DECISIONS, TIMINGS, SCORES, REPORT)
"""Files made of the journal: stale as soon as a run is begun or resumed."""


RuleEntries = Mapping[str, Sequence[JsonValue]]
"""What each rule says, by the id of its file and its place in it."""


@dataclass(frozen=True, slots=True)
class RunHead:
    """What a run depends on. Two runs with equal heads must have equal decisions.

    `code` is a hash of every source file; `settings` are those that decisions depend on, without secrets.
    """

    manifest: str
    ruleset: str
    recognizer: str
    models: str
    tellerline: str
    mode: str
    corpus: str
    cases: int
    code: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    def differs_in(self, other: "RunHead") -> tuple[str, ...]:
        """What is not the same, as `name before → after`."""
        mine, yours = asdict(self), asdict(other)
        return tuple(
            f"{name} {_short(mine[name])} → {_short(yours[name])}" for name in mine if mine[name] != yours[name]
        )


def _short(value: object) -> str:
    return f"{value!s:.32}" or "none"


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run, read back. `sittings` say when it was played, where, and by which commit.

    `sources` has every file of code, rules, weights and sound by name, with a hash of its bytes; `words` what words
    were taken for, and `slack` what policies allowed (`readings`, `policy.slack`). `rules` are all rules by entry; none
    where they are not known.
    """

    head: RunHead
    results: tuple[TurnResult, ...]
    sittings: tuple[Sitting, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    slack: Mapping[str, float] = field(default_factory=dict)
    rules: RuleEntries = field(default_factory=dict)

    @property
    def kept(self) -> int:
        """How many recordings were heard by earlier runs, and not decoded."""
        return sum(result.timing.kept for result in self.results)


class Journal:
    """Finished cases, appended as they finish; a torn last line (a crash while writing) is dropped."""

    def __init__(self, folder: Path, head: RunHead, sitting: Sitting | None = None) -> None:
        self._folder = folder
        self._head = head
        self._sitting = sitting
        self._done: dict[str, bytes] = {}
        self._fd = -1
        self._lock = -1

    def open(self, *, fresh: bool = False) -> frozenset[str]:
        """Begin or resume; the cases already done.

        Raises WrongState where the folder holds a run of other code, rules, sound or models, or one that is going on.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        self._take_lock()
        journal = self._folder / JOURNAL
        before: tuple[Sitting, ...] = ()
        if fresh:
            journal.unlink(missing_ok=True)
        elif journal.is_file() and journal.stat().st_size:
            before = self._same_run()
        for name in _MADE:
            (self._folder / name).unlink(missing_ok=True)
        kept = self._read(journal)
        self._write_head(before)
        self._fd = os.open(journal, os.O_WRONLY | os.O_CREAT, 0o644)
        os.ftruncate(self._fd, kept)
        os.lseek(self._fd, kept, os.SEEK_SET)
        return frozenset(self._done)

    def note_sources(self, files: Mapping[str, str]) -> None:
        """Put on record every file that the run is made of, with a hash: what says later which of them changed."""
        (self._folder / SOURCES).write_bytes(orjson.dumps(dict(files), option=orjson.OPT_SORT_KEYS))

    def note_held(self, words: Mapping[str, str], slack: Mapping[str, float]) -> None:
        """Put on record what later runs are held to beside the calls."""
        held = {"slack": dict(slack), "words": dict(words)}
        (self._folder / HELD).write_bytes(orjson.dumps(held, option=orjson.OPT_SORT_KEYS))

    def note_rules(self, entries: RuleEntries) -> None:
        """Put on record every entry of the rules: what says later which of them changed."""
        (self._folder / RULES).write_bytes(lzma.compress(orjson.dumps(entries, option=orjson.OPT_SORT_KEYS), preset=1))

    def _take_lock(self) -> None:
        self._lock = os.open(self._folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.close()
            raise WrongState(f"another run is being written to {self._folder}") from error

    def _same_run(self) -> tuple[Sitting, ...]:
        try:
            head, sittings = _read_head(self._folder)
        except (OSError, ValueError, TypeError) as error:
            self.close()
            raise WrongState(
                f"{self._folder} holds a run that does not say what it was made by: use --fresh"
            ) from error
        if head != self._head:
            differs = "; ".join(head.differs_in(self._head))
            self.close()
            raise WrongState(f"{self._folder} holds a run of something else ({differs}): use --fresh or another --out")
        return sittings

    def _write_head(self, before: tuple[Sitting, ...]) -> None:
        now = () if self._sitting is None else (replace(self._sitting, held=len(self._done)),)
        body = asdict(self._head) | {"sittings": [asdict(one) for one in (*before, *now)]}
        (self._folder / HEAD).write_bytes(orjson.dumps(body, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))

    def _read(self, journal: Path) -> int:
        """Take in whole lines; how many bytes of the file are good."""
        good = 0
        for raw in journal.read_bytes().splitlines(keepends=True) if journal.is_file() else ():
            if not raw.endswith(b"\n"):
                break
            try:
                self._done[orjson.loads(raw)["case"]] = raw
            except (orjson.JSONDecodeError, KeyError, TypeError):
                break
            good += len(raw)
        return good

    def append(self, case: str, results: Sequence[TurnResult]) -> None:
        """Put a finished case on record."""
        raw = _journal_line(case, results)
        os.write(self._fd, raw)
        self._done[case] = raw

    def results(self, order: Iterable[str]) -> tuple[TurnResult, ...]:
        """Every turn of the cases that are done, in the manifest's order."""
        return tuple(result for case in order if case in self._done for result in _results(self._done[case]))

    def finish(self, order: Iterable[str]) -> tuple[TurnResult, ...]:
        """Write decisions and timings, sync, close; the results in order."""
        results = self.results(order)
        (self._folder / DECISIONS).write_bytes(b"".join(line(r.record) + b"\n" for r in results))
        (self._folder / TIMINGS).write_bytes(b"".join(line(r.timing) + b"\n" for r in results))
        self.close()
        return results

    def close(self) -> None:
        """Sync, close, let others in; safe to call twice."""
        if self._fd >= 0:
            os.fsync(self._fd)
            os.close(self._fd)
            self._fd = -1
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def _journal_line(case: str, results: Sequence[TurnResult]) -> bytes:
    turns = [{"record": orjson.Fragment(line(r.record)), "timing": orjson.Fragment(line(r.timing))} for r in results]
    return orjson.dumps({"case": case, "turns": turns}) + b"\n"


def _results(raw: bytes) -> Iterable[TurnResult]:
    for turn in orjson.loads(raw)["turns"]:
        yield TurnResult.model_validate(turn)


def _read_head(folder: Path) -> tuple[RunHead, tuple[Sitting, ...]]:
    """Raises OSError, ValueError, TypeError."""
    body = orjson.loads((folder / HEAD).read_bytes())
    sittings = tuple(Sitting(**one) for one in body.pop("sittings", ()))
    known = {item.name for item in fields(RunHead)}
    if set(body) != known:
        raise ValueError(f"{HEAD} lacks or has too many of {', '.join(sorted(known ^ set(body)))}")
    return RunHead(**body), sittings


def begun(folder: Path, now: datetime, *, fresh: bool) -> datetime:
    """When the run in a folder began, where it goes on; else `now`."""
    if not fresh and (folder / JOURNAL).is_file():
        with suppress(OSError, ValueError, TypeError, LookupError):
            return datetime.fromisoformat(_read_head(folder)[1][0].started)
    return now


def read_run(folder: Path) -> Run:
    """A finished run's head, decisions and timings. Raises NotFound, MalformedMessage."""
    for name in (HEAD, DECISIONS, TIMINGS, SOURCES):
        if not (folder / name).is_file():
            raise NotFound(f"{folder} is not a finished run: {name} is missing")
    try:
        head, sittings = _read_head(folder)
        sources = orjson.loads((folder / SOURCES).read_bytes())
        held = orjson.loads((folder / HELD).read_bytes()) if (folder / HELD).is_file() else {}
        rules = orjson.loads(lzma.decompress((folder / RULES).read_bytes())) if (folder / RULES).is_file() else {}
        records = [parse(TurnRecord, raw) for raw in (folder / DECISIONS).read_bytes().splitlines()]
        timings = [parse(TurnTiming, raw) for raw in (folder / TIMINGS).read_bytes().splitlines()]
        results = tuple(TurnResult(record=r, timing=t) for r, t in zip(records, timings, strict=True))
    except (ValueError, TypeError, lzma.LZMAError) as error:
        raise MalformedMessage(f"{folder}: {error}") from error
    cases = len({result.record.case for result in results})
    if cases != head.cases:
        raise MalformedMessage(f"{folder} has decisions of {cases} of its {head.cases} cases")
    return Run(head, results, sittings, sources, held.get("words", {}), held.get("slack", {}), rules)
