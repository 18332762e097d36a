"""Reading an order back: payee, amount, day and source account, and the bank's doubts about the payee's name."""

from schemas.banking import PayeeVerification, TransferOrder, TransferState
from schemas.decision import Reply
from schemas.transfer import Owed
from services.dialogue.events import Facts
from services.dialogue.names import account_name, bill, day_name, payee_at_bank, payee_told_apart, reply


def readback(order: TransferOrder, verification: PayeeVerification, facts: Facts) -> Reply:
    """The sentence that a yes will be bound to."""
    source = account_name(facts, order.source)
    when = (
        reply("when.now")
        if order.on is None or order.on == facts.today
        else reply("when.on", date=day_name(facts, order.on))
    )
    if order.to_account is not None:
        target = account_name(facts, order.to_account)
        return reply("confirm.own", amount=order.amount, source=source, target=target, when=when)
    due = bill(facts, order.bill_id)
    assert order.payee_id is not None, "an order has a payee, who may be a bill's, or an own account"
    name = payee_told_apart(facts, order.payee_id)
    kind = "confirm.doubted" if doubted(order, verification) else "confirm.transfer"
    said = reply(kind, amount=order.amount, payee=payee_at_bank(facts, order.payee_id, name), source=source, when=when)
    if due is not None:
        said = reply("confirm.bill", amount=order.amount, bill=due.name, source=source, when=when)
    doubt = _doubt(order, verification, name, facts)
    return said if doubt is None else reply("say.both", first=doubt, second=said)


def doubted(order: TransferOrder, verification: PayeeVerification) -> bool:
    """Whether a yes has to name the deed: the payee's account bears another name. A bill's is told, no more."""
    return verification is PayeeVerification.NO_MATCH and order.to_account is None and order.bill_id is None


def _doubt(order: TransferOrder, verification: PayeeVerification, name: Reply, facts: Facts) -> Reply | None:
    match verification:
        case PayeeVerification.CLOSE_MATCH:
            return reply("warn.close_match", payee=name)
        case PayeeVerification.NO_MATCH:
            return reply("warn.no_match", payee=name)
        case PayeeVerification.UNAVAILABLE:
            return reply("warn.not_checked")
        case PayeeVerification.MATCH:
            known = facts.payees.get(order.payee_id) if order.payee_id is not None else None
            return reply("warn.new_payee", payee=name) if known is not None and known.is_new else None


def settled(order: TransferOrder, facts: Facts, *, booked: bool) -> Reply:
    """What to say of an order that went through, or that is `booked` and waits for its day, were it today by now."""
    kind = "bill_" if bill(facts, order.bill_id) is not None else "own_" if order.to_account is not None else ""
    to = _to(order, facts)
    if booked and order.on is not None:
        return reply(f"transfer.{kind}scheduled", amount=order.amount, to=to, date=day_name(facts, order.on))
    return reply(f"transfer.{kind}done", amount=order.amount, to=to)


def notice(owed: Owed, facts: Facts) -> Reply:
    """What became of an order that the customer waits to hear of."""
    order, state = owed.order, owed.receipt.state
    to = _to(order, facts)
    if state is TransferState.SUCCEEDED:
        return reply("notice.done", amount=order.amount, to=to)
    if state is TransferState.CONFIRMED and order.on is not None:
        return reply("notice.scheduled", amount=order.amount, to=to, date=day_name(facts, order.on))
    return reply("notice.failed", amount=order.amount, to=to)


def _to(order: TransferOrder, facts: Facts) -> Reply | str:
    if order.to_account is not None:
        return account_name(facts, order.to_account)
    due = bill(facts, order.bill_id)
    if due is not None:
        return due.name
    return payee_told_apart(facts, order.payee_id) if order.payee_id is not None else ""
