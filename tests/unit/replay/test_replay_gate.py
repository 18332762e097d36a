"""The gate: what was not played, not known or not looked at never passes for right, and every policy says so."""

import json
from pathlib import Path

import pytest

from app.qa.replay.comparing.diff import FailOn, compare
from app.qa.replay.comparing.policy import Policies, Policy, policy_for, slack
from app.qa.replay.comparing.readings import readings
from app.qa.replay.judging.judge import MoneyVerdict, judge, judge_by_machine
from app.qa.replay.judging.score import Scores, score
from app.qa.replay.labelling.vocabulary import customer_fault, label_faults
from app.qa.replay.manifests.manifest import Expectation, Manifest, MoneyMove
from app.qa.replay.manifests.readers import load
from app.qa.replay.records.journal import Run
from app.qa.replay.records.record import Stage, TurnRecord, TurnResult
from rules.load import load as load_rules
from schemas.errors import BadInput
from schemas.ids import Locale
from tests.replay.samples import HEAD, result, turn

POLICIES = tuple(load_rules("qa/policies.yaml", Policies).policies)
FIFTY = MoneyMove(amount_minor=5000, currency="USD", payee="catherine-nguyen")
QUICK = (Stage(name="understanding", start_ms=0, ms=1.0),)
SAID = "send fifty dollars to catherine"


def manifest(folder: Path, *lines: dict[str, object]) -> Manifest:
    path = folder / "m.jsonl"
    path.write_text("\n".join(json.dumps({"locale": "en-US"} | line) for line in lines))
    return load(path)


def good(case: str, **more: object) -> TurnRecord:
    expect = Expectation(transcript=SAID, intent="transfer_money", decision="confirm", payee="p1")
    return turn(case=case, audio=f"{case}.wav", heard=SAID, expect=expect, **more)


def absent(case: str) -> TurnRecord:
    failure = {"error": "not_found", "reason": f"no such file: {case}.wav", "played": False}
    return good(case).model_copy(update=failure | {"heard": "", "intent": None, "decision": "", "slots": {}})


@pytest.fixture
def recorded(tmp_path: Path) -> Manifest:
    expect = {"transcript": SAID, "intent": "transfer_money", "decision": "confirm", "payee": "catherine-nguyen"}
    return manifest(tmp_path, *({"id": f"c{i}", "audio": f"c{i}.wav", "expect": expect} for i in range(400)))


def scored(*records: TurnRecord) -> Scores:
    return score([result(record) for record in records])


@pytest.mark.parametrize("name", POLICIES)
def test_a_sound_run_passes_and_recordings_that_are_not_there_fail_every_policy(name: str, recorded: Manifest) -> None:
    bounds = policy_for(name, recorded)
    fine = [good(f"c{i}", payee=None, slots={"payee": "p1"}) for i in range(400)]
    recall = {"payee_recall_at_3": 0.9} if name == "release" else {}
    assert [b for b in bounds.broken(score(timed(fine, stages=QUICK)), recorded) if b.split()[0] not in recall] == []
    gone = [absent(f"c{i}") for i in range(400)]
    assert any(bound.startswith("errors is 1.0000 of 400") for bound in bounds.broken(scored(*gone), recorded))
    one = bounds.broken(scored(*fine[1:], absent("c0")), recorded)
    assert any("no such file: c0.wav" in bound for bound in one)
    assert any("399 turns" in bound for bound in bounds.broken(scored(*fine[1:]), recorded))


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_bounds_what_matters(name: str, recorded: Manifest) -> None:
    bounds = policy_for(name, recorded)
    fine = [good(f"c{i}") for i in range(400)]

    def broken(**changes: object) -> str:
        return " ".join(bounds.broken(scored(*(record.model_copy(update=changes) for record in fine)), recorded))

    assert "money_false_accepts" in broken(money=(FIFTY,))
    assert "money_wrong_read_backs" in broken(proposal=FIFTY.model_copy(update={"payee": "other"}))
    assert "right is 0.0000" in broken(decision="clarify")
    assert "wer_normalized" in broken(heard="mend the fence")
    (late,) = bounds.latency_ms
    slow = {"total_ms": 60_000.0, "stages": (Stage(name="understanding", start_ms=0, ms=60_000.0),)}
    assert any(bound.startswith(f"{late} is 60000 ms") for bound in bounds.broken(score(timed(fine, **slow)), recorded))
    assert any(bound.startswith(f"{late} is not measured") for bound in bounds.broken(score([]), recorded))


@pytest.mark.parametrize("name", POLICIES)
def test_what_earlier_runs_heard_is_no_measure_of_the_ear(name: str, recorded: Manifest) -> None:
    bounds = policy_for(name, recorded)
    fine = [good(f"c{i}") for i in range(400)]
    kept = timed(fine[:1], total_ms=None, kept=True, stages=QUICK)
    found = bounds.broken(score(kept + timed(fine[1:], stages=QUICK)), recorded)
    said = [bound for bound in found if "can't be judged, 1 recordings were heard by earlier runs" in bound]
    assert said == ([] if name == "rules" else [bounds.unmeasured(score(kept))])
    scores = score(kept + timed(fine[1:3], stages=QUICK))
    assert (scores.kept, scores.latency["total"].count, scores.latency["understanding"].count) == (1, 2, 3)


def timed(records: list[TurnRecord], **timing: object) -> list[TurnResult]:
    return [r.model_copy(update={"timing": r.timing.model_copy(update=timing)}) for r in map(result, records)]


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize(
    "line",
    [
        {"id": "a", "audio": "a.wav", "expect": {"transcript": SAID}},
        {"id": "a", "audio": "a.wav", "expect": {"intent": "deny"}},
        {"id": "a", "text": "hi"},
        {"id": "a", "text": "hi", "expect": {"intent": "deny", "by_machine": ["intent"]}},
    ],
)
def test_a_set_without_what_a_policy_needs_is_refused(name: str, line: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=f"policy {name} needs"):
        policy_for(name, manifest(tmp_path, line))


def test_release_wants_labels_for_all_that_it_bounds(tmp_path: Path) -> None:
    lines = [{"id": f"c{i}", "text": "hi", "expect": {"intent": "deny"}} for i in range(300)]
    with pytest.raises(BadInput, match=r"`decision`.*`payee`"):
        policy_for("release", manifest(tmp_path, *lines))


def test_words_alone_are_neither_right_nor_wrong() -> None:
    said = turn(audio="a.wav", heard="something else", money=(FIFTY,), expect=Expectation(transcript=SAID))
    assert (judge(said).right, judge(said).money) == (None, None)
    found = scored(said).ratios
    assert found["wer"].right > 0
    assert "right" not in found


def test_what_failed_is_never_right() -> None:
    assert judge(absent("c")).right is False
    assert judge(absent("c")).words is None
    failed = good("c", error="model_unavailable", reason="down")
    assert judge(failed).right is False
    assert judge(turn(error="x", expect=None)).right is None


def test_failed_turns_take_no_part_in_latency() -> None:
    records = [result(good("a")), result(absent("b"))]
    assert score(records).latency["total"].count == 1
    assert score([result(absent("b"))]).latency == {}


def test_a_machine_is_counted_apart_until_a_person_has_looked() -> None:
    expect = Expectation(transcript=SAID, intent="deny", decision="confirm", by_machine=("intent", "decision"))
    record = turn(audio="a.wav", heard=SAID, expect=expect)
    assert judge(record).right is None
    assert (judge_by_machine(record).intent, judge_by_machine(record).decision) == (False, True)
    found = scored(record).ratios
    assert "intent_match" not in found
    assert found["machine_intent_match"].value == 0.0
    assert found["wer"].of > 0


def test_a_read_back_must_say_what_it_would_book() -> None:
    expect = Expectation(decision="confirm")
    said = turn(proposal=FIFTY, spoken="I'll send 50 dollars to Catherine Nguyen. Is that right?", expect=expect)
    assert judge(said).money is MoneyVerdict.RIGHT
    wrong = said.model_copy(update={"spoken": "I'll send 15 dollars to Catherine Nguyen. Is that right?"})
    assert judge(wrong).money is MoneyVerdict.WRONG_READ_BACK
    large = FIFTY.model_copy(update={"amount_minor": 123_450})
    said = turn(proposal=large, spoken="I'll send 1,234 dollars and 50 cents to her.", expect=expect)
    assert judge(said).money is MoneyVerdict.RIGHT


@pytest.mark.parametrize(
    ("expect", "fault"),
    [
        ({"intent": "trasnfer_monney"}, "did you mean transfer_money"),
        ({"decision": "confrim"}, "did you mean confirm"),
        ({"intent": "balnce"}, "did you mean balance_inquiry"),
        ({"route": "fats"}, "did you mean fast"),
        ({"reply": "confirm.tranfser"}, "did you mean confirm.transfer"),
        ({"payee": "catherine-nguyn"}, "did you mean catherine-nguyen"),
        ({"slots": {"amonut": 1}}, "did you mean amount"),
        ({"money": [{"amount_minor": 1, "currency": "USD", "payee": "nobody-at-all"}]}, "unknown payee"),
    ],
)
def test_a_name_that_means_nothing_is_refused(expect: dict[str, object], fault: str, tmp_path: Path) -> None:
    (told,) = label_faults(manifest(tmp_path, {"id": "a", "text": "x", "customer": "alex-morgan", "expect": expect}))
    assert fault in told
    assert told.startswith("a#1")


def test_a_payee_of_somebody_else_is_refused_where_nobody_is_named(tmp_path: Path) -> None:
    """The demo's first customer of the locale calls then, who has no such payee."""
    said = {"id": "a", "text": "x", "expect": {"payee": "sato-hanako"}}
    (told,) = label_faults(manifest(tmp_path, said))
    assert "unknown payee" in told
    assert not label_faults(manifest(tmp_path, said | {"locale": "ja-JP"}))


def test_customers_and_locales_are_known() -> None:
    assert "alex-morgan" in str(customer_fault("alex-morgen", "en-US"))
    assert customer_fault("alex-morgan", "en-US") is None
    assert "xx-XX" in str(customer_fault(None, "xx-XX"))
    assert customer_fault(None, "ja-JP") is None


def test_words_that_no_recording_says_are_held_to_what_they_were() -> None:
    words, bounds = dict(readings(frozenset({Locale("en-US"), Locale("ja-JP")}))), slack()
    assert words["en-US “two grand dollars”"] == 'money {"amount_minor":200000,"currency":"USD"}'
    assert words["ja-JP “明日”"] == 'date "2026-01-16"'
    assert words["en accounts “savings”"] == "savings"
    wrong = words | {"en-US “two grand dollars”": 'money {"amount_minor":20000,"currency":"USD"}'}
    loose = bounds | {"ci: errors at most": 0.5}
    gone = {name: bound for name, bound in bounds.items() if name != "ci: fails on labels"}
    told = {
        finding.policy: finding.says
        for after in (Run(HEAD, (), words=wrong, slack=loose), Run(HEAD, (), words=words, slack=gone))
        for finding in compare(Run(HEAD, (), words=words, slack=bounds), after).findings(FailOn)
    }
    assert told[FailOn.MONEY].startswith("1 words are taken for something else: en-US “two grand dollars” money")
    assert told[FailOn.LABELS] == "1 bounds are looser: ci: fails on labels 0 → nothing"
    more = Run(HEAD, (), words=words | {"en-US “five lolly”": "money"}, slack=bounds | {"new: errors at most": 0.0})
    assert not compare(Run(HEAD, (), words=words, slack=bounds), more).findings(FailOn)


@pytest.mark.parametrize(
    "change",
    [{"at_most": {"errors": float("nan")}}, {"at_most": {"errors": 1.0}}, {"at_least": {"right": float("-inf")}},
     {"latency_ms": {"total_p95": float("inf")}}, {"fail_on": ["slower"]}],
)  # fmt: skip
def test_a_policy_without_a_bound_is_none(change: dict[str, object]) -> None:
    whole = load_rules("qa/policies.yaml", Policies).policies["ci"].model_dump()
    merged = {k: {**whole[k], **v} if isinstance(v, dict) else v for k, v in change.items()}
    with pytest.raises(ValueError, match="Policy"):
        Policy.model_validate(whole | merged)


EN, JA = "en reply confirm.own", "ja reply confirm.transfer"


@pytest.mark.parametrize(
    ("reply", "put", "told"),
    [
        (EN, "I'll move {amount} from {target} to {source} {when}.", "says “from” of target"),
        (EN, "I'll move {amount} to {target} {when}.", "leaves source out"),
        (JA, "{source}へ、{amount}を{when}お振り込みします。{payee}からのお引き落としです。", "of payee"),
        ("en reply confirm.bill", "I'll pay it for {bill} from {source} {when}.", "leaves amount out"),
        (EN, "Out of {source}, {target} gets {amount} {when}. OK?", ""),
        (JA, "{amount}を{when}、{source}からのお引き落としで、{payee}様へお振り込みします。", ""),
        ("en reply transfer.done", "Done: {amount} is on its way to {to}. Please send it again.", "has asking again"),
        ("en reply transfer.done", "The bank declined {amount} to {to}.", "has a refusal"),
        ("ja reply transfer.unknown", "お振り込みの結果を確認しております。", "lacks asking again"),
        ("en reply transfer.failed", "Your bank said no. No money was moved.", ""),
        ("en reply payees.not_found", "I don't find that.", ""),
        ("the bound code_attempts", "100", "the bound code_attempts 3 → 100"),
    ],
)
def test_a_reply_may_be_worded_otherwise_but_not_say_one_value_as_another(reply: str, put: str, told: str) -> None:
    words = dict(readings(frozenset({Locale("en-US"), Locale("ja-JP")})))
    assert reply in words
    found = compare(Run(HEAD, (), words=words), Run(HEAD, (), words=words | {reply: put})).findings([FailOn.MONEY])
    assert bool(found) == bool(told)
    assert told in "".join(finding.says for finding in found)
