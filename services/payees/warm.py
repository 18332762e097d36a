"""Reading every table once, so that no caller waits for it."""

from typing import Final

from schemas.ids import EN_US, JA_JP, PayeeId
from schemas.payee import Payee
from services.payees.index import PayeeIndex

_SOMEBODY: Final = (Payee(PayeeId("1"), "Sean Nguyen"), Payee(PayeeId("2"), "佐藤 健", kana="サトウ ケン"))


def warm_up() -> None:
    """Load and validate all rules of the room (about 0.2 s, once a process). Raises RulesInvalid."""
    index = PayeeIndex.build(_SOMEBODY)
    index.find(("send fifty to shawn win", "send fifty to bob"), EN_US)
    index.find(("佐藤健さんに千円振り込んで",), JA_JP)
