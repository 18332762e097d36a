"""`tellerline audit`: does the chain of records still hold, and how a customer's words leave it."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.qa.options import Database

if TYPE_CHECKING:
    from app.settings import Settings
    from services.record.chain import ChainHead

audit = typer.Typer(no_args_is_help=True, help="The audit log.")


def register(main: typer.Typer) -> None:
    """Add the subcommand."""
    main.add_typer(audit, name="audit")


@audit.command()
def verify(
    database: Database = "",
    heads: Annotated[Path | None, typer.Option(help="file of exported heads; the settings' unless given")] = None,
) -> None:
    """Walk the chain and compare it with the exported heads; exit 1 where a record was changed, dropped or moved.

    Also where a spool of records was put aside because somebody's hand was in it, until it is taken away, and where
    an audit key is gone that something on record is under.
    """
    from app.settings import read_settings
    from schemas.errors import AuditBroken
    from services.record.spool import broken as tampered_with

    settings = read_settings()
    try:
        head, gone = asyncio.run(_walked(settings, database, heads))
    except AuditBroken as error:
        typer.echo(f"broken: {error.message}", err=True)
        raise typer.Exit(1) from error
    if put_aside := tampered_with(settings.state_dir):
        typer.echo(f"broken: a spool was tampered with, see {', '.join(map(str, put_aside))}", err=True)
        raise typer.Exit(1)
    typer.echo(f"{head.seq} records, head {head.hash}")
    if gone:
        typer.echo(gone, err=True)
        raise typer.Exit(1)


async def _walked(settings: "Settings", database: str, heads: Path | None) -> "tuple[ChainHead, str]":
    """The chain's end, and what to write where keys are gone; not asked of another's database."""
    from app.composition.chain import chained, head_file
    from app.composition.keys import audit_keys
    from app.composition.keys_needed import audit_keys_gone, audit_keys_needed
    from services.record.chain import verify as walk
    from services.record.heads import read_heads
    from services.store import Store

    store, beside = Store(database or settings.database), heads or head_file(settings)
    try:
        head = await walk(store, read_heads(beside) if heads or beside.is_file() else ())
        if database:
            return head, ""
        keys = audit_keys(settings)
        log = chained(settings, store, keys)
        return head, audit_keys_gone(await audit_keys_needed(log, settings.recordings), keys)
    finally:
        await store.close()


@audit.command()
def erase(
    customer: Annotated[str, typer.Argument(help="whose words shall be forgotten")],
    yes: Annotated[bool, typer.Option("--yes", help="do not ask")] = False,
) -> None:
    """Make all that a customer said unreadable for ever: the keys of their words on record, and their recordings.

    Fails where nothing of them is there, as under another audit key than that of their records.
    The records stay, and the chain holds. Needs the gateway's own settings.
    """
    from app.composition.chain import chained
    from app.composition.keys import audit_keys
    from app.composition.keys_needed import audit_keys_gone, audit_keys_needed
    from app.retention import erase as forget
    from app.settings import read_settings
    from schemas.ids import CustomerId
    from services.store import Store
    from services.timing import SystemClock

    if not yes:
        typer.confirm(f"Forget all that {customer} said, for ever?", abort=True)
    settings, whose = read_settings(), CustomerId(customer)
    keys = audit_keys(settings)

    async def erasing() -> tuple[int, str]:
        store = Store(settings.database)
        try:
            log = chained(settings, store, keys)
            gone = audit_keys_gone(await audit_keys_needed(log, settings.recordings), keys)
            return await forget(log, keys, whose, settings.recordings, SystemClock()), gone
        finally:
            await store.close()

    count, gone = asyncio.run(erasing())
    typer.echo(f"forgotten, with {count} recordings")
    if gone:
        typer.echo(f"not all of it may have been found: {gone}, and erase again", err=True)
        raise typer.Exit(1)
