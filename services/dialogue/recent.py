"""What a command leans on: what the last one was about, "it", "there", "the other one"."""

from dataclasses import replace

from schemas.ids import AccountId, BillId
from schemas.intent import Intent, SlotName, Understood
from services.dialogue.amounts import merged
from services.dialogue.asked import EXTREMES, first_due, followed
from services.dialogue.errands import history
from services.dialogue.events import Facts
from services.dialogue.phases import Task
from services.dialogue.rules import dialogue_rules
from services.dialogue.state import Memory
from services.dialogue.tasks import is_money


def of_recent(memory: Memory, recent: Task, task: Task, heard: Understood, facts: Facts) -> Task:
    """`task` with what it says "it", "there" or "the other one" of: what the last command was about."""
    if task.card is None and recent.intent is task.intent and heard.by(*dialogue_rules().that_card):
        return replace(task, card=recent.card)
    task = _leaning(_just_locked(task, recent, facts), recent, heard, facts)
    return replace(task, account=_spoken_of(memory, recent)) if heard.by(*dialogue_rules().in_there) else task


def _just_locked(task: Task, recent: Task, facts: Facts) -> Task:
    """Unlocking no card by name: the one that was just locked."""
    named = task.card or task.card_heard or task.intent is not Intent.CARD_UNLOCK
    locked = {each.id for each in facts.profile.cards if each.locked}
    if named or recent.intent is not Intent.CARD_LOCK or recent.card not in locked:
        return task
    return replace(task, card=recent.card)


def _leaning(task: Task, recent: Task, heard: Understood, facts: Facts) -> Task:
    rules = dialogue_rules()
    recent = replace(recent, asked="") if recent.asked in EXTREMES else recent
    if (due := _asked_about(recent, task, heard) or _asked_if_paid(recent, task, facts)) is not None:
        return replace(task, intent=Intent.BILL_PAYMENT, bill=due)
    if recent.intent is task.intent and (after := followed(task, recent, heard, facts)) is not None:
        return after
    if recent.intent is task.intent and heard.by(*rules.same_history):
        named = task.payee is not None or task.merchant or task.bill is not None
        nobody = (
            replace(recent, merchant="", payee=None, payee_candidates=(), bill=None, sought=None) if named else recent
        )
        return merged(replace(nobody, further=0), heard, facts)
    if task.bill is None and heard.by(*rules.that_bill):
        task = replace(task, bill=recent.bill)
    elif task.bill is None and heard.by(*rules.first_due) and (first := first_due(recent, facts)) is not None:
        task = replace(task, bill=first.id)
    elif task.source is None and heard.by(*rules.of_that):
        asked = task.refused_parts if recent.account is None else task.refused_parts - {SlotName.SOURCE}
        task = replace(task, source=recent.account, refused_parts=asked)
    elif task.target is None and heard.by(*rules.to_that) and (told := recent.account or recent.target) is not None:
        task = replace(task, target=told)
    elif task.payee is None and not task.payee_heard and heard.by(*rules.to_them):
        on = recent.on if not recent.amounts else None  # of what was to be called off: "set one up then"
        task = replace(task, payee=recent.payee, on=task.on or on)
    elif task.account is None and heard.by(*rules.of_other):
        task = replace(task, account=_other_than(recent.account, facts))
    return recent if heard.by(*rules.that_history) else task


def _spoken_of(memory: Memory, recent: Task) -> AccountId | None:
    """The one account that the last command was about; None where that was several, or none."""
    ordered = memory.ordered if is_money(recent) else None
    if ordered is not None:
        return ordered.source if ordered.target is None else None
    return recent.account if not recent.accounts else None


def _asked_about(recent: Task, task: Task, heard: Understood) -> BillId | None:
    """The bill of which it was asked what is due, or what would be left: 「じゃあ普通から払って」."""
    asked = recent.intent in {Intent.BILL_INQUIRY, Intent.BALANCE_INQUIRY} and heard.by(*dialogue_rules().pays)
    bills = recent.bills or (recent.bill,)
    return bills[0] if asked and len(bills) == 1 and not _named(task) else None


def _named(task: Task) -> bool:
    """Whether an order says whom, what or how much."""
    whom = task.payee or task.payee_candidates or task.payee_heard or task.target
    return bool(whom or task.amounts or task.bill or task.bill_heard)


def _asked_if_paid(recent: Task, task: Task, facts: Facts) -> BillId | None:
    """The bill whose last payment was asked about, for an order that names nothing."""
    reckoned = task.reckoning is not None  # as much as then is no bill's
    if recent.intent is not Intent.RECENT_TRANSACTIONS or not is_money(task) or reckoned or _named(task):
        return None
    name, payees = history(recent, facts).filter.merchant, facts.payees
    due = [b.id for b in facts.profile.bills if b.payee_id in payees and payees[b.payee_id].name == name]
    return due[0] if len(due) == 1 else None


def _other_than(account: AccountId | None, facts: Facts) -> AccountId | None:
    """The other one of two accounts; None where there are more, or all were asked about."""
    others = [each.id for each in facts.profile.accounts if each.id != account]
    return others[0] if account is not None and len(others) == 1 else None
