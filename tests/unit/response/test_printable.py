"""Control characters of a payee's name go nowhere: not into the index, not into an event, not into a reply."""

import pytest

from schemas.ids import PayeeId
from schemas.payee import Payee
from schemas.printable import printable


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("Emily\x07 Morgan", "Emily  Morgan"),
        ("\x1b[31mEmily", "[31mEmily"),
        ("Emily\r\nMorgan", "Emily Morgan"),
        ("Emily\x00", "Emily"),
        ("\u202egro.knab", "gro.knab"),
        ("\u2066Emily\u2069", "Emily"),
        ("\x9b2J", "2J"),
        ("佐藤\u2028花子", "佐藤 花子"),
        ("می‌خواهم", "می‌خواهم"),
        ("Zoë O'Brien-Núñez", "Zoë O'Brien-Núñez"),
    ],
)
def test_what_controls_a_screen_is_a_space(given: str, shown: str) -> None:
    assert printable(given) == shown
    payee = Payee(PayeeId("p"), given, aliases=(given,), relationship=given, bank=given)
    assert {payee.name, *payee.aliases, payee.relationship, payee.bank} == {shown}
