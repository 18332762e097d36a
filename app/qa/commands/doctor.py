"""`tellerline doctor [URL]`: whether this installation can be opened, or what a model endpoint really does."""

import asyncio
import time
from pathlib import Path
from typing import Annotated, Literal

import orjson
import typer
from rich.console import Console
from rich.table import Table

from app.qa.doctor.findings import Report
from app.qa.figures import machine

COLOURS = {"ok": "green", "note": "cyan", "warn": "yellow", "fail": "red"}


def doctor(
    url: Annotated[str, typer.Argument(help="a model endpoint, without /v1; none: the installation itself")] = "",
    role: Annotated[Literal["extraction", "qna"], typer.Option(help="whose requests it will get")] = "extraction",
    key: Annotated[str, typer.Option(envvar="TELLERLINE_DOCTOR_KEY")] = "",
    batch: Annotated[int, typer.Option(min=1, max=64, help="warm every batch size up to this")] = 16,
    wait_s: Annotated[float, typer.Option(help="how long to wait for /health")] = 0.0,
    log: Annotated[Path | None, typer.Option(help="engine log, for attention backend and model runner")] = None,
    sidecar: Annotated[Path | None, typer.Option(help="write this file once warm and sound, and stay")] = None,
    json: Path | None = None,
) -> None:
    """Examine this installation, or a model endpoint: engine, cache, drafting, schema. Exits 1 if unusable."""
    if url:
        from app.qa.doctor.examine import Patient, examine

        report, what = asyncio.run(examine(Patient(url, role, key, batch, wait_s, log))), f"{url} as {role}"
    else:
        from app.qa.doctor.installation import examine_installation
        from app.settings import read_settings

        report, what = asyncio.run(examine_installation(read_settings())), "this installation"
    _show(report, what, json)
    if not report.usable:
        raise typer.Exit(1)
    if sidecar is not None:
        sidecar.write_text("warm\n", encoding="utf-8")
        while True:
            time.sleep(3600)


def _show(report: Report, what: str, json: Path | None) -> None:
    table = Table("what", "", "found", title=f"doctor: {what}", title_justify="left")
    for finding in report.findings:
        table.add_row(finding.subject, f"[{COLOURS[finding.health]}]{finding.health}[/]", finding.said)
    Console().print(table)
    if json is not None:
        said = {f"finding_{_key(f.subject)}": f"{f.health}: {f.said}" for f in report.findings}
        head = {"doctor": what, "machine": machine(), "usable": report.usable}
        json.write_bytes(orjson.dumps(head | dict(report.figures) | said, option=orjson.OPT_INDENT_2))


def _key(subject: str) -> str:
    return subject.replace(":", "").replace(" ", "_")


def register(main: typer.Typer) -> None:
    """Add the command."""
    main.command()(doctor)
