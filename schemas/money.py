"""Money: integer minor units and an ISO 4217 code. No float comes near it."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

EXPONENTS: Final = MappingProxyType(
    {
        "JPY": 0, "KRW": 0, "VND": 0, "CLP": 0, "ISK": 0,
        "USD": 2, "GBP": 2, "EUR": 2, "CNY": 2, "HKD": 2, "CAD": 2, "AUD": 2, "NZD": 2, "SGD": 2,
        "CHF": 2, "INR": 2, "MXN": 2, "BRL": 2, "SEK": 2, "NOK": 2, "DKK": 2, "PLN": 2, "THB": 2,
        "TWD": 2, "PHP": 2, "MYR": 2, "IDR": 2, "ZAR": 2, "TRY": 2, "RUB": 2, "ILS": 2, "AED": 2,
        "SAR": 2, "KWD": 3, "BHD": 3, "JOD": 3, "OMR": 3, "TND": 3,
    }
)  # fmt: skip
"""Digits after the decimal point, by ISO 4217 code."""

MAX_MINOR: Final = 10**15
"""No amount above this many minor units is ever represented."""


def exponent(currency: str) -> int:
    """Digits of the minor unit of an ISO 4217 currency; KeyError where it is unknown."""
    return EXPONENTS[currency]


@dataclass(frozen=True, slots=True)
class Money:
    """An amount: `minor` units (5000 JPY is 5000, 50 USD is 5000) of an ISO 4217 currency."""

    minor: int
    currency: str

    def __post_init__(self) -> None:
        if self.currency not in EXPONENTS:
            raise ValueError(f"unknown currency {self.currency!r}")
        if not -MAX_MINOR <= self.minor <= MAX_MINOR:
            raise ValueError("amount out of bounds")

    def __str__(self) -> str:
        digits = EXPONENTS[self.currency]
        whole, part = divmod(abs(self.minor), 10**digits)
        sign = "-" if self.minor < 0 else ""
        fraction = f".{part:0{digits}d}" if digits else ""
        return f"{sign}{whole:,}{fraction} {self.currency}"
