"""Corrections and recorded calls: what a person says goes into the manifest; what is secret never reaches a file."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from app.cli import main
from app.cli import run as console
from app.qa.replay.labelling import labels
from app.qa.replay.manifests.manifest import Expectation
from app.qa.replay.manifests.readers import load
from app.qa.replay.records.recorded import as_case, read_recording
from app.qa.replay.sound.audio import read_audio
from app.recordings.files import RecordingHead
from app.recordings.live import Recordings
from app.recordings.recorder import CallRecorder
from app.recordings.shelf import SampleShelf, TurnSound
from schemas.audio import SAMPLE_RATE, Samples
from schemas.errors import MalformedMessage, NotFound, TellerlineError
from schemas.ids import EN_US, CallId, CustomerId, Locale
from schemas.transcript import Decode, Source, Transcript, Wordings
from schemas.turn import ReplyDone, ReplyId
from services.call.user_turn import joined
from services.record.audit_keys import AuditKeys
from services.timing.clock import ManualClock
from tests.fakes.knowing_handler import fake_handler


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "m.jsonl"
    path.write_text(json.dumps({"id": "a", "locale": "en-US", "text": "hi", "expect": {"intent": "deny"}}) + "\n")
    return path


def test_labels_are_merged_and_the_last_holds(tmp_path: Path, manifest: Path) -> None:
    run, corrections = CliRunner(), tmp_path / "c.jsonl"
    for intent in ("cancel", "help|repeat"):
        said = f"label set a --expect intent={intent} --out {corrections} --expect"
        done = run.invoke(main, [*said.split(), 'slots={"payee":"catherine-nguyen"}'])
        assert done.exit_code == 0, done.output
    apply = ["label", "apply", str(manifest), str(corrections), "--out"]
    assert run.invoke(main, [*apply, str(tmp_path / "n.csv")]).exit_code == 2, "it would be read as a table"
    done = run.invoke(main, [*apply, str(tmp_path / "n.jsonl")])
    assert done.exit_code == 0, done.output
    expect = load(tmp_path / "n.jsonl").cases[0].turns[0].expect
    assert expect == Expectation(intent=("help", "repeat"), slots={"payee": "catherine-nguyen"})


def test_what_a_label_does_not_name_stays(manifest: Path) -> None:
    before = load(manifest)
    after = labels.apply(before, [labels.correction("a", 1, ["reply=say.both"])])
    assert after.cases[0].turns[0].expect == Expectation(intent="deny", reply="say.both")
    whole = labels.apply(after, [labels.Correction(case="a", expect=Expectation(reply="say.help"))])
    assert whole.cases[0].turns[0].expect == Expectation(reply="say.help")


def test_a_label_for_no_turn_is_refused(manifest: Path) -> None:
    with pytest.raises(NotFound, match="a#2"):
        labels.apply(load(manifest), [labels.Correction(case="a", turn=2, expect=Expectation())])


@pytest.mark.parametrize("field", ["intent", "slots={", "spans=nothing", "intnet=x"])
def test_a_field_that_can_not_be_read(field: str) -> None:
    with pytest.raises(MalformedMessage):
        labels.correction("a", 1, [field])


def test_unknown_fields_end_the_command(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["label", "set", "a", "--expect", "intnet=x", "--out", str(tmp_path / "c")])
    assert done.exit_code == 2
    assert not (tmp_path / "c").exists()


def test_a_file_that_can_not_be_written_is_no_red_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", f"tellerline label set a --expect intent=qna --out {tmp_path}/no/c".split())
    with pytest.raises(SystemExit, match="2"):
        console()


class FakeRecognizer:
    """Hears what it is told to."""

    def __init__(self, *said: str) -> None:
        self.said = list(said)

    async def transcribe(
        self,
        samples: Samples,
        locale: Locale,
        decode: Decode,
        *,
        wordings: Wordings | None = None,
    ) -> Transcript:
        return Transcript(self.said.pop(0), locale, ())

    async def warm_up(self) -> None: ...

    async def close(self, *, hung_up: bool = False) -> None: ...


MASTER = "a master key of thirty-two bytes"
KEYS = AuditKeys(MASTER.encode())


async def recorded(folder: Path, *said: str) -> Path:
    """A recorded call in which the caller says all of `said`."""
    clock = ManualClock(datetime(2026, 1, 15, 17, 0, tzinfo=UTC))
    recordings = Recordings(folder.parent, clock, KEYS)
    recognizer = recordings.recognizer(FakeRecognizer(*said))
    handler = await recordings.opener(fake_handler)(CustomerId("x"), CallId(folder.name), EN_US)
    await recordings.consent(CallId(folder.name), True)
    for number in range(len(said)):
        clock.advance(3)
        samples = np.full(SAMPLE_RATE, 0.1 * (number + 1), dtype=np.float32)
        transcript = handler.interpret(await recognizer.transcribe(samples, EN_US, Decode.FINAL)).transcript
        try:
            async for _ in handler.take(transcript, ReplyId(f"r{number}")):
                pass
        except TellerlineError:
            pass
    return folder


async def test_a_recorded_call_becomes_a_case(tmp_path: Path) -> None:
    call = await recorded(tmp_path / "call", "send money", "fail")
    done = CliRunner().invoke(
        main,
        [
            "label",
            "from-recording",
            str(call),
            "--into",
            str(tmp_path / "m.jsonl"),
            "--customer",
            "alex-morgan",
            "--case",
            "x",
        ],
        env={"TELLERLINE_AUDIT_KEY": MASTER},
    )
    assert done.exit_code == 0, done.output
    case = load(tmp_path / "m.jsonl").cases[0]
    assert (case.id, case.customer, case.locale, len(case.turns)) == ("x", "alex-morgan", "en-US", 2)
    assert case.turns[0].audio is not None
    assert np.abs(read_audio(tmp_path / case.turns[0].audio) - 0.1).max() < 1e-3
    assert case.turns[0].expect == Expectation(
        transcript="send money",
        intent="transfer_money",
        route="clarify",
        decision="clarify",
        reply="ask.amount@1",
        by_machine=("transcript", "intent", "route", "decision", "reply"),
    )
    assert case.turns[1].after_s == 3.0


async def test_secrets_are_neither_heard_nor_read(tmp_path: Path) -> None:
    call = await recorded(tmp_path / "call", "send money", "four two", "card 4556 1234 9876", "then this")
    read = read_recording(call, KEYS)
    written = b"".join(read.files.read(name) for name in read.files.names("*.json"))
    assert b"send money" in written
    assert b"four two" not in written
    assert b"4556" not in written
    assert read.files.names("*.flac") == ["turn-01.flac", "turn-04.flac"]
    case = as_case(read, "x", "alex-morgan", "recordings/x")
    assert len(case.turns) == 1, "nothing after a withheld turn can be replayed"


async def test_keys_are_withheld(tmp_path: Path) -> None:
    clock = ManualClock(datetime(2026, 1, 15, tzinfo=UTC))
    head = RecordingHead(call="c1", locale=EN_US, started_at=clock.now(), subject="s", seed="00" * 32)
    recorder = CallRecorder(tmp_path / "call", head, KEYS, clock, SampleShelf())
    recorder.agreed = True
    await recorder.turn(Transcript.typed("1234", EN_US, source=Source.DTMF), [], None)
    call = read_recording(tmp_path / "call", KEYS)
    (turn,) = call.turns
    assert (turn.withheld, turn.text, turn.audio) == (True, "", None)
    with pytest.raises(NotFound):
        as_case(call, "x", "c", "p")


async def test_nobody_reads_a_recording_without_its_key(tmp_path: Path) -> None:
    call = await recorded(tmp_path / "call", "send money")
    files = {path.name: path.read_bytes() for path in call.iterdir()}
    assert set(files) == {"recording.json", "facts.json.sealed", "turn-01.flac.sealed", "turn-01.json.sealed"}
    for plain in (b"fLaC", b"send money", b"transfer", b'"x"'):
        assert not [name for name, data in files.items() if plain in data], plain
    with pytest.raises(MalformedMessage):
        read_recording(call, AuditKeys(b"another master key of enough bytes"))
    head = json.loads(files["recording.json"])
    (call / "recording.json").write_text(json.dumps(head | {"subject": KEYS.subject(CustomerId("another"))}))
    with pytest.raises(MalformedMessage):
        read_recording(call, KEYS)
    (call / "recording.json").write_bytes(files["recording.json"])
    (call / "turn-02.json.sealed").write_bytes(files["turn-01.json.sealed"])
    with pytest.raises(MalformedMessage, match="turn-02"):
        read_recording(call, KEYS)


def test_what_is_no_recording_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        read_recording(tmp_path, KEYS)


@pytest.mark.parametrize("words", [(), (True, False), (False,)])
async def test_without_consent_there_is_no_recording_and_none_is_left_when_it_is_taken_back(
    tmp_path: Path, words: tuple[bool, ...]
) -> None:
    recordings = Recordings(tmp_path, ManualClock(datetime(2026, 1, 15, tzinfo=UTC)), KEYS)
    handler = await recordings.opener(fake_handler)(CustomerId("x"), CallId("call"), EN_US)
    for word in words:
        await recordings.consent(CallId("call"), word)
        async for _ in handler.take(Transcript.typed("what's my balance", EN_US), ReplyId("r")):
            pass
        assert (tmp_path / "call").exists() is word
    async for _ in handler.take(Transcript.typed("what's my balance", EN_US), ReplyId("r")):
        pass
    assert not (tmp_path / "call").exists()
    await handler.close()
    assert not recordings._recorders


async def test_a_recording_without_consent_is_not_read(tmp_path: Path) -> None:
    call = await recorded(tmp_path / "call", "send money")
    head = call / "recording.json"
    head.write_text(head.read_text().replace('"consent": true', '"consent": false'))
    with pytest.raises(MalformedMessage):
        read_recording(call, KEYS)


async def test_a_full_disk_never_ends_a_call(tmp_path: Path) -> None:
    (tmp_path / "call").write_text("a file where the folder should be")
    await recorded(tmp_path / "call", "send money", "send more")
    assert (tmp_path / "call").is_file()


async def test_two_calls_at_once_keep_their_own_sound(tmp_path: Path) -> None:
    shelf = SampleShelf()
    first, second = (
        shelf.put(Transcript("yes", EN_US, ()), np.full(4, level, dtype=np.float32)) for level in (0.1, 0.2)
    )
    assert first == second, "what they say is the same"
    taken = TurnSound(shelf).of(replace(second, whole=False))
    assert taken is not None
    assert float(taken[0]) == pytest.approx(0.2)
    assert TurnSound(shelf).of(second) is None
    assert TurnSound(shelf).of(Transcript("yes", EN_US, ())) is None


async def test_turns_that_become_one_keep_the_sound_of_both(tmp_path: Path) -> None:
    shelf = SampleShelf()
    first, then = (shelf.put(Transcript.typed(text, EN_US), np.ones(4, np.float32)) for text in ("to", "joan"))
    sound = TurnSound(shelf)
    assert np.shape(sound.of(first)) == (4,)
    assert np.shape(sound.of(joined(first, then))) == (8,)
    assert sound.of(joined(first, Transcript.typed("please", EN_US))) is not None
    assert TurnSound(shelf).of(joined(first, then)) is None, "a part of it is gone"


async def test_a_sound_that_can_not_be_kept_never_ends_a_call(tmp_path: Path) -> None:
    recordings = Recordings(tmp_path, ManualClock(datetime(2026, 1, 15, tzinfo=UTC)), KEYS)
    recognizer = recordings.recognizer(FakeRecognizer("send money"))
    handler = await recordings.opener(fake_handler)(CustomerId("x"), CallId("call"), EN_US)
    await recordings.consent(CallId("call"), True)
    transcript = await recognizer.transcribe(np.zeros(0, dtype=np.float32), EN_US, Decode.FINAL)
    events = [event async for event in handler.take(transcript, ReplyId("r"))]
    assert isinstance(events[-1], ReplyDone)


async def test_words_nobody_looked_at_are_withheld(tmp_path: Path) -> None:
    """The turn failed before it was known what was said: it may have been a code."""
    call = await recorded(tmp_path / "call", "fail at once")
    (turn,) = read_recording(call, KEYS).turns
    assert (turn.withheld, turn.text, turn.audio, turn.error) == (True, "", None, "model_unavailable")
