"""`tellerline audit verify`: does the chain of records still hold?"""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

audit = typer.Typer(no_args_is_help=True, help="The audit log.")


def register(main: typer.Typer) -> None:
    """Add the subcommand."""
    main.add_typer(audit, name="audit")


@audit.callback()
def _group() -> None:
    """Keep `verify` a subcommand of its own."""


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
