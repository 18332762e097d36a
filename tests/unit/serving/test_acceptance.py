"""Speed against acceptance: steps are as measured, break-evens where the curves cross, and what never pays says so."""

import xml.etree.ElementTree as ET
from typing import Any

import pytest

from deploy.vllm.sweep.acceptance import System, as_curves, break_even, systems
from deploy.vllm.sweep.report import record

SVG = "{http://www.w3.org/2000/svg}"


def row(server: str, tpot_ms: float, rates: list[float], label: str = "pace", varied: str = "") -> dict[str, Any]:
    raw = {
        "p50_tpot_ms": tpot_ms,
        "spec_decode_acceptance_length": 1 + sum(rates) if rates else "",
        "spec_decode_per_position_acceptance_rates": rates,
    }
    return record(raw, server=server, label=label, varied=varied)


PLAIN, DRAFTING = row("none", 5.0, []), row("mtp", 4.0, [0.5, 0.25])
DEAR = row("dear", 30.0, [0.5])


def test_a_step_is_the_time_of_all_its_tokens() -> None:
    assert systems([PLAIN, DRAFTING]) == [System("none", 0, 5.0), System("mtp", 2, 7.0)]


def test_only_one_answer_at_a_time_tells_a_step() -> None:
    crowd = row("none", 9.0, [], label="load", varied="max-concurrency=8")
    alone = row("none", 5.0, [], label="answers", varied="max-concurrency=1")
    assert systems([crowd]) == []
    assert systems([alone, crowd]) == [System("none", 0, 5.0)]


def test_the_break_even_is_where_both_are_as_fast() -> None:
    plain, drafting = systems([PLAIN, DRAFTING])
    even = break_even(drafting, plain)
    assert even is not None
    assert drafting.speed(even) == pytest.approx(plain.speed(0))
    assert even == pytest.approx(0.306, abs=0.001), "a + a² = .4"
    (dear,) = systems([DEAR])
    assert break_even(dear, plain) is None


def test_the_picture_marks_each_break_even_and_says_what_never_pays() -> None:
    svg = ET.fromstring(as_curves("t", [PLAIN, DRAFTING, DEAR]))
    told = [text.text for text in svg.iter(f"{SVG}text")]
    assert {"none (no drafts)", "mtp from 0.31", "dear never pays"} <= set(told)
    assert len(svg.findall(f"{SVG}polyline")) == 2
    assert len(svg.findall(f"{SVG}circle")) == 1


def test_without_a_system_that_drafts_there_is_no_picture() -> None:
    assert as_curves("t", [PLAIN]) == ""
