"""Answers as people give them, with what has to come of each; and that nothing but the grammar makes a consent."""

import ast
from pathlib import Path

import pytest

from deploy.bench._lines import unpacked
from deploy.bench.cases.waiting import Scenes
from schemas.consent import Awaited
from schemas.ids import EN_US, JA_JP, Locale
from schemas.transcript import Hypothesis, Source, Transcript

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "tests" / "data" / "consent"
DOES = {"transfer": "moved", "bill": "moved", "lock": "lock", "unlock": "unlock", "person": "person"}
YES, PERSON, EITHER = {"book", "lock", "unlock"}, "person", "ask"


def rows(name: str) -> list[tuple[str, str, str]]:
    lines = unpacked(FOLDER / name).decode().splitlines()
    return [(cells[0], cells[1], cells[2]) for cells in (line.split("\t") for line in lines)]


@pytest.fixture(scope="module")
def scenes() -> dict[str, Scenes]:
    return {language: Scenes(language) for language in ("en", "ja")}


def wrong(scenes: Scenes, waits: str, wanted: str, said: str) -> str:
    """What is wrong with what came of an answer; nothing where it is as written."""
    came = scenes.answer(Awaited(waits), said)
    if wanted in YES or (wanted == PERSON and waits == PERSON):
        return "" if came.done == DOES[waits] else f"not done: {came.said}"
    if came.done and not (came.done == PERSON != DOES[waits]):
        return f"{came.done}"
    if wanted == PERSON:
        return "" if came.done == PERSON else f"no person: {came.said}"
    asked = any(id_.startswith("consent.") for id_ in came.said)
    return f"not asked about: {came.said}" if wanted == EITHER and not asked else ""


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.tsv.xz")))
def test_answers_do_what_they_say(name: str, scenes: dict[str, Scenes]) -> None:
    found = {said: why for waits, wanted, said in rows(name) if (why := wrong(scenes[name[:2]], waits, wanted, said))}
    assert found == {}


@pytest.mark.parametrize("other", ["no", "yes but", "yes fifteen dollars", "yes cancel", "no no", "wait"])
def test_a_hypothesis_about_as_likely_that_is_no_yes_is_asked_about(other: str, scenes: dict[str, Scenes]) -> None:
    near = Transcript("yes", EN_US, (Hypothesis("yes", -0.2), Hypothesis(other, -0.3)))
    assert scenes["en"].answer(Awaited.TRANSFER, near).said == ("say.both",)
    assert not scenes["en"].answer(Awaited.PERSON, near).done


def test_hypotheses_that_agree_and_far_ones_leave_a_yes(scenes: dict[str, Scenes]) -> None:
    heard = (Hypothesis("yes", -0.1), Hypothesis("yes yes", -0.2), Hypothesis("yeah", -0.2), Hypothesis("guess", -9.0))
    assert scenes["en"].answer(Awaited.TRANSFER, Transcript("yes", EN_US, heard)).done == "moved"


@pytest.mark.parametrize(
    ("locale", "yes", "other"),
    [
        (EN_US, "yes", "yes and make it sixty to my other brother"),
        (EN_US, "yes that's right", "what's my balance, yes that's right, and then the last transactions"),
        (EN_US, "go ahead", "if it's free then go ahead"),
        (JA_JP, "はい、問題ありません", "相手を変えてください、ただはい、問題ありません、じゃなくてやってください"),
        (JA_JP, "はい", "はい、手数料がかからなければの話ですけれども"),
        (JA_JP, "お願いします", "残高を教えてくださいお願いします"),
    ],
)
def test_more_words_as_surely_heard_are_asked_about(
    locale: Locale, yes: str, other: str, scenes: dict[str, Scenes]
) -> None:
    near = Transcript(yes, locale, (Hypothesis(yes, -0.3), Hypothesis(other, -0.35)))
    assert not scenes[locale[:2]].answer(Awaited.TRANSFER, near).done


@pytest.mark.parametrize(
    ("locale", "yes", "slip"),
    [
        (EN_US, "yes please", "yes police"),
        (EN_US, "yes that's right", "yes that's write"),
        (EN_US, "go ahead", "go a head"),
        (JA_JP, "はい、お願いします", "はい、お願いしまし"),
        (JA_JP, "はい、問題ありません", "はい、門題ありませんん"),
    ],
)
def test_a_slip_of_the_decoder_leaves_a_yes(locale: Locale, yes: str, slip: str, scenes: dict[str, Scenes]) -> None:
    near = Transcript(yes, locale, (Hypothesis(yes, -0.3), Hypothesis(slip, -0.6)))
    assert scenes[locale[:2]].answer(Awaited.TRANSFER, near).done == "moved"


@pytest.mark.parametrize("key", ["1", "2", "0", "9", "11"])
def test_a_key_is_no_yes(key: str, scenes: dict[str, Scenes]) -> None:
    for awaited in (Awaited.TRANSFER, Awaited.BILL, Awaited.LOCK, Awaited.UNLOCK, Awaited.PERSON):
        pressed = Transcript.typed(key, EN_US, source=Source.DTMF)
        assert not scenes["en"].answer(awaited, pressed).done


@pytest.mark.parametrize(("said", "done"), [("y", "moved"), ("n", "")])
def test_a_letter_is_an_answer_where_it_is_typed(said: str, done: str, scenes: dict[str, Scenes]) -> None:
    heard = Transcript.typed(said, EN_US, source=Source.SPEECH)
    assert scenes["en"].answer(Awaited.TRANSFER, Transcript.typed(said, EN_US)).done == done
    assert not scenes["en"].answer(Awaited.TRANSFER, heard).done


def calls(name: str) -> set[str]:
    found = set()
    for path in (*ROOT.glob("services/**/*.py"), *ROOT.glob("app/**/*.py"), *ROOT.glob("schemas/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == name:
                found.add(str(path.relative_to(ROOT)))
    return found


def test_only_the_grammar_makes_a_consent_and_only_a_consent_moves_money() -> None:
    assert calls("Consent") == {"services/understanding/fast/consent/consent.py"}
    assert calls("SubmitTransfer") == {"services/dialogue/phases.py"}, (
        "made of what was read back, and the consent to it"
    )
    assert calls("Submitting") == {"services/dialogue/answers.py"}
