"""Manifests and recordings that lie elsewhere: brought into a folder here, by http(s), or by fsspec (S3 and its like).

What was brought before is asked for again, and brought again unless its owner says that it is the same.
"""

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from os.path import relpath
from pathlib import Path
from typing import IO, Final, Protocol, TypeVar
from urllib.parse import quote, unquote, urljoin, urlsplit

import httpx
import orjson

from app.qa.replay.manifests.folders import DEFAULTS
from app.qa.replay.manifests.manifest import Case, Manifest
from app.qa.replay.manifests.readers import MAX_MANIFEST_BYTES
from app.qa.replay.provenance import endpoint
from app.qa.replay.sound.audio import MAX_FILE_BYTES
from schemas.errors import BadInput, DependencyFailed, NotFound, TellerlineError, TooLarge

_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+(.+)", re.DOTALL)
_HTTP: Final = frozenset({"http", "https"})
_KNOWN: Final = frozenset({*_HTTP, "s3", "s3a", "gs", "gcs", "az", "abfs", "memory"})
"""Schemes that are fetched; a manifest from elsewhere names no file of this machine."""
_TAGS: Final = ".tags.json"
_THREADS: Final = 8
_TIMEOUT_S: Final = 60.0
_BLOCK: Final = 1 << 20
_NO_FILE: Final = frozenset({403, 404, 410})
"""Stores that hide what one may not list answer 403 for what there is not."""
MAX_FOLDER: Final = 200_000
T = TypeVar("T")


class RemoteStore(Protocol):
    """One way to get files. Raises DependencyFailed where its service fails."""

    def get(self, url: str, target: Path, tag: str, most: int) -> str | None:
        """Bring a file, unless it still has the tag; its tag, empty where it has none, None where there is no file."""
        ...

    def below(self, url: str) -> tuple[str, ...]:
        """Every file below a folder; nothing where it is none."""
        ...


def url_of(path: Path | str) -> str | None:
    """The address that a path spells, one of whose slashes paths lose; None of a file here. Raises BadInput."""
    found = _URL.fullmatch(str(path))
    if found is None:
        return None
    scheme = found[1].lower()
    if scheme not in _KNOWN:
        raise BadInput(f"{path}: {scheme}:// can't be fetched; one of {', '.join(sorted(_KNOWN))} can")
    return f"{scheme}://{found[2]}"


def brought(path: Path, mirror: Path) -> Path:
    """The manifest as a file or folder here. Raises NotFound, BadInput, TooLarge, DependencyFailed."""
    url = url_of(path)
    if url is None:
        return path
    store = store_of(url)
    if inside := store.below(url):
        Fetch(mirror).all([(one, place(mirror, one)) for one in inside], MAX_FILE_BYTES)
        return place(mirror, url)
    target = place(mirror, url)
    beside = _joined(url, DEFAULTS)
    absent = Fetch(mirror).all([(url, target), (beside, place(mirror, beside))], MAX_MANIFEST_BYTES)
    if url in absent:
        raise NotFound(f"no manifest {endpoint(url)}")
    return target


def with_sound(manifest: Manifest, path: Path, mirror: Path, faults: list[str] | None = None) -> Manifest:
    """The manifest with every recording that lies elsewhere brought here; what is not there is left absent.

    What can't be brought is told in `faults`; where that is None, raises BadInput, TooLarge, DependencyFailed.
    """
    url = url_of(path)
    wanted: dict[str, tuple[str, Path]] = {}
    for name in dict.fromkeys(turn.audio for case in manifest.cases for turn in case.turns if turn.audio is not None):
        try:
            where = url_of(name) or (None if url is None else _joined(url, name))
            if where is not None:
                wanted[name] = where, place(mirror, where)
        except BadInput as error:
            if faults is None:
                raise
            faults.append(error.message)
    if not wanted:
        return manifest
    Fetch(mirror).all(list(wanted.values()), MAX_FILE_BYTES, faults)
    here = {name: relpath(target, manifest.base) for name, (_, target) in wanted.items()}
    return manifest.model_copy(update={"cases": tuple(_renamed(case, here) for case in manifest.cases)})


def _renamed(case: Case, here: dict[str, str]) -> Case:
    turns = (turn.model_copy(update={"audio": here.get(turn.audio or "", turn.audio)}) for turn in case.turns)
    return case.model_copy(update={"turns": tuple(turns)})


def place(mirror: Path, url: str) -> Path:
    """Where a file lies here: by its address less what may be secret in it. Raises BadInput where that leads out."""
    scheme, _, rest = url.partition("://")
    host, _, path = rest.partition("/")  # a key of a store is its name as it is; a path of the web is quoted
    if scheme in _HTTP:
        parts = urlsplit(url)
        host, path = (parts.hostname or "") + (f"_{parts.port}" if parts.port else ""), unquote(parts.path)
    names = [name for name in path.split("/") if name]
    if not host or any(name == ".." or not name.isprintable() or "\\" in name for name in (host, *names)):
        raise BadInput(f"{endpoint(url)}: an address that can't be kept as a file")
    return mirror.joinpath(scheme, host, *names)


def _joined(url: str, name: str) -> str:
    """The address of a name beside a file's."""
    if urlsplit(url).scheme in _HTTP:
        return urljoin(url, quote(name))
    return f"{url.rpartition('/')[0]}/{name}"


class Fetch:
    """Brings files, several at a time, and remembers their tags beside them."""

    def __init__(self, mirror: Path) -> None:
        self._mirror = mirror
        self._stores: dict[str, RemoteStore] = {}
        mirror.mkdir(parents=True, exist_ok=True)
        try:
            self._tags: dict[str, str] = orjson.loads((mirror / _TAGS).read_bytes())
        except (OSError, orjson.JSONDecodeError):
            self._tags = {}

    def all(self, wanted: list[tuple[str, Path]], most: int, faults: list[str] | None = None) -> frozenset[str]:
        """Bring these; the addresses at which there is nothing. What fails is raised, or told in `faults`.

        Raises BadInput where two would be one file here.
        """
        places: dict[Path, str] = {}
        for url, target in wanted:
            if places.setdefault(target, url) != url:
                raise BadInput(f"{endpoint(url)} is two files, which differ in their query alone")

        def bring(target: Path) -> tuple[Path, str | None]:
            url = places[target]
            tag = self._tags.get(self._key(target), "") if target.is_file() else ""
            try:
                return target, self._store(url).get(url, target, tag, most)
            except TellerlineError as error:
                if faults is None:
                    raise
                faults.append(error.message)
                return target, None

        with ThreadPoolExecutor(_THREADS) as pool:
            found = dict(pool.map(bring, places))
        for target, tag in found.items():
            if tag is None:
                target.unlink(missing_ok=True)
            self._tags[self._key(target)] = tag or ""
        (self._mirror / _TAGS).write_bytes(orjson.dumps(self._tags, option=orjson.OPT_SORT_KEYS))
        return frozenset(places[target] for target, tag in found.items() if tag is None)

    def _store(self, url: str) -> RemoteStore:
        scheme = urlsplit(url).scheme
        if scheme not in self._stores:
            self._stores[scheme] = store_of(url)
        return self._stores[scheme]

    def _key(self, target: Path) -> str:
        return target.relative_to(self._mirror).as_posix()


def store_of(url: str) -> RemoteStore:
    """The way to get an address. Raises BadInput where what it needs is not installed."""
    return HttpStore() if urlsplit(url).scheme in _HTTP else FsspecStore(urlsplit(url).scheme)


class HttpStore:
    """Files by http and https."""

    def __init__(self) -> None:
        self._client = httpx.Client(follow_redirects=True, timeout=_TIMEOUT_S)

    def get(self, url: str, target: Path, tag: str, most: int) -> str | None:
        """Bring a file; an ETag is its tag. Raises DependencyFailed."""
        asked = {"If-None-Match": tag} if tag else {}
        try:
            with self._client.stream("GET", url, headers=asked) as answer:
                if answer.status_code == httpx.codes.NOT_MODIFIED:
                    return tag
                if answer.status_code in _NO_FILE:
                    return None
                answer.raise_for_status()
                write(target, answer.iter_bytes(_BLOCK), most, url)
                return str(answer.headers.get("ETag", ""))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise DependencyFailed(f"{endpoint(url)}: {_why(error)}") from error

    def below(self, url: str) -> tuple[str, ...]:
        """Web servers list no folders."""
        del self, url
        return ()


def _why(error: Exception) -> str:
    return str(error.response.status_code) if isinstance(error, httpx.HTTPStatusError) else type(error).__name__


class FsspecStore:
    """Files by whatever fsspec knows: S3 (`s3fs` in the extra `remote`) and its like, by their own settings."""

    def __init__(self, scheme: str) -> None:
        try:
            import fsspec  # type: ignore[import-untyped]

            self._files = fsspec.filesystem(scheme)
        except ImportError as error:
            raise BadInput(
                f"{scheme}:// needs a package that is not installed: `make remote` brings S3's ({error})"
            ) from error

    def get(self, url: str, target: Path, tag: str, most: int) -> str | None:
        """Bring a file; its ETag is its tag."""

        def read() -> str | None:
            told = self._files.info(url)
            now = str(told.get("ETag") or "")
            if told.get("type") != "file":
                return None
            if not tag or now != tag:
                with self._files.open(url, "rb") as file:
                    write(target, _blocks(file), most, url)
            return now

        return self._asked(url, read, None)

    def below(self, url: str) -> tuple[str, ...]:
        """Every file below a folder. Raises TooLarge."""

        def read() -> tuple[str, ...]:
            if not self._files.isdir(url):
                return ()
            found = self._files.find(url)
            if len(found) > MAX_FOLDER:
                raise TooLarge(f"{endpoint(url)} holds more than {MAX_FOLDER} files")
            return tuple(self._files.unstrip_protocol(name).replace(":///", "://") for name in found)

        return self._asked(url, read, ())

    def _asked(self, url: str, work: Callable[[], T], absent: T) -> T:
        """What a service does, in errors of the tree: services have a hundred of their own."""
        try:
            return work()
        except FileNotFoundError:
            return absent
        except TellerlineError:
            raise
        except Exception as error:
            raise DependencyFailed(f"{endpoint(url)}: {type(error).__name__}") from error


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    while block := file.read(_BLOCK):
        yield block


def write(target: Path, blocks: Iterator[bytes], most: int, url: str) -> None:
    """Write a file whole, or not at all. Raises TooLarge."""
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f"{target.name}.part")
    held = 0
    try:
        with fresh.open("wb") as file:
            for block in blocks:
                held += len(block)
                if held > most:
                    raise TooLarge(f"{endpoint(url)} is larger than {most} bytes")
                file.write(block)
        fresh.rename(target)
    finally:
        fresh.unlink(missing_ok=True)
