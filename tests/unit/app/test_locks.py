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
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[3]
LATER = "99999"
COMMANDS = {"dev": "Makefile", "runtime": "Dockerfile"}
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


def install_command(name: str) -> list[str]:
    """What follows `pip install` where the lock is installed."""
    found = re.search(
        rf"pip (?:--python \S+ )?install (.*-r deploy/lock/{name}\.txt)$",
        (ROOT / COMMANDS[name]).read_text(),
        re.MULTILINE,
    )
    assert found, f"{COMMANDS[name]} does not install deploy/lock/{name}.txt"
    return shlex.split(found[1])


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


def test_the_image_gets_its_voice_as_make_speech_brings_it() -> None:
    assert len(voice_commands("Makefile")) == 4
    assert voice_commands("Dockerfile") == voice_commands("Makefile")


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name == "runtime" else ()) for name in sorted(COMMANDS)]
)  # what development needs holds all that the service does
def test_a_later_release_of_everything_changes_nothing(name: str, tmp_path: Path) -> None:
    packages = list(pinned(ROOT / f"deploy/lock/{name}.txt"))
    index, lock = tmp_path / "index", tmp_path / f"deploy/lock/{name}.txt"
    index.mkdir()
    lock.parent.mkdir(parents=True)
    lines = []
    for package in packages:
        package.wheel(index, LATER)
        digest = hashlib.sha256(package.wheel(index, package.version).read_bytes()).hexdigest()
        lines.append(f"{package.name}=={package.version} --hash=sha256:{digest}\n")
    lock.write_text("".join(lines))
    venv.create(tmp_path / "env", with_pip=True)
    python = str(tmp_path / "env/bin/python")
    settings = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index)}

    def pip(*arguments: str) -> str:
        ran = subprocess.run(
            [python, "-m", "pip", *arguments], cwd=tmp_path, env=settings, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    pip("install", *install_command(name))
    listed = {item["name"].lower(): item["version"] for item in json.loads(pip("list", "--format=json"))}
    wanted = {package.name.lower(): package.version for package in packages}
    assert {k: v for k, v in listed.items() if k in wanted or k not in PIPS_OWN} == wanted
    assert "No broken requirements" in pip("check"), "the lock lacks something that its packages need"
