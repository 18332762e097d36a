"""Several payees in a row, of whom an order was read for one: nobody is left out, it is asked who is meant."""

from schemas.intent import Intent, Understood
from services.understanding.correction.coordinated_names import beside_others
from services.understanding.correction.said import Said


def listed(said: Said, found: Understood) -> Understood | None:
    """The order for one of all that are named beside its payee; None where nobody is."""
    open_ = found.intent is Intent.TRANSFER_MONEY and said.context.idle and not (found.then or found.doubted)
    asked = beside_others(said, found) if open_ and said.rules.spaced else found
    return asked if asked.doubted or asked.slots.payee is not found.slots.payee else None
