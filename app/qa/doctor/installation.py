"""The installation, examined before it is opened to callers: every part that the settings name is asked for real."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

import httpx
import sqlalchemy as sa

from app.auth.jwks import HttpKeys, public_keys
from app.bootstrap import core_bank
from app.composition.chain import chained
from app.composition.keys import audit_keys, confirmation_keys
from app.composition.keys_needed import audit_keys_gone, audit_keys_needed, audit_keys_said, seals_needed, seals_said
from app.composition.models import passages
from app.composition.readiness import try_to_write
from app.composition.speech import voice
from app.migrate import database, why
from app.qa.doctor.findings import Report, Severity
from app.settings import Environment, Settings
from rules.load import locales, ruleset_hash
from schemas.audio import SAMPLE_RATE
from schemas.decision import Reply
from schemas.errors import StoreUnavailable, TellerlineError
from schemas.ids import CustomerId, RuleId, language
from schemas.printable import fault_words
from services.asr import load as load_recognizer
from services.banking.banks import tables as t
from services.record.chain import told_time
from services.response import speak
from services.store import Store
from services.timing import TOLERATED_S, SystemClock

_ANSWER_S: Final = 10.0
CONFIRMATION_KEYS: Final = "TELLERLINE_CONFIRMATION_KEYS_BEFORE"

Check = Callable[[Settings, Report], Awaitable[None]]


async def examine_installation(settings: Settings) -> Report:
    """Ask everything once. What raises is a finding too."""
    report = Report()
    report.add("settings", Severity.OK, settings.environment.value)
    for subject, check in _CHECKS:
        async with _asked(report, subject, _ANSWER_S):
            await check(settings, report)
    return report


@asynccontextmanager
async def _asked(report: Report, subject: str, patience_s: float) -> AsyncIterator[None]:
    """What goes wrong within is a finding about `subject`."""
    try:
        async with asyncio.timeout(patience_s):
            yield
    except TimeoutError:
        report.add(subject, Severity.FAIL, f"no answer within {patience_s:.0f} s")
    except StoreUnavailable as error:
        report.add(subject, Severity.FAIL, why(error) or str(error))
    except TellerlineError as error:
        report.add(subject, Severity.FAIL, str(error))
    except httpx.HTTPError as error:
        report.add(subject, Severity.FAIL, fault_words(error))


async def _rules(_settings: Settings, report: Report) -> None:
    report.add("rules", Severity.OK, f"{', '.join(locales())}, {ruleset_hash()[:12]}")


async def _recognizer(settings: Settings, report: Report) -> None:
    made = load_recognizer(settings.asr_model, workers=1, device=settings.asr_device)
    try:
        await made.warm_up()
    finally:
        await made.close()
    report.add("recogniser", Severity.OK, f"{settings.asr_model}, {settings.asr_device}, {SAMPLE_RATE} Hz")


async def _speech(settings: Settings, report: Report) -> None:
    async with AsyncExitStack() as stack:
        made = voice(stack, settings, SystemClock())
        if made.speaker is None:
            report.add("speech", Severity.NOTE, made.said)
            return
        locale = locales()[0]
        sound = [chunk async for chunk in made.speaker.speak(speak(Reply(RuleId("say.ok")), locale), locale, "")]
        report.add("speech", Severity.OK, f"{made.said}, {sound[0].rate} Hz")


async def _knowledge(settings: Settings, report: Report) -> None:
    found = passages(settings)
    if not found:
        report.add("knowledge", Severity.NOTE, "no documents: questions about the bank go to a person")
        return
    spoken = {name: sum(p.language == name for p in found) for name in {p.language for p in found}}
    missing = {language(locale) for locale in locales()} - set(spoken)
    said = ", ".join(f"{count} passages in {name}" for name, count in sorted(spoken.items()))
    silent = f"; none in {', '.join(sorted(missing))}" if missing else ""
    report.add("knowledge", Severity.NOTE if missing else Severity.OK, said + silent)


async def _money(settings: Settings, report: Report) -> None:
    """The database, who is in it, and whether the core knows the first of them."""
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(database(settings))
        clock = SystemClock()
        await try_to_write(store, clock)
        report.add("database", Severity.OK, store.place)
        apart = abs((await told_time(store, clock.now()) - clock.now()).total_seconds())
        if apart > TOLERATED_S:
            whose = "before the last record" if store.embedded else "apart from the database's"
            report.add("clock", Severity.WARN, f"{apart:.0f} s {whose}: put the wrong one right")
        first, count = await _customers(store)
        if settings.environment is Environment.DEMO and first is None:
            report.add("customers", Severity.NOTE, "the demo's own come at its first start")
            return
        if first is None:
            report.add("customers", Severity.FAIL, "nobody: `tellerline bank import FILE` brings them")
            return
        report.add("customers", Severity.OK, str(count))
        async with _asked(report, "core bank", _ANSWER_S / 2):
            bank = await core_bank(stack, settings, store, SystemClock())
            held = len((await bank.profile(first)).accounts)
            health = Severity.OK if held else Severity.WARN
            report.add("core bank", health, f"{settings.bank.value}: {held} accounts of the first customer")


async def _keys(settings: Settings, report: Report) -> None:
    """What is sealed under which keys, and whether all of these are there."""
    async with database(settings) as store:
        keys, sealing = audit_keys(settings), confirmation_keys(settings)
        needed = await audit_keys_needed(chained(settings, store, keys), settings.recordings)
        gone = audit_keys_gone(needed, keys)
        report.add("audit keys", Severity.FAIL if gone else Severity.OK, gone or audit_keys_said(needed, keys))
        strange, counts = await seals_needed(store, sealing)
        said = f"{strange} transfers wait under a key that is not here: write it into {CONFIRMATION_KEYS}"
        report.add(
            "confirmation keys", Severity.FAIL if strange else Severity.OK, said if strange else seals_said(counts)
        )


async def _customers(store: Store) -> tuple[CustomerId | None, int]:
    def counting(connection: sa.Connection) -> tuple[CustomerId | None, int]:
        first = connection.execute(sa.select(sa.func.min(t.customers.c.id))).scalar_one()
        return first, connection.execute(sa.select(sa.func.count()).select_from(t.customers)).scalar_one()

    return await store.look(counting)


async def _identity(settings: Settings, report: Report) -> None:
    if not settings.jwks_url:
        report.add("identity", Severity.NOTE, "the demo's own tokens")
        return
    async with httpx.AsyncClient(timeout=_ANSWER_S) as client:
        keys = public_keys(await HttpKeys(settings.jwks_url, client).fetch())
    report.add("identity", Severity.OK, f"{len(keys.keys)} keys of {settings.token_issuer}")


async def _codes(settings: Settings, report: Report) -> None:
    """Only whether somebody listens: a code that nobody asked for would reach a customer."""
    if not settings.code_webhook_url:
        report.add("one-time codes", Severity.NOTE, "shown by the demo's own phone")
        return
    async with httpx.AsyncClient(timeout=_ANSWER_S) as client:
        answer = await client.head(settings.code_webhook_url)
    known = Severity.WARN if answer.status_code == httpx.codes.NOT_FOUND or answer.is_server_error else Severity.OK
    report.add("one-time codes", known, f"{settings.code_webhook_url} answers ({answer.status_code} to HEAD)")


async def _models(settings: Settings, report: Report) -> None:
    for role, url in (("extraction", settings.extraction_url), ("qna", settings.qna_url)):
        if not url:
            report.add(f"{role} model", Severity.NOTE, "none: unclear words are asked about, passages quoted")
            continue
        async with httpx.AsyncClient(timeout=_ANSWER_S) as client:
            healthy = (await client.get(url.rstrip("/") + "/health")).is_success
        said = f"`tellerline doctor {url} --role {role}` examines it" if healthy else "/health does not answer"
        report.add(f"{role} model", Severity.OK if healthy else Severity.WARN, said)


_CHECKS: Final[tuple[tuple[str, Check], ...]] = (
    ("rules", _rules),
    ("recogniser", _recognizer),
    ("speech", _speech),
    ("knowledge", _knowledge),
    ("database", _money),
    ("keys", _keys),
    ("identity", _identity),
    ("one-time codes", _codes),
    ("models", _models),
)
