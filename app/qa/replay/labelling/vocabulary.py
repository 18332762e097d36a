"""The names that labels may hold: intents, decisions, routes, replies, slots, payees. Others are refused."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from app.meant import meant
from app.qa.replay.manifests.manifest import Case, Expectation, Manifest
from app.qa.replay.playing.collect import NOTHING_HEARD
from rules.bank import demo_customers, usual_customer
from rules.load import locales
from schemas.decision import DecisionKind
from schemas.intent import Intent, Route, Slots
from services.response import template_params

ANYONE: Final = ""
"""Stands for every customer's payees where nobody's call is known."""


def label_faults(manifest: Manifest) -> tuple[str, ...]:
    """Everything that is wrong with the labels of a set, in words, with the turn."""
    return tuple(fault for case in manifest.cases for fault in case_faults(case))


def case_faults(case: Case) -> Iterator[str]:
    """What is wrong with the labels of a case."""
    for number, turn in enumerate(case.turns, 1):
        if turn.expect is not None:
            known = None if case.facts is None else frozenset(payee.id for payee in case.facts.payees)
            for fault in expectation_faults(turn.expect, case.customer or usual_customer(case.locale) or ANYONE, known):
                yield f"{case.id}#{number}: {fault}"


def expectation_faults(
    expect: Expectation, customer: str = ANYONE, known: frozenset[str] | None = None
) -> Iterator[str]:
    """What is wrong with the names in an expectation.

    Payees are those `known`, or those of `customer`, or of any where none is named.
    """
    yield from _unknown("intent", _several(expect.intent), frozenset(Intent))
    kinds = frozenset(DecisionKind) | {NOTHING_HEARD}
    yield from _unknown("decision", _several(expect.decision), kinds)
    yield from _unknown("outcome", _several(expect.outcome), kinds)
    yield from _unknown("route", _several(expect.route), frozenset(Route))
    yield from _unknown("reply", _several(expect.reply), replies())
    yield from _unknown("slot", expect.slots or (), frozenset(Slots.__dataclass_fields__))
    named = [expect.payee, *(move.payee for move in expect.moves), (expect.slots or {}).get("payee")]
    known = payees(customer) if known is None else known
    if known:
        yield from _unknown("payee", dict.fromkeys(name for name in named if isinstance(name, str)), known)


def customer_fault(customer: str | None, locale: str) -> str | None:
    """What is wrong with a customer, or with a locale that nobody of the demo bank speaks."""
    known = {found.customer: found.locale for found in demo_customers()}
    if customer is not None:
        return next(_unknown("customer", (customer,), frozenset(known)), None)
    fault = next(_unknown("locale", (locale,), frozenset(locales())), None)
    return fault or (None if locale in known.values() else f"no demo customer speaks {locale}: name one (`customer`)")


def _several(value: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value or ()


def _unknown(what: str, names: Iterable[str], known: frozenset[str]) -> Iterator[str]:
    for name in names:
        if name not in known:
            near = meant(name, known)
            hint = f"did you mean {near}?" if near else f"one of {', '.join(sorted(known)[:12])}"
            yield f"unknown {what} {name!r}: {hint}"


@lru_cache(maxsize=256)
def payees(customer: str = ANYONE) -> frozenset[str]:
    """Ids of a demo customer's payees, or of everybody's; empty for a customer who is not of the demo bank."""
    return frozenset(
        payee.id for found in demo_customers() if customer in {found.customer, ANYONE} for payee in found.payees
    )


@lru_cache(maxsize=1)
def replies() -> frozenset[str]:
    """Ids of all reply templates."""
    return frozenset(name for language in sorted({tag[:2] for tag in locales()}) for name in template_params(language))
