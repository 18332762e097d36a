"""`tellerline label`: correct what should have happened, and make test cases of recorded calls."""

from pathlib import Path
from typing import Annotated

import typer

label = typer.Typer(no_args_is_help=True, help=__doc__)


def register(main: typer.Typer) -> None:
    """Add the subcommands."""
    main.add_typer(label, name="label")


@label.command("set")
def set_(
    case: str,
    expect: Annotated[list[str], typer.Option(help="intent=transfer_money, slots={JSON} …; `|` between names that do")],
    out: Annotated[Path, typer.Option(help="corrections file to append to")],
    turn: Annotated[int, typer.Option(min=1)] = 1,
    note: str = "",
) -> None:
    """Say what should have happened in a turn; what is not named stays as the manifest has it."""
    from app.qa.replay.labelling.labels import append_correction, correction, faults
    from schemas.errors import MalformedMessage

    found = correction(case, turn, expect, note)
    if unknown := faults([found]):
        raise MalformedMessage("; ".join(unknown))
    append_correction(out, found)


@label.command()
def apply(
    manifest: Path,
    corrections: Path,
    out: Annotated[Path, typer.Option(help="JSONL manifest to write, beside the old one so that audio is found")],
) -> None:
    """Merge corrections (from the report's export, or `label set`) into a manifest."""
    from app.qa.replay.labelling import labels
    from app.qa.replay.labelling.vocabulary import label_faults
    from app.qa.replay.manifests import readers
    from app.qa.replay.manifests.manifest import dump_jsonl
    from schemas.errors import MalformedMessage

    out = readers.lines(out)
    corrected = labels.apply(readers.load(manifest), labels.read_corrections(corrections))
    if unknown := label_faults(corrected):
        raise MalformedMessage("; ".join(unknown))
    out.write_bytes(dump_jsonl(corrected.cases))
    typer.echo(f"{len(corrected.cases)} cases in {out}")


@label.command()
def from_recording(
    folder: Annotated[Path, typer.Argument(help="a recorded call: recording.json and its sealed turns")],
    into: Annotated[Path, typer.Option(help="JSONL manifest to append to; sound goes beside it")],
    customer: Annotated[str, typer.Option(help="a sandbox customer who says it again, in place of the caller")] = "",
    case: Annotated[str, typer.Option(help="name of the test case; the folder's name unless given")] = "",
) -> None:
    """Turn a recorded production call (recorded with consent, codes withheld) into a test case.

    Needs the gateway's own settings: its audit key unseals the call.
    """
    from app.composition.keys import audit_keys
    from app.qa.replay.labelling.vocabulary import customer_fault
    from app.qa.replay.records.recorded import add_recording, read_recording
    from app.settings import read_settings
    from schemas.errors import NotFound

    if customer and (fault := customer_fault(customer, "")):
        raise NotFound(fault)
    call = read_recording(folder, audit_keys(read_settings()))
    added = add_recording(call, into, case or folder.resolve().name, customer or None)
    typer.echo(f"{added.id}: {len(added.turns)} turns in {into}")
