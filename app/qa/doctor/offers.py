"""Ambiguous utterances as the extraction model gets them: seeded, in both languages, with every slot to choose from."""

from typing import Final

import numpy as np

from schemas.extraction import ExtractionOffer
from schemas.ids import EN_US, JA_JP, PayeeId, RuleId
from schemas.intent import SlotName
from schemas.payee import PayeeCandidate
from schemas.span import MoneyValue, Span, SpanKind, SpanReading

_SAID: Final = {
    EN_US: (
        "could you get {amount} across to {name} sometime",
        "uh {name} needs {amount} from me I think",
        "not {name} the other one and make it {amount}",
        "the {amount} thing for {name} you know",
        "I'd like that {amount} sorted with {name} please",
    ),
    JA_JP: (
        "{name}さんに{amount}お願いできるかな",
        "あの、{name}に{amount}渡したいんだけど",
        "{amount}の件、{name}さんのほうで",
        "さっきの{name}、やっぱり{amount}で",
    ),
}
_NAMES: Final = {
    EN_US: ("Ken Sato", "Kenji Sato", "Catherine Nguyen", "Kathryn Win", "Bo Chan", "Ann Lee", "Dave O'Brien"),
    JA_JP: ("佐藤 健", "斉藤 健", "田中 太郎", "田中 花子", "山田 一郎", "鈴木 愛"),
}
_NOTES: Final = {EN_US: ("", "landlord", "sister", "account ending 4411"), JA_JP: ("", "家主", "姉", "末尾 4411")}
_SURFACE: Final = {EN_US: "one fifty", JA_JP: "五千円"}
_READINGS: Final = {EN_US: ((15000, None), (150, None)), JA_JP: ((5000, "JPY"),)}
_RULE: Final = RuleId("bench@1")


def offers(count: int, seed: int = 11) -> list[ExtractionOffer]:
    """`count` offers, the same for a seed."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(count):
        locale = (EN_US, JA_JP)[number % 2]
        names = [str(name) for name in rng.permutation(_NAMES[locale])[: int(rng.integers(1, 6))]]
        template = _SAID[locale][int(rng.integers(0, len(_SAID[locale])))]
        text = template.format(amount=_SURFACE[locale], name=names[0].split()[0])
        amounts = tuple(MoneyValue(minor, currency) for minor, currency in _READINGS[locale])
        start = text.index(_SURFACE[locale])
        end = start + len(_SURFACE[locale])
        further = tuple(SpanReading(SpanKind.MONEY, amount, _RULE) for amount in amounts[1:])
        span = Span(SpanKind.MONEY, _SURFACE[locale], start, end, amounts[0], _RULE, None, further)
        payees = tuple(
            PayeeCandidate(PayeeId(f"p-{number}-{i}"), name, str(rng.choice(_NOTES[locale])), 0.5)
            for i, name in enumerate(names)
        )
        asked = (None, SlotName.PAYEE, SlotName.AMOUNT)[int(rng.integers(0, 3))]
        made.append(ExtractionOffer(text, locale, (text.replace("a", "e"),), (span,), amounts, payees, asked))
    return made
