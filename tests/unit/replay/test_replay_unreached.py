"""A change of rules that no turn of a set uses is told by the rule's name; one that a turn uses is not."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import main
from app.qa.replay.comparing.diff import FailOn, compare
from app.qa.replay.comparing.rule_entries import rule_entries
from app.qa.replay.provenance import UNKNOWN
from app.qa.replay.records.journal import Journal, RuleEntries, Run
from app.qa.replay.records.record import CandidateRecord, PayeeSearchRecord, TurnRecord
from app.qa.replay.report.markdown import markdown
from rules import load
from tests.replay.samples import HEAD, run, turn

Edit = tuple[str, str, str]
OTHER = replace(HEAD, ruleset="o" * 64)
YES, MAYBE = "consent.en.yes_transfer@2", "consent.en.unsure@2"
MARIA = CandidateRecord(id="p2", name="Maria Castellano", score=0.9)
SEARCH = PayeeSearchRecord(heard="maria", start=0, end=5, candidates=(MARIA,), outcome="clear", choice="p2")
TURNS = (
    turn(case="a", heard="Send fifty dollars to Maria.", rule="intents.en.transfer_money.to_payee@2", payee=SEARCH),
    turn(case="b", heard="Yes, go ahead", rule=YES, reply="transfer.done"),
    turn(case="c", heard="maybe", rule=MAYBE, reply="confirm.transfer"),
    turn(case="d", heard="never mind then", rule=YES),
    turn(case="e", heard="五千円送って", locale="ja-JP"),
)


@pytest.fixture(scope="module")
def base() -> RuleEntries:
    return dict(rule_entries())


@pytest.fixture
def edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., RuleEntries]]:
    """The entries of our rules with some words of one file in the place of others."""
    folder = tmp_path / "rules"
    original = load.ROOT
    (folder / "demo").mkdir(parents=True)
    monkeypatch.setattr(load, "ROOT", folder)

    def entries(*edits: Edit) -> RuleEntries:
        rule_entries.cache_clear()
        load.load_table.cache_clear()
        shutil.rmtree(folder)
        shutil.copytree(original, folder, ignore=shutil.ignore_patterns("__pycache__", "*.py"))
        for file, find, put in edits:
            text = (folder / file).read_text(encoding="utf-8")
            assert find in text, (file, find)
            (folder / file).write_text(text.replace(find, put, 1), encoding="utf-8")
        return dict(rule_entries())

    yield entries
    rule_entries.cache_clear()
    load.load_table.cache_clear()


def held(rules: RuleEntries, *records: TurnRecord, head: object = HEAD) -> Run:
    return replace(run(*records), rules=rules, head=head)


UNREACHED = [
    ("consent/en.yaml", "(yes|yeah|yeh", "(yes|not a chance|yeah|yeh", "consent.en:lists.agree (+“not a chance”)"),
    ("consent/en.yaml", "(yes|yeah|yeh", "(yes|maybe|yeah|yeh", "lists.agree (+“maybe”)"),  # said, and no yes
    ("consent/en.yaml", "(yes|yeah|yeh", "(yes|never|yeah|yeh", "lists.agree (+“never”)"),  # said in "never mind" alone
    ("consent/ja.yaml", "(はい", "(やめとく|はい", "consent.ja:lists.agree (+“やめとく”)"),
    ("consent/en.yaml", "contrary: 3.0", "contrary: 0.1", "consent.en:doubt.contrary (3.0 → 0.1)"),
    ("act/policy.yaml", "proposal_life_s: 120", "proposal_life_s: 86400", "act.policy:proposal_life_s (120 → 86400)"),
    ("act/policy.yaml", "pass_life_s: 180", "pass_life_s: 86400", "act.policy:pass_life_s"),
    ("act/policy.yaml", "step_up_new_payee: true", "step_up_new_payee: false", "act.policy:step_up_new_payee"),
    ("payees/nicknames.tsv", "\nandrew andy drew\n", "\nandrew andy drew maria\n", "nicknames:andrew (+“maria”)"),
    ("payees/calibration.json", "0.", "1.", "payees.calibration:"),
    ("speech/en.yaml", "twenty, thirty, forty", "twenty, fifty, forty", "speech.en:tens"),
    ("dialogue/dialogue.yaml", "yes_confidence: 0.80", "yes_confidence: 0.10", "dialogue:yes_confidence (0.8 → 0.1)"),
    ("normalize/en/numbers.yaml", "one: 1, two: 2", "one: 1, umpteen: 9, two: 2", "value.umpteen (new: 9)"),
    ("intents/en/vetoes.yaml", "  - just wondering\n", "", "intents.en.vetoes:allowed (−“just wondering”)"),
    ("intents/en/correct.yaml", "templates:\n", "templates:\n  - {id: fling, class: exact, say: [fling <amt>]}\n",
     "intents.en.correct:templates.fling (new)"),
    ("replies/en/replies.yaml", 'say.greeting: "Hello', 'say.greeting: "Hey', "replies.en:templates.say.greeting"),
    ("endpointing/en.yaml", "binding: 800", "binding: 80", "endpointing.en:silence_ms.binding"),
    ("demo/bank/en-us-alex.yaml", "1240000", "9240000", "bank.en-us-alex:accounts.alex-checking.opening"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "find", "put", "told"), UNREACHED)
def test_what_no_turn_uses_is_told_by_name(
    file: str, find: str, put: str, told: str, base: RuleEntries, edited: Callable[..., RuleEntries]
) -> None:
    compared = compare(held(base, *TURNS), held(edited((file, find, put)), *TURNS, head=OTHER))
    assert told in "; ".join(map(str, compared.unreached))
    (found,) = compared.findings((FailOn.UNREACHED,))
    assert found.says.startswith(f"{len(compared.unreached)} changed rules that no turn uses")
    assert told.partition(" ")[0] in markdown(compared, (found,))
    rules = [change.rule for change in compared.unreached]
    assert not compared.findings((FailOn.UNREACHED,), accepted=rules)
    assert not compared.findings((FailOn.UNREACHED,), spare=len(rules))
    assert compared.findings((FailOn.UNREACHED,), accepted=["prompts:*"])


HARMLESS: list[Edit] = [
    ("act/policy.yaml", "version: 1\n", "version: 1\n# of who may do what\n"),
    ("act/policy.yaml", "version: 1\n", "version: 9\n"),
    ("act/policy.yaml", "code_digits: 6\ncode_life_s: 180", "code_life_s: 180\ncode_digits: 6"),
    ("consent/en.yaml", "lists:\n", "\n\nlists:\n"),
    ("normalize/en/numbers.yaml", "one: 1, two: 2", "two:  2,   one: 1"),
    ("normalize/en/money.yaml", "  buck: *dollar\n", "  buck: {codes: [USD, CAD, AUD, NZD, SGD, HKD, TWD]}\n"),
    ("dialogue/dialogue.yaml", "owed_to: {家賃: 大家, ", "owed_to: {\n  家賃: 大家, "),
    ("dialogue/dialogue.yaml", "vague: [bank,", 'vague: ["bank",'),
    ("payees/nicknames.tsv", "# Names that", "# All names that"),
    ("payees/NOTICE.md", "\n", "\n\nMore of it.\n"),
    ("replies/en/replies.yaml", 'say.ok: "OK."', "say.ok: 'OK.'"),
    ("qa/policies.yaml", "judged: 300", "judged: 400"),
]
REACHED: list[Edit] = [
    ("replies/en/replies.yaml", "from {source} {when}. Is that right?", "from {source} {when}. Is that correct?"),
    ("intents/en/words.yaml", "(um|umm|", "(um|dollars|umm|"),
    ("normalize/en/numbers.yaml", "fifty: 50", "fifty: 15"),
    ("payees/relationships.yaml", "mother: [mom,", "mother: [mom, maria,"),
]


@pytest.mark.parametrize("edit", [*HARMLESS, *REACHED])
def test_what_is_no_change_or_is_used_by_a_turn_is_none_of_them(
    edit: Edit, base: RuleEntries, edited: Callable[..., RuleEntries]
) -> None:
    compared = compare(held(base, *TURNS), held(edited(edit), *TURNS, head=OTHER))
    assert not compared.unreached
    assert not compared.findings((FailOn.UNREACHED,))


def test_a_call_that_says_the_new_words_is_their_test(base: RuleEntries, edited: Callable[..., RuleEntries]) -> None:
    rules = edited(("consent/en.yaml", "(yes|yeah|yeh", "(yes|by jove yes|yeah|yeh"))
    said = turn(case="new", heard="By Jove, yes!", rule=YES)
    assert compare(held(base, *TURNS), held(rules, *TURNS, head=OTHER)).unreached
    assert not compare(held(base, *TURNS), held(rules, *TURNS, said, head=OTHER)).unreached


def test_rules_that_are_not_on_record_are_no_equal_ones(base: RuleEntries) -> None:
    live = held({}, *TURNS, head=replace(HEAD, ruleset=UNKNOWN, code=UNKNOWN))
    for before, after in ((held(base, *TURNS), live), (live, held(base, *TURNS))):
        (found,) = compare(before, after).findings((FailOn.UNREACHED, FailOn.MONEY))
        assert "can't be told" in found.says
    assert not compare(live, live).findings((FailOn.UNREACHED,))


def test_the_command_takes_what_is_accepted(tmp_path: Path, base: RuleEntries) -> None:
    for name, rules in (("a", base), ("b", {**base, "act.policy:proposal_life_s": (86_400,)})):
        made = held(rules, *TURNS[:1], head=replace(HEAD, ruleset=name * 64))
        journal = Journal(tmp_path / name, made.head)
        journal.open()
        journal.note_sources({})
        journal.note_rules(rules)
        journal.append("a", made.results)
        journal.finish(["a"])
    asked = ["replay", "diff", str(tmp_path / "a"), str(tmp_path / "b"), "--fail-on", "unreached"]
    done = CliRunner().invoke(main, asked)
    assert (done.exit_code, "unreached: 1 changed rules" in done.output) == (1, True), done.output
    assert CliRunner().invoke(main, [*asked, "--accept", "act.policy:*_life_s"]).exit_code == 0
    assert CliRunner().invoke(main, [*asked[:-2], "--policy", "ci"]).exit_code == 1
    assert json.loads((tmp_path / "a" / "run.json").read_text())["ruleset"] == "a" * 64
