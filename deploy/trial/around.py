"""What a bank has around its gateways, played here: its core, identity provider and code service, and a `.env`."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.fakes.around import Around
from tests.fakes.fineract import FakeFineract, Savings

CUSTOMERS: Final = Path(__file__).with_name("customers.jsonl")
ACCOUNT: Final = "alex-checking"
OPENING: Final = 120_000
"""Cents that the customer's account holds at first."""
_ISSUER: Final = "https://id.bank.example"


@dataclass(frozen=True)
class BankAround:
    """The parts that are not compose's."""

    around: Around
    core: FakeFineract
    settings: dict[str, str]
    """What an operator writes into `.env`."""

    def token(self, customer: str) -> str:
        """A token of the identity provider."""
        return self.around.token({"iss": _ISSUER, "aud": "tellerline", "sub": customer, "scope": "call"})


@asynccontextmanager
async def bank() -> AsyncIterator[BankAround]:
    """A bank with one customer, as long as the block lasts."""
    async with Around() as around, FakeFineract({ACCOUNT: Savings("1001", OPENING)}) as core:
        yield BankAround(around, core, _settings(around, core))


def _settings(around: Around, core: FakeFineract) -> dict[str, str]:
    return {
        "POSTGRES_PASSWORD": secrets.token_hex(16),
        "TELLERLINE_ENVIRONMENT": "production",
        "TELLERLINE_CONFIRMATION_KEY": secrets.token_hex(32),
        "TELLERLINE_AUDIT_KEY": secrets.token_hex(32),
        "TELLERLINE_CODE_WEBHOOK_KEY": secrets.token_hex(32),
        "TELLERLINE_CODE_WEBHOOK_URL": f"{around.url}/send",
        "TELLERLINE_TOKEN_ISSUER": _ISSUER,
        "TELLERLINE_JWKS_URL": f"{around.url}/jwks.json",
        "TELLERLINE_BANK": "fineract",
        "TELLERLINE_FINERACT_URL": core.url,
        "TELLERLINE_FINERACT_USER": "teller",
        "TELLERLINE_FINERACT_PASSWORD": secrets.token_hex(16),
        "TELLERLINE_LOG_LEVEL": "WARNING",
    }
