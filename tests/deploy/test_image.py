"""What the image is made of: an environment without what it never reads, and a root with no more than it runs by."""

import compileall
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from deploy.image import lean, root

NEEDED = "import asyncio, ctypes, hashlib, lzma, socket, sqlite3, ssl, sys, zlib, zoneinfo, package.module"
SEES = (
    f"{NEEDED}; assert ssl.create_default_context().cert_store_stats()['x509_ca'] > 50; "
    "zoneinfo.ZoneInfo('Asia/Tokyo'); socket.getaddrinfo('localhost', 80); "
    "print(package.module.__file__, zoneinfo.__file__)"
)


def packages_in(folder: Path) -> Path:
    """Some packages as pip lays them: compiled, with something of all that goes."""
    for name in ("package", *lean.OURS):
        (folder / name).mkdir(parents=True)
        (folder / name / "module.py").write_text("told = __doc__\n")
    (folder / "alone.py").write_text("")
    compileall.compile_dir(folder, quiet=1)
    (folder / "package/template.py").write_text("not {{python}}")
    for pattern in lean.NEEDLESS:
        name = pattern.replace("**", "package/deep").replace("*", "x").replace("[xd]", "x")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    return folder


def test_of_others_modules_stays_what_was_compiled_and_of_ours_all(tmp_path: Path) -> None:
    packages = packages_in(tmp_path / "site-packages")
    lean.thin(packages)
    left = {str(path.relative_to(packages)) for path in packages.rglob("*") if path.is_file()}
    ours = {name for name in left if name.startswith(lean.OURS)}
    tag = sys.implementation.cache_tag
    assert left - ours == {"alone.pyc", "package/module.pyc", "package/template.py"}
    assert ours == {
        f"{name}/{file}" for name in lean.OURS for file in ("module.py", f"__pycache__/module.{tag}.pyc")
    }  # fmt: skip
    said = subprocess.run(
        [
            sys.executable,
            "-I",
            "-c",
            f"import sys; sys.path.insert(0, {str(packages)!r}); import alone, package.module",
        ],
        check=False,
    )
    assert said.returncode == 0


@pytest.mark.parametrize("pattern", sorted(lean.NEEDLESS))
def test_what_is_to_go_and_is_not_there_is_told(
    pattern: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packages = packages_in(tmp_path / "site-packages")
    for path in packages.glob(pattern):
        path.unlink()
    assert lean.main([str(packages)]) == 1
    assert pattern in capsys.readouterr().err


@pytest.mark.parametrize("pattern", sorted(lean.NEEDLESS))
def test_what_is_to_go_is_there_in_the_locked_packages(pattern: str) -> None:
    assert any(Path(sysconfig.get_path("purelib")).glob(pattern))


def test_packages_are_read_from_what_dpkg_says() -> None:
    said = (
        "diversion by dash from: /bin/sh\nlibc6:amd64: /lib/x.so\nopenssl, ca-certificates: /etc/ssl\ng++-12: /usr/b\n"
    )
    assert root.packages(said) == {"libc6", "openssl", "ca-certificates", "g++-12"}


def test_modules_whose_libraries_the_slim_base_lacks_are_left_out() -> None:
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    lacking = {f"{name}{suffix}" for name in ("_tkinter", "_gdbm", "_dbm", "_curses", "_curses_panel", "readline")}
    assert shutil.ignore_patterns(*root.UNREAD)("", [*sorted(lacking), f"_ssl{suffix}"]) == lacking


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may look from another root")
def test_an_environment_runs_where_nothing_else_is(tmp_path: Path) -> None:
    environment, made = tmp_path / "environment", tmp_path / "root"
    venv.create(environment, symlinks=True)
    packages = environment / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"
    (packages / "package").mkdir()
    (packages / "package/module.py").write_text("")
    subprocess.run([environment / "bin/python", Path(root.__file__), made], check=True)
    inside = made / str(environment).lstrip("/")
    inside.parent.mkdir(parents=True)
    shutil.copytree(environment, inside, symlinks=True)
    (made / "etc/hosts").write_text("127.0.0.1 localhost\n")  # an engine writes it
    run = ["/usr/sbin/chroot", "--userspec=10001:10001", str(made), str(environment / "bin/python"), "-c", SEES]
    said = subprocess.run(run, capture_output=True, text=True, check=False, env={})
    assert said.returncode == 0, said.stderr
    module, library = said.stdout.split()
    assert module == str(packages / "package/module.py")
    assert library.endswith("zoneinfo/__init__.pyc")
    assert not (made / "bin/sh").exists()
    assert [str(path) for path in made.rglob("*.py")] == [f"{made}{module}"]
    assert (made / "var/lib/dpkg/status.d/libc6").read_text().startswith("Package: libc6\n")
