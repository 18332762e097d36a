"""Logs are JSON, redacted, and never carry an exception's text."""

import logging

import orjson
import pytest

from app.logs import OURS, JsonFormatter, call_id, configure, worth_a_line


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


def test_a_lost_task_does_not_show_what_it_failed_of() -> None:
    lost = record("Task exception was never retrieved\nfuture: <Task exception=ValueError('Catherine Nguyen')>")
    lost.name = "asyncio"
    assert orjson.loads(JsonFormatter(str).format(lost))["message"] == "Task exception was never retrieved"


def test_libraries_stay_quiet_whatever_the_level(capsys: pytest.CaptureFixture[str]) -> None:
    root, loggers = logging.getLogger(), [logging.getLogger(name) for name in (*OURS, "uvicorn.error")]
    before, handlers = [each.level for each in (root, *loggers)], list(root.handlers)
    try:
        configure("DEBUG", str)
        for name in ("uvicorn.error", "sqlalchemy.engine", "httpx", "openai"):
            logging.getLogger(name).debug("< TEXT 'send fifty to catherine' [30 bytes]")
        logging.getLogger("uvicorn.error").info(
            '%s - "WebSocket %s" [accepted]', "127.0.0.1", "/v1/calls?name=catherine"
        )
        logging.getLogger("services.pipeline").debug("looked ahead")
        said = capsys.readouterr().err
    finally:
        logging.captureWarnings(False)
        logging.getLogger("uvicorn.error").removeFilter(worth_a_line)
        root.handlers[:] = handlers
        for each, level in zip((root, *loggers), before, strict=True):
            each.setLevel(level)
    assert "catherine" not in said
    assert "looked ahead" in said
