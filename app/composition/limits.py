"""What a customer or an address may have: of this gateway, and of all that share its database."""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Final

from app.composition.background import keep_running
from app.settings import Settings
from services.guard.shared_calls import RENEW_EVERY_S, SharedCalls
from services.guard.shared_rates import SharedRates
from services.guard.shares import Allowance, Shares
from services.observability import Metrics
from services.ports import Clock
from services.store import Store

FORGET_EVERY_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """`shares` are asked first and know this gateway alone; `rates` and `calls` know every gateway of the database."""

    shares: Shares
    rates: SharedRates
    calls: SharedCalls


def limits(stack: AsyncExitStack, settings: Settings, store: Store, clock: Clock, metrics: Metrics) -> Bounds:
    """The limits that the settings name, kept up in the background until `stack` ends."""
    allowance = Allowance(
        settings.calls_per_customer,
        settings.calls_per_minute,
        settings.requests_per_minute,
        settings.connections_per_minute,
    )
    rates = SharedRates(store, clock, allowance)
    calls = SharedCalls(store, clock, settings.calls_per_customer, rates)
    keep_running(stack, rates.forget, FORGET_EVERY_S)
    keep_running(stack, calls.renew, RENEW_EVERY_S)
    shares = Shares(allowance, clock.monotonic)
    metrics.waiting.labels("openings").set_function(lambda: shares.begun)
    return Bounds(shares, rates, calls)
