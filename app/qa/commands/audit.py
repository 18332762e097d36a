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
    """Walk the chain and compare it with the exported heads; exit 1 where a record was changed, dropped or moved."""
    from app.settings import Settings
    from schemas.errors import AuditBroken
    from services.guard.audit import Head
    from services.guard.audit import verify as walk
    from services.guard.audit_heads import read_heads
    from services.store import Store

    settings = Settings()
    beside = heads or settings.state_dir / "audit.head"

    async def check() -> Head:
        store = Store(database or settings.database)
        try:
            return await walk(store, read_heads(beside) if heads or beside.is_file() else ())
        finally:
            await store.close()

    try:
        head = asyncio.run(check())
    except AuditBroken as broken:
        typer.echo(f"broken: {broken.message}", err=True)
        raise typer.Exit(1) from broken
    typer.echo(f"{head.seq} records, head {head.hash}")


@audit.command()
def erase(
    customer: Annotated[str, typer.Argument(help="whose words shall be forgotten")],
    yes: Annotated[bool, typer.Option("--yes", help="do not ask")] = False,
) -> None:
    """Make all that a customer said unreadable for ever: the keys of their words on record, and their recordings.

    The records stay, and the chain holds. Needs the gateway's own settings.
    """
    from app.keys import audit_keys
    from app.retention import erase as forget
    from app.settings import Settings
    from schemas.ids import CustomerId
    from services.clock import SystemClock
    from services.guard.audit import ChainedAudit
    from services.guard.audit_heads import FileHead
    from services.store import Store

    if not yes:
        typer.confirm(f"Forget all that {customer} said, for ever?", abort=True)
    settings, whose = Settings(), CustomerId(customer)
    keys = audit_keys(settings)

    async def erasing() -> int:
        store = Store(settings.database)
        try:
            log = ChainedAudit(store, keys, FileHead(settings.state_dir / "audit.head"))
            return await forget(log, keys, whose, settings.recordings, SystemClock())
        finally:
            await store.close()

    typer.echo(f"forgotten, with {asyncio.run(erasing())} recordings")
