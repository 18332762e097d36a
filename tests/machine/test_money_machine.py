"""No story of calls, lost lines, crashes and time moves money wrongly; and the machine that says so sees what would."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from services.understanding.fast.consent import consent
from tests.harness.mutants import FAULTS as PLANTED
from tests.harness.mutants import Edit, planted
from tests.harness.talk import MoneyTalk

FAST, SLOW = 6, 150


def play(template: Path, examples: int, *, steps: int = 25) -> None:
    """Run the machine on so many generated stories."""
    machine = type("MoneyMachine", (MoneyTalk,), {"template": template})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples, stateful_step_count=steps, deadline=None, derandomize=True, database=None,
            suppress_health_check=list(HealthCheck), phases=[Phase.generate], print_blob=False,
        ),
    )  # fmt: skip


@pytest.mark.timeout(900)
def test_no_story_moves_money_wrongly(sqlite_template: Path) -> None:
    play(sqlite_template, FAST)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_no_story_of_many_moves_money_wrongly(sqlite_template: Path) -> None:
    play(sqlite_template, SLOW, steps=50)


SEEN_BY_THE_MACHINE = (
    "the read-back need not be heard", "single use is not checked", "expiry is not checked",
    "the day's limit is kept when proposing only", "a yes counts from any call", "the seal is not compared",
    "void does nothing", "no second factor for transfers", "an error counts as failure", "a fresh key on retry",
    "a resumed proposal lives on in its old call", "the bank moves money for every request",
    "single use is checked before acting only", "a resumed proposal counts as heard", "a correction does not void",
    "an outage always counts as nothing spent", "a promise is not kept on disk", "promises are not made true",
    "a yes that was never spent ends without a word", "a settling is marked apart from its record",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("fault", SEEN_BY_THE_MACHINE)
def test_the_machine_notices_a_planted_fault(fault: str, sqlite_template: Path) -> None:
    with planted(*PLANTED[fault]), pytest.raises(BaseException):  # noqa: B017 - an assertion, or a group of them
        play(sqlite_template, SLOW)


SEEN_BY_WHAT_IS_SAID = {
    "a yes may leave words over": Edit(
        consent, "context.terms.awaited])[size]", "context.terms.awaited])[max(1, size // 2)]"
    ),
    "a yes that was perhaps none counts": Edit(consent, "or self._contradicted(heard, context)", ""),
    "what differs may be left out": Edit(
        consent, "or e.symbol != now]", "or e.symbol != now] + [Edge(at, at + 1, now or 0)]"
    ),
}


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("fault", SEEN_BY_WHAT_IS_SAID)
def test_the_machine_notices_a_yes_taken_wrongly(fault: str, sqlite_template: Path) -> None:
    with planted(SEEN_BY_WHAT_IS_SAID[fault]), pytest.raises(BaseException):  # noqa: B017 - as above
        play(sqlite_template, SLOW)
