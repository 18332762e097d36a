"""The report in a real browser, from disk: opens fast, shows all, obeys keys, and runs nothing foreign."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.qa.replay.report import rows
from app.qa.replay.report.build import write_report
from tests.replay.samples import many, run, turn

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = Path("/usr/bin/chromium")
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Debian's chromium at /usr/bin/chromium")
OPEN_S = 2.0
DURATION = """() => new Promise((known, broken) => {
  const audio = document.querySelector("#detail audio");
  const tell = () => known(audio.duration);
  audio.addEventListener("loadedmetadata", tell);
  audio.addEventListener("error", () => broken(audio.error.message));
  setTimeout(() => broken("no metadata"), 20000);
  if (audio.readyState) tell();
})"""  # the page's policy forbids what wait_for_function does: compile its condition again and again


@pytest.fixture(scope="module")
def browser() -> Iterator["playwright.Browser"]:
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    page = tmp_path_factory.mktemp("report") / "report.html"
    write_report(page, many(5_000), page.parent)
    return page


@pytest.fixture
def page(browser: "playwright.Browser", large: Path) -> Iterator["playwright.Page"]:
    opened = browser.new_page(viewport={"width": 1400, "height": 900})
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    opened.goto(large.as_uri())
    opened.wait_for_selector("html[data-ready]")
    yield opened
    opened.close()
    assert not problems


def test_five_thousand_turns_open_within_two_seconds(browser: "playwright.Browser", large: Path) -> None:
    """Of the page's own processor time: what else a busy machine does is not the page's."""
    opened = browser.new_page()
    measured = opened.context.new_cdp_session(opened)
    measured.send("Performance.enable", {"timeDomain": "threadTicks"})
    opened.goto(large.as_uri())
    opened.wait_for_selector("#grid .row")
    told = {each["name"]: each["value"] for each in measured.send("Performance.getMetrics")["metrics"]}
    opened.close()
    assert 0.05 < told["TaskDuration"] < OPEN_S, told


def test_only_rows_in_sight_exist(page: "playwright.Page") -> None:
    assert page.get_attribute("#grid", "aria-rowcount") == "5001"
    assert 10 < page.locator("#grid .row").count() < 80
    page.locator("#grid").focus()
    page.keyboard.press("End")
    page.wait_for_selector('#grid .row[aria-selected="true"]')
    assert page.locator('#grid .row[aria-selected="true"]').get_attribute("aria-rowindex") == "5001"


def test_filters_narrow_and_can_be_cleared(page: "playwright.Page") -> None:
    page.select_option("#show", "wrong")
    wrong = int(page.inner_text("#count").split()[0])
    assert 0 < wrong < 5_000
    assert set(page.locator("#grid .row > :first-child").all_inner_texts()) == {"✗"}
    page.select_option("#show", "")
    page.fill("#find", "case-00042")
    assert page.inner_text("#count") == "1 of 5000 turns"
    page.fill("#find", "")
    assert page.inner_text("#count") == "5000 of 5000 turns"


def test_a_group_of_failures_filters_by_a_press_and_lets_go_by_another(page: "playwright.Page") -> None:
    line = page.locator("#why tbody tr").first
    count = int(line.locator("td").last.inner_text())
    line.locator("button").focus()
    page.keyboard.press("Enter")
    assert page.inner_text("#count") == f"{count} of 5000 turns"
    assert line.locator("button").get_attribute("aria-pressed") == "true"
    other = page.locator("#why tbody tr").nth(1)
    other.click()
    assert page.inner_text("#count").split()[0] == other.locator("td").last.inner_text()
    assert line.locator("button").get_attribute("aria-pressed") == "false"
    other.click()
    assert page.inner_text("#count") == "5000 of 5000 turns"
    assert "intents.en.cards.lock" in page.text_content("#coverage")


def test_a_turn_opens_by_keyboard_with_all_its_parts(page: "playwright.Page") -> None:
    page.keyboard.press("/")
    page.keyboard.type("case-00007")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    detail = page.locator("#detail")
    detail.wait_for(state="visible")
    assert detail.locator("h2").inner_text() == "case-00007#1"
    assert detail.locator("mark.money").count() == 1
    assert detail.locator("mark.payee").count() == 1
    headings = [h.lower() for h in detail.locator("h3").all_inner_texts()]
    assert headings == [
        "heard",
        "expected",
        "outcome",
        "derivation",
        "payee candidates",
        "hypotheses",
        "stages",
        "correct",
    ]
    assert detail.locator("svg rect").count() == 4
    page.keyboard.press("Escape")
    assert detail.is_hidden()


def test_markup_in_a_transcript_stays_text(page: "playwright.Page") -> None:
    page.fill("#find", "<b>mallory")
    page.locator("#grid .row").first.click()
    assert "<b>Mallory</b>" in page.locator("#detail .words").inner_text()
    assert page.locator("#detail b").count() == 0


def test_a_script_in_a_record_never_runs(browser: "playwright.Browser", tmp_path: Path) -> None:
    attack = "</script><script>window.pwned=1</script><img src=x onerror=window.pwned=1>"
    out = tmp_path / "report.html"
    tags = {"voice": attack[:100]}
    write_report(out, run(turn(heard=attack, spoken=attack, case="a", tags=tags, error=attack)), tmp_path)
    opened = browser.new_page()
    opened.goto(out.as_uri() + "#turn=a%231")
    opened.wait_for_selector("html[data-ready]")
    assert attack in opened.inner_text("#detail .words")
    assert opened.evaluate("window.pwned") is None
    opened.close()


def test_sorting_says_so_to_screen_readers(page: "playwright.Page") -> None:
    page.get_by_role("button", name="sort by milliseconds").click()
    page.get_by_role("button", name="sort by milliseconds").click()
    header = page.locator('[role="columnheader"][aria-sort]')
    assert header.get_attribute("aria-sort") == "descending"
    ms = [float(t) for t in page.locator("#grid .row > :last-child").all_inner_texts()]
    assert ms[:20] == sorted(ms[:20], reverse=True)


def test_corrections_are_exported(page: "playwright.Page", tmp_path: Path) -> None:
    page.fill("#find", "case-00003")
    page.locator("#grid .row").first.click()
    page.fill("#fix-intent", "bill_payment")
    page.fill("#fix-amount_minor", "1234")
    page.fill("#fix-note", "said bill")
    page.click("text=Keep correction")
    with page.expect_download() as download:
        page.click("#export")
    saved = tmp_path / "corrections.jsonl"
    download.value.save_as(saved)
    label = json.loads(saved.read_text())
    assert (label["case"], label["turn"], label["note"]) == ("case-00003", 1, "said bill")
    assert label["expect"]["intent"] == "bill_payment"
    assert (set(label["expect"]), label["whole"]) == ({"intent", "slots"}, False), "nothing else was looked at"
    assert label["expect"]["slots"]["amount"]["amount_minor"] == 1234


def test_dark_and_light(page: "playwright.Page") -> None:
    def background() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    page.emulate_media(color_scheme="light")
    light = background()
    page.emulate_media(color_scheme="dark")
    dark = background()
    assert light != dark
    page.click("#scheme")
    assert background() == light


def test_a_narrow_screen_shows_everything(page: "playwright.Page") -> None:
    page.set_viewport_size({"width": 420, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    assert page.locator("#grid .row").count() > 5
    page.locator("#grid .row").first.click()
    box = page.locator("#detail").bounding_box()
    assert box is not None
    assert box["width"] <= 420


def test_nothing_is_fetched(browser: "playwright.Browser", large: Path) -> None:
    asked: list[str] = []
    opened = browser.new_page()
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(large.as_uri())
    opened.wait_for_selector("html[data-ready]")
    assert asked == [large.as_uri()]
    opened.close()


@pytest.mark.parametrize("embedded", [True, False])
def test_a_recording_plays_from_disk(
    browser: "playwright.Browser", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, embedded: bool
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "said.opus").write_bytes((Path(__file__).parent.parent / "audio" / "balance.opus").read_bytes())
    if not embedded:
        monkeypatch.setattr(rows, "EMBED_BYTES", 0)
    out = tmp_path / "out" / "report.html"
    write_report(out, run(turn(audio="said.opus")), tmp_path)
    opened = browser.new_page()
    opened.goto(out.as_uri())
    opened.locator("#grid .row").click()
    source = opened.get_attribute("#detail audio", "src")
    assert source is not None
    assert source.startswith("data:audio/ogg;base64," if embedded else "../said.opus")
    opened.locator("#grid").focus()
    opened.keyboard.press("Space")
    assert opened.evaluate(DURATION) > 0.5
    opened.close()


def test_mu_law_is_embedded_as_something_a_browser_plays(browser: "playwright.Browser", tmp_path: Path) -> None:
    (tmp_path / "said.ulaw").write_bytes(bytes([0xFF, 0x80]) * 8_000)
    out = tmp_path / "report.html"
    write_report(out, run(turn(audio="said.ulaw")), tmp_path)
    opened = browser.new_page()
    opened.goto(out.as_uri())
    opened.locator("#grid .row").click()
    opened.evaluate("document.querySelector('audio').load()")
    assert str(opened.get_attribute("#detail audio", "src")).startswith("data:audio/flac;base64,")
    assert opened.evaluate(DURATION) > 1.5
    opened.close()
