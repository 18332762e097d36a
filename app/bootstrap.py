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
from app.composition.ears import Given
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
from services.store import Store
from services.timing import Steadiness, SystemClock, on_disk

log = logging.getLogger(__name__)

RECONCILE_EVERY_S: Final = 2.0
RECORD_EVERY_S: Final = 1.0
COUNT_EVERY_S: Final = 5.0


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
    settings: Settings, *, recognizer: Given | None = None, customers: tuple[DemoCustomer, ...] | None = None
) -> AsyncIterator[Gateway]:
    """Compose a gateway, warmed up; on leaving, take it down. Raises ConfigInvalid, RulesInvalid, StoreUnavailable.

    A `recognizer` that is given ready stays its owner's to close; `customers` stand in for those of the demo bank.
    """
    async with AsyncExitStack() as stack:
        clock, metrics = SystemClock(), Metrics()
        client = await stack.enter_async_context(httpx.AsyncClient(timeout=10.0))
        decoding, rules = beside(stack, _decoders(stack)), beside(stack, asyncio.to_thread(compile_rules))
        ears = beside(stack, load_recognizer(stack, settings, metrics, recognizer))
        kept = await _storage(stack, settings, clock)
        await _look_at_spools(stack, settings, metrics, kept.audit)
        issuer, authenticator = identity(stack, settings, kept.store, clock, client, kept.steady.doubted)
        phone, sender = _code_sender(settings, client, clock)
        banking = await _banking(stack, settings, kept, sender, clock, customers)
        spoken = await warm_voice(stack, settings, clock)
        yield Gateway(
            settings=settings,
            clock=clock,
            metrics=metrics,
            admission=Admission(settings.max_calls, metrics),
            limits=limits(stack, settings, kept.store, clock, metrics),
            authenticator=authenticator,
            statements=Statements(bridges(settings), Nonces(kept.store, KEPT, kept.steady.doubted), clock),
            expected=ExpectedCalls(kept.store, clock),
            web=client,
            callers=await _callers(stack, settings, clock, banking, kept.audit, metrics, rules),
            recognizer=await ears,
            voice=spoken,
            decoders=await decoding,
            vad=_vad(stack),
            audit=kept.audit,
            readiness=Readiness(kept.store, kept.audit, authenticator, clock),
            issuer=issuer,
            phone=phone,
            shadow=beside_calls(stack, settings, metrics),
            customers=demo_customers() if customers is None else customers,
        )


async def _look_at_spools(stack: AsyncExitStack, settings: Settings, metrics: Metrics, audit: SpooledAudit) -> None:
    """Apart from whoever asks for the metrics, whom the folder's disk could keep waiting, and all others with them."""

    async def count() -> None:
        await on_disk.run(None, audit.look)
        metrics.spools_broken.set(await on_disk.run(None, lambda: len(broken(settings.state_dir))))

    await count()
    keep_running(stack, count, COUNT_EVERY_S)


@dataclass(frozen=True, slots=True)
class _Storage:
    """What is kept: the database, the chain of records in it, the log in front of that, and what keys them."""

    store: Store
    keys: AuditKeys
    chain: ChainedAudit
    audit: SpooledAudit
    steady: Steadiness


async def _storage(stack: AsyncExitStack, settings: Settings, clock: Clock) -> _Storage:
    store = await stack.enter_async_context(database(settings))
    keys = audit_keys(settings)
    chain = chained(settings, store, keys)
    beside(stack, _tell_keys_gone(settings, chain, keys))
    steady = Steadiness(clock, await told_time(store, clock.now()))
    return _Storage(store, keys, chain, _records(stack, settings, chain, keys, clock, steady), steady)


async def _tell_keys_gone(settings: Settings, chain: ChainedAudit, keys: AuditKeys) -> None:
    """Calls go on without them: what is under them is only neither read nor erased."""
    try:
        gone = audit_keys_gone(await audit_keys_needed(chain, settings.recordings), keys)
    except (TellerlineError, OSError) as error:
        gone = f"whether audit keys are missing is not known: {type(error).__name__}"
    if gone:
        log.error("%s", gone)


def _code_sender(settings: Settings, client: httpx.AsyncClient, clock: Clock) -> tuple[DemoPhone | None, CodeSender]:
    if settings.code_webhook_url:
        key = secret(settings, "code_webhook_key", settings.code_webhook_key)
        return None, WebhookSender(settings.code_webhook_url, key, settings.code_channel, client, clock)
    phone = DemoPhone()
    return phone, phone


async def core_bank(
    stack: AsyncExitStack,
    settings: Settings,
    store: Store,
    clock: Clock,
    customers: tuple[DemoCustomer, ...] | None = None,
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


def _records(
    stack: AsyncExitStack, settings: Settings, chain: ChainedAudit, keys: AuditKeys, clock: Clock, steady: Steadiness
) -> SpooledAudit:
    """The audit log; what the database did not take follows in the background, what its time is over for goes."""
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


async def _banking(
    stack: AsyncExitStack,
    settings: Settings,
    kept: _Storage,
    sender: CodeSender,
    clock: Clock,
    customers: tuple[DemoCustomer, ...] | None,
) -> Banking:
    """What calls act with: the ledger, before the bank that the settings name."""
    bank = await core_bank(stack, settings, kept.store, clock, customers)
    books = Books(kept.store, kept.audit, _promises(stack, settings, kept.store, clock, kept.keys))
    made = money_services(bank, books, sender, confirmation_keys(settings), clock)
    return _settling(stack, made, kept, clock)


def _promises(stack: AsyncExitStack, settings: Settings, store: Store, clock: Clock, keys: AuditKeys) -> Promises:
    key, *before = keys.of(b"tellerline.spool.promises.1")
    where = settings.state_dir, "promises", key, promises.SIZE, before
    with in_state_folder(settings):
        made = Promises(store, clock, own(*where), left_behind(*where))
    stack.callback(made.close)
    return made


def _settling(stack: AsyncExitStack, made: MoneyServices, kept: _Storage, clock: Clock) -> Banking:
    """The door, and what settles and records in the background while the gateway runs."""
    outbox = Outbox(kept.chain, clock)
    stack.push_async_callback(outbox.close)
    stack.push_async_callback(made.ledger.close)
    keep_running(stack, outbox.drain, RECORD_EVERY_S)
    keep_running(stack, Reconciler(made.deps, kept.steady.doubted).run_once, RECONCILE_EVERY_S)
    return made.banking


async def _decoders(stack: AsyncExitStack) -> DecoderPool:
    decoders = DecoderPool()
    stack.push_async_callback(decoders.close)
    await decoders.warm_up()
    return decoders


def _vad(stack: AsyncExitStack) -> SileroVad:
    vad = SileroVad()
    stack.callback(vad.close)
    return vad


async def _callers(
    stack: AsyncExitStack,
    settings: Settings,
    clock: Clock,
    banking: Banking,
    audit: AuditLog,
    metrics: Metrics,
    rules: asyncio.Task[None],
) -> Callers:
    made = Callers(
        banking=banking,
        extractor=extractor(stack, settings, clock),
        answerer=_answerer(stack, settings, clock),
        audit=audit,
        metrics=metrics,
        keep_words=settings.transcript_days > 0,
    )
    await rules
    return made


def _answerer(stack: AsyncExitStack, settings: Settings, clock: Clock) -> Answerer:
    library = Library.load(passages(settings))
    return answerer(stack, settings, library, clock) or QuotingAnswerer(library, clock)
