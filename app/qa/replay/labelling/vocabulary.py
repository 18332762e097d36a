"""The names that labels may hold: intents, decisions, routes, replies, slots, payees. Others are refused."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from app.meant import meant
from app.qa.replay.labelling.label_values import slot_faults, span_faults
from app.qa.replay.manifests.manifest import Case, Expectation, Manifest
from app.qa.replay.playing.collect import NOTHING_HEARD
from rules.bank import DemoCustomer, demo_customers, usual_customer
from rules.load import locales
from schemas.decision import DecisionKind
from schemas.intent import Intent, Route, Slots
from services.response import template_params

_SLOTS: Final = frozenset(Slots.__dataclass_fields__)
_ACCOUNTS: Final = ("source", "target", "account")
ANYONE: Final = ""
"""Stands for every customer's payees where nobody's call is known."""


@dataclass(frozen=True, slots=True)
class Owned:
    """Ids of what callers have."""

    by_kind: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, callers: Iterable[DemoCustomer]) -> "Owned":
        """What these callers have."""
        found: dict[str, set[str]] = {"payee": set(), "account": set(), "card": set(), "bill": set()}
        for caller in callers:
            found["payee"].update(row.id for row in caller.payees)
            found["account"].update(row.id for row in caller.accounts)
            found["card"].update(row.id for row in caller.cards)
            found["bill"].update(row.id for row in caller.bills)
        return cls({kind: frozenset(ids) for kind, ids in found.items()})

    @classmethod
    def of_payees(cls, payees: frozenset[str]) -> "Owned":
        """These payees; of what else there is nothing is known."""
        return cls({"payee": payees})

    def ids(self, kind: str) -> frozenset[str]:
        """The ids of a kind; none where they are not known."""
        return self.by_kind.get(kind, frozenset())


def label_faults(manifest: Manifest, *, elsewhere: bool = False) -> tuple[str, ...]:
    """Everything that is wrong with the labels and the callers of a set, in words, with the turn.

    What is played `elsewhere` has callers of another bank.
    """
    faults = (fault for case in manifest.cases for fault in case_faults(case))
    callers = () if elsewhere else (fault for case in manifest.cases for fault in caller_faults(case))
    return (*faults, *callers)


def caller_faults(case: Case) -> Iterator[str]:
    """What is wrong with who calls in a case."""
    if case.facts is None and (fault := customer_fault(case.customer, case.locale)):
        yield f"{case.id}: {fault}"


def case_faults(case: Case) -> Iterator[str]:
    """What is wrong with the labels of a case."""
    for number, turn in enumerate(case.turns, 1):
        if turn.expect is not None:
            owned = None if case.facts is None else Owned.of((case.facts,))
            for fault in expectation_faults(turn.expect, case.customer or usual_customer(case.locale) or ANYONE, owned):
                yield f"{case.id}#{number}: {fault}"


def expectation_faults(expect: Expectation, customer: str = ANYONE, owned: Owned | None = None) -> Iterator[str]:
    """What is wrong with the names and values in an expectation.

    Payees, accounts, cards and bills are those `owned`, or those of `customer`, or of any where none is named.
    """
    yield from _unknown("intent", _several(expect.intent), frozenset(Intent))
    kinds = frozenset(DecisionKind) | {NOTHING_HEARD}
    yield from _unknown("decision", _several(expect.decision), kinds)
    yield from _unknown("outcome", _several(expect.outcome), kinds)
    yield from _unknown("route", _several(expect.route), frozenset(Route))
    yield from _unknown("reply", _several(expect.reply), replies())
    yield from _unknown("slot", expect.slots or (), _SLOTS)
    yield from slot_faults({name: value for name, value in (expect.slots or {}).items() if name in _SLOTS})
    yield from span_faults(expect.spans or ())
    owned = owned or of_customer(customer)
    moves, slots = expect.moves, expect.slots or {}
    named = {
        "payee": [expect.payee, slots.get("payee"), *(move.payee for move in moves)],
        "account": [slots.get(slot) for slot in _ACCOUNTS],
        "card": [slots.get("card")],
        "bill": [slots.get("bill")],
    }
    named["account"] += [account for move in moves for account in (move.source, move.to_account)]
    for what, names in named.items():
        if known := owned.ids(what):
            yield from _unknown(what, dict.fromkeys(name for name in names if isinstance(name, str)), known)


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
def of_customer(customer: str = ANYONE) -> Owned:
    """What a demo customer has, or whom anybody pays; nothing for one who is not of the demo bank."""
    if customer == ANYONE:
        return Owned.of_payees(frozenset(payee.id for found in demo_customers() for payee in found.payees))
    return Owned.of(found for found in demo_customers() if found.customer == customer)


def payees(customer: str = ANYONE) -> frozenset[str]:
    """Ids of a demo customer's payees, or of everybody's; empty for a customer who is not of the demo bank."""
    return of_customer(customer).ids("payee")


@lru_cache(maxsize=1)
def replies() -> frozenset[str]:
    """Ids of all reply templates."""
    return frozenset(name for language in sorted({tag[:2] for tag in locales()}) for name in template_params(language))
