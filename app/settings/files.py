"""Files and folders that settings name: there, of their kind, and made for each other."""

import ssl
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile

from cryptography.x509 import load_pem_x509_certificates

from services.timing import SystemClock


def faults(certificate: Path | None, key: Path | None, state: Path) -> Iterator[str]:
    """What is wrong with files that are named: there, of their kind, and made for each other."""
    if (certificate is None) != (key is None):
        yield "TELLERLINE_TLS_CERTIFICATE and TELLERLINE_TLS_KEY go together"
    named = {"TELLERLINE_TLS_CERTIFICATE": certificate, "TELLERLINE_TLS_KEY": key}
    missing = [f"{name}: no file {path}" for name, path in named.items() if path is not None and not path.is_file()]
    yield from missing
    if certificate is not None and key is not None and not missing:
        yield from pair(certificate, key)
    yield from _kept(state)


def pair(certificate: Path, key: Path) -> Iterator[str]:
    """What is wrong with a certificate and its key."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password=b"")
    except (ssl.SSLError, OSError, ValueError):
        yield "TELLERLINE_TLS_CERTIFICATE, TELLERLINE_TLS_KEY: no certificate with its key in PEM, not encrypted"
    else:
        yield from _holds(certificate)


def _kept(state: Path) -> Iterator[str]:
    """The state folder, or the one that it is made in, has to take files: tried with one that has no name."""
    there = next(part for part in (state, *state.absolute().parents) if part.exists())
    if not there.is_dir():
        yield f"TELLERLINE_STATE_DIR={state}: {there} is no folder"
    elif there not in {state, state.absolute().parent}:
        yield f"TELLERLINE_STATE_DIR={state}: no folder to make it in: make {state.absolute().parent}, or write another"
    else:
        try:
            with TemporaryFile(dir=there) as tried:
                tried.write(b"\0")
        except OSError as error:
            yield f"TELLERLINE_STATE_DIR={state}: {there} takes no files ({error.strerror}): write a folder that does"


def _holds(certificate: Path) -> Iterator[str]:
    """An own certificate whose time is over, or has not begun, is one that no client takes."""
    now = SystemClock().now()
    own = load_pem_x509_certificates(certificate.read_bytes())[0]
    if not own.not_valid_before_utc <= now <= own.not_valid_after_utc:
        period = f"{own.not_valid_before_utc:%Y-%m-%d} to {own.not_valid_after_utc:%Y-%m-%d}"
        yield f"TELLERLINE_TLS_CERTIFICATE holds from {period}: write one that holds today"
