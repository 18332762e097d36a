"""`tellerline audit`: does the chain of records still hold, and how a customer's words leave it."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

audit = typer.Typer(no_args_is_help=True, help="The audit log.")


def register(main: typer.Typer) -> None:
    """Add the subcommand."""
    main.add_typer(audit, name="audit")


@audit.command()
def verify(
    database: Annotated[str, typer.Option(help="SQLAlchemy URL; the settings' database unless given")] = "",
    heads: Annotated[Path | None, typer.Option(help="file of exported heads; the settings' unless given")] = None,
) -> None:
    """Walk the chain and compare it with the exported heads; exit 1 where a record was changed, dropped or moved.

    Also where a spool of records was put aside because somebody's hand was in it, until it is taken away.
    """
    from app.settings import read_settings
    from schemas.errors import AuditBroken
    from services.record.chain import ChainHead
    from services.record.chain import verify as walk
    from services.record.heads import read_heads
    from services.record.spool import broken as tampered_with
    from services.store import Store

    settings = read_settings()
    beside = heads or settings.state_dir / "audit.head"

    async def check() -> ChainHead:
        store = Store(database or settings.database)
        try:
            return await walk(store, read_heads(beside) if heads or beside.is_file() else ())
        finally:
            await store.close()

    try:
        head = asyncio.run(check())
    except AuditBroken as error:
        typer.echo(f"broken: {error.message}", err=True)
        raise typer.Exit(1) from error
    if put_aside := tampered_with(settings.state_dir):
        typer.echo(
            f"broken: a spool was tampered with, or is under another audit key, see {', '.join(map(str, put_aside))}",
            err=True,
        )
        raise typer.Exit(1)
    typer.echo(f"{head.seq} records, head {head.hash}")


@audit.command()
def erase(
    customer: Annotated[str, typer.Argument(help="whose words shall be forgotten")],
    yes: Annotated[bool, typer.Option("--yes", help="do not ask")] = False,
) -> None:
    """Make all that a customer said unreadable for ever: the keys of their words on record, and their recordings.

    Fails where nothing of them is there, as under another audit key than that of their records.
    The records stay, and the chain holds. Needs the gateway's own settings.
    """
    from app.keys import audit_keys
    from app.retention import erase as forget
    from app.settings import read_settings
    from schemas.ids import CustomerId
    from services.record.audit import ChainedAudit
    from services.record.heads import FileHead
    from services.store import Store
    from services.timing import SystemClock

    if not yes:
        typer.confirm(f"Forget all that {customer} said, for ever?", abort=True)
    settings, whose = read_settings(), CustomerId(customer)
    keys = audit_keys(settings)

    async def erasing() -> int:
        store = Store(settings.database)
        try:
            log = ChainedAudit(store, keys, FileHead(settings.state_dir / "audit.head"))
            return await forget(log, keys, whose, settings.recordings, SystemClock())
        finally:
            await store.close()

    typer.echo(f"forgotten, with {asyncio.run(erasing())} recordings")
