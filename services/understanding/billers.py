"""A payment of no amount to somebody whom the caller owes one bill: it is that bill's, where nothing else is said."""

from dataclasses import replace

from schemas.ids import BillId, language
from schemas.intent import Annotation, Context, Intent, Slot, SlotName, Understood
from services.understanding.fast.grammar import grammar
from services.understanding.fast.loose import plain
from services.understanding.fast.reading import read


def of_its_biller(heard: Annotation, found: Understood, context: Context) -> Understood | None:
    """The bill's payment ("pay clearbrook tomorrow"); None for what is corrected, told besides, or of no one bill."""
    rules, payee = grammar(language(heard.transcript.locale)), found.slots.payee
    lacks = found.intent is Intent.TRANSFER_MONEY and found.missing == (SlotName.AMOUNT,)
    whole = lacks and not (found.then or found.unread or found.unresolved or found.doubted)
    if not rules.spaced or not context.idle or not whole or payee is None or payee.readings:
        return None
    bills = [bill.id for bill in context.bills if bill.payee_id == payee.value]
    reading = read(rules, heard, context)
    said = {edge.symbol for at in range(len(reading.words)) for edge in reading.lattice.edges(at)}
    asked_for = rules.symbols["pay"] in said and rules.symbols["funds"] not in said  # "send money to" is of no bill
    if len(bills) != 1 or not asked_for or not plain(rules, reading, found.slots):
        return None
    slots = replace(found.slots, payee=None, bill=Slot(BillId(bills[0]), payee.evidence))
    return replace(found, intent=Intent.BILL_PAYMENT, slots=slots, missing=())
