"""The gate's own test, a sample of it: `tellerline bench gate` puts all faults in, one at a time, into everything."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from app.qa.replay.sound.audio import read_audio
from deploy.bench._gate.changes import ROOT, place, put_in, read
from deploy.bench._gate.corpus import cases_of
from deploy.bench._gate.judge import Gate
from deploy.bench.gate import distinct

CORPUS = ROOT / "tests/data/corpus/manifest.jsonl.xz"
FAULTS, HARMLESS = read("faults.yaml"), read("harmless.yaml")


def test_there_are_enough_of_every_kind() -> None:
    assert len(FAULTS) >= 40
    assert len(HARMLESS) >= 20
    assert set(Counter(fault.kind for fault in FAULTS)) == {"rules", "code", "weights", "manifest", "recordings"}
    assert all(fault.told for fault in FAULTS)
    names = [change.name for change in (*FAULTS, *HARMLESS)]
    assert len(set(names)) == len(names)


def test_every_change_still_finds_its_place(tmp_path: Path) -> None:
    """Only that it can be put in: what the gate says of it is the benchmark's."""
    where = place(tmp_path, cases_of(CORPUS)[:120], CORPUS.parent)
    for change in (*FAULTS, *HARMLESS):
        for edit in change.edits:
            assert edit.find in (where.tree / edit.file).read_text(encoding="utf-8") if edit.find else True, change.name


def test_a_change_leaves_what_it_was_copied_from_alone(tmp_path: Path) -> None:
    (fifty,) = (fault for fault in FAULTS if fault.name == "fifty is fifteen")
    before = (ROOT / fifty.edits[0].file).read_bytes()
    where = place(tmp_path, cases_of(CORPUS)[:2], CORPUS.parent)
    put_in(fifty, where)
    assert b"fifty: 15" in (where.tree / fifty.edits[0].file).read_bytes()
    assert (ROOT / fifty.edits[0].file).read_bytes() == before


def test_another_container_holds_the_very_samples(tmp_path: Path) -> None:
    """A harmless change is one that nobody can hear: rounded to 16 bits, an amount was misheard."""
    (alike,) = (change for change in HARMLESS if change.corpus == "other container")
    where = place(tmp_path, cases_of(CORPUS)[:8], CORPUS.parent)
    names = sorted({turn["audio"] for case in cases_of(CORPUS)[:8] for turn in case["turns"] if "audio" in turn})
    put_in(alike, where)
    for name in names:
        assert (where.manifest.parent / name).read_bytes()[:4] == b"RIFF"
        assert np.array_equal(read_audio(where.manifest.parent / name), read_audio(CORPUS.parent / name))


def short_gate(folder: Path) -> Gate:
    """The gate over a few short calls, with its baseline, which is green."""
    short = [case for case in distinct(cases_of(CORPUS)) if case["locale"] == "en-US" and len(case["turns"]) == 1]
    some = [case for case in short[:45] if "fifty" in case["turns"][0]["expect"]["transcript"]] + short[:10]
    gate = Gate(folder, {"words": some, "sound": []}, CORPUS.parent)
    assert not gate.begin("words").red
    return gate


@pytest.mark.timeout(600)
def test_a_fault_turns_the_gate_red(tmp_path: Path) -> None:
    fifty = short_gate(tmp_path).try_out(next(fault for fault in FAULTS if fault.name == "fifty is fifteen"))
    assert fifty.red
    assert "slot amount" in fifty.summary
    assert "normalize.en" in fifty.summary
    assert "rules/normalize/en/numbers.yaml changed" in fifty.summary


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_comment_leaves_the_gate_green(tmp_path: Path) -> None:
    comment = short_gate(tmp_path).try_out(
        next(change for change in HARMLESS if change.name == "a comment in the numbers")
    )
    assert not comment.red, comment.summary
