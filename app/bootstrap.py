"""The one composition root: from settings to everything a gateway is made of, and back down in order."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final

import httpx

from app.auth.demo import DemoIssuer
from app.auth.dependencies import Authenticator
from app.auth.statements import KEPT, Statements
from app.compiled import compile_rules
from app.composition.background import beside, keep_running
from app.composition.callers import Callers
from app.composition.chain import chained
from app.composition.ears import Given, decoder_pool, voice_activity
from app.composition.ears import recognizer as load_recognizer
from app.composition.identity import bridges, identity
from app.composition.keys import audit_keys, confirmation_keys, secret
from app.composition.keys_needed import audit_keys_gone, audit_keys_needed
from app.composition.limits import Bounds, limits
from app.composition.models import answerer, extractor, passages
from app.composition.money import Books, MoneyServices, money_services
from app.composition.readiness import Readiness
from app.composition.speech import Voice, warm_voice
from app.migrate import database
from app.retention import Retention
from app.settings import BankKind, Settings
from app.settings.state_folder import in_state_folder
from app.shadow.line import ShadowLine, beside_calls
from rules.bank import DemoCustomer, demo_customers
from schemas.errors import TellerlineError
from services.answering.quote import Library, QuotingAnswerer
from services.audio.decoder_pool import DecoderPool
from services.audio.vad import SileroVad
from services.banking import promises
from services.banking.banks.fineract import FineractBank, FineractSettings
from services.banking.banks.sandbox import SandboxBank
from services.banking.banks.seed import open_demo_bank
from services.banking.code_senders import DemoPhone, WebhookSender
from services.banking.outbox import Outbox
from services.banking.promises import Promises
from services.banking.reconcile import Reconciler
from services.banking.stepup import CodeSender
from services.disk import on_disk
from services.execution import Banking
from services.guard.admission import Admission
from services.guard.expected_calls import ExpectedCalls
from services.guard.nonces import Nonces
from services.observability import Metrics
from services.ports import Answerer, AuditLog, Clock, CoreBank, Recognizer
from services.record import audit_spool
from services.record.audit import ChainedAudit
from services.record.audit_keys import AuditKeys
from services.record.audit_spool import SpooledAudit
from services.record.chain import told_time
from services.record.spool import broken, left_behind, own
from services.speech.engine import SpeechEngine
from services.store import Store
from services.timing import Steadiness, SystemClock

log = logging.getLogger(__name__)

RECONCILE_EVERY_S: Final = 2.0
RECORD_EVERY_S: Final = 1.0
COUNT_EVERY_S: Final = 5.0

Others = tuple[DemoCustomer, ...] | None
"""Customers who stand in for those of the demo bank."""


@dataclass(frozen=True, slots=True)
class Gateway:
    """Everything that runs, wired."""

    settings: Settings
    clock: Clock
    metrics: Metrics
    admission: Admission
    limits: Bounds
    authenticator: Authenticator
    statements: Statements
    expected: ExpectedCalls
    web: httpx.AsyncClient
    callers: Callers
    recognizer: Recognizer
    voice: Voice
    decoders: DecoderPool
    vad: SileroVad
    audit: AuditLog
    readiness: Readiness
    issuer: DemoIssuer | None
    phone: DemoPhone | None
    shadow: ShadowLine | None = None
    customers: tuple[DemoCustomer, ...] = ()


@asynccontextmanager
async def gateway(
    settings: Settings, *, recognizer: Given | None = None, engine: SpeechEngine | None = None, customers: Others = None
) -> AsyncIterator[Gateway]:
    """Compose a gateway, warmed up; on leaving, take it down. Raises ConfigInvalid, RulesInvalid, StoreUnavailable.

    A `recognizer` that is given ready stays its owner's to close; an `engine` speaks in place of the settings' own.
    """
    async with AsyncExitStack() as stack:
        base = _Base(stack, settings, SystemClock(), Metrics())
        client = await stack.enter_async_context(httpx.AsyncClient(timeout=10.0))
        decoding, rules = beside(stack, decoder_pool(stack)), beside(stack, asyncio.to_thread(compile_rules))
        ears = beside(stack, load_recognizer(stack, settings, base.metrics, recognizer))
        kept = await _storage(base)
        await _look_at_spools(base, kept.audit)
        issuer, authenticator = identity(stack, settings, kept.store, base.clock, client, kept.steady.doubted)
        phone, sender = _code_sender(base, client)
        banking = await _banking(base, kept, sender, customers)
        spoken = await warm_voice(stack, settings, base.clock, engine)
        yield Gateway(
            settings=settings,
            clock=base.clock,
            metrics=base.metrics,
            admission=Admission(settings.max_calls, base.metrics),
            limits=limits(stack, settings, kept.store, base.clock, base.metrics),
            authenticator=authenticator,
            statements=Statements(bridges(settings), Nonces(kept.store, KEPT, kept.steady.doubted), base.clock),
            expected=ExpectedCalls(kept.store, base.clock),
            web=client,
            callers=await _callers(base, banking, kept.audit, rules),
            recognizer=await ears,
            voice=spoken,
            decoders=await decoding,
            vad=voice_activity(stack),
            audit=kept.audit,
            readiness=Readiness(kept.store, kept.audit, authenticator, base.clock),
            issuer=issuer,
            phone=phone,
            shadow=beside_calls(stack, settings, base.metrics),
            customers=demo_customers() if customers is None else customers,
        )


@dataclass(frozen=True, slots=True)
class _Base:
    """What every part is made with. `stack` takes each down again, the last one first."""

    stack: AsyncExitStack
    settings: Settings
    clock: Clock
    metrics: Metrics


async def _look_at_spools(base: _Base, audit: SpooledAudit) -> None:
    """Apart from whoever asks for the metrics, whom the folder's disk could keep waiting, and all others with them."""

    async def count() -> None:
        await on_disk.run(None, audit.look)
        base.metrics.spools_broken.set(await on_disk.run(None, lambda: len(broken(base.settings.state_dir))))

    await count()
    keep_running(base.stack, count, COUNT_EVERY_S)


@dataclass(frozen=True, slots=True)
class _Storage:
    """What is kept: the database, the chain of records in it, the log in front of that, and what keys them."""

    store: Store
    keys: AuditKeys
    chain: ChainedAudit
    audit: SpooledAudit
    steady: Steadiness


async def _storage(base: _Base) -> _Storage:
    settings, clock = base.settings, base.clock
    store = await base.stack.enter_async_context(database(settings))
    keys = audit_keys(settings)
    chain = chained(settings, store, keys)
    beside(base.stack, _tell_keys_gone(settings, chain, keys))
    steady = Steadiness(clock, await told_time(store, clock.now()))
    return _Storage(store, keys, chain, _records(base, chain, keys, steady), steady)


async def _tell_keys_gone(settings: Settings, chain: ChainedAudit, keys: AuditKeys) -> None:
    """Calls go on without them: what is under them is only neither read nor erased."""
    try:
        gone = audit_keys_gone(await audit_keys_needed(chain, settings.recordings), keys)
    except (TellerlineError, OSError) as error:
        gone = f"whether audit keys are missing is not known: {type(error).__name__}"
    if gone:
        log.error("%s", gone)


def _code_sender(base: _Base, client: httpx.AsyncClient) -> tuple[DemoPhone | None, CodeSender]:
    settings = base.settings
    if settings.code_webhook_url:
        key = secret(settings, "code_webhook_key", settings.code_webhook_key)
        return None, WebhookSender(settings.code_webhook_url, key, settings.code_channel, client, base.clock)
    phone = DemoPhone()
    return phone, phone


async def core_bank(
    stack: AsyncExitStack,
    settings: Settings,
    store: Store,
    clock: Clock,
    customers: Others = None,
) -> CoreBank:
    """The bank that the settings name; the demo's is opened where it is not yet. `stack` closes what it holds."""
    if settings.bank is BankKind.FINERACT:
        core = FineractSettings(
            settings.fineract_url, settings.fineract_user, settings.fineract_password.get_secret_value()
        )
        client = await stack.enter_async_context(core.client())
        return FineractBank(core, client, store, clock)
    await open_demo_bank(store, clock, demo_customers() if customers is None else customers)
    return sandbox(store, clock)


def sandbox(store: Store, clock: Clock) -> CoreBank:
    """The demo bank whose customers `store` holds."""
    return SandboxBank(store, clock)


def _records(base: _Base, chain: ChainedAudit, keys: AuditKeys, steady: Steadiness) -> SpooledAudit:
    """The audit log; what the database did not take follows in the background, what its time is over for goes."""
    stack, settings, clock = base.stack, base.settings, base.clock
    key, *before = keys.of(b"tellerline.spool.audit.1")
    where = settings.state_dir, "audit", key, audit_spool.SIZE, before
    with in_state_folder(settings):
        audit = SpooledAudit(chain, clock, own(*where), left_behind(*where))
    stack.push_async_callback(audit.close)
    keep_running(stack, audit.drain, RECORD_EVERY_S)
    days = settings.transcript_days, settings.recording_days
    retention = Retention(chain, settings.recordings, clock, *days, steady.doubted)
    keep_running(stack, retention.run)
    return audit


async def _banking(base: _Base, kept: _Storage, sender: CodeSender, customers: Others) -> Banking:
    """What calls act with: the ledger, before the bank that the settings name."""
    bank = await core_bank(base.stack, base.settings, kept.store, base.clock, customers)
    books = Books(kept.store, kept.audit, _promises(base, kept))
    return _settling(base, kept, money_services(bank, books, sender, confirmation_keys(base.settings), base.clock))


def _promises(base: _Base, kept: _Storage) -> Promises:
    key, *before = kept.keys.of(b"tellerline.spool.promises.1")
    where = base.settings.state_dir, "promises", key, promises.SIZE, before
    with in_state_folder(base.settings):
        made = Promises(kept.store, base.clock, own(*where), left_behind(*where))
    base.stack.callback(made.close)
    return made


def _settling(base: _Base, kept: _Storage, made: MoneyServices) -> Banking:
    """The door, and what settles and records in the background while the gateway runs."""
    stack, outbox = base.stack, Outbox(kept.chain, base.clock)
    stack.push_async_callback(outbox.close)
    stack.push_async_callback(made.ledger.close)
    keep_running(stack, outbox.drain, RECORD_EVERY_S)
    keep_running(stack, Reconciler(made.deps, kept.steady.doubted).run_once, RECONCILE_EVERY_S)
    return made.banking


async def _callers(base: _Base, banking: Banking, audit: AuditLog, rules: asyncio.Task[None]) -> Callers:
    made = Callers(
        banking=banking,
        extractor=extractor(base.stack, base.settings, base.clock),
        answerer=_answerer(base),
        audit=audit,
        metrics=base.metrics,
        keep_words=base.settings.transcript_days > 0,
    )
    await rules
    return made


def _answerer(base: _Base) -> Answerer:
    library = Library.load(passages(base.settings))
    return answerer(base.stack, base.settings, library, base.clock) or QuotingAnswerer(library, base.clock)
