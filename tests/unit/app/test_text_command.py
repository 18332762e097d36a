"""`tellerline text`: a JSON line in, a JSON line out, whatever the line holds."""

from typing import Any

import orjson
import pytest
from typer.testing import CliRunner

from app.cli import main
from app.text import TextPath
from schemas.text import TextIn, TextOut


def answers(*lines: str, refused: bool = False) -> list[dict[str, Any]]:
    done = CliRunner().invoke(main, ["text"], input="".join(line + "\n" for line in lines))
    assert done.exit_code == refused, done.output
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
    out = answers("", line, refused=True)[0]
    assert (out["line"], out["id"]) == (2, identity)
    assert out["error"]["code"]
    assert out["error"]["message"]


def test_a_fault_in_one_line_ends_no_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = TextPath.take

    def faulty(self: TextPath, given: TextIn) -> TextOut:
        if given.id == "bad":
            raise ValueError("a fault of ours")
        return heard(self, given)

    monkeypatch.setattr(TextPath, "take", faulty)
    bad, good = answers(
        '{"id": "bad", "text": "hello", "locale": "en-US"}',
        '{"id": "good", "text": "balance", "locale": "en-US"}',
        refused=True,
    )
    assert (bad["id"], bad["error"]["code"]) == ("bad", "internal_fault")
    assert good["intent"] == "balance_inquiry"
