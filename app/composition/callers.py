"""Callers: who a customer is to a call, and the turn handler that serves them."""

import asyncio
from dataclasses import dataclass, field

from app.anyone import anyone
from rules.act import zone
from rules.locales import known
from schemas.ids import EN_US, CallId, CustomerId, Locale
from schemas.transfer import Proposal
from services.call.agent import Agent
from services.call.stranger import NOBODY, Stranger
from services.execution import Banking
from services.observability import Metrics
from services.payees import IndexCache, PayeeIndex, content_version
from services.ports import Answerer, AuditLog, Extractor
from services.record import TurnRecorder
from services.session import Caller
from services.timing import ANSWER_S, within


@dataclass(frozen=True, slots=True)
class Callers:
    """Opens calls. One a process; the indexes of payees are kept between calls, each for its customer alone."""

    banking: Banking
    extractor: Extractor | None
    answerer: Answerer
    audit: AuditLog
    metrics: Metrics
    _indexes: IndexCache = field(default_factory=IndexCache)
    keep_words: bool = False
    """Whether what is said goes on record, encrypted for the customer."""

    async def caller(self, customer: CustomerId, call: CallId, named: Locale | None) -> Caller:
        """What a call may know of its customer, in the customer's own language where none was `named`.

        Raises NotFound, BankUnavailable.
        """
        bank = self.banking.bank
        with within(ANSWER_S):
            profile, payees = await asyncio.gather(bank.profile(customer), bank.payees(customer))
        own = known(profile.locale) or EN_US
        today = self.banking.clock.now().astimezone(zone(profile.zone)).date()
        version = await asyncio.to_thread(content_version, payees, today)
        index = self._indexes.peek(customer, version)
        if index is None:
            index = await asyncio.to_thread(PayeeIndex.build, payees, today)
            self._indexes.put(customer, version, index)
        return Caller(customer, call, named or own, profile, {payee.id: payee for payee in payees}, index)

    async def exists(self, customer: CustomerId) -> None:
        """Return where there is such a customer. Raises NotFound, BankUnavailable."""
        with within(ANSWER_S):
            await self.banking.bank.profile(customer)

    async def open(self, customer: CustomerId, call: CallId, named: Locale | None) -> Agent:
        """The turn handler of a new call. Raises NotFound, BankUnavailable, StoreUnavailable."""
        recorder = TurnRecorder(self.audit, self.metrics, self.banking.clock, customer, call, self.keep_words)
        with within(ANSWER_S):
            caller = await self.caller(customer, call, named)
            pending, owed = await asyncio.gather(self._pending(caller), self.banking.ledger.owed(customer))
            await recorder.event("call.started", locale=caller.locale)
        return Agent(caller, self.banking, self.answerer, self.extractor, recorder, pending, owed)

    async def open_stranger(self, call: CallId, locale: Locale) -> Stranger:
        """The turn handler of a call of which nobody says whose it is. Raises StoreUnavailable, UnsupportedLocale."""
        clock = self.banking.clock
        recorder = TurnRecorder(self.audit, self.metrics, clock, NOBODY, call)
        caller = Caller(NOBODY, call, locale, anyone(locale, clock.now()), {}, PayeeIndex.build(()))
        with within(ANSWER_S):
            await recorder.event("call.started", locale=locale)
        return Stranger(clock, caller, self.answerer, recorder)

    async def _pending(self, caller: Caller) -> Proposal | None:
        """What a dropped call of the customer left to be confirmed, if it can still be read back as it was.

        The newest call takes it: whether an older one has really ended, a dropped line may tell only much later.
        """
        if await self.banking.ledger.open_proposal(caller.customer) is None:
            return None
        pending = await self.banking.ledger.resume(caller.customer, caller.call)
        if pending is None or pending.order.payee_id in {None, *caller.payees}:
            return pending
        return None
