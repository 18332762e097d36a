"""Names that people said over a telephone, where they are at hand, and how sure a counted share is."""

from pathlib import Path
from typing import Final

import orjson
import pytest

from app.qa.replay.judging.stats import clopper_pearson
from deploy.bench._payees.spoken import spoken
from deploy.bench._payees.stock import HALVES
from deploy.bench.payees import run
from schemas.ids import EN_GB

CASES: Final = Path(__file__).parents[4] / "shared" / "people-cases"


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    [(0, 10, 0.0, 0.3085), (10, 10, 0.6915, 1.0), (5, 10, 0.1871, 0.8129), (3, 1733, 0.000357, 0.005051), (0, 0, 0, 1)],
)
def test_intervals_are_clopper_and_pearsons(hits, trials, low, high):
    assert clopper_pearson(hits, trials) == pytest.approx((low, high), abs=5e-5)


def test_a_file_of_names_is_halved_by_whom_they_name(tmp_path):
    book, names = tmp_path / "book.jsonl", tmp_path / "names.jsonl"
    book.write_bytes(b"\n".join(orjson.dumps({"id": f"x{n}", "name": f"Ann O'Neill {n}"}) for n in range(20)))
    said = [{"nbest": [f"ann {n}", "anne"], "target": f"x{n % 20}"} for n in range(60)]
    names.write_bytes(b"\n".join(map(orjson.dumps, said)))
    halves = [spoken(names, book, half).calls for half in HALVES]
    assert sum(map(len, halves)) == len(spoken(names, book, "all").calls) == 60
    assert not {call.meant for call in halves[0]} & {call.meant for call in halves[1]}
    assert halves[0][0].utterances[1] == "send twenty pounds to anne"


@pytest.mark.skipif(not CASES.is_dir(), reason="names that people said are not at hand (../shared)")
def test_names_that_people_said_are_found():
    made = spoken(CASES / "spoken_names.jsonl", CASES / "payees_en.jsonl", "development")
    calls = run(made, EN_GB).calls
    assert sum(call.first for call in calls) >= 0.86 * len(calls)
    assert sum(call.among_three for call in calls) >= 0.90 * len(calls)
    assert sum(call.chosen for call in calls) >= 0.4 * len(calls)
    assert sum(call.wrong for call in calls) <= 4  # four callers say another name than the one that is written
