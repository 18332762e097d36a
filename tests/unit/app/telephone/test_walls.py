"""The telephone's protocols know no sockets, no clock and no call: bytes in, events out."""

import ast
from pathlib import Path

import pytest

import app.transports.telephone as room

FOLDER = Path(room.__file__).parent
CORES = [
    "line",
    "fields",
    "playout",
    "carriers",
    "media_stream",
    "audiosocket",
    "asterisk_websocket",
    "audiohook",
    "jambonz",
]
FORBIDDEN = (
    "asyncio",
    "time",
    "socket",
    "httpx",
    "fastapi",
    "starlette",
    "websockets",
    "services.call",
    "services.banking",
)


@pytest.mark.parametrize("name", CORES)
def test_a_core_does_no_io(name: str) -> None:
    tree = ast.parse((FOLDER / f"{name}.py").read_text())
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    modules += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert [module for module in modules if module.startswith(FORBIDDEN)] == []
