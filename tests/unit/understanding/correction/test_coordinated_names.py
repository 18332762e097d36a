"""Names in a row are looked for where one may begin: a search in a large book costs more than all other reading."""

import pytest

from deploy.bench.cases.conversations import Turn
from deploy.bench.cases.player import ConversationPlayer, PlayTally
from schemas.ids import PayeeId
from schemas.payee import Payee
from services.payees import PayeeIndex

SAID = "send fifty dollars to dave and the corner from checking"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every name that is looked up by itself."""
    found: list[str] = []
    lookup = PayeeIndex.lookup

    def noted(index: PayeeIndex, names: tuple[str, ...], *rest: object) -> object:
        found.extend(names)
        return lookup(index, names, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(PayeeIndex, "lookup", noted)
    return found


@pytest.mark.parametrize("named", [False, True], ids=["nobody is called so", "somebody is"])
def test_a_word_that_begins_no_name_is_looked_up_where_somebody_is_called_so(asked: list[str], named: bool) -> None:
    book = (Payee(PayeeId("from-here"), "From Here Ltd", "", account_last4="1"),) if named else ()
    ConversationPlayer.of("alex-morgan", book).call(PlayTally()).play(Turn(say=SAID))
    assert asked, "names in a row are looked for"
    assert any(name.startswith("from") for name in asked) is named
