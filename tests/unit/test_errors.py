"""The error tree is drawn as it is, and its codes are unique and stable."""

import re
from collections.abc import Iterator

from schemas import errors, stepup
from schemas.errors import TellerlineError

ROOMS = {errors.__name__, stepup.__name__}


def every(root: type[TellerlineError] = TellerlineError) -> Iterator[type[TellerlineError]]:
    yield root
    for child in root.__subclasses__():
        if child.__module__ in ROOMS:
            yield from every(child)


def test_codes_are_unique() -> None:
    codes = [error.code for error in every()]
    assert len(codes) == len(set(codes))


def test_the_drawing_shows_every_class_with_its_status() -> None:
    drawn = dict(re.findall(r"[├└]── (\w+)\s+(\d+)", errors.__doc__ or ""))
    assert drawn == {e.__name__: str(e.http_status) for e in every() if e is not TellerlineError}


def test_close_codes_are_ones_that_websockets_may_send() -> None:
    assert all(1000 <= e.ws_close <= 1013 or 4000 <= e.ws_close <= 4999 for e in every())
