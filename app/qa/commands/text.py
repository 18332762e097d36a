"""`tellerline text`: the text contract, a JSON object a line in and out."""

import sys
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import typer

if TYPE_CHECKING:
    from app.text import TextPath


def register(main: typer.Typer) -> None:
    """Add the subcommand."""

    @main.command()
    def text() -> None:
        """Understand utterances: JSON lines on standard input and output. Exits with 1 where a line was refused."""
        from schemas.errors import InternalFault, TellerlineError

        refused = False

        for number, line in enumerate(sys.stdin.buffer, 1):
            if not line.strip():
                continue
            try:
                out = answer(line)
            except TellerlineError as error:
                refused, out = True, _refused(number, line, error.code, error.message)
            except Exception as error:  # noqa: BLE001 - a fault of ours in one line ends no batch
                refused, out = True, _refused(number, line, InternalFault.code, type(error).__name__)
            sys.stdout.buffer.write(out + b"\n")
            sys.stdout.buffer.flush()
        raise typer.Exit(1 if refused else 0)


def _refused(number: int, line: bytes, code: str, message: str) -> bytes:
    return orjson.dumps({"line": number, "id": _identity(line), "error": {"code": code, "message": message}})


def _identity(line: bytes) -> str:
    """The input's own id, where that much of the line can be read; else nothing."""
    from schemas.text import MAX_ID

    try:
        read = orjson.loads(line)
    except orjson.JSONDecodeError:
        return ""
    given = read.get("id") if isinstance(read, dict) else None
    return given[:MAX_ID] if isinstance(given, str) else ""


def answer(line: bytes) -> bytes:
    """One line's result, a line itself. Raises MalformedMessage, and what understanding it raises."""
    from pydantic import ValidationError

    from app.text import TextPath, payee_of
    from schemas.amiss import faults
    from schemas.errors import MalformedMessage
    from schemas.json_names import DOUBLED, doubled_name
    from schemas.text import TextIn
    from services.timing import SystemClock

    try:
        given = TextIn.model_validate_json(line)
    except ValidationError as error:
        raise MalformedMessage("; ".join(faults(error))) from error
    if doubled_name(line) is not None:
        raise MalformedMessage(DOUBLED)
    if given.payees is not None:
        path = TextPath.of_payees(SystemClock(), [payee_of(payee) for payee in given.payees])
    else:
        path = _path_of(given.payees_file)
    return orjson.dumps(path.take(given).model_dump())


@lru_cache(maxsize=8)
def _path_of(file: str | None) -> "TextPath":
    from app.text import TextPath, payee_of
    from schemas.errors import MalformedMessage, TooLarge
    from schemas.text import MAX_BOOK, TextPayee
    from services.timing import SystemClock

    if file is None:
        return TextPath.of_payees(SystemClock())
    try:
        lines = [line for line in Path(file).read_bytes().splitlines() if line.strip()]
        payees = [payee_of(TextPayee.model_validate_json(line)) for line in lines[: MAX_BOOK + 1]]
    except (OSError, ValueError) as error:
        raise MalformedMessage("the payees' file does not read") from error
    if len(payees) > MAX_BOOK:
        raise TooLarge(f"more than {MAX_BOOK} payees")
    return TextPath.of_payees(SystemClock(), payees)
