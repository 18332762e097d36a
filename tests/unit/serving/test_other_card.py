"""The simulation of a card that is not at hand explains the one that was."""

import pytest

from deploy.reporting import percentile
from deploy.vllm.sweep.other_card import CARDS, HOST, MEASURED, fitted, simulated


@pytest.mark.parametrize("at_once", MEASURED)
def test_what_was_measured_is_explained(at_once: int) -> None:
    made = simulated(CARDS[0], HOST, at_once)
    for p, measured in zip((50, 95), MEASURED[at_once], strict=True):
        assert percentile(made, p) == pytest.approx(measured, rel=0.1)


def test_a_card_of_less_bandwidth_is_slower_and_one_more_caller_never_quicker() -> None:
    for card in CARDS:
        medians = [percentile(simulated(card, HOST, at_once, 400), 50) for at_once in (1, 2, 4, 8, 16)]
        assert medians == sorted(medians)
    quick, bf16, quantised = (percentile(simulated(card, HOST, 1, 400), 50) for card in CARDS)
    assert quick < quantised < bf16
    assert bf16 >= 4 * CARDS[1].step_ms(1)


@pytest.mark.slow
def test_the_host_is_the_one_that_fits() -> None:
    assert fitted() == HOST
