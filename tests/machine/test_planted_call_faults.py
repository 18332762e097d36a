"""Is the suite awake? Each fault around a deed must be noticed by the story that is there to notice it."""

import asyncio

import pytest

from tests.harness.call_mutants import FAULTS
from tests.harness.mutants import planted


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_noticed(fault: str) -> None:
    edit, check = FAULTS[fault]
    with planted(edit), pytest.raises((AssertionError, ZeroDivisionError)):
        asyncio.run(check())
