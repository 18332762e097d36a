"""A bridge that speaks replies itself: without a voice of ours a transfer is read back in its words, and booked."""

from pathlib import Path

import pytest

from tests.fakes.recognizer import orders
from tests.harness.phone import BOOKED, CUT_SHORT, KEYS, READ_BACK, calling, said, settles, statement, transfers_of
from tests.harness.phone_jambonz import jambonz
from tests.harness.phone_lines import AUTHORIZED
from tests.harness.served import served

CUSTOMER = "alex-morgan"


@pytest.mark.parametrize("kind", ["text", "ssml"])
async def test_a_transfer_is_read_back_in_the_bridges_voice(quick_folder: Path, kind: str) -> None:
    async with (
        served(quick_folder, orders(), ivr_keys=KEYS) as running,
        jambonz(running.port, {"statement": statement(CUSTOMER)}, AUTHORIZED, f"?audio={kind}") as bridge,
        calling(bridge) as phone,
    ):
        await phone.hears_out(1)
        phone.say(said("transfer-1"))
        await settles(quick_folder, READ_BACK)
        read_back = " ".join(bridge.words)
        assert "fifty dollars" in read_back
        assert "$" not in read_back
        assert ("<speak" in read_back) is (kind == "ssml")
        phone.say(said("transfer-2"))
        await settles(quick_folder, BOOKED)


async def test_a_read_back_that_the_bridge_did_not_speak_is_not_agreed_to(quick_folder: Path) -> None:
    async with (
        served(quick_folder, orders(), ivr_keys=KEYS) as running,
        jambonz(running.port, {"statement": statement(CUSTOMER)}, AUTHORIZED, "?audio=text") as bridge,
        calling(bridge) as phone,
    ):
        await phone.hears_out(1)
        bridge.marked = _nothing  # type: ignore[method-assign] # its voice fails
        phone.say(said("transfer-1"))
        await settles(quick_folder, CUT_SHORT)
        given = len(bridge.words)
        phone.say(said("transfer-2"))
        await phone.fallen_silent()
        await phone.until(lambda: len(bridge.words) > given)
        assert await transfers_of(quick_folder) == CUT_SHORT


async def _nothing(_: str) -> None:
    return None
