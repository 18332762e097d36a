"""Sentences as the first of a call, up to what the learned reader is given of them."""

import time
from dataclasses import dataclass
from typing import Final

import yaml

from deploy.bench._lines import unpacked
from deploy.bench.cases.player import ConversationPlayer
from deploy.understanding.samples import DATA, TrainingSentence
from rules.bank import DemoAccount, DemoPayee, demo_customers
from schemas.ids import PayeeId
from schemas.intent import MONEY_MOVING, Intent
from schemas.interpretation import Interpretation
from schemas.payee import Payee, PayeeMatch
from schemas.transcript import Transcript
from services.dialogue import DialogueState, context_of
from services.interpretation import InterpretationContext, interpret
from services.observability.metrics import Stamps
from services.payees import PayeeIndex
from services.understanding.fast.asides.reasons import ClauseSpan
from services.understanding.fast.ruleset.grammar import grammar
from services.understanding.fast.words.hearing import Hearing
from services.understanding.learned.features import features
from services.understanding.learned.reader import FAMILIES
from services.understanding.offers.learned_proposals import elsewhere, hindering, unread
from tests.fakes.desk import NOW, FakeDesk

STRANGERS: Final = (
    *("Abhinav", "Amir", "Amy", "Bob", "Diego", "Grace", "Jasbir", "Jerry", "Justin", "Kagiso", "Khadija", "Li"),
    *("Mahmoud", "Peter", "Philip", "Pranav", "Rachel", "Raghav", "Sanuj", "Srinivas", "Svetlana", "Tom", "Yumi"),
)
"""Names that other people's sentences send money to: they are payees as well, so that they are masked."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A sentence with its features; whether the rules left it `unread`, and the families that a rule hinders in it."""

    sample: TrainingSentence
    features: list[int]
    unread: bool
    hindered: frozenset[str]


class Hearer:
    """One language's caller, with the book that the callers' sentences are said against."""

    def __init__(self, language: str) -> None:
        data = yaml.load(unpacked(DATA / "callers" / f"{language}.yaml.xz"), yaml.CSafeLoader)
        base = next(c for c in demo_customers() if c.customer == data["customer"])
        known = {bill.payee for bill in base.bills}
        payees = tuple(DemoPayee.model_validate(row) for row in data["payees"])
        payees += tuple(p for p in base.payees if p.id in known - {each.id for each in payees})
        accounts = tuple(DemoAccount.model_validate(row) for row in data.get("accounts", ())) or base.accounts
        customer = base.model_copy(update={"payees": payees, "accounts": accounts})
        self._player = ConversationPlayer(customer)
        desk = FakeDesk(customer)
        crowd = tuple(Payee(PayeeId(f"crowd-{n}"), name) for n, name in enumerate(STRANGERS) if language == "en")
        self._index = PayeeIndex.build((*desk.payees.values(), *crowd), NOW.date())
        currencies = tuple(dict.fromkeys(account.currency for account in customer.accounts))
        asked = context_of(DialogueState(), self._player.facts(desk))
        self._context = InterpretationContext(asked, NOW, currencies)
        self._grammar = grammar(language)

    def hear(self, sample: TrainingSentence) -> Heard:
        """What is made of a sentence before anything is proposed."""
        transcript = Transcript.typed(sample.text, self._player.locale)
        found = interpret(transcript, self._context, self._index, Stamps(time.monotonic))
        meant, spaced = found.understood, self._grammar.spaced
        left = unread(meant)
        return Heard(
            sample, features(found, meant.vetoes, spaced=spaced), left, self._hindered(found) if left else frozenset()
        )

    def _hindered(self, found: Interpretation) -> frozenset[str]:
        def find(name: str) -> PayeeMatch | None:
            return self._index.lookup((name,), self._player.locale)

        hearing = Hearing.by(self._grammar, found, self._context.asked, find)
        hinders = not hearing.reading.words or hindering(ClauseSpan.whole(hearing))
        barred = MONEY_MOVING if hinders else frozenset[Intent]()
        return barred | {intent for intent in map(Intent, FAMILIES) if elsewhere(hearing, intent)}
