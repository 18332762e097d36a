"""The report's charts take whatever was measured."""

from hypothesis import given
from hypothesis import strategies as st

from app.qa.replay.judging.score import Latency
from app.qa.replay.report.charts import waterfall

MS = st.floats(0, 1e6, allow_nan=False)


@given(st.dictionaries(st.sampled_from(["decode", "text", "decide", "total"]), MS))
def test_a_waterfall_takes_any_latency(stages: dict[str, float]) -> None:
    latency = {name: Latency(1, ms, ms, ms, ms, ms) for name, ms in stages.items()}
    drawn = str(waterfall(latency))
    assert all(name in drawn for name in stages if name != "total")


def test_a_longest_stage_above_six_units_has_its_marks() -> None:
    assert "8 ms" in str(waterfall({"decode": Latency(1, 9.0, 9.0, 9.0, 9.0, 9.0)}))
