"""QA's desk in a real browser against a real gateway: list, hear, confirm by a key, dispute, settle, make a test."""

import asyncio
import re
import socket
import zipfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.auth.principal import Scope
from app.composition.keys import audit_keys
from app.qa.replay.records.recorded import read_recording
from app.server import make_server
from app.shadow.differing import SHADOW_FILE, ShadowedTurn, ShadowRecord
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.app import RunningApp, running_app
from tests.harness.recorded import recorded_call

playwright = pytest.importorskip("playwright.async_api")
CHROMIUM = Path("/usr/bin/chromium")
PLAYED = """
window.played = 0;
const start = AudioBufferSourceNode.prototype.start;
AudioBufferSourceNode.prototype.start = function (...given) { window.played += 1; return start.apply(this, given); };
"""
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Debian's chromium at /usr/bin/chromium")


@dataclass(frozen=True)
class OpenDesk:
    """The page, and the application behind it."""

    page: "playwright.Page"
    app: RunningApp

    async def sign_in(self, who: str) -> None:
        """Give the page a token of somebody's, and list everything."""
        token = self.app.token(who, Scope.QA)["Authorization"].removeprefix("Bearer ")
        await self.page.fill("#token", token)
        async with self.page.expect_response("**/v1/recordings*"):
            await self.page.click("#sign button")
        await self.page.uncheck("[name=todo]")
        await self.page.wait_for_load_state("networkidle")
        async with self.page.expect_response("**/sound"):
            await self.page.click("#filters button")
        await self.expect("#seconds", "of 0.1 s")

    async def expect(self, part: str, words: str) -> None:
        """Wait until a part of the page says something."""
        await playwright.expect(self.page.locator(part)).to_contain_text(re.compile(words))


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[OpenDesk]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(16)  # a browser that comes before the server has started waits here
        async with running_app(tmp_path, FakeRecognizer(lambda _: ""), recording_days=7) as app:
            await recorded_call(app.gateway, ("what's my balance",), "older")
            await recorded_call(app.gateway, ("send fifty dollars to catherine nguyen",), "newer")
            server = make_server(app.app, app.gateway.settings, app.gateway.admission)
            serving = asyncio.create_task(server._serve([listening]))
            async with playwright.async_playwright() as driver:
                browser = await driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
                page = await browser.new_page()
                problems: list[str] = []
                page.on("pageerror", lambda error: problems.append(str(error)))
                await page.add_init_script(PLAYED)
                await page.goto(f"http://127.0.0.1:{listening.getsockname()[1]}/desk/")
                yield OpenDesk(page, app)
                await browser.close()
            server.should_exit = True
            await serving
    assert not problems


async def test_a_turn_is_heard_and_confirmed_by_keys(desk: OpenDesk) -> None:
    page = desk.page
    await desk.sign_in("ann")
    assert await page.locator("#rows tr").count() == 2
    await desk.expect("#said", "^send fifty dollars to catherine nguyen$")
    await desk.expect("#found", "fifty dollars")
    drawn = "[...document.querySelector('canvas').getContext('2d').getImageData(0, 0, 900, 120).data].some((v) => v)"
    assert await page.evaluate(drawn)
    await page.locator("#wave").click()
    assert await page.evaluate("window.played") == 1
    await page.keyboard.press("Enter")
    await desk.expect("#state", "is reviewed")
    await desk.expect("#said", "what's my balance")
    await page.keyboard.press("k")
    await desk.expect("#turn-title", "reviewed")
    await desk.expect("#people", "ann, review.*catherine-nguyen")


async def test_two_people_dispute_and_settle(desk: OpenDesk) -> None:
    page = desk.page
    await desk.sign_in("ann")
    await page.keyboard.press("Enter")
    await desk.expect("#state", "is reviewed")
    await page.reload()
    await desk.sign_in("bob")
    await desk.expect("#turn-title", "reviewed")
    assert await page.inner_text("#people") == ""
    await page.select_option("#label-intent", "bill_payment")
    await page.click("#save")
    await desk.expect("#state", "is disputed")
    await page.locator("#rows tr").first.click()
    await desk.expect("#people", "bob, review.*bill_payment")
    await page.keyboard.press("2")
    await desk.expect("#state", "settles it by the other's labels")
    await page.keyboard.press("1")
    await desk.expect("#state", "is settled")
    await page.click("#agreed summary")
    await desk.expect("#kappa", r"intent\s*1\s*0.00")


async def test_why_turns_failed_is_a_table_whose_lines_list_their_turns(desk: OpenDesk) -> None:
    await desk.sign_in("ann")
    await desk.page.select_option("#label-intent", "bill_payment")
    await desk.page.keyboard.press("Escape")
    await desk.page.keyboard.press("s")
    await desk.expect("#state", "is reviewed")
    await desk.page.click("#why summary")
    await desk.expect("#groups", "understanding.*intent.*transfer_money for bill_payment")
    await desk.page.click("#groups button")
    await desk.expect("#count", "1 of 1")
    await desk.expect("#said", "^send fifty dollars to catherine nguyen$")


async def test_a_turn_is_made_a_test_by_one_key(desk: OpenDesk) -> None:
    await desk.sign_in("ann")
    async with desk.page.expect_download() as download:
        await desk.page.keyboard.press("t")
    made = await (await download.value).path()
    assert zipfile.ZipFile(made).namelist() == ["manifest.jsonl"]
    asked: list[str] = []

    async def agree(dialog: "playwright.Dialog") -> None:
        asked.append(dialog.message)
        await dialog.accept()

    desk.page.on("dialog", agree)
    async with desk.page.expect_download() as download:
        await desk.page.click("#personal")
    made = await (await download.value).path()
    assert any(name.endswith(".flac") for name in zipfile.ZipFile(made).namelist())
    assert "beyond retention and erasure" in asked[0]


async def test_what_a_shadow_made_otherwise_names_its_turn_and_shows_it(desk: OpenDesk) -> None:
    settings = desk.app.gateway.settings
    amounts = ({"amount_minor": 5_000, "currency": "USD"}, {"amount_minor": 5_500, "currency": "<b>USD</b>"})
    turn = ShadowedTurn(turn=1, differs={"slot amount": amounts, "payee": ("catherine-nguyen", None)})
    told = ShadowRecord(other="rules <of> another", compared=1, turns=(turn,))
    older = read_recording(settings.recordings / "older", audit_keys(settings))
    older.files.write(SHADOW_FILE, told.model_dump_json().encode())
    await desk.sign_in("ann")
    await desk.page.click("#beside summary")
    await desk.expect("#shadow-count", r"^1 turns of 1 calls through both, 1 differ \(.*slot amount 1")
    lines = desk.page.locator("#shadow tr")
    assert await lines.count() == 2
    await desk.expect("#shadow tr:nth-child(1)", r"^older 1slot amount.*5000.*5500.*<b>USD</b>")
    await desk.expect("#shadow tr:nth-child(2)", "^payeecatherine-nguyennone$")
    assert await lines.first.get_attribute("title") == "rules <of> another"
    await desk.page.click("#shadow button")
    await desk.expect("#said", "^what's my balance$")


async def test_without_the_scope_the_page_says_so(desk: OpenDesk) -> None:
    token = desk.app.token("alex-morgan", Scope.CALL)["Authorization"].removeprefix("Bearer ")
    await desk.page.fill("#token", token)
    await desk.page.click("#sign button")
    await desk.expect("#state", "scope qa")
    await desk.page.fill("#token", "stale")
    await desk.page.keyboard.press("Enter")
    await desk.expect("#state", "give a new one")
    await desk.page.route("**/v1/recordings/**", lambda route: route.abort())
    await desk.page.fill("#token", token)
    await desk.page.keyboard.press("Enter")
    await desk.expect("#state", "does not answer")
