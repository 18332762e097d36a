"""The folder of a run: its head, the journal that makes it resumable, and the files that are made of the journal."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import orjson

from app.qa.replay.record import TurnRecord, TurnResult, TurnTiming, line, parse
from schemas.errors import MalformedMessage, NotFound, WrongState

HEAD: Final = "run.json"
JOURNAL: Final = "journal.jsonl"
DECISIONS: Final = "decisions.jsonl"
TIMINGS: Final = "timings.jsonl"
SCORES: Final = "scores.json"
REPORT: Final = "report.html"


@dataclass(frozen=True, slots=True)
class Head:
    """What a run depends on. Two runs with equal heads must have equal decisions."""

    manifest: str
    ruleset: str
    recognizer: str
    models: str
    tellerline: str
    mode: str
    corpus: str
    cases: int


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run, read back."""

    head: Head
    results: tuple[TurnResult, ...]


class Journal:
    """Finished cases, appended as they finish; a torn last line (a crash while writing) is dropped."""

    def __init__(self, folder: Path, head: Head) -> None:
        self._folder = folder
        self._head = head
        self._done: dict[str, bytes] = {}
        self._fd = -1

    def open(self, *, fresh: bool = False) -> frozenset[str]:
        """Begin or resume; the cases already done. Raises WrongState where the folder holds another run."""
        self._folder.mkdir(parents=True, exist_ok=True)
        head, journal = self._folder / HEAD, self._folder / JOURNAL
        body = orjson.dumps(asdict(self._head), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
        if fresh:
            journal.unlink(missing_ok=True)
        elif head.is_file() and journal.is_file() and head.read_bytes() != body:
            raise WrongState(
                f"{self._folder} holds a run of other audio, rules or models: use --fresh or another --out"
            )
        head.write_bytes(body)
        kept = self._read(journal)
        self._fd = os.open(journal, os.O_WRONLY | os.O_CREAT, 0o644)
        os.ftruncate(self._fd, kept)
        os.lseek(self._fd, kept, os.SEEK_SET)
        return frozenset(self._done)

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
        """Sync and close; safe to call twice."""
        if self._fd >= 0:
            os.fsync(self._fd)
            os.close(self._fd)
            self._fd = -1


def _journal_line(case: str, results: Sequence[TurnResult]) -> bytes:
    turns = [{"record": orjson.Fragment(line(r.record)), "timing": orjson.Fragment(line(r.timing))} for r in results]
    return orjson.dumps({"case": case, "turns": turns}) + b"\n"


def _results(raw: bytes) -> Iterable[TurnResult]:
    for turn in orjson.loads(raw)["turns"]:
        yield TurnResult.model_validate(turn)


def read_run(folder: Path) -> Run:
    """A finished run's head, decisions and timings. Raises NotFound, MalformedMessage."""
    for name in (HEAD, DECISIONS, TIMINGS):
        if not (folder / name).is_file():
            raise NotFound(f"{folder} is not a finished run: {name} is missing")
    try:
        head = Head(**orjson.loads((folder / HEAD).read_bytes()))
        records = [parse(TurnRecord, raw) for raw in (folder / DECISIONS).read_bytes().splitlines()]
        timings = [parse(TurnTiming, raw) for raw in (folder / TIMINGS).read_bytes().splitlines()]
        pairs = zip(records, timings, strict=True)
        return Run(head, tuple(TurnResult(record=r, timing=t) for r, t in pairs))
    except (ValueError, TypeError) as error:
        raise MalformedMessage(f"{folder}: {error}") from error
