"""The bill of what ships: everything locked is on it with its licence, and what is not permissive is known."""

import json
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from deploy import sbom

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "deploy/lock/runtime.txt"
PERMISSIVE = {
    "MIT", "MIT-0", "BSD-2-Clause", "BSD-3-Clause", "BSD-3-Clause-Clear", "Apache-2.0", "ISC", "PSF-2.0", "0BSD",
    "Zlib", "CC0-1.0", "HPND", "Unlicense",
}  # fmt: skip
WEAK = {"MPL-2.0", "LGPL-2.0-or-later", "LGPL-2.1-or-later", "LGPL-3.0-or-later"}
"""Fine to ship as they are: their own files stay open."""


@lru_cache(maxsize=1)
def bill() -> dict[str, Any]:
    said = subprocess.run(
        [sys.executable, ROOT / "deploy/sbom.py", LOCK], capture_output=True, text=True, check=False, timeout=60
    )
    assert said.returncode == 0, said.stderr
    made: dict[str, Any] = json.loads(said.stdout)
    return made


def licences(one: dict[str, Any]) -> str:
    return str(one["licenses"][0]["expression"])


def free(expression: str) -> bool:
    """Whether some choice among its alternatives is permissive or weak in each of its parts."""
    bare = re.sub(
        r"[()]|\s+WITH GCC-exception-3\.1", "", re.sub(r"GPL-3\.0-or-later WITH GCC-exception-3\.1", "MIT", expression)
    )
    return any({part.strip() for part in choice.split(" AND ")} <= PERMISSIVE | WEAK for choice in bare.split(" OR "))


def test_every_locked_package_is_on_it_with_version_and_licence() -> None:
    found = {sbom._plain(one["name"]): one for one in bill()["components"]}
    for line in LOCK.read_text().splitlines():
        if locked := re.match(r"([a-z0-9-]+)==(\S+)(.*)", line):
            name, version, condition = locked[1], locked[2], locked[3].strip(" \\")
            if not condition:
                assert found[name]["version"] == version
                assert licences(found[name])


def test_what_is_under_the_gpl_is_known_and_named_where_terms_are_told() -> None:
    """FFmpeg as PyAV ships it is linked with x264 and x265: nothing else may come with such terms unnoticed."""
    inside = [(one["name"], part) for one in bill()["components"] for part in one.get("components", ())]
    strict = {(package, part["name"]) for package, part in inside if not free(licences(part))}
    assert strict == {("av", "libx264"), ("av", "libx265")}
    assert all(free(licences(one)) for one in bill()["components"])
    for page in ("deploy/decisions/0001-dependencies.md", "NOTICE"):
        assert {"x264", "x265"} <= set(re.findall(r"x26\d", (ROOT / page).read_text())), page


def test_it_is_the_same_each_time_and_no_machine_is_in_it() -> None:
    text = json.dumps(bill())
    bill.cache_clear()
    assert json.dumps(bill()) == text
    assert "/" not in re.sub(r"pkg:pypi/[^\"]+", "", text)


def test_a_library_is_told_by_the_name_of_its_file() -> None:
    assert sbom.bundled("av.libs/libavcodec-5e6b81c2.so.62.28.102") == "avcodec"
    assert sbom.bundled("numpy.libs/libgfortran-040039e1-0352e75f.so.5.0.0") == "gfortran"
    assert sbom.bundled("av.libs/libSvtAv1Enc-9393c086.so.4.1.0") == "SvtAv1Enc"
    assert not sbom.bundled("numpy/core.so")


def test_what_is_missing_or_without_licence_is_told(tmp_path: Path) -> None:
    lock = tmp_path / "lock.txt"
    lock.write_text("no-such-package==1.0 \\\n    --hash=sha256:00\nfastapi==1\n")
    said = subprocess.run([sys.executable, ROOT / "deploy/sbom.py", lock], capture_output=True, text=True, check=False)
    assert said.returncode == 1
    assert said.stderr == "not installed: no-such-package\n"
