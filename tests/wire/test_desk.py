"""The desk over HTTP: list, look, hear, review, settle, export; refused without the scope, off without recordings."""

import asyncio
import io
import json
import time
import zipfile
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from app.auth.principal import Scope
from app.composition.keys import audit_keys
from app.qa.desk.desk import Desk
from app.qa.desk.exported import references, unsealed
from app.qa.desk.reviews import ReviewAction, ReviewState
from app.qa.desk.shelf import RecordingShelf
from app.qa.replay import command
from app.qa.replay.labelling import check
from app.qa.replay.labelling.check import examine
from app.qa.replay.manifests.readers import load
from app.qa.replay.sound.audio import read_audio
from app.retention import Retention, erase
from schemas.errors import MalformedMessage, NotFound, WrongState
from schemas.ids import JA_JP, CustomerId
from services.record import tables
from services.record.chain import verify
from services.store import Store
from services.timing.clock import ManualClock
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.app import RunningApp, running_app
from tests.harness.recorded import recorded_call
from tests.harness.rows import rows

LIST = "/v1/recordings"
ORDER = ("send fifty dollars to catherine nguyen", "yes", "i want to talk to a person")


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[RunningApp]:
    async with running_app(tmp_path, FakeRecognizer(lambda _: ""), recording_days=7) as running:
        await recorded_call(running.gateway, ORDER, "one")
        await recorded_call(running.gateway, ("what's my balance", "my code is four two seven one nine two"), "two")
        yield running


def qa(app: RunningApp, who: str = "ann") -> dict[str, str]:
    return app.token(who, Scope.QA)


async def get(app: RunningApp, path: str, who: str = "ann", **params: Any) -> Any:
    answer = await app.client.get(LIST + path, headers=qa(app, who), params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def say(app: RunningApp, who: str, seen: str, status: int = 201, turn: str = "one/1", **body: Any) -> Any:
    labels = body.pop("labels", {"intent": "transfer_money"})
    given = {"seen": seen, "labels": labels} | body
    answer = await app.client.post(f"{LIST}/{turn}/reviews", headers=qa(app, who), json=given)
    assert answer.status_code == status, answer.text
    return answer.json()


async def on_record(app: RunningApp, event: str) -> list[tuple[str, dict[str, Any]]]:
    store = Store(str(app.gateway.settings.database))
    await verify(store)
    r = tables.records.c
    found = await rows(store, sa.select(r.call_id, r.facts).where(r.event == event).order_by(r.seq))
    await store.close()
    return [(row.call_id, json.loads(row.facts) if isinstance(row.facts, str) else row.facts) for row in found]


async def test_turns_are_listed_and_filtered(app: RunningApp) -> None:
    found = await get(app, "")
    assert found["total"] == 5
    assert {(row["call"], row["turn"]) for row in found["turns"]} == {
        ("one", 1),
        ("one", 2),
        ("one", 3),
        ("two", 1),
        ("two", 2),
    }
    for params, wanted in (
        ({"intent": "transfer_money"}, {("one", 1)}),
        ({"decision": "handoff"}, {("one", 3)}),
        ({"handoff": True}, {("one", 3)}),
        ({"money": True}, {("one", 1), ("one", 2)}),
        ({"error": True}, set()),
        ({"state": "reviewed"}, set()),
        ({"since": "2000-01-01T00:00:00Z", "until": "2001-01-01T00:00:00Z"}, set()),
        ({"todo": True, "locale": "en-US"}, {("one", 1), ("one", 2), ("one", 3), ("two", 1)}),
    ):
        rows_ = (await get(app, "", **params))["turns"]
        assert {(row["call"], row["turn"]) for row in rows_} == wanted, params


async def test_pages_and_samples_are_bounded(app: RunningApp) -> None:
    first = await get(app, "", limit=3)
    second = await get(app, "", limit=3, after=first["after"])
    assert (len(first["turns"]), len(second["turns"]), second["after"]) == (3, 2, None)
    drawn = await get(app, "", sample=2, seed="a")
    assert drawn == await get(app, "", sample=2, seed="a")
    assert len(drawn["turns"]) == 2


@pytest.mark.parametrize(
    "params",
    [{"limit": 0}, {"limit": 101}, {"sample": 101}, {"intent": "x"}, {"below": 2}, {"since": "2026-01-01T00:00:00"},
     {"after": "x"}, {"strange": 1}, {"state": "done"}, {"locale": "../x"}],
)  # fmt: skip
async def test_what_can_not_be_asked_for(app: RunningApp, params: dict[str, Any]) -> None:
    answer = await app.client.get(LIST, headers=qa(app), params=params)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_input")


async def test_a_turn_with_its_values_and_sound(app: RunningApp) -> None:
    turn = await get(app, "/one/1")
    assert turn["slots"]["amount"] == {"value": {"amount_minor": 5000, "currency": "USD"}, "words": "fifty dollars"}
    assert (turn["payee"], turn["proposal"]["amount_minor"]) == ("catherine-nguyen", 5000)
    assert turn["machine"]["slots"]["payee"] == "catherine-nguyen"
    assert "catherine-nguyen" in {payee["id"] for payee in turn["payees"]}
    sound = await app.client.get(f"{LIST}/one/1/sound", headers=qa(app))
    assert (sound.status_code, sound.headers["content-type"]) == (200, "audio/flac")
    assert sound.content.startswith(b"fLaC")
    assert sound.headers["cache-control"] == "no-store"


async def test_a_withheld_turn_shows_nothing_and_takes_no_review(app: RunningApp) -> None:
    turn = await get(app, "/two/2")
    assert (turn["withheld"], turn["text"], turn["slots"], turn["machine"], turn["sound"]) == (True, "", {}, {}, False)
    assert (await app.client.get(f"{LIST}/two/2/sound", headers=qa(app))).status_code == 404
    await say(app, "ann", "machine", 409, turn="two/2")


async def test_two_people_dispute_and_settle(app: RunningApp) -> None:
    assert (await say(app, "ann", "machine"))["state"] == "reviewed"
    assert (await get(app, "/one/1", who="bob"))["review"] == {"state": "reviewed", "entries": []}, "blind"
    assert ("one", 1) not in {(row["call"], row["turn"]) for row in (await get(app, "", todo=True))["turns"]}
    disputed = await say(app, "bob", "reviewed", labels={"intent": "bill_payment"}, note="a bill")
    assert (disputed["state"], [entry["by"] for entry in disputed["entries"]]) == ("disputed", ["ann", "bob"])
    refused = await say(app, "bob", "disputed", 409, action="settle", labels={"intent": "bill_payment"})
    assert refused["error"]["code"] == "wrong_state"
    settled = await say(app, "cleo", "disputed", action="settle")
    assert settled["state"] == "settled"
    assert settled["entries"][-1]["at"]
    await say(app, "ann", "settled", 409)
    assert [row["state"] for row in (await get(app, "", state="settled"))["turns"]] == ["settled"]
    agreed = await get(app, "/agreement")
    assert agreed["intent"] == {"pairs": 1, "same": 0.0, "kappa": 0.0}
    moves = [(facts["by"], facts["before"], facts["after"]) for _, facts in await on_record(app, "qa.reviewed")]
    assert moves == [("ann", "machine", "reviewed"), ("bob", "reviewed", "disputed"), ("cleo", "disputed", "settled")]


async def test_who_was_faster_is_told(app: RunningApp) -> None:
    await say(app, "ann", "machine")
    refused = await say(app, "bob", "machine", 409)
    assert "reviewed by now" in refused["error"]["message"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"labels": {"intnet": "help"}}, "did you mean intent?"),
        ({"labels": {"intent": "balance_enquiry"}}, "did you mean balance_inquiry?"),
        ({"labels": {"payee": "catherine-nguyem"}}, "did you mean catherine-nguyen?"),
        ({"labels": {}}, "names a field"),
        ({"action": "approve"}, "body.action"),
        ({"by": "someone else"}, "body"),
    ],
)
async def test_reviews_that_mean_nothing(app: RunningApp, body: dict[str, Any], why: str) -> None:
    assert why in (await say(app, "ann", "machine", 400, **body))["error"]["message"]
    assert await on_record(app, "qa.reviewed") == []
    assert (await get(app, "/one/1"))["state"] == "machine"


async def test_a_review_that_is_too_large(app: RunningApp) -> None:
    await say(app, "ann", "machine", 413, note="x" * 70_000)


async def test_a_turn_becomes_a_test_of_what_people_said(app: RunningApp, tmp_path: Path) -> None:
    await say(app, "ann", "machine", labels={"intent": "transfer_money", "payee": "catherine-nguyen"})
    answer = await app.client.get(f"{LIST}/one/2/case?personal=true", headers=qa(app))
    assert answer.status_code == 200
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        archive.extractall(tmp_path / "test")
    assert not examine(tmp_path / "test" / "manifest.jsonl").faults
    (case,) = load(tmp_path / "test" / "manifest.jsonl").cases
    assert references(tmp_path / "test" / "manifest.jsonl") == (), "a word in it is no name of a recording"
    first, second = (turn.expect for turn in case.turns)
    assert first is not None
    assert second is not None
    assert (case.id, case.customer, case.facts is not None) == ("one-02", None, True)
    assert {"intent", "payee"} == set(first.named) - set(first.by_machine)
    assert set(second.named) == set(second.by_machine)
    assert second.moves[0].amount_minor == 5000
    assert case.turns[1].audio is not None
    assert np.abs(read_audio(tmp_path / "test" / case.turns[1].audio)).max() > 0.05
    assert await on_record(app, "qa.exported") == [("one", {"by": "ann", "turn": 2, "personal": True})]


def opened(zipped: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(zipped)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


async def test_a_test_carries_nothing_of_the_caller_unasked_and_is_replayed_from_the_sealed_folder(
    app: RunningApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await say(app, "ann", "machine", labels={"intent": "transfer_money", "payee": "catherine-nguyen"})
    answer = await app.client.get(f"{LIST}/one/2/case", headers=qa(app))
    assert opened(answer.content) == {"manifest.jsonl": b'{"id":"one-02","last":2,"recording":"one"}\n'}
    assert await on_record(app, "qa.exported") == [("one", {"by": "ann", "turn": 2, "personal": False})]
    (tmp_path / "m.jsonl").write_bytes(opened(answer.content)["manifest.jsonl"])
    with unsealed(references(tmp_path / "m.jsonl"), app.gateway.settings) as manifest:
        (case,) = manifest.cases
        assert case.turns[0].expect is not None
        assert "payee" not in case.turns[0].expect.by_machine
        assert np.abs(read_audio(manifest.base / str(case.turns[1].audio))).max() > 0.05
    assert not manifest.base.exists()
    monkeypatch.setattr(check, "read_settings", lambda: app.gateway.settings)
    assert check.examine(tmp_path / "m.jsonl", mirror=tmp_path).faults == ()
    monkeypatch.setattr(command, "read_settings", lambda: app.gateway.settings)
    request = command.Request(tmp_path / "m.jsonl", tmp_path / "out", jobs=1, words=True, mirror=tmp_path)
    assert await asyncio.to_thread(command.execute, request) == ()
    assert "data:audio" not in (tmp_path / "out/report.html").read_text()
    assert (tmp_path / "out").stat().st_mode & 0o77 == 0
    await erase(
        app.gateway.audit._chain,  # type: ignore[attr-defined] # the spooled audit's own
        audit_keys(app.gateway.settings), CustomerId("alex-morgan"), app.gateway.settings.recordings, app.gateway.clock,
    )  # fmt: skip
    with pytest.raises(NotFound, match="erased, or past their days: one-02"):
        check.examine(tmp_path / "m.jsonl", mirror=tmp_path)


async def test_a_test_shows_no_first_label_before_ones_own(app: RunningApp) -> None:
    await say(app, "ann", "machine", labels={"intent": "bill_payment"})

    async def by_machine(who: str) -> bool:
        answer = await app.client.get(f"{LIST}/one/1/case?personal=true", headers=qa(app, who))
        (turn,) = json.loads(opened(answer.content)["manifest.jsonl"])["turns"]
        return "intent" in turn["expect"]["by_machine"]

    assert (await by_machine("ann"), await by_machine("bob")) == (False, True)
    await say(app, "bob", "reviewed", labels={"intent": "bill_payment"})
    assert not await by_machine("bob")


def test_a_set_is_of_names_or_of_cases(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text('{"id": "a", "recording": "one", "last": 1}\n{"id": "b", "locale": "en-US", "text": "x"}\n')
    with pytest.raises(MalformedMessage, match=r"m\.jsonl:2"):
        references(path)
    path.write_text('{"id": "a", "recording": "../one", "last": 1}\n')
    with pytest.raises(MalformedMessage):
        references(path)


async def test_labels_meet_their_turns_where_one_was_withdrawn(app: RunningApp, tmp_path: Path) -> None:
    said = ("send fifty dollars", "send fifty dollars to catherine nguyen", "yes")
    await recorded_call(app.gateway, said, "three", withdrawn=(0,))
    assert ("three", 1) not in {(row["call"], row["turn"]) for row in (await get(app, ""))["turns"]}
    await say(app, "ann", "machine", turn="three/2", labels={"payee": "catherine-nguyen"})
    answer = await app.client.get(f"{LIST}/three/3/case?personal=true", headers=qa(app))
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        (line,) = archive.read("manifest.jsonl").splitlines()
    first, second = (turn["expect"] for turn in json.loads(line)["turns"])
    assert "payee" not in first["by_machine"]
    assert second["transcript"] == "yes"


async def test_every_look_is_on_record_and_holds_nothing_personal(app: RunningApp) -> None:
    await get(app, "")
    await get(app, "/one/1", who="auth0|ann")
    assert await on_record(app, "qa.listed") == [("", {"by": "ann", "turns": 5})]
    assert await on_record(app, "qa.read") == [("one", {"by": "auth0_ann", "turn": 1})]


async def test_of_two_who_review_a_turn_at_two_gateways_one_is_told_to_look_again(
    app: RunningApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway, save = app.gateway, RecordingShelf.save

    def slowly(*given: Any) -> None:
        time.sleep(0.2)
        save(*given)

    monkeypatch.setattr(RecordingShelf, "save", slowly)

    async def review(who: str) -> str:
        shelf = RecordingShelf(gateway.settings.recordings, audit_keys(gateway.settings), gateway.clock)
        desk, said = Desk(shelf, gateway.audit, gateway.clock), {"intent": "transfer_money"}
        try:
            await desk.review(who, "one", 1, ReviewAction.REVIEW, said, "", ReviewState.MACHINE)
        except WrongState:
            return ""
        return who

    kept = [who for who in await asyncio.gather(review("ann"), review("bob")) if who]
    assert [facts["by"] for _, facts in await on_record(app, "qa.reviewed")] == kept
    assert len(kept) == 1


async def test_reviews_are_sealed_and_go_with_the_recording(app: RunningApp) -> None:
    await say(app, "ann", "machine", note="says it twice")
    await say(app, "ann", "machine", turn="two/1", labels={"intent": "balance_inquiry"})
    folder = app.gateway.settings.recordings
    sealed = (folder / "one" / "review-01.json.sealed").read_bytes()
    assert b"ann" not in sealed
    assert b"twice" not in sealed
    clock = ManualClock(app.gateway.clock.now() + timedelta(days=8))
    chain = app.gateway.audit._chain  # type: ignore[attr-defined] # the spooled audit's own
    with pytest.raises(NotFound):
        await erase(chain, audit_keys(app.gateway.settings), CustomerId("takahashi-misaki"), folder, clock)
    assert len((await get(app, ""))["turns"]) == 5
    await Retention(chain, folder, clock, 0, 7).run_once()
    assert (await get(app, ""))["turns"] == []
    assert not list(folder.iterdir())
    await say(app, "bob", "reviewed", 404)


async def test_erasing_a_customer_takes_the_reviews(app: RunningApp) -> None:
    await recorded_call(app.gateway, ("残高を教えて",), "three", "takahashi-misaki", JA_JP)
    await say(app, "ann", "machine")
    chain = app.gateway.audit._chain  # type: ignore[attr-defined] # the spooled audit's own
    settings = app.gateway.settings
    assert (
        await erase(chain, audit_keys(settings), CustomerId("alex-morgan"), settings.recordings, app.gateway.clock) == 2
    )
    assert {row["call"] for row in (await get(app, ""))["turns"]} == {"three"}
    assert (await get(app, "/agreement"))["intent"]["pairs"] == 0


async def test_what_does_not_read_is_left_out(app: RunningApp) -> None:
    (app.gateway.settings.recordings / "one" / "turn-02.json.sealed").write_bytes(b"torn")
    assert {row["call"] for row in (await get(app, ""))["turns"]} == {"two"}
    answer = await app.client.get(f"{LIST}/one/1", headers=qa(app))
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "malformed_message")


async def test_why_turns_failed_is_told_by_what_people_say_and_not_before_ones_own_word(app: RunningApp) -> None:
    await say(app, "ann", "machine", labels={"intent": "transfer_money", "payee": "sean-doyle"})
    await say(app, "ann", "machine", turn="one/3", labels={"intent": "qna"})
    groups = {(one["stage"], one["slot"], one["cause"]): one for one in await get(app, "/failures")}
    payee = groups["payee search", "payee", "another was chosen"]
    assert groups["understanding", "intent", "human_handoff for qna"]["turns"] == payee["turns"] == 1
    found = await get(app, "", failure=payee["id"])
    assert [(row["call"], row["turn"]) for row in found["turns"]] == [("one", 1)]
    assert await get(app, "/failures", who="bob") == [], "blind"
    assert (await get(app, "", who="bob", failure=payee["id"]))["total"] == 0, "blind"
    await say(app, "bob", "reviewed", labels={"intent": "transfer_money", "payee": "sean-doyle"})
    assert [one["id"] for one in await get(app, "/failures", who="bob")] == [payee["id"]], "settled: all know it"


async def test_money_that_nobody_speaks_of_is_no_failure(app: RunningApp) -> None:
    await say(app, "ann", "machine", turn="one/2", labels={"decision": "execute"})
    assert await get(app, "/failures") == []


PATHS = ("", "/choices", "/agreement", "/failures", "/one/1", "/one/1/sound", "/one/1/case")


@pytest.mark.parametrize("path", PATHS)
async def test_nobody_without_the_scope(app: RunningApp, path: str) -> None:
    answers = [
        await app.client.get(LIST + path, headers=headers) for headers in ({}, app.token("alex-morgan", Scope.CALL))
    ]
    assert [answer.status_code for answer in answers] == [401, 403]
    assert await on_record(app, "qa.read") == []


@pytest.mark.parametrize("path", ["/..%2f..%2fkeys/1", "/nobody/1", "/one/9", "/one/0", "/one/x", "/one/1/sound/x"])
async def test_places_that_there_are_not(app: RunningApp, path: str) -> None:
    assert (await app.client.get(LIST + path, headers=qa(app))).status_code in {400, 404}


async def test_the_choices_are_those_of_the_rules(app: RunningApp) -> None:
    choices = await get(app, "/choices")
    assert "transfer_money" in choices["intent"]
    assert "money" in choices["fields"]
    assert choices["state"] == ["machine", "reviewed", "disputed", "settled"]


async def test_the_page_is_served_with_a_strict_policy_and_holds_no_words_of_anybody(app: RunningApp) -> None:
    for path in ("/desk/", "/desk/desk.js", "/desk/wave.js", "/desk/style.css"):
        answer = await app.client.get(path)
        assert answer.status_code == 200
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "http" not in answer.text, "nothing comes from elsewhere"
        assert "innerHTML" not in answer.text
    assert (await app.client.get("/desk")).headers["location"] == "/desk/"
    assert (await app.client.get("/desk/..%2froutes.py")).status_code == 404
    assert (await app.client.get("/desk/routes.py")).status_code == 404


async def test_the_demo_gives_staff_a_token(app: RunningApp) -> None:
    token = (await app.client.post("/demo/staff?name=dora")).json()["access_token"]
    answer = await app.client.get(LIST, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200
    assert (await on_record(app, "qa.listed"))[-1][1]["by"] == "staff-dora"
    assert (await app.client.post("/demo/staff?name=dora", headers={"host": "bank.example"})).status_code == 403


async def test_it_is_off_where_no_recordings_are_kept(tmp_path: Path) -> None:
    async with running_app(tmp_path, FakeRecognizer(lambda _: "")) as app:
        for path in (LIST, f"{LIST}/choices", "/desk/"):
            assert (await app.client.get(path, headers=qa(app))).status_code == 404, path
