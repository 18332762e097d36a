"""Carries out the Dockerfile's steps in a root file system, and runs what comes of them: `deploy.trial.image BASE`.

BASE is a root file system with Debian's Python in it, which stands in for every image that a stage starts from
(`debian.sh` makes it). Needs root. Size, time to ready and memory are printed; exit status 1 where a step, the service
or its call fails.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from deploy.trial import dockerfile, works
from deploy.trial.dockerfile import BuildStage, DockerfileInvalid, Instruction

ROOT: Final = Path(__file__).parents[2]
START_S: Final = 180.0
STARTS: Final = 5
"""The first of them reads the image from the disk."""
PORT: Final = "18089"
IN_MEMORY: Final = ("/tmp", "/dev/shm")  # noqa: S108 - the container's own
PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_SETTLED: Final = frozenset({"ENV", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT", "CMD"})
"""Instructions that change no file."""
Variables = dict[str, str]


class Image:
    """The root file system that a stage is made in."""

    def __init__(self, root: Path, stage: BuildStage) -> None:
        self.root = root
        self.stage = stage
        self.folder = "/"

    def seen(self, container: str = "") -> Path:
        """Where a container's files are laid out."""
        return self.root.with_name(f"seen{container}")

    def state(self, container: str = "") -> Path:
        """A container's own folder."""
        return self.root.with_name(f"state{container}")

    def carry_out(self, others: "dict[str, Image]", network: Variables) -> None:
        """Every step of the stage. Raises CalledProcessError, DockerfileInvalid."""
        done: list[Instruction] = []
        given: Variables = {}
        for step in self.stage.steps:
            environment = BuildStage(self.stage.base, "", tuple(done)).environment({"PATH": PATH})
            print(f"  {step.name} {step.text[:100]}", flush=True)
            if step.name == "RUN":
                self._run(step.text, environment | given | network)
            elif step.name == "ARG":
                name, _, unless_given = step.text.partition("=")
                given[name] = unless_given
            elif step.name == "WORKDIR":
                self.folder = step.text
                self._inside(step.text).mkdir(parents=True, exist_ok=True)
            elif step.name == "COPY":
                self._copy(step, others)
            elif step.name not in _SETTLED:
                raise DockerfileInvalid(f"{step.name} is not carried out here")
            done.append(step)

    def _inside(self, path: str) -> Path:
        return self.root / str(Path(self.folder, path)).lstrip("/")

    def _run(self, command: str, environment: Variables) -> None:
        shell = f"cd {self.folder} && {command}"
        subprocess.run(["chroot", self.root, "/bin/sh", "-ec", shell], env=environment, check=True)

    def _copy(self, step: Instruction, others: "dict[str, Image]") -> None:
        *sources, target = step.words
        came_from = others[step.flags["from"]].root if "from" in step.flags else ROOT
        into = self._inside(target)
        for source in sources:
            found = came_from / source.lstrip("/")
            into.parent.mkdir(parents=True, exist_ok=True)
            if found.is_dir():
                ignored = None if "from" in step.flags else shutil.ignore_patterns("__pycache__", "*.egg-info")
                shutil.copytree(found, into, symlinks=True, dirs_exist_ok=True, ignore=ignored)
                made = [into / path.relative_to(found) for path in found.rglob("*")]
            else:
                place = into / found.name if target.endswith("/") else into
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(found, place)
                made = [place]
            for path in made if "chown" in step.flags else ():
                os.chown(path, *map(int, step.flags["chown"].split(":")), follow_symlinks=False)


def made(base: Path, work: Path, network: Variables, file: str = "Dockerfile", **known: Image) -> Image:
    """The last stage's image of `file`, all carried out in order; `known` are others, by the names they have."""
    images: dict[str, Image] = {}
    for stage in dockerfile.read(ROOT / file):
        print(f"FROM {stage.base} AS {stage.name}", flush=True)
        if stage.base.partition(":")[0] in known:
            images[stage.name] = known[stage.base.partition(":")[0]]
            continue
        root = work / f"{Path(file).parent.name}{stage.name}"
        images[stage.name] = Image(root, stage)
        if stage.base == "scratch":
            root.mkdir()
            images[stage.name].carry_out(images, network)
            continue
        subprocess.run(["cp", "-a", "--reflink=auto", base, root], check=True)
        with _mounted(root):
            images[stage.name].carry_out(images, network)
    return images[stage.name]


@contextmanager
def _mounted(root: Path) -> Iterator[None]:
    """What a step finds beside its files."""
    with ExitStack() as stack:
        for words in (["-t", "proc", "proc", root / "proc"], ["--bind", "/dev", root / "dev"]):
            subprocess.run(["mount", *map(str, words)], check=True)
            stack.callback(subprocess.run, ["umount", "-l", str(words[-1])], check=False)
        yield


@contextmanager
def confined(image: Image, settings: Variables) -> Iterator["subprocess.Popen[bytes]"]:
    """The service as compose confines it: its own user, no rights to gain, a root that can't be written."""
    entry, command = (_last(image.stage, name) for name in ("ENTRYPOINT", "CMD"))
    environment = image.stage.environment({"PATH": PATH}) | {"HOME": "/nonexistent"} | settings
    with ExitStack() as stack:
        stack.enter_context(laid_out(image))
        process = subprocess.Popen([*entered(image), *entry.words, *command.words], env=environment)
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)


@contextmanager
def laid_out(image: Image, container: str = "") -> Iterator[None]:
    """The image's files as a container sees them: nothing can be written but its own folder, and what is in memory."""
    seen, state = image.seen(container), image.state(container)
    state.mkdir(mode=0o700)
    os.chown(state, *_user(image.stage))
    seen.mkdir()
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, state)
        stack.callback(seen.rmdir)
        mounts: list[list[str]] = [
            ["--bind", str(image.root), str(seen)], ["-o", "remount,bind,ro", str(seen)],
            ["-t", "proc", "proc", f"{seen}/proc"], ["--bind", "/dev", f"{seen}/dev"],
            *(["-t", "tmpfs", "-o", "mode=1777,size=512m", "tmp", f"{seen}{place}"] for place in IN_MEMORY),
            ["--bind", str(state), f"{seen}{_last(image.stage, 'WORKDIR').text}"],
        ]  # fmt: skip
        for words in mounts:
            subprocess.run(["mount", *words], check=True)
            if words[0] != "-o" or not words[1].startswith("remount"):
                stack.callback(subprocess.run, ["umount", "-l", words[-1]], check=False)
        yield


def _user(stage: BuildStage) -> tuple[int, int]:
    uid, _, gid = _last(stage, "USER").text.partition(":")
    return int(uid), int(gid)


def entered(image: Image, container: str = "") -> list[str]:
    """What puts a command into a container that is laid out, as its user; the image has no shell to do so."""
    (uid, gid), folder = _user(image.stage), _last(image.stage, "WORKDIR").text
    become = ["setpriv", "--no-new-privs", "unshare", f"--setuid={uid}", f"--setgid={gid}"]
    return [*become, f"--root={image.seen(container)}", f"--wd={folder}"]


def ran(image: Image, settings: Variables, words: list[str]) -> int:
    """Run a command of it, as `docker exec` does; its exit status."""
    environment = image.stage.environment({"PATH": PATH}) | {"HOME": "/nonexistent"} | settings
    return subprocess.run([*entered(image), *words], env=environment, check=False).returncode


def _last(stage: BuildStage, name: str) -> Instruction:
    step = stage.last(name)
    if step is None:
        raise DockerfileInvalid(f"no {name}")
    return step


def healthy(image: Image, process: "subprocess.Popen[bytes]", settings: Variables) -> float:
    """Wait until the image's own health check says yes; how many seconds that took. Raises SystemExit."""
    check = image.stage.health
    if check is None:
        raise DockerfileInvalid("no HEALTHCHECK")
    began, port = time.monotonic(), int(settings["TELLERLINE_PORT"])
    while not _listens(port) and process.poll() is None and time.monotonic() - began < START_S:
        time.sleep(0.05)  # the check is a process of its own, and would slow down what it waits for
    while ran(image, settings, list(check.test)):
        if process.poll() is not None or time.monotonic() - began > START_S:
            raise SystemExit(f"the service was not healthy: exit status {process.poll()}")
        time.sleep(0.1)
    return time.monotonic() - began


def used(process: "subprocess.Popen[bytes]") -> float:
    """Seconds of processor time that it has taken."""
    ticks = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def _listens(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


def faults(process: "subprocess.Popen[bytes]", image: Image) -> list[str]:
    """What of the confinement does not hold."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    told = {line.split(":")[0]: line.split()[1:] for line in status.splitlines() if ":" in line}
    found = [] if told["Uid"][0] == _last(image.stage, "USER").text.split(":")[0] else ["it runs as another user"]
    kept = (image.root / _last(image.stage, "VOLUME").text.lstrip("/")).stat()
    found += [] if (kept.st_uid, kept.st_gid) == _user(image.stage) else ["its own folder is not its user's"]
    found += [] if int(told["CapEff"][0], 16) == 0 and told["NoNewPrivs"] == ["1"] else ["it may gain rights"]
    try:
        Path(f"/proc/{process.pid}/root/opt/tellerline/written").touch()
        found.append("its root can be written")
    except OSError:
        pass
    return found


def megabytes(folder: Path) -> float:
    """What its files take on the disk."""
    said = subprocess.run(["du", "-sxk", folder], check=True, capture_output=True, text=True).stdout
    return int(said.split()[0]) / 1024


def _tell_start(image: Image, process: "subprocess.Popen[bytes]", settings: Variables) -> None:
    print(f"ready after {healthy(image, process, settings):.1f} s, {used(process):.1f} s of processor time", flush=True)


@contextmanager
def workshop(base: Path) -> Iterator[Path]:
    """A folder beside the base, which is gone in the end."""
    work = Path(tempfile.mkdtemp(prefix="tellerline-image-", dir=base.parent))
    try:
        yield work
    finally:
        if str(work) not in Path("/proc/self/mounts").read_text():  # never through a mount into this machine's /dev
            shutil.rmtree(work, ignore_errors=True)


def told(wrong: list[str]) -> int:
    """Print what is not as it should be; the exit status."""
    for fault in wrong:
        print(f"not as it should be: {fault}")
    return 1 if wrong else 0


def main(arguments: list[str]) -> int:
    """The command line: the base, and settings of the network as NAME=VALUE."""
    if not arguments:
        sys.exit(__doc__)
    base, network = Path(arguments[0]), dict(pair.split("=", 1) for pair in arguments[1:])
    settings = {"TELLERLINE_PORT": PORT, "TELLERLINE_LOG_LEVEL": "WARNING"}
    with workshop(base) as work:
        began = time.monotonic()
        image = made(base, work, network)
        print(f"built in {time.monotonic() - began:.0f} s")
        print(f"size: {megabytes(image.root):.0f} MB")
        for _ in range(STARTS - 1):
            with confined(image, settings) as process:
                _tell_start(image, process, settings)
        with confined(image, settings) as process:
            _tell_start(image, process, settings)
            wrong = faults(process, image)
            inside = partial(ran, image, settings)
            wrong += works.faults(f"http://127.0.0.1:{PORT}", image.state(), inside)
    return told(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
