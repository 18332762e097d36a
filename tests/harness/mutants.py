"""Plant a fault: replace a piece of a module's source, and put the changed functions in place for a block's length.

A fault whose text is no longer found fails loudly, so the list stays in step with the code.
"""

import ast
import inspect
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import FunctionType, ModuleType

from services.banking import (
    confirmer,
    ledger,
    lifetimes,
    outbox,
    proposals,
    reconcile,
    seal,
    spending,
    stepup,
    submit,
    transfers,
)
from services.banking.banks import sandbox as bank_sandbox
from services.record import audit


@dataclass(frozen=True)
class Edit:
    """In `module`, every `old` becomes `new`."""

    module: ModuleType
    old: str
    new: str


@contextmanager
def planted(*edits: Edit) -> Iterator[None]:
    """Run a block with the edits in force."""
    with ExitStack() as stack:
        for edit in edits:
            stack.enter_context(_edited(edit))
        yield


@contextmanager
def _edited(edit: Edit) -> Iterator[None]:
    source = inspect.getsource(edit.module)
    assert edit.old in source, f"{edit.module.__name__} no longer has {edit.old!r}"
    changed = source.replace(edit.old, edit.new)
    ast.parse(changed)
    scratch = dict(vars(edit.module))
    exec(compile(changed, edit.module.__file__ or "", "exec"), scratch)
    fresh = dict(scratch)
    scratch.update({name: real for name, real in vars(edit.module).items() if isinstance(real, type)})  # one class each
    undo: list[tuple[object, str, object]] = []

    def put(owner: object, name: str, value: object) -> None:
        undo.append((owner, name, inspect.getattr_static(owner, name)))
        setattr(owner, name, value)

    for name, real in list(vars(edit.module).items()):
        if getattr(real, "__module__", "") != edit.module.__name__:
            continue
        if isinstance(real, FunctionType):
            put(edit.module, name, fresh[name])
        elif isinstance(real, type):
            for part, value in vars(fresh[name]).items():
                if isinstance(value, FunctionType | staticmethod):
                    put(real, part, value)
    try:
        yield
    finally:
        for owner, name, value in reversed(undo):
            setattr(owner, name, value)


_DELIVERED = (
    Edit(confirmer, "if entry.proposal.delivered_at is None:", "if False:"),
    Edit(transfers, "& _c.delivered_at.is_not(None)", ""),
)
_OPEN_STATE = Edit(transfers, "_mine & (_c.state == OPEN.value) & (_c.expires_at", "_mine & (_c.expires_at")
_EXPIRY = Edit(transfers, '& (_c.expires_at > sa.bindparam("now"))', "")
_SEALED = ("binding.proposal", "binding.customer", "binding.call", "*_order_fields(binding.order)", "binding.nonce")
_ORDERED = ("order.source", '"account" if order.payee_id is None else "payee"', "str(order.payee_version)",
            "str(order.amount.minor)", "order.amount.currency", 'order.bill_id or ""')  # fmt: skip

_APPENDING = """        given, heads = await self._store.transact(name, appending)
"""

FAULTS: dict[str, tuple[Edit, ...]] = {
    "the read-back need not be heard": _DELIVERED,
    "single use is checked before acting only": (_OPEN_STATE,),
    "single use is not checked": (
        _OPEN_STATE, Edit(proposals, "if entry.state is not TransferState.PROPOSED:", "if False:"),
    ),
    "expiry is checked before acting only": (_EXPIRY,),
    "expiry is not checked": (
        _EXPIRY,
        Edit(proposals, "and not self._timely(entry)", "and False"),
    ),
    "the day's limit is not kept when acting": (Edit(spending, "+ _minor <= ", "- 99 * _minor <= "),),
    "the day's limit is kept when proposing only": (
        Edit(spending, "reserve(customer, connection, yes", "False and reserve(customer, connection, yes"),
    ),
    "the limit per transfer is not checked when acting": (
        Edit(confirmer, "checks.allowed(entry.proposal.order, snapshot,",
             "checks.allowed(replace(entry.proposal.order, amount=replace(entry.proposal.order.amount, minor=1)), "
             "snapshot,"),
    ),
    "the payee's version is not checked when acting": (
        Edit(confirmer, "checks.allowed(entry.proposal.order, snapshot,",
             "checks.allowed(entry.proposal.order, replace(snapshot, payee=replace(snapshot.payee, version=1)),"),
        Edit(bank_sandbox, "if row.version != order.payee_version:", "if False:"),
    ),
    "a yes counts from any call": (Edit(confirmer, "if entry.proposal.call != call or not", "if not"),),
    "the seal is not compared": (
        Edit(confirmer, " or not self._deps.sealer.fits(binding(entry.proposal), seal):", ":"),
    ),
    "the seal is not checked before sending again": (
        Edit(reconcile, "if not self._deps.sealer.fits(binding(entry.proposal), entry.proposal.seal):", "if False:"),
    ),
    "a correction does not void": (
        Edit(ledger, "await self.void(customer, call)\n        self._proposals.admit()", "self._proposals.admit()"),
    ),
    "void does nothing": (
        Edit(ledger, "return await transfers.void(customer, self._store, call, self._clock.now())", "return 0"),
    ),
    "no second factor for transfers": (Edit(confirmer, "if due and not await", "if False and not await"),),
    "a second factor can be used again": (Edit(stepup, "& _c.spent_at.is_(None)", ""),),
    "a second factor serves any purpose": (Edit(stepup, "& (_c.purpose == purpose)", ""),),
    "codes may be guessed for ever": (Edit(stepup, "& (_c.attempts < self._policy.code_attempts)", ""),),
    "codes are sent without end": (Edit(stepup, ">= self._policy.challenges_per_hour", ">= 10**9"),),
    "codes live for ever": (
        Edit(stepup, "return (_c.expires_at > now) & ", "return "),
    ),
    "a timeout counts as failure": (
        Edit(submit, 'return BankReceipt(BankOutcome.PENDING, reason="no_answer")',
             'return BankReceipt(BankOutcome.DECLINED, reason="no_answer")'),
    ),
    "an error counts as failure": (
        Edit(submit, "return BankReceipt(BankOutcome.PENDING, reason=error.code)",
             "return BankReceipt(BankOutcome.DECLINED, reason=error.code)"),
    ),
    "a fault nobody foresaw is not caught": (
        Edit(submit, "return BankReceipt(BankOutcome.PENDING, reason=type(error).__name__[:64])",
             "assert False, error"),
    ),
    "a fresh key on retry": (
        Edit(submit, "entry.proposal.order, entry.bank_key)",
             'entry.proposal.order, entry.bank_key + "r" * entry.attempts)'),
    ),
    "the reconciler sends without asking": (
        Edit(reconcile, "if answer.outcome is BankOutcome.NOT_FOUND:", "if True:"),
    ),
    "the reconciler sends again for ever": (Edit(reconcile, "if self._may_resend(entry):", "if True:"),),
    "an outage always counts as nothing spent": (
        Edit(confirmer, "if await self._closed(customer, yes.entry.proposal.id):", "if True:"),
    ),
    "a promise is not kept on disk": (
        Edit(confirmer, "kept = await self._deps.promises.follow_up(customer, proposal)", "kept = True"),
    ),
    "promises are not made true": (Edit(reconcile, "await self._deps.promises.settle()", "pass"),),
    "a yes that was never spent ends without a word": (
        Edit(transfers, '"reason": "not_carried_out", "owed_at": micros(now)',
             '"reason": "not_carried_out", "owed_at": None'),
    ),
    "what was told is owed for ever": (
        Edit(ledger, "await transfers.told(customer, self._store, receipt)", "return"),
    ),
    "a clock that is set back prolongs a proposal": (
        Edit(lifetimes, "return moment >= ", "return moment > 10**12 + "),
    ),
    "a proposal of a later time is live": (
        Edit(proposals, "proposal.expires_at <= now + self._policy.longest_life", "proposal.expires_at"),
    ),
    "a settling is marked apart from its record": (
        Edit(audit, _APPENDING, """
        given = await self._store.transact(name, work)
        heads = await self._store.transact("audit.chain", lambda c: self._chain(c, given) if given else ())
"""),
    ),
    "a settling is recorded apart from its mark": (
        Edit(audit, _APPENDING, """
        def peek(connection):
            nested = connection.begin_nested()
            given = work(connection)
            nested.rollback()
            return given

        given = await self._store.transact("audit.peek", peek)
        heads = await self._store.transact("audit.chain", lambda c: self._chain(c, given) if given else ())
        await self._store.transact(name, work)
"""),
    ),
    "a settling is not marked as recorded": (Edit(outbox, ".values(recorded=_c.state)", ".values(recorded=None)"),),
    "states go back": (
        Edit(transfers, '_this & _c.state.in_([sa.bindparam("one_before"), sa.bindparam("other_before")])', "_this"),
    ),
    "a failure keeps its place in the day": (
        Edit(submit, "            if moved:\n", "            if False:\n"),
    ),
    "hanging up stops a submission": (Edit(confirmer, "asyncio.shield(self._kept(work))", "self._kept(work)"),),
    "a resumed proposal lives on in its old call": (
        Edit(ledger, "old.id, transfers.TO_CANCELLED, why)", "old.id, ((transfers.OPEN,), transfers.OPEN), why)"),
    ),
    "a resumed proposal counts as heard": (
        Edit(proposals, "nonce=nonce, delivered_at=None)", "nonce=nonce)"),
        Edit(transfers, '"state": OPEN.value,\n        "bank_key"',
             '"state": OPEN.value,\n        "delivered_at": proposal.delivered_at and micros(at),\n        "bank_key"'),
    ),
    "the bank moves money for every request": (
        Edit(bank_sandbox, "if not insert_new(connection, t.postings, posting):",
             'if not insert_new(connection, t.postings, posting | {"key": self._clock.new_id()}):'),
    ),
    "the bank takes a key for another order": (
        Edit(bank_sandbox, "if row.customer_id != customer or row.fingerprint != wanted:", "if False:"),
    ),
    **{f"the seal leaves out {field}": (Edit(seal, f"            {field},\n", ""),) for field in _SEALED},
    **{f"the order leaves out {field}": (Edit(seal, f"        {field},\n", ""),) for field in _ORDERED},
    "the seal leaves out the expiry": (
        Edit(seal, '            binding.expires_at.isoformat(timespec="microseconds"),\n', ""),
    ),
    "the seal leaves out the step-up": (
        Edit(seal, '            "step-up" if binding.step_up_required else "",\n', ""),
    ),
    "the order leaves out the target": (
        Edit(seal, '        order.to_account or "" if order.payee_id is None else order.payee_id,\n', ""),
    ),
    "the order leaves out the day": (Edit(seal, '        order.on.isoformat() if order.on else "",\n', ""),),
}  # fmt: skip
"""Every planted fault, by what is then wrong."""
