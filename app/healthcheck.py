"""`python -m app.healthcheck`: exit status 0 once the gateway of this container lets callers in.

It runs every few seconds beside calls: of the standard library alone, and without the settings' own imports.
"""

import os
import ssl
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

WAIT_S: Final = 2.0
_EVERYWHERE: Final = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 - told apart, not bound


def address(environment: Mapping[str, str]) -> str:
    """Where the gateway with this environment answers on its own machine."""
    host = environment.get("TELLERLINE_HOST", "127.0.0.1")
    scheme = "https" if environment.get("TELLERLINE_TLS_CERTIFICATE") else "http"
    return f"{scheme}://{_EVERYWHERE.get(host, host)}:{environment.get('TELLERLINE_PORT', '8080')}/readyz"


def ready(url: str) -> bool:
    """Whether it says yes. Its certificate is its own, for names that are not this machine's: nobody checks it here."""
    own = ssl.create_default_context()
    own.check_hostname, own.verify_mode = False, ssl.CERT_NONE
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=own))
    try:
        with direct.open(url, timeout=WAIT_S) as answer:
            return bool(answer.status == HTTPStatus.OK)
    except (urllib.error.URLError, OSError):
        return False


if __name__ == "__main__":
    sys.exit(0 if ready(address(os.environ)) else 1)  # noqa: TID251 - where a container has its settings
