"""The console in a real browser against a real gateway: a typed transfer, and speech from a fake microphone."""

import asyncio
import json
import re
import socket
import wave
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from app.server import make_server
from schemas.audio import SAMPLE_RATE
from schemas.banking import PayeeVerification, TransferState
from schemas.intent import Intent
from schemas.turn import Awaits
from services.audio.files import read_file
from services.timing.clock import SystemClock
from tests.fakes.recognizer import FakeRecognizer
from tests.fakes.synthesizer import FakeSynthesizer
from tests.harness.app import running_app

playwright = pytest.importorskip("playwright.async_api")
STATIC = Path(__file__).parents[2] / "app" / "console" / "static"
WORDS = json.loads((STATIC / "words.json").read_text(encoding="utf-8"))
WEEKDAYS = "月火水木金土日"
CHROMIUM = Path("/usr/bin/chromium")
LISTEN = """
window.sounds = [];
const start = AudioBufferSourceNode.prototype.start;
AudioBufferSourceNode.prototype.start = function (at) {
  const peak = this.buffer.getChannelData(0).reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  const sound = { at, seconds: this.buffer.duration, rate: this.buffer.sampleRate, peak, over: false };
  this.addEventListener("ended", () => { sound.over = true; sound.ended = this.context.currentTime; });
  window.sounds.push(sound);
  return start.call(this, at);
};
const { send } = WebSocket.prototype;
window.reported = [];
WebSocket.prototype.send = function (data) {
  window.line = this;
  const event = typeof data === "string" ? JSON.parse(data) : {};
  if (event.type === "tellerline.playback") window.reported.push(event);
  return send.call(this, data);
};
"""
"""Notes every sound that the page plays, and what it reports of them."""
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Debian's chromium at /usr/bin/chromium")


@pytest.fixture
def voice() -> FakeSynthesizer | None:
    """Nobody's; tests of a voice bring one."""
    return None


@pytest.fixture
async def url(tmp_path: Path, voice: FakeSynthesizer | None) -> AsyncIterator[str]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(16)  # a browser that comes before the server has started waits here
        async with running_app(tmp_path, FakeRecognizer(lambda _seconds: "what's my balance"), voice) as app:
            server = make_server(app.app, app.gateway.settings, app.gateway.admission)
            serving = asyncio.create_task(server._serve([listening]))
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
            server.should_exit = True
            await serving


def microphone(folder: Path) -> Path:
    """What is said into it, as a WAV file."""
    said = read_file((Path(__file__).parent.parent / "data" / "console.ogg").read_bytes())
    path = folder / "said.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, SAMPLE_RATE, 0, "NONE", ""))
        file.writeframes((said * 32767).astype("<i2").tobytes())
    return path


@pytest.fixture
async def page(url: str, tmp_path: Path) -> AsyncIterator["playwright.Page"]:
    speech = microphone(tmp_path)
    async with playwright.async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path=str(CHROMIUM),
            args=[
                "--no-sandbox",
                "--use-fake-ui-for-media-stream",
                "--use-fake-device-for-media-stream",
                "--autoplay-policy=user-gesture-required",
                f"--use-file-for-fake-audio-capture={speech}%noloop",
            ],
        )
        opened = await browser.new_page(viewport={"width": 1300, "height": 900})
        problems: list[str] = []
        opened.on("pageerror", lambda error: problems.append(str(error)))
        await opened.add_init_script(LISTEN)
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


async def test_a_japanese_caller_reads_japanese(page: "playwright.Page") -> None:
    await page.add_init_script("Object.defineProperty(navigator, 'languages', { value: ['ja', 'en-US'] })")
    await page.reload()
    await page.wait_for_selector("#call:text('電話をかける')")
    assert await page.get_attribute("#words", "placeholder") == WORDS["ja"]["type_here"]
    await page.click("#call")
    await page.wait_for_selector("#words:enabled")
    await page.fill("#words", "明日佐藤花子さんに五千円振り込んで")
    await page.keyboard.press("Enter")
    await page.wait_for_selector("#card:not([hidden])")
    card = await page.inner_text("#card")
    assert all(said in card for said in ("佐藤 花子", "5,000", "普通預金", "一致", "はい"))
    tomorrow = SystemClock().now().astimezone(ZoneInfo("Asia/Tokyo")) + timedelta(days=1)
    assert any(f"{WEEKDAYS[day.weekday()]}曜日" in card for day in (tomorrow, tomorrow - timedelta(minutes=5)))
    await page.wait_for_selector(f"text={WORDS['ja']['waits.confirmation']}")
    shown = await page.inner_text("body")
    assert not [said for key, said in WORDS["en"].items() if said != WORDS["ja"][key] and f"\n{said}\n" in shown]
    await page.click('#card [data-say="no"]')
    await page.wait_for_selector("text=変更なさる項目")


class TestSpoken:
    """Replies in the voice of a fake: a tone of 100 ms a word."""

    @pytest.fixture
    def voice(self) -> FakeSynthesizer:
        return FakeSynthesizer()

    async def test_replies_are_played_and_a_yes_counts_once_they_were(self, page: "playwright.Page") -> None:
        await page.click("#call")
        await page.wait_for_selector(f"#voice:has-text('{WORDS['en']['voice.audio']}')")
        await order(page)
        read_back = await page.inner_text("#said .teller")
        await until(page, "window.reported.some((report) => report.state === 'completed')")
        sounds = await page.evaluate("window.sounds")
        assert sum(sound["seconds"] for sound in sounds) == pytest.approx(0.1 * len(read_back.split(" ")), abs=0.01)
        assert all(sound["over"] and sound["rate"] == 24_000 and 0.3 < sound["peak"] < 0.4 for sound in sounds)
        ends = [sound["at"] + sound["seconds"] for sound in sounds[:-1]]
        assert all(sound["at"] >= end - 1e-6 for sound, end in zip(sounds[1:], ends, strict=True)), "one after another"
        started, completed = await page.evaluate("window.reported")
        assert (started["state"], completed["state"]) == ("started", "completed")
        assert completed["played_ms"] == round(100 * len(read_back.split(" ")))
        await page.click('#card [data-say="yes"]')
        await page.wait_for_selector("text=Transfer succeeded")

    async def test_the_caller_cuts_it_short_and_it_falls_silent(
        self, page: "playwright.Page", voice: FakeSynthesizer
    ) -> None:
        voice.word_ms = 1_000
        await page.click("#call")
        await order(page)
        await until(page, "window.sounds.length > 2")
        queued = len(await page.evaluate("window.sounds"))
        await page.fill("#words", "never mind")
        await page.keyboard.press("Enter")
        await page.wait_for_selector("#said .teller:has-text('cancel')")
        first = (await page.evaluate("window.reported"))[0]["response_id"]
        reported = [one["state"] for one in await page.evaluate("window.reported") if one["response_id"] == first]
        assert reported == ["started"], "what was cut was not heard"
        await until(page, f"window.sounds.slice(0, {queued}).every((sound) => sound.over)")
        last = (await page.evaluate("window.sounds"))[queued - 1]
        assert last["ended"] < last["at"] + last["seconds"] - 0.2, "before it was due"


async def until(page: "playwright.Page", holds: str) -> None:
    """The page's own policy forbids it to evaluate what is to hold, so it is asked."""
    async with asyncio.timeout(30):
        while not await page.evaluate(holds):  # noqa: ASYNC110 - the page has no way to tell
            await asyncio.sleep(0.05)


async def order(page: "playwright.Page") -> None:
    await page.wait_for_selector("#words:enabled")
    await page.fill("#words", "send fifty dollars to catherine nguyen")
    await page.keyboard.press("Enter")
    await page.wait_for_selector("#card:not([hidden])")


@pytest.mark.parametrize(("locale", "language"), [("en-US", "en"), ("ja-JP", "ja")])
async def test_what_fails_says_what_to_do(page: "playwright.Page", locale: str, language: str) -> None:
    async def told(key: str) -> None:
        await page.wait_for_selector(f"#said .error:has-text('{WORDS[language][key]}')".replace("can't", "can\\'t"))

    await page.set_viewport_size({"width": 320, "height": 600})
    await page.select_option("#locale", locale)
    assert await page.evaluate("document.documentElement.scrollWidth") <= 320
    await page.route("**/demo/token*", lambda route: route.abort())
    await page.click("#call")
    await told("no_service")
    await page.unroute("**/demo/token*")
    await page.route("**/demo/token*", lambda route: route.fulfill(json={"access_token": "stale"}))
    await page.click("#call")
    await told("not_taken")
    await page.unroute("**/demo/token*")
    await page.click("#call")
    for name in ("NotAllowedError", "NotFoundError"):
        refuse = f"async () => {{ throw new DOMException('', '{name}'); }}"
        await page.evaluate(f"void (navigator.mediaDevices.getUserMedia = {refuse})")
        await page.click("#talk:enabled")
        await told(f"microphone.{name}")
    await page.evaluate("window.line.close(3000)")
    await told("dropped")


async def test_an_order_that_is_read_again_is_on_the_card_again(page: "playwright.Page") -> None:
    """Who speaks over a read-back of an earlier call may hear the same again, of which no new event tells."""
    readback = {"type": "tellerline.readback", "payee_id": "p", "amount_minor": 5000, "currency": "USD", "on": None}
    readback |= {"source": "a", "verification": "match", "step_up_required": False, "expires_at": "2999-01-01T00:00Z"}
    done = [
        {"type": "response.done", "response": {"id": "r", "status": status, "metadata": {"awaits": awaits}}}
        for status, awaits in (("cancelled", "nothing"), ("completed", "confirmation"))
    ]

    def served(line: "playwright.WebSocketRoute") -> None:
        for event in (readback, *done):
            line.send(json.dumps(event))

    await page.route_web_socket("**/v1/calls", served)
    await page.click("#call")
    await page.wait_for_selector("text=waits for confirmation")
    assert await page.is_visible("#card :text('$50.00')")


async def test_without_a_voice_the_page_says_so(page: "playwright.Page") -> None:
    await page.click("#call")
    await page.wait_for_selector(f"#voice:has-text('{WORDS['en']['voice.text']}')")
    await order(page)
    await page.wait_for_selector("text=waits for confirmation")
    assert await page.evaluate("window.sounds") == []
    assert "played_ms" not in (await page.evaluate("window.reported"))[-1]


def test_the_page_says_everything_in_both_languages() -> None:
    script = (STATIC / "console.js").read_text(encoding="utf-8")
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    asked = {*re.findall(r'word\("([a-z_.]+)"', script), *re.findall(r'data-(?:words|label|hint)="([a-z_.]+)"', page)}
    assert len(asked) >= 40
    assert WORDS["en"].keys() == WORDS["ja"].keys() >= asked
    kinds = {"intent": Intent, "check": PayeeVerification, "state": TransferState, "waits": Awaits}
    assert all(f"{kind}.{value.value}" in WORDS["ja"] for kind, values in kinds.items() for value in values)
