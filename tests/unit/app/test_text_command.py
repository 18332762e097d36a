"""`tellerline text`: a JSON line in, a JSON line out, whatever the line holds."""

from typing import Any

import orjson
import pytest
from typer.testing import CliRunner

from app.cli import main


def answers(*lines: str) -> list[dict[str, Any]]:
    done = CliRunner().invoke(main, ["text"], input="".join(line + "\n" for line in lines))
    assert done.exit_code == 0, done.output
    return [orjson.loads(line) for line in done.stdout.splitlines()]


def test_an_utterance_is_understood_under_its_id() -> None:
    (out,) = answers('{"id": "a-1", "text": "what\'s my balance", "locale": "en-US"}')
    assert (out["id"], out["intent"], out["decision"]) == ("a-1", "balance_inquiry", "execute")


@pytest.mark.parametrize(
    ("line", "identity"),
    [
        ('{"id": "a-2", "text": "hello", "locale": "xx-XX"}', "a-2"),
        ('{"id": "a-3", "text": 5, "locale": "en-US"}', "a-3"),
        ('{"id": 4, "text": "hello", "locale": "en-US"}', ""),
        ('{"id": "%s", "text": "hello", "locale": "en-US"}' % ("x" * 300), "x" * 200),
        ("[1, 2]", ""),
        ("{not json", ""),
    ],
)
def test_an_error_names_the_line_and_its_id(line: str, identity: str) -> None:
    out = answers("", line)[0]
    assert (out["line"], out["id"]) == (2, identity)
    assert out["error"]["code"]
    assert out["error"]["message"]
