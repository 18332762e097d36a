"""Rescoring: which alternative may lead; none that moves money, changes a card or agrees ever does."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from app.anyone import anyone
from schemas.ids import EN_US
from schemas.intent import MONEY_MOVING, Context, Intent
from schemas.transcript import Hypothesis, Source, Transcript
from services.interpretation import InterpretationContext, Interpreter
from services.payees import PayeeIndex
from services.understanding.fast.ruleset.rules import Rescoring
from tests.fakes.desk import NOW

CASES: Final[list[dict[str, Any]]] = yaml.load(
    (Path(__file__).parents[3] / "data" / "rescoring.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader
)
WORDS: Final = sorted({text for case in CASES for text, _ in case["heard"]})
SERIOUS: Final = MONEY_MOVING | {
    Intent.CONFIRM, Intent.CARD_LOCK, Intent.CARD_UNLOCK, Intent.INFORM, Intent.CORRECT,
}  # fmt: skip
INTERPRETER: Final = Interpreter(PayeeIndex.build(()))
NOBODY: Final = anyone(EN_US, NOW)
KNOWN: Final = Context(accounts=NOBODY.accounts, cards=NOBODY.cards, bills=NOBODY.bills)


def transcript(heard: list[tuple[str, float]], source: Source = Source.SPEECH) -> Transcript:
    return Transcript(heard[0][0], EN_US, tuple(Hypothesis(*each) for each in heard), source=source)


def intent(heard: Transcript) -> Intent | None:
    return INTERPRETER.interpret(heard, InterpretationContext(KNOWN, NOW, ("USD",))).understood.intent


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_which_hypothesis_leads(case: dict[str, Any]) -> None:
    heard = transcript(case["heard"], Source(case.get("source", "speech")))
    context = replace(KNOWN, confirming=case.get("confirming", False), code=case.get("code", False))
    found = INTERPRETER.meant(heard, InterpretationContext(context, NOW, ("USD",))).transcript
    assert found.text == found.hypotheses[0].text == case["heard"][case["leads"]][0]
    assert sorted(found.hypotheses, key=hash) == sorted(heard.hypotheses, key=hash)
    assert (found is heard) == (case["leads"] == 0)


@given(st.lists(st.tuples(st.sampled_from(WORDS), st.floats(-0.6, -0.2)), min_size=1, max_size=5))
def test_nothing_serious_is_ever_meant_by_an_alternative(heard: list[tuple[str, float]]) -> None:
    before = transcript(heard)
    after = INTERPRETER.meant(before, InterpretationContext(KNOWN, NOW, ("USD",))).transcript
    assert after is before or (intent(before) is None and intent(after) not in {None, *SERIOUS})


@pytest.mark.parametrize("serious", sorted(SERIOUS))
def test_no_rule_can_ask_for_it(serious: Intent) -> None:
    with pytest.raises(ValidationError, match="never taken from an alternative"):
        Rescoring(within=0.1, above=-0.5, intents=frozenset({Intent.HELP, serious}))
