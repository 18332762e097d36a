"""What is installed from the wheel serves, from an empty folder, with nothing of the source tree at hand.

The wheel goes into an environment of its own, offline. Its dependencies are those of the environment that runs the
tests: a .pth file names that one's packages, which leaves its editable install of this tree out.
"""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from app.client import demo_token, line, session, typed
from app.version import VERSION

ROOT = Path(__file__).parents[2]
PACKAGES = ("app", "services", "schemas", "rules")
START_S = 60.0
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that neither older builds nor this tree's caches get in."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, source / package, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / file, source / file)
    offline = ("--no-deps", "--no-index", "--no-build-isolation")
    subprocess.run([*PIP, "wheel", *offline, "--wheel-dir", out, "."], cwd=source, check=True, timeout=60)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of the environment that the wheel went into."""
    home = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True, timeout=60)
    python = home / "bin" / "python"
    install = ("install", "--no-deps", "--no-index", wheel)
    subprocess.run([*PIP, "--python", python, *install], check=True, timeout=60)
    (packages,) = home.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return home / "bin"


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as packed:
        return set(packed.namelist())


def environment(**settings: str) -> dict[str, str]:
    """Ours without what would lead back into this tree, or into its settings."""
    ours = dict(os.environ)  # noqa: TID251 - handed on to the child
    away = ("TELLERLINE_", "PYTHON", "COV")
    return {name: value for name, value in ours.items() if not name.startswith(away)} | settings


def run(programs: Path, folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [str(programs / "tellerline"), *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, check=False, timeout=90
    )


@contextmanager
def serving(programs: Path, folder: Path) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = environment(TELLERLINE_PORT=str(port), TELLERLINE_LOG_LEVEL="WARNING")
    process = subprocess.Popen([programs / "tellerline", "serve"], cwd=folder, env=settings)
    base, until = f"http://127.0.0.1:{port}", time.monotonic() + START_S
    try:
        while time.monotonic() < until and process.poll() is None:
            try:
                if httpx.get(f"{base}/readyz").is_success:
                    break
            except httpx.ConnectError:
                time.sleep(0.1)
        yield base
    finally:
        process.terminate()
        process.wait(timeout=40)


def test_the_product_is_in_it_and_nothing_else(wheel: Path) -> None:
    packed = names(wheel)
    assert {name.partition("/")[0] for name in packed} == {*PACKAGES, f"tellerline-{VERSION}.dist-info"}
    for needed in (
        "app/migrations/env.py",
        "app/migrations/versions/0001_money.py",
        "app/console/static/index.html",
        "app/qa/replay/report/page.html.j2",
        "app/demo/calls/calls.yaml",
        "rules/intents/en/transfer_money.yaml",
        "services/asr/model/model.bin.z",
    ):
        assert needed in packed, needed


def test_every_file_of_the_packages_is_in_it(wheel: Path) -> None:
    """Data of a new kind is not forgotten; what makes new migrations is needed in a checkout alone."""
    here = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    left_out = {name for name in here - names(wheel) if not name.startswith("app/migrations/")}
    assert not left_out


def test_it_is_found_in_its_own_environment(programs: Path, tmp_path: Path) -> None:
    said = run(programs, tmp_path, "--version")
    assert said.stdout.strip() == f"tellerline {VERSION}"
    where = subprocess.run(
        [programs / "python", "-c", "import app, rules; print(app.__file__, rules.__file__)"],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert all(Path(file).is_relative_to(programs.parent) for file in where.stdout.split())


def test_benchmarks_stay_in_the_repository(programs: Path, tmp_path: Path) -> None:
    said = run(programs, tmp_path, "bench", "dialogue", "--json", "x")
    assert said.returncode == 2
    assert said.stderr == "tellerline: benchmarks live in the repository (deploy/bench): run them in a checkout\n"


@pytest.mark.timeout(300)
def test_the_demonstration_runs_in_an_empty_folder(programs: Path, tmp_path: Path) -> None:
    said = run(programs, tmp_path, "demo", "--call", "balance")
    assert said.returncode == 0, said.stdout + said.stderr
    assert "1 of 1 calls" in said.stdout


async def told(base: str, text: str) -> str:
    token = await demo_token(base, "alex-morgan")
    async with line(base, token, session("en-US"), live=False) as call:
        await call.send(typed(text))
        async for event in call.events():
            if event["type"] == "response.output_text.done":
                return str(event["text"])
    return ""


def test_a_typed_call_is_answered(programs: Path, tmp_path: Path) -> None:
    with serving(programs, tmp_path) as base:
        assert "checking" in asyncio.run(told(base, "what is my balance")).lower()
        assert httpx.get(f"{base}/console/").is_success
    assert (tmp_path / "var").is_dir()
