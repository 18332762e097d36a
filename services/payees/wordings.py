"""What may have been said where a name is not clear: the same words with the name of each payee who may be meant."""

from collections.abc import Iterable

from rapidfuzz.fuzz import ratio

from schemas.payee import Payee, PayeeMatch


def wordings(text: str, match: PayeeMatch, payees: Iterable[Payee]) -> tuple[str, ...]:
    """`text` with each payee's name in place of what was heard."""
    heard = match.heard.lower()
    names = (_nearest(heard, payee) for payee in payees)
    return tuple(dict.fromkeys(f"{text[: match.start]}{name}{text[match.end :]}" for name in names))


def _nearest(heard: str, payee: Payee) -> str:
    """The nearest that a payee may be called: the whole name or an alias, or just the part of the name that was heard.

    A part that was not heard so is none: "deans later" is no Dean.
    """
    whole = payee.name.lower()
    if heard in whole.split():
        return heard
    said = (whole, *(alias.lower() for alias in payee.aliases if alias.count(" ") >= heard.count(" ")))
    return max(said, key=lambda each: ratio(heard, each))
