"""Where things are: addresses, hosts, telephones, networks and databases that a setting may name, or nothing."""

import re
from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from typing import Any, Final
from urllib.parse import urlsplit

import sqlalchemy as sa

MAX_PORT: Final = 65_535
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_DRIVERS: Final = {"postgres": "postgresql+asyncpg", "postgresql": "postgresql+asyncpg"}
_SSL: Final = frozenset({"disable", "allow", "prefer", "require", "verify-ca", "verify-full"})
_HOST: Final = re.compile(r"\w([\w-]*\w)?(\.\w([\w-]*\w)?)*\.?")
_TELEPHONE: Final = re.compile(r"\+?[0-9]{3,15}|sips?:[^\s@<>\"']+@[^\s@<>\"']+")
"""A number as a carrier dials it, short ones of a PBX too, or an address that it calls by SIP."""
_SPELLINGS: Final = {"sslmode": "ssl"}
"""libpq's name for what the driver has under another one, with the same values."""
_QUERY: Final = frozenset({"host", "port", "ssl", "passfile", "target_session_attrs"})
"""What may follow a database's name. Certificates come by libpq's own variables, `PGSSLROOTCERT` and the like."""


def machine(text: str) -> str:
    """A machine's name or address, as one listens on it."""
    if text.replace(".", "").isdecimal() or ":" in text:
        try:
            ip_address(text)
        except ValueError:
            raise ValueError("write an address or a name alone, such as 0.0.0.0 or ::, without a port") from None
    elif not _HOST.fullmatch(text):
        raise ValueError("write an address or a name alone, such as 0.0.0.0")
    return text


def transfer(text: str) -> str:
    """Whom a carrier can be told to call, or nothing."""
    if text.startswith("https://"):
        return address(text)
    if text and not _TELEPHONE.fullmatch(text):
        raise ValueError("write a number such as +442071234567, a sip: address, or for Plivo an https:// address")
    return text


def address(text: str) -> str:
    """An http(s) address with a host, or nothing. It goes into logs and errors, so it holds no password."""
    if not text:
        return text
    try:
        parts = urlsplit(text)
        named = parts.scheme in {"http", "https"} and _named(parts.hostname or "") and parts.port != 0
    except ValueError:
        named = False
    if not named or " " in text or not text.isprintable():
        raise ValueError("write an address that begins with https://")
    if "@" in parts.netloc or parts.fragment:
        raise ValueError("write the address alone, without a user, a password or a #")
    return text


def in_the_clear(text: str) -> bool:
    """Whether an address is not encrypted and of another machine."""
    parts = urlsplit(text)
    return parts.scheme == "http" and parts.hostname not in LOOPBACK


def base(text: str) -> str:
    """An address that paths are put behind, or nothing."""
    if "?" in text:
        raise ValueError("write the address without a ? and what follows it")
    return address(text)


def _named(host: str) -> bool:
    return ":" in host or bool(_HOST.fullmatch(host))


def place(text: str) -> str:
    """An address and a port to listen on, or nothing; another side is told of it: no port of chance."""
    if not text:
        return text
    host, _, port = text.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    if not _named(bare) or not (port.isascii() and port.isdecimal()) or not 0 < int(port) <= MAX_PORT:
        raise ValueError("write an address and a port of 1 or more, such as 127.0.0.1:9092")
    return text


def database(text: str) -> str:
    """A database that there is a driver for, or nothing; PostgreSQL's usual spellings get theirs."""
    if not text:
        return text
    if text != text.strip() or "\n" in text:
        raise ValueError("blanks or a line break around it: write the address alone")
    scheme, mark, rest = text.partition("://")
    scheme = _DRIVERS.get(scheme, scheme)
    if not mark or scheme not in {"postgresql+asyncpg", "sqlite"}:
        raise ValueError("write postgresql://USER@HOST/DATABASE or sqlite:////FILE")
    try:
        url = sa.make_url(f"{scheme}://{rest}")
    except (ValueError, sa.exc.ArgumentError):
        raise ValueError("write postgresql://USER@HOST:PORT/DATABASE, the port in digits") from None
    if scheme == "sqlite":
        if not url.database:
            raise ValueError("write sqlite:////FILE")
        return text
    query = {_SPELLINGS.get(name, name): value for name, value in url.query.items()}
    if strange := sorted(set(query) - _QUERY):
        raise ValueError(f"{', '.join(strange)[:80]}: of what may follow the ? we know {', '.join(sorted(_QUERY))}")
    _whole(url, query)
    return url.set(query=query).render_as_string(hide_password=False)


def _whole(url: sa.URL, query: Mapping[str, Any]) -> None:
    """Nothing of it may be left to the driver, which would look on this machine, or in somebody's home."""
    parts = {"USER": url.username, "HOST": url.host or query.get("host"), "DATABASE": url.database}
    if missing := [part for part, there in parts.items() if not there]:
        raise ValueError(f"no {', '.join(missing)}: write postgresql://USER@HOST/DATABASE")
    if url.host and not _named(url.host):
        raise ValueError("a host that can't be one: write postgresql://USER@HOST/DATABASE")
    if url.port is not None and not 0 < url.port <= MAX_PORT:
        raise ValueError(f"write a port of 1 to {MAX_PORT}")
    if "ssl" in query and query["ssl"] not in _SSL:
        raise ValueError(f"ssl: write one of {', '.join(sorted(_SSL))}")


def networks(text: str) -> str:
    """Networks, comma-separated, or nothing."""
    for part in text.split(",") if text else ():
        try:
            network = ip_network(part.strip())
        except ValueError:
            raise ValueError("write addresses or networks, such as 10.0.0.0/8, with commas between them") from None
        if not network.prefixlen:
            raise ValueError(f"{network} is everybody: write the addresses or networks that are meant")
    return text
