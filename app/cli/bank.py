"""`tellerline bank`: whom the bank's callers may be, and whom they pay."""

import asyncio
import codecs
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from schemas.errors import BadInput, TooLarge

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from schemas.directory import DirectoryRecord
    from services.banking.directory_import import Changes, Household, LineFault
    from services.store import Store

MAX_LINES: Final = 2_000_000
MAX_LINE_BYTES: Final = 64 * 1024
MAX_FAULTS: Final = 50
"""Faults told before the rest is only counted."""

bank = typer.Typer(no_args_is_help=True, help="The bank's customers, payees, cards, bills and limits.")


@bank.command("import")
def import_(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="JSON lines, see `tellerline bank schema`")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only say what would change")] = False,
) -> None:
    """Bring FILE into the directory. Faults are told by line, and with any nothing is written. Again is harmless."""
    from services.banking.directory_import import told

    changes = asyncio.run(_importing(file, dry_run))
    for line in told(changes):
        typer.echo(line)
    if dry_run:
        typer.echo("nothing was written")


@bank.command()
def schema() -> None:
    """Print the JSON schema of a line."""
    import orjson

    from schemas.directory import DirectoryLine

    typer.echo(orjson.dumps(DirectoryLine.model_json_schema(), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))


async def _importing(file: Path, dry_run: bool) -> "Changes":
    from app.migrate import database
    from app.settings import BankKind, read_settings
    from services.banking.directory_import import households

    faults: list[LineFault] = []
    families, twice = households(_records(file, faults))
    faults += twice
    if not families and not faults:
        raise BadInput(f"{file.name} holds no line: was it written whole?")
    settings = read_settings()
    if settings.bank is BankKind.FINERACT:
        faults += _unreachable(families)
    async with database(settings) as store:
        return await _carried_out(store, families, faults, dry_run)


def _unreachable(families: "list[Household]") -> "list[LineFault]":
    """Whom Fineract would not find."""
    from schemas.directory import CustomerRecord, PayeeRecord, ids_in
    from services.banking.directory_import import LineFault

    records = [told for family in families for told in family.records]
    return [
        LineFault(line, f"route: Fineract needs {wanted}")
        for kind, many, wanted in ((CustomerRecord, 1, "clientId"), (PayeeRecord, 2, "clientId/accountId"))
        for line, record in records
        if isinstance(record, kind) and not ids_in(record.route, many)
    ]


async def _carried_out(
    store: "Store", families: "list[Household]", faults: "list[LineFault]", dry_run: bool
) -> "Changes":
    from collections import Counter

    from services.banking.directory_import import DirectoryImport
    from services.timing import SystemClock

    bringing, changes = DirectoryImport(store, SystemClock().now().date()), Counter[tuple[str, str]]()
    for batch in _shown(families, "looked at"):
        missing, would = await bringing.check(batch)
        faults += missing
        changes.update(would)
    if faults:
        _tell(faults)
        raise typer.Exit(1)
    if dry_run:
        return changes
    changes.clear()
    for batch in _shown(families, "written"):
        changes.update(await bringing.write(batch))
    return changes


def _shown(families: "list[Household]", done: str) -> "Iterator[list[Household]]":
    """Batch by batch; a terminal is told how far it is."""
    from services.banking.directory_import import batches

    told = typer.progressbar(length=len(families), label=f"{len(families)} customers {done}", file=sys.stderr)
    with told if sys.stderr.isatty() else nullcontext() as bar:
        for batch in batches(families):
            yield batch
            if bar is not None:
                bar.update(len(batch))


def _records(file: Path, faults: "list[LineFault]") -> "Iterator[tuple[int, DirectoryRecord]]":
    """Every line that can be read, with its number; the others become faults."""
    from pydantic import ValidationError

    from rules.load import locales
    from schemas.directory import CustomerRecord, DirectoryLine
    from schemas.json_names import doubled_name
    from services.banking.directory_import import LineFault

    spoken = locales()
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if number > MAX_LINES:
                raise TooLarge(f"more than {MAX_LINES} lines: bring them in parts")
            if number == 1:
                line = _as_utf8(file, line)  # noqa: PLW2901 - what editors put before a text is no part of it
            if not line.strip():
                continue
            if len(line) > MAX_LINE_BYTES:
                faults.append(LineFault(number, f"longer than {MAX_LINE_BYTES} bytes"))
                continue
            try:
                record = DirectoryLine.model_validate_json(line).root
            except ValidationError as error:
                faults += [LineFault(number, _said(fault)) for fault in error.errors(include_input=False)]
                continue
            if (twice := doubled_name(line)) is not None:
                faults.append(LineFault(number, f"{twice}: is there twice"))
                continue
            if isinstance(record, CustomerRecord) and record.locale not in spoken:
                faults.append(LineFault(number, f"locale: none of {', '.join(spoken)}"))
                continue
            yield number, record


def _as_utf8(file: Path, first: bytes) -> bytes:
    """The first line without the mark of UTF-8. Raises BadInput for files that are another thing than such text."""
    for mark, what in ((codecs.BOM_UTF16_LE, "UTF-16"), (codecs.BOM_UTF16_BE, "UTF-16"), (b"\x1f\x8b", "packed")):
        if first.startswith(mark):
            raise BadInput(f"{file.name} is {what}: write plain UTF-8")
    return first.removeprefix(codecs.BOM_UTF8)


def _said(fault: "ErrorDetails") -> str:
    from schemas import amiss

    place = ".".join(map(str, fault["loc"][1:])) or "line"
    return f"{place}: {amiss.fault(fault, own_file=True)}"


def _tell(faults: "list[LineFault]") -> None:
    for fault in sorted(faults, key=lambda fault: fault.line)[:MAX_FAULTS]:
        typer.echo(f"line {fault.line}: {fault.said}", err=True)
    if len(faults) > MAX_FAULTS:
        typer.echo(f"and {len(faults) - MAX_FAULTS} more", err=True)
    typer.echo("nothing was written", err=True)


def register(main: typer.Typer) -> None:
    """Add the commands."""
    main.add_typer(bank, name="bank")
