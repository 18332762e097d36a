"""Certificates that a test makes for itself."""

import subprocess
from pathlib import Path


def certified(folder: Path) -> dict[str, str]:
    """Settings under which a gateway speaks TLS, with a certificate of its own."""
    certificate, key = folder / "certificate.pem", folder / "certificate.key"
    subprocess.run(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=127.0.0.1 "
        f"-addext subjectAltName=IP:127.0.0.1 -keyout {key} -out {certificate}".split(),
        check=True, capture_output=True,
    )  # fmt: skip
    return {"tls_certificate": str(certificate), "tls_key": str(key)}
