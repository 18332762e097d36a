"""Payee search: the right person from a misheard name, or an honest question.

`PayeeIndex` holds one customer's book. `find` looks for a name in an utterance and returns None where none was said,
NOBODY where a name was said that is nobody's in the book, ASK where several may be meant, CLEAR where one surely is.
Pure: no I/O after `warm_up`, no clock.
"""

from services.payees.cache import IndexCache, content_version
from services.payees.data import relationship_words
from services.payees.found import Searched
from services.payees.index import MAX_CANDIDATES, MAX_PAYEES, PayeeIndex
from services.payees.warm import warm_up

__all__ = [
    "MAX_CANDIDATES",
    "MAX_PAYEES",
    "IndexCache",
    "PayeeIndex",
    "Searched",
    "content_version",
    "relationship_words",
    "warm_up",
]
