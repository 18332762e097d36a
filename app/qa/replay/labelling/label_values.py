"""The values that labels may hold: one that no turn can ever have is told, not counted as wrong."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any, Final

from pydantic import JsonValue

from app.meant import meant
from app.qa.replay.manifests.manifest import ExpectedSpan
from schemas.money import EXPONENTS
from schemas.span import SpanKind

_SUMS: Final = frozenset({"amount", "at_least", "at_most"})
_DAYS: Final = frozenset({"date", "period"})
_COUNTS: Final = frozenset({"choice"})
_SUM_NAMES: Final = frozenset({"amount_minor", "currency"})


def slot_faults(slots: Mapping[str, JsonValue]) -> Iterator[str]:
    """What no slot of these names can be."""
    for name, value in slots.items():
        if name in _SUMS:
            fault = _sum(value)
        elif name in _DAYS:
            fault = _days(value)
        elif name in _COUNTS:
            fault = "" if isinstance(value, int) and not isinstance(value, bool) else "a whole number"
        else:
            fault = "" if isinstance(value, str) and value else "words"
        if fault:
            yield f"slot {name} is {fault}, and not {value!r:.80}"


def span_faults(spans: Iterable[ExpectedSpan]) -> Iterator[str]:
    """What no typed expression can be."""
    kinds = frozenset(SpanKind)
    for span in spans:
        if span.kind not in kinds:
            near = meant(span.kind, kinds)
            yield f"unknown span {span.kind!r}: " + (f"did you mean {near}?" if near else f"one of {', '.join(kinds)}")
            continue
        fault = {SpanKind.MONEY: _sum, SpanKind.DATE: _days, SpanKind.TIME: _times}.get(SpanKind(span.kind), _words)
        if told := fault(span.value):
            yield f"span {span.kind} is {told}, and not {span.value!r:.80}"


def _sum(value: JsonValue) -> str:
    if isinstance(value, dict) and "amount_minor" in value and value.keys() <= _SUM_NAMES:
        minor, currency = value["amount_minor"], value.get("currency")
        if isinstance(minor, int) and not isinstance(minor, bool) and (currency is None or currency in EXPONENTS):
            return ""
    return "an amount_minor with a currency"


def _days(value: JsonValue) -> str:
    return "" if all(map(_is_day, _ends(value))) else "a day, or from `start` to `end`"


def _times(value: JsonValue) -> str:
    return "" if all(isinstance(end, str) and end for end in _ends(value)) else "a time, or from `start` to `end`"


def _words(value: JsonValue) -> str:
    said = isinstance(value, str) and value
    return "" if said or (isinstance(value, int) and not isinstance(value, bool)) else "words or a number"


def _ends(value: JsonValue) -> list[Any]:
    if isinstance(value, dict):
        return [value["start"], value["end"]] if value.keys() == {"start", "end"} else [None]
    return [value]


def _is_day(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(date.fromisoformat(value))
    except ValueError:
        return False
