"""What a bank tells of its customers: one record a line of an import file, each complete in itself."""

import re
import unicodedata
from collections.abc import Sequence
from datetime import date
from typing import Annotated, Final, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, RootModel

from schemas.money import EXPONENTS, MAX_MINOR

_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_FILLERS: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Letters by category that are drawn as nothing."""


def _plain(text: str) -> str:
    """Text without control or hidden characters, which nobody could say or see."""
    if any(unicodedata.category(character) in _UNSEEN or character in _FILLERS for character in text):
        raise ValueError("holds a control or hidden character")
    if text != text.strip():
        raise ValueError("begins or ends with a space")
    return text


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (OSError, ValueError, KeyError) as error:
        raise ValueError("no such time zone; write one like Europe/London") from error
    return name


def _currency(code: str) -> str:
    if code not in EXPONENTS:
        raise ValueError("not a currency that is known here")
    return code


Key = Annotated[str, Field(pattern=r"^[A-Za-z0-9._~-]{1,128}$")]
Name = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_plain)]
LongName = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_plain)]
Optional = Annotated[str, Field(max_length=200), AfterValidator(_plain)]
Last4 = Annotated[str, Field(pattern=r"^[0-9]{4}$")]
Currency = Annotated[str, AfterValidator(_currency)]
Minor = Annotated[int, Field(ge=0, le=MAX_MINOR, strict=True)]
"""An amount in minor units."""
_ID: Final = re.compile(r"[A-Za-z0-9_~-][A-Za-z0-9._~-]*")
_ROUTE: Final = "How the core knows it; for Fineract a customer's clientId, and a payee's clientId/accountId."
Route = Annotated[str, Field(max_length=128, description=_ROUTE), AfterValidator(_plain)]


def ids_in(route: str, many: int) -> Sequence[str]:
    """The ids that a route consists of; none where these are not so many, or anything else stands in it."""
    parts = route.split("/")
    return parts if len(parts) == many and all(_ID.fullmatch(part) for part in parts) else ()


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    customer: Key


class CustomerRecord(_Record):
    """A customer: `customer` is the `sub` of their access tokens."""

    type: Literal["customer"]
    name: LongName
    locale: str
    zone: Annotated[str, AfterValidator(_zone)]
    route: Route = ""


class PayeeRecord(_Record):
    """Somebody the customer pays. `holder` is whom the payee's bank names, null where it does not say."""

    type: Literal["payee"]
    id: Key
    name: LongName
    kana: Optional = ""
    aliases: Annotated[tuple[Name, ...], Field(max_length=8)] = ()
    relationship: Annotated[str, Field(max_length=64), AfterValidator(_plain)] = ""
    bank: Name
    account_last4: Last4
    currency: Currency
    holder: LongName | None = None
    route: Route = ""
    last_paid: date | None = None
    is_new: bool = False


class CardRecord(_Record):
    """A card. Without `locked` a card that is known keeps its state, and a new one is open."""

    type: Literal["card"]
    id: Key
    name: Name
    last4: Last4
    locked: bool | None = None


class BillRecord(_Record):
    """An open bill, paid to one of the customer's payees."""

    type: Literal["bill"]
    id: Key
    name: Name
    payee: Key
    due_minor: Minor
    minimum_minor: Minor | None = None
    currency: Currency
    due_on: date


class LimitsRecord(_Record):
    """What the customer may move in one currency, in minor units."""

    type: Literal["limits"]
    currency: Currency
    per_transfer: Minor
    per_day: Minor
    step_up_above: Minor


class RemoveRecord(_Record):
    """A payee, card or bill that is no more."""

    type: Literal["remove"]
    kind: Literal["payee", "card", "bill"]
    id: Key


DirectoryRecord = CustomerRecord | PayeeRecord | CardRecord | BillRecord | LimitsRecord | RemoveRecord


class DirectoryLine(RootModel[DirectoryRecord]):
    """One line of an import file."""

    root: Annotated[DirectoryRecord, Field(discriminator="type")]
