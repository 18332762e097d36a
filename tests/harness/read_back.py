"""An order that is read back in two sentences, by a handler that only pretends."""

from schemas.turn import Awaits, Completeness, ReplyDone, ReplyText
from tests.fakes.turn_handler import FakeTurnHandler

ORDER = "send fifty"
SENTENCES = ("Send fifty dollars to Catherine.", "Is that right?")
WHOLE = " ".join(SENTENCES)
WORDS = len(WHOLE.split(" "))


def handler() -> FakeTurnHandler:
    said = (*(ReplyText(one) for one in SENTENCES), ReplyDone(Awaits.CONFIRMATION))
    return FakeTurnHandler({ORDER: said}, {ORDER: Completeness.COMPLETE})
