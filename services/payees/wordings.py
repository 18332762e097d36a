"""What may have been said where a name is not clear: the same words with the name of each payee who may be meant."""

from collections.abc import Mapping

from rapidfuzz.fuzz import ratio

from schemas.ids import PayeeId
from schemas.payee import Payee, PayeeMatch


def wordings(text: str, match: PayeeMatch, payees: Mapping[PayeeId, Payee]) -> tuple[str, ...]:
    """`text` with each candidate's name, or the part of it that is nearest to what was heard, in place of that."""
    heard = match.heard.lower()
    names = (_nearest(heard, payees[each.id]) for each in match.candidates)
    return tuple(dict.fromkeys(f"{text[: match.start]}{name}{text[match.end :]}" for name in names))


def _nearest(heard: str, payee: Payee) -> str:
    """The nearest that a payee may be called: the whole name, a word of it, an alias; in no fewer words than heard."""
    whole = payee.name.lower()
    said = (whole, *whole.split(), *(alias.lower() for alias in payee.aliases))
    as_long = [each for each in said if len(each) > 1 and each.count(" ") >= heard.count(" ")]
    return max(as_long, key=lambda each: ratio(heard, each), default=whole)
