#!/usr/bin/env python3
"""Announces a call of a customer, and prints the id that it has to bring: announce.py GATEWAY KEY-ID CUSTOMER.

The key is in the file /etc/asterisk/tellerline/KEY-ID.key (or TELLERLINE_KEY_DIR), which only Asterisk may read.
"""

import hashlib
import hmac
import json
import os
import pathlib
import secrets
import sys
import time
import urllib.request

PATH = "/v1/ivr/calls"


def main() -> None:
    """Announce it."""
    if len(sys.argv) != 4:  # noqa: PLR2004
        sys.exit(__doc__)
    gateway, name, customer = sys.argv[1:]
    folder = pathlib.Path(os.environ.get("TELLERLINE_KEY_DIR", "/etc/asterisk/tellerline"))  # noqa: TID251
    key = (folder / f"{name}.key").read_text().strip().encode()
    at, nonce = str(int(time.time())), secrets.token_urlsafe(16)  # noqa: TID251
    parts = ("tellerline.request.1", name, "POST", PATH, at, nonce, customer, hashlib.sha256(b"").hexdigest())
    text = b"".join(b"%d:%b" % (len(part.encode()), part.encode()) for part in parts)
    headers = {"Key": name, "Time": at, "Nonce": nonce, "Customer": customer}
    headers["Signature"] = hmac.new(key, text, hashlib.sha256).hexdigest()
    asked = urllib.request.Request(  # noqa: S310 - the address is the dialplan's
        gateway + PATH, method="POST", headers={f"X-Tellerline-{k}": v for k, v in headers.items()}
    )
    with urllib.request.urlopen(asked, timeout=3) as answer:  # noqa: S310
        print(json.load(answer)["id"], end="")


main()
