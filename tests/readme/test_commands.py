"""README's commands and its snippet, carried out as they are printed; every other command it names exists."""

import asyncio
import hashlib
import hmac
import lzma
import re
import shutil
import subprocess
import sys
import wave
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import orjson
import pytest
from typer import Context
from typer.main import get_command

from app.auth.signature import SignedRequest, sign
from app.cli import main
from schemas.wire.client import parse_client_event
from services.audio.files import read_file
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.gateway import line
from tests.harness.realtime import at_24k
from tests.harness.served import served

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
NEWCOMERS = (ROOT / "deploy/newcomers.md").read_text()
BEFORE_PRODUCTION = README[: README.index("### Production")]
BIN = Path(sys.executable).parent
RECORDINGS = ROOT / "tests/audio"


def block(language: str, having: str) -> str:
    """The one fenced block of a language that has these words."""
    (found,) = (b for b in re.findall(rf"```{language}\n(.*?)```", BEFORE_PRODUCTION, re.DOTALL) if having in b)
    return found


def pcm16(recording: str) -> bytes:
    return (read_file((RECORDINGS / recording).read_bytes()) * 32_767).astype(np.int16).tobytes()


def a_part_of_the_corpus(folder: Path) -> int:
    """Lay a case of 120 where the README's commands look for the corpus; how many turns they have."""
    corpus = folder / "tests/data/corpus"
    corpus.mkdir(parents=True)
    (corpus / "audio").symlink_to(ROOT / "tests/data/corpus/audio")
    some = lzma.decompress((ROOT / "tests/data/corpus/manifest.jsonl.xz").read_bytes()).splitlines(keepends=True)[::120]
    (corpus / "manifest.jsonl.xz").write_bytes(lzma.compress(b"".join(some)))
    return sum(len(orjson.loads(case)["turns"]) for case in some)


@pytest.mark.timeout(600)
def test_recordings_are_replayed_compared_and_explained(tmp_path: Path) -> None:
    turns = a_part_of_the_corpus(tmp_path)
    (tmp_path / "in.jsonl").write_text('{"id": "1", "text": "what\'s my balance", "locale": "en-US"}\n')
    with wave.open(str(tmp_path / "balance.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(pcm16("balance.opus"))
    lines = block("sh", "replay diff").strip().splitlines()
    path, check, before, after, diff, beside, history, text, transcribe, explain = lines
    assert path == 'export PATH="$PWD/.venv/bin:$PATH"'

    def run(command: str) -> str:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command], cwd=tmp_path, env={"PATH": f"{BIN}:/usr/bin:/bin"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert f"{turns} turns" in run(check)
    run(before)
    assert (tmp_path / "out/before/report.html").is_file()
    shutil.copytree(tmp_path / "out/before", tmp_path / "out/after")  # the same code goes on with a run of its own
    run(after)
    run(diff)
    assert (tmp_path / "out/diff.md").read_text().startswith("### Replay: green")
    assert "0 worse" in run(beside)
    assert (tmp_path / "out/beside.html").is_file()
    assert "baselines: main" in run(history)
    run(text)
    assert orjson.loads((tmp_path / "out.jsonl").read_bytes())["intent"] == "balance_inquiry"
    assert "balance" in run(transcribe)
    assert "2500" in run(explain)


async def test_a_demo_token_comes_as_the_readme_says(quick_folder: Path) -> None:
    async with served(quick_folder, FakeRecognizer(lambda _seconds: "")) as running:
        command = block("sh", "/demo/token").replace("127.0.0.1:8080", f"127.0.0.1:{running.port}")
        asking = await asyncio.create_subprocess_exec("bash", "-c", command, stdout=asyncio.subprocess.PIPE)
        said, _ = await asking.communicate()
        assert orjson.loads(said)["access_token"].count(".") == 2


async def test_the_snippet_is_a_whole_client(quick_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    snippet = block("python", "websockets.connect")
    async with served(quick_folder, None) as running:
        token = running.token("alex-morgan")["Authorization"].removeprefix("Bearer ")
        scope: dict[str, object] = {}
        exec(snippet.replace("ws://127.0.0.1:8080", f"ws://127.0.0.1:{running.port}"), scope)
        quiet = bytes(2 * 16_000)
        call = asyncio.ensure_future(scope["call"](token, pcm16("balance.opus") + quiet))  # type: ignore[operator]
        async with asyncio.timeout(20):
            while "checking" not in capsys.readouterr().out:  # noqa: ASYNC110 - it prints, and tells nobody
                await asyncio.sleep(0.1)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)


async def test_the_snippet_for_realtime_clients_is_a_whole_one(
    quick_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    snippet = block("python", "client.realtime.connect")
    async with served(quick_folder, None) as running:
        token = running.token("alex-morgan")["Authorization"].removeprefix("Bearer ")
        scope: dict[str, object] = {}
        exec(snippet.replace("http://127.0.0.1:8080", f"http://127.0.0.1:{running.port}"), scope)
        said = line(0.3, read_file((RECORDINGS / "balance.opus").read_bytes()), 2.0)
        call = asyncio.ensure_future(scope["call"](token, at_24k(said)))  # type: ignore[operator]
        async with asyncio.timeout(20):
            while "checking" not in capsys.readouterr().out:  # noqa: ASYNC110 - it prints, and tells nobody
                await asyncio.sleep(0.1)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)


def _commands() -> dict[str, set[str]]:
    """Every group of the command line, with the names of what is in it; "" is the top."""
    top = get_command(main).commands  # type: ignore[attr-defined]
    groups = {name: group for name, group in top.items() if hasattr(group, "list_commands")}
    return {"": set(top)} | {name: set(group.list_commands(Context(group))) for name, group in groups.items()}


@pytest.mark.parametrize("part", [part for part in re.findall(r'`("[^`]*|\{"type[^`]*)`', README) if ":" in part])
def test_what_a_session_or_event_is_said_to_hold_is_taken(part: str) -> None:
    whole = part if part.startswith("{") else f'{{"type": "session.update", "session": {{"type": "realtime", {part}}}}}'
    assert parse_client_event(whole)


def test_a_bridge_that_signs_as_the_readme_says_is_known() -> None:
    request = SignedRequest("pbx", "POST", "/v1/ivr/calls?a=b", "1795000000", "n0n-ce-1", "猫", b"{}", "")
    body = hashlib.sha256(b"{}").hexdigest()
    named = {"key id": "pbx", "method": "POST", "path with query": "/v1/ivr/calls?a=b", "time": "1795000000"}
    named |= {"nonce": "n0n-ce-1", "customer": "猫", "the body's hex SHA-256": body}
    (order,) = re.findall(r"`(tellerline\.request\.1)`, (key id.*?), each as `LENGTH:TEXT`", " ".join(README.split()))
    parts = [order[0], *(named[name] for name in re.split(", | and ", order[1]))]
    text = b"".join(b"%d:%b" % (len(part.encode()), part.encode()) for part in parts)
    assert hmac.new(b"k" * 32, text, hashlib.sha256).hexdigest() == sign(b"k" * 32, request)


def test_every_command_that_is_named_exists() -> None:
    known = _commands()
    pages = "".join(page.read_text() for page in (ROOT / "deploy").glob("*.md"))
    named = re.findall(r"(?:`|^)tellerline (?!is )([a-z]+)(?: ([a-z][a-z-]*+)(?![/.]))?", README + pages, re.MULTILINE)
    assert named
    assert not [pair for pair in named if pair[0] not in known[""]]
    assert not [pair for pair in named if pair[1] and pair[0] in known and pair[1] not in known[pair[0]]]


def test_every_make_target_that_is_named_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert not set(re.findall(r"`make ([a-z-]+)", README)) - targets


def test_every_file_that_newcomers_are_sent_to_exists() -> None:
    """What is to be written for Indonesian is there for English."""
    named = [path for path in re.findall(r"`([a-z]+/[\w./*-]+)`", NEWCOMERS) if not re.search("NAME|LANGUAGE", path)]
    assert len(named) > 15
    there = [re.sub(r"(?<=[/_])id(?=[/.]|$)", "en", path.replace("id-ID", "en-US")) for path in named]
    rooms = (ROOT, ROOT / "services/understanding")  # whose modules the map names without their room
    assert not [path for path in there if not any(list(room.glob(f"{path}*")) for room in rooms)]


def test_every_wall_of_the_page_of_threats_is_where_it_says() -> None:
    """So is the test of each."""
    page = (ROOT / "deploy/security.md").read_text()
    named = re.findall(r"`((?:app|services|schemas|tests)/[\w./*-]+)`", page)
    assert len(named) > 30
    assert not [path for path in named if not list(ROOT.glob(path))]
    bare = re.findall(r"`(\w+\.py)`", page)
    assert not [
        name for name in bare if not any(list((ROOT / room).rglob(name)) for room in ("app", "services", "tests"))
    ]


def test_profiles_are_rendered_as_the_readme_says() -> None:
    named = re.findall(r"`\.venv/bin/python -m (deploy\.[a-z.]+)`", README)
    assert all(find_spec(module) for module in named)
    (module,) = (module for module in named if module.endswith(".render"))
    done = subprocess.run(
        [sys.executable, "-m", module, "serve", "extraction-h200"], cwd=ROOT, capture_output=True, check=True
    )
    assert b"vllm" in done.stdout


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("-m deploy.vllm.render serve nosuch", "no profile nosuch: there are extraction-h100"),
        ("deploy/sbom.py nosuch.txt", "no file nosuch.txt"),
        ("deploy/examples/asterisk/announce.py", "announce.py GATEWAY KEY-ID CUSTOMER"),
    ],
)
def test_a_script_that_is_run_wrong_says_how(typed: str, says: str) -> None:
    done = subprocess.run([sys.executable, *typed.split()], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, says in done.stderr, "Traceback" in done.stderr) == (1, True, False), done.stderr


def test_ci_carries_the_two_commands_out() -> None:
    ci = (ROOT / ".ci/run").read_text()
    assert "deploy/trial/debian.sh" in ci
    assert "make test" in ci
