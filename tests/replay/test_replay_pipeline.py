"""Replay through the real pipeline: rules, dialogue, ledger and sandbox bank; words stand in for the ear."""

import json
from pathlib import Path

from app.qa.replay.manifests import readers
from app.qa.replay.manifests.manifest import Manifest, MoneyMove
from app.qa.replay.playing.house import PipelineSpec
from app.qa.replay.playing.run import replay
from app.qa.replay.records.journal import DECISIONS
from app.qa.replay.records.record import TurnResult
from app.settings import Settings

NOW = "2026-01-15T17:00:00Z"
SEND = "send fifty dollars to Catherine Nguyen"
FIFTY = MoneyMove(amount_minor=5000, currency="USD", payee="catherine-nguyen", source="alex-checking")


def calls(folder: Path, **said: list[str]) -> Manifest:
    """A manifest of typed calls of Alex Morgan, by name."""
    lines = [
        {
            "id": name,
            "locale": "en-US",
            "customer": "alex-morgan",
            "now": NOW,
            "turns": [{"text": text} for text in texts],
        }
        for name, texts in said.items()
    ]
    path = folder / "m.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return readers.load(path)


def play(manifest: Manifest, out: Path, jobs: int = 1) -> dict[str, TurnResult]:
    spec = PipelineSpec.of(Settings(), manifest)
    return {result.record.id: result for result in replay(manifest, spec, out, jobs=jobs)}


def test_a_transfer_is_read_back_and_booked(tmp_path: Path) -> None:
    found = play(calls(tmp_path, a=[SEND, "yes"], b=[SEND, "no"], c=["yes"], d=[SEND]), tmp_path / "out")
    asked, booked = found["a#1"].record, found["a#2"].record
    assert (asked.intent, asked.decision, asked.route, asked.proposal) == ("transfer_money", "confirm", "fast", FIFTY)
    assert asked.slots["payee"] == "catherine-nguyen"
    assert [(s.kind, s.value) for s in asked.spans] == [("money", {"amount_minor": 5000, "currency": "USD"})]
    assert asked.payee is not None
    assert asked.payee.choice == "catherine-nguyen"
    assert {e.slot for e in asked.evidence} >= {"amount", "payee"}
    assert asked.reply is not None
    assert "Catherine Nguyen" in asked.spoken
    assert (booked.money, booked.decision) == ((FIFTY,), "execute")
    assert [found[i].record.money for i in ("b#1", "b#2", "c#1", "d#1")] == [()] * 4
    assert {s.name for s in found["a#1"].timing.stages} >= {"normalization", "fuzzy_lookup", "understanding"}


def test_no_case_leaves_traces_in_another(tmp_path: Path) -> None:
    said = {f"c{i}": [SEND, "yes", "what's the balance of my checking account"] for i in range(3)}
    found = play(calls(tmp_path, **said), tmp_path / "out")
    spoken = {found[f"c{i}#3"].record.spoken for i in range(3)}
    assert len(spoken) == 1, "each call has a bank of its own"


def test_two_runs_decide_byte_for_byte_alike(tmp_path: Path) -> None:
    manifest = calls(
        tmp_path, a=[SEND, "yes"], b=["what's my balance"], c=["send money", "to Emily Morgan", "ten dollars"]
    )
    for name, jobs in (("one", 1), ("two", 2)):
        play(manifest, tmp_path / name, jobs)
    assert (tmp_path / "one" / DECISIONS).read_bytes() == (tmp_path / "two" / DECISIONS).read_bytes()


def test_an_unknown_customer_is_an_error_on_record(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text(json.dumps({"id": "a", "locale": "en-US", "customer": "nobody", "text": "hi"}))
    found = play(readers.load(tmp_path / "m.jsonl"), tmp_path / "out")
    assert found["a#1"].record.error == "not_found"


def test_keys_and_silence(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text(
        json.dumps(
            {"id": "a", "locale": "en-US", "turns": [{"text": " "}, {"dtmf": "1#"}, {"text": "what's my balance"}]}
        )
    )
    found = play(readers.load(tmp_path / "m.jsonl"), tmp_path / "out")
    assert found["a#1"].record.decision == "nothing"
    assert found["a#2"].record.decision in {"clarify", "answer", "refuse"}
    assert found["a#3"].record.decision == "execute"
