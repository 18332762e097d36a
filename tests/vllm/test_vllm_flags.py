"""Every server and every benchmark command we start, through the pinned vLLM's own parsers; needs no GPU."""

import json
import subprocess
from pathlib import Path

import pytest

from deploy.vllm.flags import jobs, servers
from deploy.vllm.serving import load, names

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(600)]
ROOT = Path(__file__).parents[2]


def flags(python: str, command: str) -> str:
    """`python -m deploy.vllm.flags COMMAND` in the environment that has vLLM; the last line it prints."""
    done = subprocess.run(
        [python, "-m", "deploy.vllm.flags", command], cwd=ROOT, capture_output=True, text=True, timeout=500, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip().rpartition("\n")[2]


def test_the_parser_takes_every_command(vllm_python: str) -> None:
    found = json.loads(flags(vllm_python, "check"))
    assert {name: fault for name, fault in found["faults"].items() if fault} == {}
    assert set(found["faults"]) == set(servers()) | {f"bench {key}" for key in jobs()}
    pinned = {profile.engine_version for profile in map(load, names()) if profile.engine == "vllm"}
    assert pinned == {found["version"]}


def test_the_written_lists_are_current(vllm_python: str) -> None:
    folder = ROOT / "deploy" / "vllm" / "flags"
    before = {path.name: path.read_bytes() for path in folder.glob("vllm-*.txt.xz")}
    flags(vllm_python, "write")
    assert {path.name: path.read_bytes() for path in folder.glob("vllm-*.txt.xz")} == before
