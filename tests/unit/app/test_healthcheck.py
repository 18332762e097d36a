"""The container's health check asks where the gateway listens, and takes no answer but yes."""

import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from app.healthcheck import address, ready


@pytest.mark.parametrize(
    ("environment", "url"),
    [
        ({}, "http://127.0.0.1:8080/readyz"),
        ({"TELLERLINE_HOST": "0.0.0.0", "TELLERLINE_PORT": "9"}, "http://127.0.0.1:9/readyz"),
        ({"TELLERLINE_HOST": "127.0.0.7"}, "http://127.0.0.7:8080/readyz"),
        ({"TELLERLINE_HOST": "::"}, "http://[::1]:8080/readyz"),
        ({"TELLERLINE_TLS_CERTIFICATE": "c.pem"}, "https://127.0.0.1:8080/readyz"),
    ],
)
def test_it_asks_where_the_gateway_listens(environment: dict[str, str], url: str) -> None:
    assert address(environment) == url


@pytest.mark.parametrize(("status", "meant"), [(200, True), (503, False), (404, False)])
def test_only_a_yes_is_one(status: int, meant: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/readyz" else 500)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = Thread(target=server.handle_request)
        thread.start()
        assert ready(f"http://127.0.0.1:{server.server_port}/readyz") is meant
        thread.join()


def test_nobody_there_is_a_no_and_the_exit_status_tells() -> None:
    asked = subprocess.run(
        [sys.executable, "-m", "app.healthcheck"], env={"TELLERLINE_PORT": "1"}, check=False, timeout=30
    )
    assert asked.returncode == 1


def test_it_imports_nothing_heavy() -> None:
    said = subprocess.run(
        [sys.executable, "-c", "import sys, app.healthcheck; print('pydantic' in sys.modules, 'numpy' in sys.modules)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert said.stdout.split() == ["False", "False"]
