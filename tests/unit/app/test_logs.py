"""Logs are JSON, redacted, and never carry an exception's text."""

import logging

import orjson
import pytest

from app.logs import JsonFormatter, call_id


def record(message: str, error: BaseException | None = None) -> logging.LogRecord:
    info = (type(error), error, error.__traceback__) if error else None
    return logging.LogRecord("room", logging.WARNING, __file__, 1, message, (), info)


def test_a_line_is_json_with_the_call() -> None:
    token = call_id.set("call-7")
    line = orjson.loads(JsonFormatter(str.upper).format(record("hello")))
    call_id.reset(token)
    assert (line["message"], line["call"], line["level"]) == ("HELLO", "call-7", "WARNING")


def test_an_exception_shows_its_type_and_place_only() -> None:
    with pytest.raises(ValueError, match="Nguyen") as raised:
        raise ValueError("Catherine Nguyen 4111111111111111")
    text = JsonFormatter(str).format(record("failed", raised.value))
    assert "ValueError" in text
    assert "test_logs.py" in text
    assert "Nguyen" not in text
