"""What ships, with licences: `python deploy/sbom.py LOCK… > sbom.cdx.json`, run by the environment that ships.

CycloneDX 1.6 of the packages that the lock files name and this environment has, the libraries that lie inside their
wheels, and the bundled recogniser's weights. Exit status 1 where a locked package is missing or has no licence.
"""

import json
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, Final

_LOCKED: Final = re.compile(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)", re.MULTILINE)
_LIBRARY: Final = re.compile(r"lib([A-Za-z0-9_+]+)[-.\w]*\.so")
_FFMPEG: Final = "LGPL-3.0-or-later"
"""As its build says of itself; that libavcodec is linked with x264 and x265, which are under the GPL, it does not."""
BUNDLED: Final = {
    "SvtAv1Enc": "BSD-3-Clause-Clear", "Xau": "MIT", "asound": "LGPL-2.1-or-later", "avcodec": _FFMPEG,
    "avdevice": _FFMPEG, "avfilter": _FFMPEG, "avformat": _FFMPEG, "avutil": _FFMPEG, "swresample": _FFMPEG,
    "swscale": _FFMPEG, "dav1d": "BSD-2-Clause", "drm": "MIT", "gmp": "LGPL-3.0-or-later OR GPL-2.0-or-later",
    "gnutls": "LGPL-2.1-or-later", "hogweed": "LGPL-3.0-or-later OR GPL-2.0-or-later", "mp3lame": "LGPL-2.0-or-later",
    "nettle": "LGPL-3.0-or-later OR GPL-2.0-or-later", "opencore": "Apache-2.0", "opus": "BSD-3-Clause",
    "sharpyuv": "BSD-3-Clause", "unistring": "LGPL-3.0-or-later OR GPL-2.0-or-later", "vpl": "MIT",
    "vpx": "BSD-3-Clause", "webp": "BSD-3-Clause", "webpmux": "BSD-3-Clause", "x264": "GPL-2.0-or-later",
    "x265": "GPL-2.0-or-later", "xcb": "MIT", "gomp": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "ctranslate2": "MIT", "gfortran": "GPL-3.0-or-later WITH GCC-exception-3.1", "scipy_openblas64_": "BSD-3-Clause",
    "quadmath": "LGPL-2.1-or-later",
}  # fmt: skip
"""Licences of libraries inside wheels, by the names of their files: no metadata tells them."""
_CLASSIFIERS: Final = {
    "MIT License": "MIT", "BSD License": "BSD-3-Clause", "Apache Software License": "Apache-2.0",
    "ISC License (ISCL)": "ISC", "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}  # fmt: skip
_SPELT: Final = {
    "Apache 2.0": "Apache-2.0", "MIT License": "MIT", "3-Clause BSD License": "BSD-3-Clause", "BSD": "BSD-3-Clause",
    "ISC License": "ISC",
}  # fmt: skip


def main(locks: list[str]) -> int:
    """The command line."""
    if absent := [lock for lock in locks if not Path(lock).is_file()]:
        sys.exit(f"no file {', '.join(absent)}: {__doc__}")
    names = sorted({_plain(name) for lock in locks for name, _ in _LOCKED.findall(Path(lock).read_text())})
    if not names:
        sys.exit(__doc__)
    found = [made for name in names if (made := component(name)) is not None]
    here = {_plain(one["name"]) for one in found}
    unconditional = {
        _plain(name) for lock in locks for name, condition in _conditions(Path(lock).read_text()) if not condition
    }
    missing = sorted(unconditional - here)
    unlicensed = sorted(one["name"] for one in _flat(found) if not one["licenses"])
    print(json.dumps(document(found), indent=1, ensure_ascii=False))
    for what, which in (("not installed", missing), ("no licence known", unlicensed)):
        if which:
            print(f"{what}: {', '.join(which)}", file=sys.stderr)
    return 1 if missing or unlicensed else 0


def document(components: list[dict[str, Any]]) -> dict[str, Any]:
    """The whole bill; the same environment gives the same bytes."""
    own = metadata.metadata("tellerline")
    weights = {"type": "machine-learning-model", "name": "tellerline-recogniser", "licenses": _named("Apache-2.0")}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "name": own["Name"],
                "version": own["Version"],
                "licenses": _named(str(own["License-Expression"])),
            }
        },
        "components": [*components, weights],
    }


def component(name: str) -> dict[str, Any] | None:
    """One package of this environment, with the libraries inside it; None where it is not installed."""
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None
    shown = found.metadata["Name"]
    made: dict[str, Any] = {
        "type": "library",
        "name": shown,
        "version": found.version,
        "purl": f"pkg:pypi/{_plain(shown)}@{found.version}",
        "licenses": _named(licence(found.metadata)),
    }
    inside = sorted({library for file in found.files or () if (library := bundled(str(file)))})
    if inside:
        made["components"] = [
            {"type": "library", "name": f"lib{one}", "licenses": _named(BUNDLED.get(one, ""))} for one in inside
        ]
    return made


def bundled(file: str) -> str:
    """The library that a wheel's file is; empty where it is none of others."""
    folder, _, name = file.rpartition("/")
    found = _LIBRARY.match(name) if folder.endswith(".libs") else None
    return "" if found is None else found[1]


def licence(about: "metadata.PackageMetadata") -> str:
    """An SPDX expression, or the words that stand there; empty where there are none."""
    given = {name: about[name] for name in ("License-Expression", "License") if name in about}
    if expression := given.get("License-Expression"):
        return str(expression)
    classified = [
        line.rpartition(" :: ")[2] for line in about.get_all("Classifier") or () if line.startswith("License")
    ]
    known = [_CLASSIFIERS[one] for one in classified if one in _CLASSIFIERS]
    said = str(given.get("License") or "").strip()
    if said and "\n" not in said:
        return _SPELT.get(said, said)
    return " OR ".join(known)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _conditions(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if found := _LOCKED.match(line):
            yield found[1], line.partition(";")[2].strip(" \\")


def _flat(components: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for one in components:
        yield one
        yield from one.get("components", ())


def _named(expression: str) -> list[dict[str, Any]]:
    return [{"expression": expression}] if expression else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
