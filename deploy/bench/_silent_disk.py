"""A disk that never says that something is durable: fsync and fdatasync wait as long as a file exists."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

_SOURCE: Final = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
static void silent(void) { const char *f = getenv("SILENT_DISK"); while (f && !access(f, F_OK)) usleep(20000); }
int fsync(int fd) { int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync"); silent(); return real(fd); }
int fdatasync(int fd) { int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync"); silent(); return real(fd); }
"""


def compiler() -> str | None:
    """The C compiler that it takes; null where there is none."""
    return shutil.which("cc")


class SilentDisk:
    """What stands between a process and its disk. `environment` is what the process is started with."""

    def __init__(self, folder: Path) -> None:
        self._flag = folder / "silent"
        self.environment: dict[str, str] = {}
        if (cc := compiler()) is not None:
            library = folder / "silent_disk.so"
            command = [cc, "-shared", "-fPIC", "-x", "c", "-o", str(library), "-", "-ldl"]
            subprocess.run(command, input=_SOURCE.encode(), check=True)
            self.environment = {"LD_PRELOAD": str(library), "SILENT_DISK": str(self._flag)}

    def fall_silent(self) -> None:
        """Nothing more is durable."""
        self._flag.touch()

    def speak(self) -> None:
        """All of it is."""
        self._flag.unlink(missing_ok=True)
