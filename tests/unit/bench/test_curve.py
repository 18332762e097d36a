"""The curve over thresholds: every setting is played, and every point lies in the picture."""

from pathlib import Path
from xml.etree import ElementTree as ET

import orjson

from deploy.bench._calls.curve import HEIGHT, SETTINGS, WIDTH, write_curve
from schemas.call import Patience

SVG = "{http://www.w3.org/2000/svg}"


def test_every_setting_is_a_point_of_the_json_and_of_the_picture(tmp_path: Path) -> None:
    played: list[Patience] = []

    def play(patience: Patience) -> dict[str, str | int | float | bool | None]:
        played.append(patience)
        wait = patience.fixed_ms or 170 * patience.scale
        return {"p50_ms": wait, "p95_ms": wait + 50.0, "p99_ms": None, "false_cutoff_rate": 50 / wait, "calls": 7}

    write_curve(tmp_path / "curve", "end of <turn>", play)
    points = orjson.loads((tmp_path / "curve.json").read_bytes())
    assert played == [patience for _, _, patience in SETTINGS]
    assert [point["label"] for point in points] == [label for _, label, _ in SETTINGS]
    assert {"p50_ms", "p95_ms", "p99_ms", "false_cutoff_rate", "calls"} < points[0].keys()
    picture = ET.parse(tmp_path / "curve.svg").getroot()
    dots = picture.findall(f"{SVG}circle")
    assert len(dots) == len(SETTINGS)
    for item in (*dots, *picture.findall(f"{SVG}text")):
        assert 0 < float(item.get("cx") or item.get("x") or -1) < WIDTH
        assert 0 < float(item.get("cy") or item.get("y") or -1) < HEIGHT
    assert "end of <turn>" in "".join(picture.itertext())
