"""The second factor: a one-time code sent outside the call, or an approval in the authenticated app.

A pass is bound to one purpose and spent by one use. The code is stored only as a keyed digest.
"""

import contextlib
import hashlib
import hmac
import secrets
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final, Protocol

import sqlalchemy as sa

from rules.act import CLOCKS_APART, MoneyPolicy
from schemas.errors import StoreUnavailable
from schemas.ids import CustomerId
from schemas.secret import long_enough
from schemas.stepup import Challenge, CodeNotSent
from services.banking.tables import challenges
from services.ports import Clock
from services.store import Store, alone, changed, instant, micros

_c = challenges.c
_HOUR: Final = timedelta(hours=1)


class CodeSender(Protocol):
    """Takes a code to the customer by a way that is not the call."""

    @property
    def channel(self) -> str:
        """How it travels: "app", "text_message", or else words that can be said."""
        ...

    async def send(self, customer: CustomerId, challenge: Challenge, code: str) -> None:
        """Deliver. Raises CodeNotSent."""
        ...


def random_code(digits: int) -> str:
    """An unguessable code of so many digits."""
    return f"{secrets.randbelow(10**digits):0{digits}d}"


class SecondFactor:
    """StepUp over a Store."""

    def __init__(
        self,
        store: Store,
        sender: CodeSender,
        clock: Clock,
        policy: MoneyPolicy,
        keys: Sequence[bytes],
        *,
        make_code: Callable[[int], str] = random_code,
    ) -> None:
        """The first of `keys` goes over codes that are sent; all of them know a code that comes."""
        long_enough("a step-up key", keys or [b""])
        self._store = store
        self._sender = sender
        self._clock = clock
        self._policy = policy
        self._keys = tuple(keys)
        self._make_code = make_code

    async def begin(self, customer: CustomerId, purpose: str) -> Challenge:
        """Send a code for `purpose`. Raises CodeNotSent, also past the policy's number an hour."""
        now = self._clock.now()
        code = self._make_code(self._policy.code_digits)
        life = timedelta(seconds=self._policy.code_life_s)
        tries = self._policy.code_attempts
        challenge = Challenge(self._clock.new_id(), purpose, self._sender.channel, now + life, tries)
        recent = sa.select(sa.func.count()).where((_c.customer_id == customer) & (_c.created_at > micros(now - _HOUR)))
        fresh = {
            "id": challenge.id,
            "customer_id": customer,
            "purpose": purpose,
            "code_mac": self._macs(customer, challenge.id, code)[0],
            "created_at": micros(now),
            "expires_at": micros(challenge.expires_at),
        }

        def beginning(connection: sa.Connection) -> None:
            alone(connection, f"stepup.begin:{customer}")
            if connection.execute(recent).scalar_one() >= self._policy.challenges_per_hour:
                raise CodeNotSent("too many step-ups", retry_after_s=_HOUR.total_seconds())
            connection.execute(sa.insert(challenges), fresh)

        await self._store.transact("stepup.begin", beginning)
        try:
            await self._sender.send(customer, challenge, code)
        except CodeNotSent as error:
            if error.refused:
                await self._forget(customer, challenge)
            raise
        return challenge

    async def _forget(self, customer: CustomerId, challenge: Challenge) -> None:
        """A code that nobody will get is none of the hour's; where the database fails too, it stays one."""
        with contextlib.suppress(StoreUnavailable):
            mine = (_c.customer_id == customer) & (_c.id == challenge.id)
            await self._store.execute("stepup.refused", sa.delete(challenges).where(mine))

    async def verify(self, customer: CustomerId, challenge: Challenge, response: str) -> bool:
        """Whether the code is right; each try counts, right or wrong, and tries and time are bounded."""
        now = micros(self._clock.now())
        mine = self._live(customer, challenge.id, now) & (_c.attempts < self._policy.code_attempts)
        tried = sa.update(challenges).where(mine).values(attempts=_c.attempts + 1)
        passed = sa.update(challenges).where(self._live(customer, challenge.id, now)).values(passed_at=now)
        stored = sa.select(_c.code_mac, _c.purpose).where((_c.customer_id == customer) & (_c.id == challenge.id))
        given = self._macs(customer, challenge.id, response.strip())

        def verifying(connection: sa.Connection) -> bool:
            if changed(connection.execute(tried)) != 1:
                return False
            row = connection.execute(stored).one()
            fits = [hmac.compare_digest(row.code_mac, one) for one in given]
            if row.purpose != challenge.purpose or not any(fits):
                return False
            return changed(connection.execute(passed)) == 1

        return await self._store.transact("stepup.verify", verifying)

    async def waiting(self, customer: CustomerId) -> tuple[Challenge, ...]:
        """The customer's challenges that wait for a code or an approval, newest first, at most ten."""
        now = micros(self._clock.now())
        mine = (_c.customer_id == customer) & _c.passed_at.is_(None) & self._holds(now)
        wanted = sa.select(challenges).where(mine).order_by(_c.created_at.desc()).limit(10)
        rows = await self._store.look(lambda connection: connection.execute(wanted).all())
        channel, tries = self._sender.channel, self._policy.code_attempts
        return tuple(Challenge(r.id, r.purpose, channel, instant(r.expires_at), tries - r.attempts) for r in rows)

    async def passed(self, customer: CustomerId, purpose: str) -> bool:
        """Whether a live, unspent pass for `purpose` exists; asking spends it, and of many askers one gets it."""
        now = self._clock.now()
        since = micros(now - timedelta(seconds=self._policy.pass_life_s))
        timely = (_c.passed_at > since) & (_c.passed_at <= micros(now + CLOCKS_APART))
        mine = (_c.customer_id == customer) & (_c.purpose == purpose) & timely & _c.spent_at.is_(None)
        newest = sa.select(_c.id).where(mine).order_by(_c.passed_at.desc()).limit(1).scalar_subquery()
        spend = sa.update(challenges).where((_c.id == newest) & mine).values(spent_at=micros(now))
        return await self._store.execute("stepup.spend", spend) == 1

    def _live(self, customer: CustomerId, challenge: str, now: int) -> sa.ColumnElement[bool]:
        mine = (_c.customer_id == customer) & (_c.id == challenge)
        return mine & _c.passed_at.is_(None) & self._holds(now)

    def _holds(self, now: int) -> sa.ColumnElement[bool]:
        """Not over, and of no later time: a clock that was set back prolongs nothing."""
        longest = (timedelta(seconds=self._policy.code_life_s) + CLOCKS_APART) // timedelta(microseconds=1)
        return (_c.expires_at > now) & (_c.expires_at <= now + longest)

    def _macs(self, customer: CustomerId, challenge: str, code: str) -> list[str]:
        text = f"{len(customer)}:{customer}{len(challenge)}:{challenge}{code}".encode()
        return [hmac.new(key, text, hashlib.sha256).hexdigest() for key in self._keys]
