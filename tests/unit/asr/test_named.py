"""Names told by their sound."""

import pytest

from rules.asr import NameOdds
from schemas.ids import EN_US
from schemas.transcript import Hypothesis, Transcript
from services.asr.named import named

HEARD = Transcript(
    "send ten to jaspier", EN_US, (Hypothesis("send ten to jaspier", -0.2), Hypothesis("send tin to jasper", -0.4))
)
RULES = NameOdds(odds=-7.0, lead=6.0)
OTHERS = ("send ten to jasbir", "send ten to amir")


def test_the_name_that_sounds_so_leads_and_the_rest_stays() -> None:
    told = named(HEARD, OTHERS, (-2.0, -20.0), RULES)
    assert told.text == "send ten to jasbir"
    assert told.named
    assert [each.text for each in told.hypotheses] == [
        "send ten to jasbir",
        "send ten to jaspier",
        "send tin to jasper",
    ]
    assert all(each.avg_logprob <= 0 for each in told.hypotheses)


def test_a_name_that_was_heard_just_so_stands_once() -> None:
    told = named(HEARD, ("send ten to jaspier", "send ten to amir"), (0.0, -20.0), RULES)
    assert told.named
    assert told.hypotheses == HEARD.hypotheses


@pytest.mark.parametrize("odds", [(-9.0, -30.0), (-2.0, -4.0), ()])
def test_nothing_is_told_of_what_is_far_or_has_a_rival_or_can_not_be_weighed(odds: tuple[float, ...]) -> None:
    assert named(HEARD, OTHERS, odds, RULES) is HEARD
