"""Admission refuses at once, with a reason and a time to retry."""

import pytest

from schemas.errors import Busy, Draining
from services.guard.admission import Admission
from services.observability.metrics import Metrics


async def test_places_are_counted_and_given_back() -> None:
    admission = Admission(1, Metrics())
    with admission.enter():
        assert admission.inside == 1
        assert not admission.empty.is_set()
        with pytest.raises(Busy) as refused, admission.enter():
            pass
        assert refused.value.retry_after_s
    assert admission.inside == 0
    assert admission.empty.is_set()


async def test_a_failing_call_gives_its_place_back() -> None:
    admission = Admission(1, Metrics())
    with pytest.raises(ZeroDivisionError), admission.enter():
        raise ZeroDivisionError
    assert admission.inside == 0


async def test_draining_refuses_newcomers_and_keeps_those_inside() -> None:
    admission = Admission(5, Metrics())
    with admission.enter():
        admission.drain()
        with pytest.raises(Draining), admission.enter():
            pass
        assert admission.inside == 1
