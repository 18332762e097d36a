"""What a setting may hold. Each check says in a line what to write, and repeats no secret."""

import base64
import binascii
import json
import ssl
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import sqlalchemy as sa
from dotenv.parser import parse_stream
from pydantic import SecretStr

from schemas.errors import ConfigInvalid
from schemas.json_names import told_once

PREFIX: Final = "TELLERLINE_"
"""Of every setting's name in the environment."""
KEY_BYTES: Final = 32
"""The least that a secret may have."""
ENV_ENCODING: Final = "utf-8-sig"
"""Of a .env file: an editor's mark of UTF-8 at its start is no part of the first name."""
MIN_BASE64: Final = 16
MAX_PORT: Final = 65_535
LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
_KINDS: Final = 8
"""Different characters that a key has at least: 32 random hex digits have fewer once in ten million."""
_PERIOD: Final = 16
"""Characters that a key does not go on repeating: `change-me-change-me-…` stands in somebody's example."""
_DRIVERS: Final = {"postgres": "postgresql+asyncpg", "postgresql": "postgresql+asyncpg"}
_SPELLINGS: Final = {"sslmode": "ssl"}
"""libpq's name for what the driver has under another one, with the same values."""
_QUERY: Final = frozenset({"host", "port", "ssl", "passfile", "target_session_attrs"})
"""What may follow a database's name. Certificates come by libpq's own variables, `PGSSLROOTCERT` and the like."""


def env_names(file: Path) -> Iterator[str]:
    """The names that a .env file sets. Raises ConfigInvalid where it can't be read, or names one with two values."""
    if not file.exists():
        return
    try:
        lines = list(parse_stream(StringIO(file.read_text(ENV_ENCODING))))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigInvalid(f"{file}: no file of UTF-8 that can be read ({type(error).__name__})") from error
    values: dict[str, str | None] = {}
    for line in lines:
        if line.error:
            raise ConfigInvalid(f"{file}, line {line.original.line}: write NAME=value, or # before what is none")
        if line.key is not None:
            name = line.key.upper()  # settings are read in either case
            if name.startswith(PREFIX) and values.setdefault(name, line.value) != line.value:
                raise ConfigInvalid(f"{file}, line {line.original.line}: {line.key} has two values: write one of them")
            yield line.key


def json_object(given: Any) -> Any:
    """What a text says in JSON, each name once; whether it is an object is its field's to say."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given, object_pairs_hook=told_once)
    except (json.JSONDecodeError, RecursionError):
        raise ValueError("write JSON") from None
    except ValueError:  # the name may be a secret in the wrong place
        raise ValueError("a name is there twice: write each once") from None


def word(text: str) -> str:
    """Printable, without blanks around it."""
    if text != text.strip() or not text.isprintable():
        raise ValueError("blanks or characters that do not print: write it without them")
    return text


def address(text: str) -> str:
    """An http(s) address with a host, or nothing. It goes into logs and errors, so it holds no password."""
    if not text:
        return text
    try:
        parts = urlsplit(text)
        named = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        named = False
    if not named or text != text.strip() or not text.isprintable():
        raise ValueError("write an address that begins with https://")
    if "@" in parts.netloc or parts.fragment:
        raise ValueError("write the address alone, without a user, a password or a #")
    return text


def place(text: str) -> str:
    """An address and a port to listen on, or nothing; another side is told of it: no port of chance."""
    if not text:
        return text
    host, _, port = text.rpartition(":")
    if not host or host != host.strip() or not (port.isascii() and port.isdecimal()) or not 0 < int(port) <= MAX_PORT:
        raise ValueError("write an address and a port of 1 or more, such as 127.0.0.1:9092")
    return text


def database(text: str) -> str:
    """A database that there is a driver for, or nothing; PostgreSQL's usual spellings get theirs."""
    if not text:
        return text
    scheme, mark, rest = text.partition("://")
    scheme = _DRIVERS.get(scheme, scheme)
    if not mark or scheme not in {"postgresql+asyncpg", "sqlite"}:
        raise ValueError("write postgresql://USER@HOST/DATABASE or sqlite:////FILE")
    try:
        url = sa.make_url(f"{scheme}://{rest}")
    except (ValueError, sa.exc.ArgumentError):
        raise ValueError("write postgresql://USER@HOST:PORT/DATABASE, the port in digits") from None
    if scheme == "sqlite":
        return text
    query = {_SPELLINGS.get(name, name): value for name, value in url.query.items()}
    if strange := sorted(set(query) - _QUERY):
        raise ValueError(f"{', '.join(strange)[:80]}: of what may follow the ? we know {', '.join(sorted(_QUERY))}")
    return url.set(query=query).render_as_string(hide_password=False)


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


def secret(given: SecretStr) -> SecretStr:
    """Long enough, or nothing."""
    if 0 < len(given.get_secret_value().encode()) < KEY_BYTES:
        raise ValueError(f"needs at least {KEY_BYTES} bytes; `openssl rand -hex 32` makes one")
    return given


def base64_secret(given: SecretStr) -> SecretStr:
    """Base64 of enough bytes, or nothing."""
    text = given.get_secret_value()
    try:
        size = len(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        size = -1
    if text and size < MIN_BASE64:
        raise ValueError(f"write base64 of at least {MIN_BASE64} bytes")
    return given


def weak(keys: Mapping[str, SecretStr]) -> list[str]:
    """The names of keys that nobody drew at random."""
    return [name for name, key in keys.items() if drawn_by_nobody(key)]


def drawn_by_nobody(key: SecretStr) -> bool:
    """Whether a key that is given was not drawn at random."""
    value = key.get_secret_value()
    few = 0 < len(set(value)) < _KINDS
    return few or any(value and value[step:] == value[:-step] for step in range(1, _PERIOD))


def twice(keys: Iterable[SecretStr]) -> bool:
    """Whether one of them stands there more than once."""
    values = [value for key in keys if (value := key.get_secret_value())]
    return len(set(values)) < len(values)


def files(certificate: Path | None, key: Path | None, state: Path) -> Iterator[str]:
    """What is wrong with files that are named: there, of their kind, and made for each other."""
    if (certificate is None) != (key is None):
        yield "TELLERLINE_TLS_CERTIFICATE and TELLERLINE_TLS_KEY go together"
    named = {"TELLERLINE_TLS_CERTIFICATE": certificate, "TELLERLINE_TLS_KEY": key}
    missing = [f"{name}: no file {path}" for name, path in named.items() if path is not None and not path.is_file()]
    yield from missing
    if certificate is not None and key is not None and not missing:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password=b"")
        except (ssl.SSLError, OSError, ValueError):
            yield "TELLERLINE_TLS_CERTIFICATE, TELLERLINE_TLS_KEY: no certificate with its key in PEM, not encrypted"
    there = next(part for part in (state, *state.absolute().parents) if part.exists())
    if not there.is_dir():
        yield f"TELLERLINE_STATE_DIR: {there} is no folder"
