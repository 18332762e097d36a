"""The console in a real browser against a real gateway: a typed transfer, and speech from a fake microphone."""

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.server import make_server
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.app import running_app

playwright = pytest.importorskip("playwright.async_api")
CHROMIUM = Path("/usr/bin/chromium")
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Debian's chromium at /usr/bin/chromium")


@pytest.fixture
async def url(tmp_path: Path) -> AsyncIterator[str]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(16)  # a browser that comes before the server has started waits here
        async with running_app(tmp_path, FakeRecognizer(lambda _seconds: "what's my balance")) as app:
            server = make_server(app.app, app.gateway.settings, app.gateway.admission)
            serving = asyncio.create_task(server._serve([listening]))
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
            server.should_exit = True
            await serving


@pytest.fixture
async def page(url: str) -> AsyncIterator["playwright.Page"]:
    speech = Path(__file__).parent.parent / "data" / "console.wav"
    async with playwright.async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path=str(CHROMIUM),
            args=[
                "--no-sandbox",
                "--use-fake-ui-for-media-stream",
                "--use-fake-device-for-media-stream",
                f"--use-file-for-fake-audio-capture={speech}%noloop",
            ],
        )
        opened = await browser.new_page(viewport={"width": 1300, "height": 900})
        problems: list[str] = []
        opened.on("pageerror", lambda error: problems.append(str(error)))
        await opened.goto(url)
        await opened.wait_for_selector("#customer option", state="attached")
        yield opened
        await browser.close()
        assert not problems


async def test_a_transfer_is_typed_read_back_and_confirmed(page: "playwright.Page") -> None:
    await page.click("#call")
    await page.wait_for_selector("#words:enabled")
    await page.fill("#words", "send fifty dollars to catherine nguyen")
    await page.keyboard.press("Enter")
    await page.wait_for_selector("#card:not([hidden])")
    assert "$50.00" in await page.inner_text("#order")
    assert "fifty dollars" in await page.inner_text("#spans mark")
    assert "Catherine Nguyen" in await page.inner_text("#candidates")
    await page.wait_for_selector("text=waits for confirmation")  # a yes counts once the read-back was heard to its end
    await page.click('#card [data-say="yes"]')
    await page.wait_for_selector("text=Transfer succeeded")
    assert await page.is_hidden("#card")


async def test_the_microphone_reaches_the_recogniser(page: "playwright.Page") -> None:
    await page.click("#call")
    await page.wait_for_selector("#talk:enabled")
    await page.click("#talk")
    await page.wait_for_selector('#said .caller:has-text("what\'s my balance")')
    await page.wait_for_selector("#said .teller:has-text('checking')")
