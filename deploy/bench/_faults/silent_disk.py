"""A disk that never answers: fsync and fdatasync wait as long as one file exists; with another, all that is asked."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

_SOURCE: Final = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#define ASKED(name, params, given, where) int name params { ANSWER(name, given, where) }
#define ANSWER(name, given, where) \
  static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
  wait_for("HUNG_DISK", where); return real given;
static void wait_for(const char *flag, int here) {
  const char *f = getenv(flag); while (here && f && !syscall(SYS_faccessat, AT_FDCWD, f, F_OK)) usleep(20000); }
static int below(const char *path) { const char *d = getenv("DISK"); return d && path && !strncmp(path, d, strlen(d)); }
static int on(int fd) {
  char link[64], path[4096]; snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  if (n < 0) return 0; path[n] = 0; return below(path); }
ASKED(fsync, (int fd), (fd), (wait_for("SILENT_DISK", 1), on(fd)))
ASKED(fdatasync, (int fd), (fd), (wait_for("SILENT_DISK", 1), on(fd)))
ASKED(stat64, (const char *p, struct stat64 *s), (p, s), below(p))
ASKED(lstat64, (const char *p, struct stat64 *s), (p, s), below(p))
ASKED(fstat64, (int fd, struct stat64 *s), (fd, s), on(fd))
ASKED(fstatat64, (int d, const char *p, struct stat64 *s, int f), (d, p, s, f), below(p))
ASKED(unlink, (const char *p), (p), below(p))
int open64(const char *p, int f, ...) {
  va_list more; va_start(more, f); mode_t mode = va_arg(more, mode_t); va_end(more);
  ANSWER(open64, (p, f, mode), below(p)) }
ssize_t pread64(int fd, void *b, size_t n, off64_t o) { ANSWER(pread64, (fd, b, n, o), on(fd)) }
ssize_t pwrite64(int fd, const void *b, size_t n, off64_t o) { ANSWER(pwrite64, (fd, b, n, o), on(fd)) }
void *opendir(const char *p) { ANSWER(opendir, (p), below(p)) }
"""


def compiler() -> str | None:
    """The C compiler that it takes; null where there is none."""
    return shutil.which("cc")


class SilentDisk:
    """What stands between a process and its disk: that of `files` alone. `environment` is what it is started with."""

    def __init__(self, folder: Path, files: Path) -> None:
        self._silent, self._hung = folder / "silent", folder / "hung"
        self.environment: dict[str, str] = {}
        if (cc := compiler()) is not None:
            library = folder / "silent_disk.so"
            command = [cc, "-shared", "-fPIC", "-x", "c", "-o", str(library), "-", "-ldl"]
            subprocess.run([*command, "-w"], input=_SOURCE.encode(), check=True)
            flags = {"SILENT_DISK": str(self._silent), "HUNG_DISK": str(self._hung)}
            self.environment = {"LD_PRELOAD": str(library), "DISK": str(files), **flags}

    def fall_silent(self) -> None:
        """Nothing more is durable."""
        self._silent.touch()

    def hang(self) -> None:
        """Not even what is there can be read, or looked for."""
        self._hung.touch()

    def speak(self) -> None:
        """All of it is."""
        self._silent.unlink(missing_ok=True)
        self._hung.unlink(missing_ok=True)
