"""The whole examination, in the order in which a fault makes the rest pointless."""

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path

import httpx

from app.qa.doctor import probes
from app.qa.doctor.client import Endpoint
from app.qa.doctor.engine_log import read_log
from app.qa.doctor.findings import Report, Severity
from app.qa.doctor.warm import warm_role


@dataclass(frozen=True, slots=True)
class Patient:
    """What is to be examined, and how. `log` is the engine's own, if it can be read from here."""

    url: str
    role: str = "extraction"
    key: str = ""
    batch: int = 16
    wait_s: float = 0.0
    log: Path | None = None


async def healthy(endpoint: Endpoint, wait_s: float) -> bool:
    """Whether /health answers within `wait_s`."""
    until = time.monotonic() + wait_s
    while True:
        try:
            if (await endpoint.ask("GET", "/health", key=False)).is_success:
                return True
        except httpx.HTTPError:
            pass
        if time.monotonic() >= until:
            return False
        await asyncio.sleep(1.0)


async def examine(patient: Patient) -> Report:
    """Every probe the role has, then the warm-up."""
    report = Report()
    async with Endpoint(patient.url, patient.key) as endpoint:
        if not await healthy(endpoint, patient.wait_s):
            report.add(
                "health",
                Severity.FAIL,
                f"{endpoint.url}/health does not say yes: write a model endpoint's address, http://…, without /v1",
            )
            return report
        model = await probes.identity(endpoint, report)
        if not model:
            return report
        if patient.log:
            read_log(patient.log, report)
        await warm_role(patient.role, endpoint, model, patient.key, patient.batch, report)
        wanted: list[probes.Probe] = [probes.prefix_cache, probes.drafting, probes.disconnect]
        if patient.role == "extraction":
            wanted = [probes.structured, probes.legacy_parameters, *wanted]
        for probe in wanted:
            await probes.guarded(probe, endpoint, model, report)
        await probes.open_routes(endpoint, report)
    return report
