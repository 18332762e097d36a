"""Stages, their stamps and their metrics. Labels hold stage, route, intent and outcome names only."""

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest


class Stamp(StrEnum):
    """Moments of a turn that are put on record, in the order they usually come."""

    REQUEST_RECEIVED = "request_received"
    AUDIO_UPLOAD_DONE = "audio_upload_done"
    ASR_START = "asr_start"
    ASR_FINAL = "asr_final"
    NORMALIZATION_START = "normalization_start"
    NORMALIZATION_END = "normalization_end"
    FUZZY_LOOKUP_START = "fuzzy_lookup_start"
    FUZZY_LOOKUP_END = "fuzzy_lookup_end"
    UNDERSTANDING_END = "understanding_end"
    LLM_REQUEST_START = "llm_request_start"
    LLM_REQUEST_END = "llm_request_end"
    TOOL_VALIDATION_START = "tool_validation_start"
    TOOL_VALIDATION_END = "tool_validation_end"
    RESPONSE_SENT = "response_sent"


SECONDS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.35, 0.5, 0.75, 1.0, 2.0)
"""Histogram buckets: 1 ms to 2 s."""

DURATIONS: Final = (
    ("upload", Stamp.REQUEST_RECEIVED, Stamp.AUDIO_UPLOAD_DONE),
    ("asr", Stamp.ASR_START, Stamp.ASR_FINAL),
    ("normalization", Stamp.NORMALIZATION_START, Stamp.NORMALIZATION_END),
    ("fuzzy_lookup", Stamp.FUZZY_LOOKUP_START, Stamp.FUZZY_LOOKUP_END),
    ("understanding", Stamp.FUZZY_LOOKUP_END, Stamp.UNDERSTANDING_END),
    ("llm", Stamp.LLM_REQUEST_START, Stamp.LLM_REQUEST_END),
    ("tool_validation", Stamp.TOOL_VALIDATION_START, Stamp.TOOL_VALIDATION_END),
    ("total", Stamp.REQUEST_RECEIVED, Stamp.RESPONSE_SENT),
)
"""Stages as the time between two stamps; one that lacks a stamp did not happen."""


@dataclass(slots=True)
class Stamps:
    """The moments of one turn, in seconds of the monotonic clock `tick`. The first mark of each kind counts."""

    tick: Callable[[], float]
    at: dict[Stamp, float] = field(default_factory=dict)

    def mark(self, *stamps: Stamp) -> None:
        """Note that each of `stamps` is now."""
        now = self.tick()
        for stamp in stamps:
            self.at.setdefault(stamp, now)

    @contextmanager
    def between(self, start: Stamp, end: Stamp) -> Iterator[None]:
        """Mark both ends of a block, the end also when it fails."""
        self.mark(start)
        try:
            yield
        finally:
            self.mark(end)

    def stages_ms(self) -> dict[str, float]:
        """Durations of the stages that happened, in milliseconds."""
        return {
            name: (self.at[end] - self.at[start]) * 1000
            for name, start, end in DURATIONS
            if start in self.at and end in self.at
        }


class Metrics:
    """Everything /metrics shows. One object a process, with a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._stage = Histogram(
            "tellerline_stage_seconds",
            "Time spent in a stage of a turn",
            ["stage"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self._turns = Counter(
            "tellerline_turns",
            "Turns by route, intent and decision",
            ["route", "intent", "outcome"],
            registry=self.registry,
        )
        self._errors = Counter("tellerline_errors", "Errors by stable code", ["code"], registry=self.registry)
        self.calls = Gauge("tellerline_calls", "Calls being served", registry=self.registry)
        self.refused = Counter(
            "tellerline_refused", "Calls refused at the door, by reason", ["reason"], registry=self.registry
        )
        self.waiting = Gauge(
            "tellerline_waiting",
            "What waits its turn, by the queue that it waits in",
            ["queue"],
            registry=self.registry,
        )
        self.spools_broken = Gauge(
            "tellerline_spools_broken", "Spools put aside because somebody's hand was in them", registry=self.registry
        )
        self._tasks = Gauge("tellerline_tasks", "Tasks on the event loop", registry=self.registry)
        self._blocks = Gauge("tellerline_memory_blocks", "Blocks that Python's objects take", registry=self.registry)

    def turn(self, stamps: Stamps, route: str, intent: str, outcome: str) -> None:
        """Record a finished turn."""
        self._turns.labels(route, intent, outcome).inc()
        for stage, milliseconds in stamps.stages_ms().items():
            self._stage.labels(stage).observe(milliseconds / 1000)

    def error(self, code: str) -> None:
        """Count an error by its code."""
        self._errors.labels(code).inc()

    def exposition(self) -> bytes:
        """All of it, in Prometheus' text format. Called on the event loop whose tasks are counted."""
        self._tasks.set(len(asyncio.all_tasks()))
        self._blocks.set(sys.getallocatedblocks())
        return generate_latest(self.registry)
