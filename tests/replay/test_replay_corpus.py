"""The demo corpus: what it must hold, and what it must come to, by its words and by its sound."""

import lzma
import subprocess
import sys
from collections import Counter
from pathlib import Path

import orjson
import pytest

import services.asr
from app.qa.replay.judging.judge import MoneyVerdict, judge
from app.qa.replay.manifests import readers
from app.qa.replay.manifests.manifest import Case, Manifest, as_words
from app.qa.replay.playing.collect import NOTHING_HEARD
from app.qa.replay.playing.house import PipelineSpec
from app.qa.replay.playing.run import replay
from app.qa.replay.records.journal import DECISIONS
from app.qa.replay.records.record import TurnResult
from app.qa.replay.sound.audio import read_audio
from app.settings import Settings

ROOT = Path(__file__).parent.parent.parent
CORPUS = ROOT / "tests" / "data" / "corpus" / "manifest.jsonl.xz"
BUNDLED = Path(services.asr.__file__).parent / "model"
needs_ear = pytest.mark.skipif(not (BUNDLED / "en").is_dir(), reason="no bundled recogniser in this checkout")


@pytest.fixture(scope="module")
def corpus() -> Manifest:
    return readers.load(CORPUS)


def part(corpus: Manifest, cases: list[Case]) -> Manifest:
    return corpus.model_copy(update={"cases": tuple(cases)})


def test_it_is_large_varied_and_small_on_disk(corpus: Manifest) -> None:
    kinds = Counter(case.tags["kind"] for case in corpus.cases)
    assert kinds["utterance"] >= 300
    assert kinds["call"] >= 40
    assert all(len(case.turns) > 1 for case in corpus.cases if case.tags["kind"] == "call")
    spoken = [case for case in corpus.cases if case.tags["kind"] != "sound"]
    by_language = Counter((case.locale[:2], case.tags["condition"]) for case in spoken)
    assert min(by_language.values()) > 40
    assert {condition for _, condition in by_language} == {"clean", "telephone", "noisy"}
    assert {case.tags["speaker"] for case in spoken} == {"held-out", "trained"}
    assert sum(path.stat().st_size for path in corpus.audio()) < 8e6


def test_every_recording_decodes_and_is_used_once(corpus: Manifest) -> None:
    named = list(corpus.audio())
    assert len(set(named)) == len(named)
    assert set(named) == set((CORPUS.parent / "audio").rglob("*.opus"))
    for path in named[::25]:
        assert 0.5 < len(read_audio(path)) / 16_000 < 8


def test_the_manifest_is_what_the_sentences_say(tmp_path: Path) -> None:
    maker = [sys.executable, "-m", "deploy.corpus.make", "--manifest-only"]
    folders = ["--noise", str(tmp_path), "--voices", str(tmp_path), "--out", str(tmp_path)]
    subprocess.run([*maker, *folders], check=True, capture_output=True, cwd=ROOT)
    made, kept = (lzma.decompress(path.read_bytes()) for path in (tmp_path / "manifest.jsonl.xz", CORPUS))
    assert made == kept


@pytest.mark.timeout(400)
def test_as_words_the_rules_are_right(corpus: Manifest, tmp_path: Path) -> None:
    """Nothing is misheard, so whatever is wrong is the rules'. All calls, and every third utterance."""
    calls = [case for case in corpus.cases if case.tags["kind"] == "call"]
    utterances = [case for case in corpus.cases if case.tags["kind"] == "utterance"][::3]
    words = as_words(part(corpus, calls + utterances))
    results = replay(words, PipelineSpec.of(Settings(), words), tmp_path / "out")
    judged = [judge(result.record) for result in results]
    assert Counter(j.money for j in judged)[MoneyVerdict.FALSE_ACCEPT] == 0
    assert Counter(j.money for j in judged)[MoneyVerdict.WRONG_READ_BACK] == 0
    assert sum(bool(j.right) for j in judged) / len(judged) >= 0.93


def heard(some: Manifest, out: Path, jobs: int) -> list[TurnResult]:
    """The turns as sound, through the bundled recogniser."""
    return list(replay(some, PipelineSpec.of(Settings(), some), out, jobs=jobs))


def no_money_moves_unasked(some: Manifest, results: list[TurnResult]) -> None:
    assert len(results) == sum(len(case.turns) for case in some.cases)
    assert not [result.record.id for result in results if result.record.error]
    wrong = [r.record for r in results if judge(r.record).money is MoneyVerdict.FALSE_ACCEPT]
    read_back = {(r.record.case, r.record.proposal) for r in results}
    assert not [r.id for r in wrong if any((r.case, move) not in read_back for move in r.money)]
    # A recorded caller can't object to an amount that was misheard and read back: rare, and never more than this.
    assert len(wrong) <= 1
    sounds = [r.record for r in results if r.record.tags["kind"] == "sound"]
    assert sum(record.decision == NOTHING_HEARD for record in sounds) >= len(sounds) - 1


@needs_ear
@pytest.mark.timeout(400)
def test_as_sound_no_money_moves_unasked(corpus: Manifest, tmp_path: Path) -> None:
    """Sounds and every fortieth other case, on two cores; another process of its own hears the same, byte for byte."""
    some = part(corpus, [case for n, case in enumerate(corpus.cases) if n % 40 == 1 or case.tags["kind"] == "sound"])
    no_money_moves_unasked(some, heard(some, tmp_path / "two", jobs=2))
    few = part(corpus, list(some.cases[::6]))
    heard(few, tmp_path / "one", jobs=1)
    names = {case.id for case in few.cases}
    of_two = (tmp_path / "two" / DECISIONS).read_bytes().splitlines(keepends=True)
    again = [line for line in of_two if orjson.loads(line)["case"] in names]
    assert len(again) >= len(few.cases)
    assert (tmp_path / "one" / DECISIONS).read_bytes() == b"".join(again)


@needs_ear
@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("half", [0, 1])
def test_as_sound_no_money_moves_unasked_in_all_of_it(corpus: Manifest, half: int, tmp_path: Path) -> None:
    some = part(corpus, [case for n, case in enumerate(corpus.cases) if n % 2 == half or case.tags["kind"] == "sound"])
    no_money_moves_unasked(some, heard(some, tmp_path / "out", jobs=2))
