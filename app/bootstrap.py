"""The one composition root: from settings to everything a gateway is made of, and back down in order."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import httpx

from app.auth.demo import DemoIssuer
from app.auth.dependencies import Authenticator
from app.auth.jwks import FixedKeys, HttpKeys, TokenVerifier
from app.auth.signature import RequestVerifier
from app.auth.tokens import TokenRules
from app.callers import Callers
from app.keys import audit_keys, secret
from app.migrate import migrate
from app.models import answerer, extractor
from app.retention import Retention
from app.settings import BankKind, Environment, Settings
from rules.act import money_policy
from rules.bank import demo_customers
from schemas.errors import ConfigInvalid, TellerlineError
from services.act.bank_fineract import FineractBank, FineractSettings
from services.act.bank_sandbox import SandboxBank
from services.act.bank_seed import open_demo_bank
from services.act.cards import BankCards
from services.act.code_senders import DemoPhone, WebhookSender
from services.act.ledger import Parts, SqlLedger
from services.act.outbox import Outbox
from services.act.reconcile import Reconciler
from services.act.seal import Sealer
from services.act.stepup import CodeSender, SecondFactor
from services.answer.quote import Library, QuotingAnswerer
from services.asr import load as load_recognizer
from services.audio.vad import SileroVad
from services.clock import SystemClock
from services.guard.admission import Admission
from services.guard.audit import ChainedAudit
from services.guard.audit_heads import FileHead
from services.observe import Metrics
from services.perform import Hands
from services.ports import Answerer, AuditLog, Clock, CoreBank, Extractor, Recognizer
from services.store import Store

log = logging.getLogger(__name__)

RECONCILE_EVERY_S: Final = 2.0
RECORD_EVERY_S: Final = 1.0
AGAIN_AFTER_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Gateway:
    """Everything that runs, wired."""

    settings: Settings
    clock: Clock
    metrics: Metrics
    admission: Admission
    authenticator: Authenticator
    callers: Callers
    recognizer: Recognizer
    vad: SileroVad
    audit: AuditLog
    issuer: DemoIssuer | None
    phone: DemoPhone | None


@asynccontextmanager
async def gateway(settings: Settings, *, recognizer: Recognizer | None = None) -> AsyncIterator[Gateway]:
    """Compose a gateway, warmed up; on leaving, take it down. Raises ConfigInvalid, RulesInvalid, StoreUnavailable.

    A `recognizer` that is given replaces the one that the settings name, and stays its owner's to close.
    """
    async with AsyncExitStack() as stack:
        clock, metrics = SystemClock(), Metrics()
        settings.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        client = await stack.enter_async_context(httpx.AsyncClient(timeout=10.0))
        store = Store(settings.database)
        stack.push_async_callback(store.close)
        await migrate(store)
        audit = ChainedAudit(store, audit_keys(settings), FileHead(settings.state_dir / "audit.head"))
        retention = Retention(audit, settings.recordings, clock, settings.transcript_days, settings.recording_days)
        _keep_running(stack, retention.run)
        issuer, authenticator = _identity(settings, clock, client)
        phone, sender = _code_sender(settings, client)
        bank = await _bank(stack, settings, store, clock)
        hands = await _money(stack, settings, store, bank, sender, clock, audit)
        if recognizer is None:
            recognizer = _recognizer(stack, settings)
        vad = SileroVad()
        callers = _callers(stack, settings, clock, hands, audit, metrics)
        callers.warm_up()
        await recognizer.warm_up()
        yield Gateway(
            settings=settings,
            clock=clock,
            metrics=metrics,
            admission=Admission(settings.max_calls, metrics),
            authenticator=authenticator,
            callers=callers,
            recognizer=recognizer,
            vad=vad,
            audit=audit,
            issuer=issuer,
            phone=phone,
        )


def _keep_running(
    stack: AsyncExitStack, work: Callable[[], Coroutine[Any, Any, object]], every_s: float = AGAIN_AFTER_S
) -> None:
    """Work in the background, again and again, as long as the gateway lives; also where it failed."""

    async def always() -> None:
        while True:
            try:
                await work()
            except TellerlineError as error:
                log.warning("background work failed: %s", error.code)
            except Exception as fault:
                log.exception("background work failed: %s", type(fault).__name__)
            await asyncio.sleep(every_s)

    working = asyncio.create_task(always())

    async def stop() -> None:
        working.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await working

    stack.push_async_callback(stop)


def _identity(settings: Settings, clock: Clock, client: httpx.AsyncClient) -> tuple[DemoIssuer | None, Authenticator]:
    rules = TokenRules(settings.token_issuer, settings.token_audience)
    bridges = RequestVerifier({name: key.get_secret_value().encode() for name, key in settings.ivr_keys.items()})
    if settings.jwks_url:
        return None, Authenticator(TokenVerifier(HttpKeys(settings.jwks_url, client), rules, clock), bridges, clock)
    issuer = DemoIssuer.under(settings.state_dir / "keys", rules)
    return issuer, Authenticator(TokenVerifier(FixedKeys(issuer.jwks()), rules, clock), bridges, clock)


def _code_sender(settings: Settings, client: httpx.AsyncClient) -> tuple[DemoPhone | None, CodeSender]:
    if settings.code_webhook_url:
        return None, WebhookSender(settings.code_webhook_url, settings.code_channel, client)
    phone = DemoPhone()
    return phone, phone


async def _bank(stack: AsyncExitStack, settings: Settings, store: Store, clock: Clock) -> CoreBank:
    if settings.bank is BankKind.FINERACT:
        core = FineractSettings(
            settings.fineract_url, settings.fineract_user, settings.fineract_password.get_secret_value()
        )
        client = await stack.enter_async_context(core.client())
        return FineractBank(core, client, store, clock)
    if settings.environment is Environment.PRODUCTION:
        raise ConfigInvalid("production needs a core bank: set TELLERLINE_BANK")
    await open_demo_bank(store, clock, demo_customers())
    return sandbox(store, clock)


def sandbox(store: Store, clock: Clock) -> CoreBank:
    """The demo bank whose customers `store` holds."""
    return SandboxBank(store, clock)


async def _money(
    stack: AsyncExitStack,
    settings: Settings,
    store: Store,
    bank: CoreBank,
    sender: CodeSender,
    clock: Clock,
    audit: ChainedAudit,
) -> Hands:
    """The one door: ledger, second factor, and what settles and records in the background while the gateway runs."""
    key, policy = secret(settings, "confirmation_key", settings.confirmation_key), money_policy()
    step_up = SecondFactor(store, sender, clock, policy, key)
    before = [earlier.get_secret_value().encode() for earlier in settings.confirmation_keys_before]
    parts = Parts(store, bank, step_up, Sealer([key, *before]), clock, policy)
    ledger, outbox = SqlLedger(parts), Outbox(audit, clock)
    stack.push_async_callback(outbox.close)
    stack.push_async_callback(ledger.close)
    _keep_running(stack, outbox.drain, RECORD_EVERY_S)
    _keep_running(stack, Reconciler(parts).run_once, RECONCILE_EVERY_S)
    return Hands(bank, BankCards(bank, step_up), ledger, step_up, clock)


def _recognizer(stack: AsyncExitStack, settings: Settings) -> Recognizer:
    made = load_recognizer(settings.asr_model, workers=settings.asr_workers, device=settings.asr_device)
    stack.push_async_callback(made.close)
    return made


def _callers(
    stack: AsyncExitStack, settings: Settings, clock: Clock, hands: Hands, audit: AuditLog, metrics: Metrics
) -> Callers:
    return Callers(
        hands=hands,
        extractor=_extractor(stack, settings, clock),
        answerer=_answerer(stack, settings, clock),
        audit=audit,
        metrics=metrics,
        keep_words=settings.transcript_days > 0,
    )


def _extractor(stack: AsyncExitStack, settings: Settings, clock: Clock) -> Extractor | None:
    made = extractor(settings, clock)
    if made is not None:
        stack.push_async_callback(made.close)
    return made


def _answerer(stack: AsyncExitStack, settings: Settings, clock: Clock) -> Answerer:
    library = Library.load()
    made = answerer(settings, library, clock)
    if made is None:
        return QuotingAnswerer(library, clock)
    stack.push_async_callback(made.close)
    return made
