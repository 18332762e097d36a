"""Orders with another amount, or another day, in the place of theirs: whatever is said there, the rest is the same."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random  # noqa: TID251 - seeded

import yaml
from pydantic import BaseModel, ConfigDict

from deploy.bench.cases.conversations import Turn
from deploy.bench.cases.differences import order_rows
from deploy.bench.cases.exchanges import Exchange
from deploy.bench.cases.player import ConversationPlayer, PlayTally
from schemas.decision import Confirm
from schemas.money import exponent
from schemas.span import DateValue, Span, SpanKind
from services.normalization import Normalizer
from services.understanding.fast.words.slots import money_of
from tests.fakes.desk import NOW


class SwapFile(BaseModel):
    """One language's amounts and days by their words; `leading` are words before a day that go with it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    version: int
    amounts: dict[str, str]
    days: dict[str, str]
    leading: tuple[str, ...]


def swaps(path: Path) -> SwapFile:
    """A file's amounts and days. Raises OSError, pydantic's ValidationError."""
    return SwapFile.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))


def swapped(player: ConversationPlayer, exchange: Exchange, file: SwapFile) -> Iterator[Exchange]:
    """The exchange with another amount, and with another day, where what is said last names one and it is read back."""
    *before, said = exchange.turns
    rows, chance = _read_back(player, exchange), Random(said)
    if not rows:
        return
    currency = rows["amount"].split(" ")[1]
    spans = Normalizer.for_locale(player.locale).normalize(said, now=NOW, currencies=(currency,))
    amounts = [span for span in spans if span.kind in {SpanKind.MONEY, SpanKind.NUMBER, SpanKind.DIGITS}]
    if len(amounts) == 1 and _amount(amounts[0], currency) == rows["amount"]:
        other = chance.choice(sorted(file.amounts))
        text = said[: amounts[0].start] + other + said[amounts[0].end :]
        yield replace(exchange, turns=(*before, text), order={**rows, "amount": file.amounts[other]}, earlier="")
    days = [span for span in spans if isinstance(span.value, DateValue)]
    if len(days) == 1 and _day(days[0]) == rows.get("on"):
        other = chance.choice(sorted(file.days))
        lead = next((word for word in file.leading if said[: days[0].start].endswith(word)), "")
        text = said[: days[0].start - len(lead)] + other + said[days[0].end :]
        yield replace(exchange, turns=(*before, text), order={**rows, "on": file.days[other]}, earlier="")


def _read_back(player: ConversationPlayer, exchange: Exchange) -> dict[str, str]:
    """All that the order holds which is read back last; nothing where none is."""
    call, rows = player.call(PlayTally()), dict[str, str]()
    for turn in exchange.turns:
        orders = [each.order for each in call.play(Turn(say=turn))[1] if isinstance(each, Confirm)]
        rows = order_rows(orders[-1]) if orders else {}
    return rows


def _amount(span: Span, currency: str) -> str:
    value = money_of(span.kind, span.value, currency)
    digits = exponent(currency)
    return "" if value is None else f"{value.amount_minor / 10**digits:.{digits}f} {currency}"


def _day(span: Span) -> str:
    value = span.value
    return str(value.start) if isinstance(value, DateValue) and value.start == value.end else ""
