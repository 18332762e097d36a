"""Two runs side by side in a real browser: what moved, turns with sound, values and rules, filters and keys."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.qa.replay.comparing.diff import FailOn, compare
from app.qa.replay.manifests.manifest import Expectation
from app.qa.replay.records.journal import Run
from app.qa.replay.records.record import TurnRecord
from app.qa.replay.report.beside import beside_page
from tests.replay.samples import FIFTY, HEAD, result, turn

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = Path("/usr/bin/chromium")
needs_browser = pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Debian's chromium at /usr/bin/chromium")
AUDIO = Path(__file__).parent.parent / "audio"
FIFTEEN = {"amount_minor": 1500, "currency": "USD"}
WANTED = Expectation(intent="transfer_money", slots={"amount": FIFTY, "payee": "p1"})
ATTACK = "</script><script>window.pwned=1</script><img src=x onerror=window.pwned=1>"


def runs() -> tuple[Run, Run]:
    then: list[TurnRecord] = []
    now: list[TurnRecord] = []
    for n in range(60):
        said = turn(case=f"c{n}", expect=WANTED, audio="balance.opus", rule="money.en@3", tags={"voice": f"v{n % 2}"})
        wrong = said.model_copy(update={"slots": {"amount": FIFTEEN, "payee": "p1"}, "rule": "money.en@4"})
        then.append(wrong if n == 59 else said)
        now.append(wrong if n < 12 else said)
    now[20] = now[20].model_copy(update={"heard": ATTACK})
    return Run(HEAD, tuple(map(result, then))), Run(HEAD, tuple(map(result, now)))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    page = tmp_path_factory.mktemp("beside") / "beside.html"
    compared = compare(*runs())
    page.write_text(beside_page(compared, compared.findings(tuple(FailOn)), AUDIO, page), encoding="utf-8")
    return page


def test_what_moved_is_drawn_without_a_script(written: Path) -> None:
    text = written.read_text()
    assert "12 worse · 0 changed" in text or "12 worse" in text
    assert "right: 0.98" in text
    assert "voice=v0" in text
    same = compare(runs()[0], runs()[0])
    quiet = beside_page(same, (), None, written)
    assert "no score moved" in quiet
    assert "no turn differs" in quiet


@pytest.fixture
def page(written: Path) -> Iterator["playwright.Page"]:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": 1200, "height": 900})
        problems: list[str] = []
        opened.on("pageerror", lambda error: problems.append(str(error)))
        opened.goto(written.as_uri())
        opened.wait_for_selector("html[data-ready]")
        yield opened
        assert opened.evaluate("window.pwned") is None
        browser.close()
        assert not problems


@needs_browser
def test_turns_show_both_sides_and_are_filtered(page: "playwright.Page") -> None:
    assert page.inner_text("#count") == "14 of 14 turns that differ"
    first = page.locator("article").first
    assert "c0#1: worse" in first.inner_text()
    row = first.locator("tr.money").inner_text()
    assert row.split("\t") == ["slot amount", "50.00 USD ✓", "15.00 USD ✗"]
    assert first.locator("del").inner_text().strip() == "money.en@3"
    assert first.locator("ins").inner_text().strip() == "money.en@4"
    assert str(first.locator("audio").get_attribute("src")).startswith("data:audio/ogg")
    page.select_option("#by-change", "better")
    assert page.inner_text("#count").split()[0] == "1"
    page.select_option("#by-change", "")
    page.fill("#find", "window.pwned")
    assert page.locator("article").count() == 1
    assert ATTACK in page.inner_text("article")
    page.fill("#find", "")
    page.select_option("#by-value", "slot amount")
    assert page.inner_text("#count").split()[0] == "13"


@needs_browser
def test_keys_move_and_a_narrow_screen_shows_all(page: "playwright.Page") -> None:
    page.locator("#turns").focus()
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.dataset.at") == "1"
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
