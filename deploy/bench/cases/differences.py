"""What a turn has to come to, beside what came of it."""

from collections.abc import Iterator
from dataclasses import fields

from deploy.bench.cases.conversations import Turn
from schemas.banking import (
    TransferOrder,
)
from schemas.decision import (
    Answer,
    Confirm,
    Decision,
    Execute,
    Reply,
    ReplyParam,
)
from schemas.intent import Slots, Understood
from schemas.money import exponent
from schemas.span import DateValue, MoneyValue
from tests.fakes.desk import FakeDesk


def differences(turn: Turn, understood: Understood | None, said: list[Decision], desk: FakeDesk) -> Iterator[str]:
    """What did not come out as written, in words."""
    if turn.decision is not None and said[0].kind.value != turn.decision:
        yield f"decision {said[0].kind.value}, not {turn.decision}; says {_ids(said)}"
    if turn.reply is not None and turn.reply not in _ids(said):
        yield f"says {_ids(said)}, not {turn.reply}"
    if understood is not None and turn.intent is not None:
        intent = understood.intent.value if understood.intent else "none"
        if intent != turn.intent:
            yield f"intent {intent}, not {turn.intent} ({understood.rule}, {understood.route.value})"
    if understood is not None and turn.slots is not None:
        found = {f.name: _shown(slot.value) for f in fields(Slots) if (slot := getattr(understood.slots, f.name))}
        if found != turn.slots:
            yield f"slots {found}, not {turn.slots}"
    if turn.order is not None:
        orders = [order_rows(d.order) for d in said if isinstance(d, Confirm)]
        if not orders or not turn.order.items() <= orders[-1].items():
            yield f"order {orders[-1] if orders else None}, not {turn.order}"
    if turn.moved is not None and len(desk.moved) != turn.moved:
        yield f"{len(desk.moved)} transfers, not {turn.moved}"


def _ids(said: list[Decision]) -> list[str]:
    found: list[str] = []
    for decision in said:
        if not isinstance(decision, Execute) and decision.reply is not None:
            found.extend(_reply_ids(decision.reply))
        if isinstance(decision, Answer) and decision.question:
            found.append("(question)")
    return found


def _reply_ids(value: ReplyParam) -> list[str]:
    if isinstance(value, tuple):
        return [id_ for item in value for id_ in _reply_ids(item)]
    if isinstance(value, Reply):
        return [str(value.id), *(id_ for param in value.params.values() for id_ in _reply_ids(param))]
    return []


def _shown(value: object) -> str:
    if isinstance(value, MoneyValue):
        return _money(value.amount_minor, value.currency)
    if isinstance(value, DateValue):
        return str(value.start) if value.start == value.end else f"{value.start}..{value.end}"
    return str(value)


def _money(minor: int, currency: str | None) -> str:
    if currency is None:
        return str(minor)
    digits = exponent(currency)
    return f"{minor / 10**digits:.{digits}f} {currency}"


def order_rows(order: TransferOrder) -> dict[str, str]:
    """What an order holds, as the files write it."""
    rows = {
        "amount": _money(order.amount.minor, order.amount.currency),
        "payee": order.payee_id,
        "source": order.source,
        "to": order.to_account,
        "on": str(order.on) if order.on else None,
        "bill": order.bill_id,
    }
    return {name: str(value) for name, value in rows.items() if value is not None}
