"""The lock files, installed by the commands that users run, from an index where every package has a later release.

The pip is the one that `python -m venv` brings: Debian 12's is 23.0.1, which a later release of an extra leads astray.
"""

import base64
import hashlib
import importlib.metadata
import json
import os
import re
import shlex
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "deploy/lock/added.py"
NARROW = ROOT / "deploy/lock/narrow.py"
LATER = "99999"
COMMANDS = {"dev": "Makefile", "runtime": "Dockerfile"}
TOGETHER = [("runtime", "dev", "speech", "remote"), ("runtime", "dev", "ray")]
"""What stands in one environment: `make setup speech remote`, and `make ray`."""
PIPS_OWN = {"pip", "setuptools"}


@dataclass(frozen=True)
class Pinned:
    """One line of a lock file that holds on this machine."""

    name: str
    version: str

    def wheel(self, folder: Path, version: str) -> Path:
        """An empty package that asks for what the real one asks for."""
        name = re.sub(r"[-.]+", "_", self.name)
        info = f"{name}-{version}.dist-info"
        metadata = f"Metadata-Version: 2.1\nName: {self.name}\nVersion: {version}\n{self._needs()}"
        files = {
            f"{info}/METADATA": metadata,
            f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        record = "".join(f"{path},sha256={_digest(text)},{len(text.encode())}\n" for path, text in files.items())
        wheel = folder / f"{name}-{version}-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for path, text in (*files.items(), (f"{info}/RECORD", f"{record}{info}/RECORD,,\n")):
                archive.writestr(path, text)
        return wheel

    def _needs(self) -> str:
        try:
            installed = importlib.metadata.metadata(self.name)
        except importlib.metadata.PackageNotFoundError:  # locked for another platform, or not yet set up anew
            return ""
        needs = [f"Requires-Dist: {need}\n" for need in installed.get_all("Requires-Dist") or ()]
        return "".join(needs + [f"Provides-Extra: {extra}\n" for extra in installed.get_all("Provides-Extra") or ()])


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def pinned(lock: Path) -> Iterator[Pinned]:
    for line in lock.read_text().splitlines():
        if line and not line.startswith((" ", "#")):
            requirement = Requirement(line.rstrip(" \\"))
            if requirement.marker is None or requirement.marker.evaluate():
                yield Pinned(requirement.name, str(requirement.specifier).removeprefix("=="))


def install_command(name: str) -> tuple[list[str], list[str]]:
    """What follows `pip install` where the lock is installed, and the lock files among it."""
    found = re.search(
        rf"pip (?:--python \S+ )?install (.*-r deploy/lock/{name}\.txt)$",
        (ROOT / COMMANDS[name]).read_text(),
        re.MULTILINE,
    )
    assert found, f"{COMMANDS[name]} does not install deploy/lock/{name}.txt"
    return shlex.split(found[1]), re.findall(r"-r (\S+)", found[1])


def added(tmp_path: Path, lock: str, *files: str) -> tuple[int, str, list[str]]:
    """The script over texts: its exit status, what it complained of, and what it left of each."""
    paths = [tmp_path / f"{number}.txt" for number in range(len(files) + 1)]
    for path, text in zip(paths, (lock, *files), strict=True):
        path.write_text(text)
    ran = subprocess.run([sys.executable, SCRIPT, *paths], capture_output=True, text=True, check=False)
    return ran.returncode, ran.stderr, [path.read_text() for path in paths[1:]]


def voice_commands(name: str) -> list[str]:
    """What is asked of pip, and of our own script, for a voice; without pip's quietness and the folder's name."""
    text = (ROOT / name).read_text().replace("\\\n", " ")
    found = re.findall(
        r"(?:pip (?:--python \S+ )?(?:install|download)|python deploy/speech/voices\.py|tellerline say) [^;&\n]*", text
    )
    plain = [
        re.sub(r"--(?:quiet|disable-pip-version-check|python \S+)|\"\$\$folder\"|/tmp/voices", "", one) for one in found
    ]
    return [" ".join(one.split()) for one in plain if "speech" in one or "say" in one]


@pytest.mark.parametrize("names", TOGETHER, ids="-".join)
def test_what_stands_together_has_one_version_of_each_package(names: tuple[str, ...]) -> None:
    versions: dict[str, set[str]] = {}
    for name in names:
        for package in pinned(ROOT / f"deploy/lock/{name}.txt"):
            versions.setdefault(package.name.lower().replace("_", "-"), set()).add(package.version)
    assert len(versions) > 50
    assert {name: found for name, found in versions.items() if len(found) > 1} == {}


@pytest.mark.parametrize("name", ["dev", "speech"])
def test_a_lock_repeats_nothing_of_what_it_is_installed_with(name: str, tmp_path: Path) -> None:
    held, file = ((ROOT / f"deploy/lock/{one}.txt").read_text() for one in ("runtime", name))
    assert added(tmp_path, held, file) == (0, "", [file])


def test_only_what_is_added_to_a_lock_is_left(tmp_path: Path) -> None:
    held = "a==1 \\\n    --hash=sha256:00\n    # via b\nb==2 ; python_version < '3.12' \\\n    --hash=sha256:01\n"
    new = "c==3 \\\n    --hash=sha256:02 \\\n    --hash=sha256:03\n    # via\n    #   a\n    #   b\n"
    wider = "b==2 \\\n    --hash=sha256:01\n"
    assert added(tmp_path, held, held + new, held, wider + new) == (0, "", [new, "", wider + new])
    assert added(tmp_path, held, held.replace("a==1", "a==2")) == (
        1,
        "a is 2 here, and 1 in the lock\n",
        [held.replace("a==1", "a==2")],
    )
    assert added(tmp_path, held, "a>=1\n")[:2] == (1, "not pinned: a>=1\n\n")


def test_hashes_of_files_that_linux_does_not_install_are_left_out(tmp_path: Path) -> None:
    ours, others = "0a" * 32, "0b" * 32
    hashed = " \\\n    --hash=sha256:{}".format
    lock = f"a==1{hashed(others)}{hashed(ours)}{hashed(others)}\n    # via b\nb==2 ; os_name == 'nt'{hashed(others)}\n"
    stand_in = tmp_path / "uv"
    stand_in.write_text(
        f"#!/bin/sh\ngrep -q \"'a==1', \" pyproject.toml && printf 'a==1 \\\\\\n    --hash=sha256:{ours}\\n'\n"
    )
    stand_in.chmod(0o755)
    (tmp_path / "lock.txt").write_text(lock)
    found = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    subprocess.run([sys.executable, NARROW, ">=3.11", tmp_path / "lock.txt"], env=found, check=True)
    kept = f"a==1{hashed(ours)}\n    # via b\nb==2 ; os_name == 'nt'{hashed(others)}\n"
    assert (tmp_path / "lock.txt").read_text() == kept


def test_of_npms_lock_stays_what_is_installed_by(tmp_path: Path) -> None:
    package = {"version": "1.2.3", "integrity": "sha512-abc", "dependencies": {"b": "^1"}}
    (tmp_path / "package-lock.json").write_text(
        json.dumps({"lockfileVersion": 3, "packages": {"node_modules/a": package | {"license": "MIT", "funding": {}}}})
    )
    subprocess.run([sys.executable, NARROW, ">=3.11", tmp_path / "package-lock.json"], check=True)
    left = json.loads((tmp_path / "package-lock.json").read_text())
    assert left == {"lockfileVersion": 3, "packages": {"node_modules/a": package}}


def test_the_image_gets_its_voice_as_make_speech_brings_it() -> None:
    assert len(voice_commands("Makefile")) == 4
    assert voice_commands("Dockerfile") == voice_commands("Makefile")


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name == "runtime" else ()) for name in sorted(COMMANDS)]
)  # what development needs holds all that the service does
def test_a_later_release_of_everything_changes_nothing(name: str, tmp_path: Path) -> None:
    command, locks = install_command(name)
    packages = [package for lock in locks for package in pinned(ROOT / lock)]
    index = tmp_path / "index"
    index.mkdir()
    (tmp_path / "deploy/lock").mkdir(parents=True)
    for lock in locks:
        lines = []
        for package in pinned(ROOT / lock):
            package.wheel(index, LATER)
            digest = hashlib.sha256(package.wheel(index, package.version).read_bytes()).hexdigest()
            lines.append(f"{package.name}=={package.version} --hash=sha256:{digest}\n")
        (tmp_path / lock).write_text("".join(lines))
    venv.create(tmp_path / "env", with_pip=True)
    python = str(tmp_path / "env/bin/python")
    settings = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index)}

    def pip(*arguments: str) -> str:
        ran = subprocess.run(
            [python, "-m", "pip", *arguments], cwd=tmp_path, env=settings, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    pip("install", *command)
    listed = {item["name"].lower(): item["version"] for item in json.loads(pip("list", "--format=json"))}
    wanted = {package.name.lower(): package.version for package in packages}
    assert {k: v for k, v in listed.items() if k in wanted or k not in PIPS_OWN} == wanted
    assert "No broken requirements" in pip("check"), "the lock lacks something that its packages need"
