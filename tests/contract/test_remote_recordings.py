"""Manifests and recordings that lie elsewhere: every way to get them keeps the same contract."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from app.qa.replay.command import Request, execute
from app.qa.replay.labelling.check import examine
from app.qa.replay.manifests import remote
from app.qa.replay.manifests.readers import load
from schemas.errors import BadInput, DependencyFailed, NotFound, TooLarge

SOUND = (Path(__file__).parents[1] / "audio" / "balance.opus").read_bytes()
LINE = {"id": "a", "locale": "en-US", "audio": "audio/one two.opus", "expect": {"transcript": "what's my balance"}}


@dataclass
class Elsewhere:
    """Files by key, what was asked for, and with which status everything is refused."""

    files: dict[str, bytes] = field(default_factory=dict)
    sent: list[str] = field(default_factory=list)
    status: int = 0

    def put(self, key: str, body: bytes) -> None:
        self.files[key] = body


class StoreHandler(BaseHTTPRequestHandler):
    """A web server, and as much of S3 as reading takes."""

    there: Elsewhere

    def do_GET(self) -> None:
        where = urlsplit(self.path)
        key, asked = unquote(where.path).removeprefix("/bucket").lstrip("/"), parse_qs(where.query)
        if self.there.status:
            self._answer(self.there.status, b"")
        elif "list-type" in asked:
            self._answer(200, self._listed(asked.get("prefix", [""])[0], asked.get("delimiter", [""])[0]))
        elif key not in self.there.files:
            self._answer(404, b"")
        else:
            body = self.there.files[key]
            tag = f'"{hash(body)}"'
            if self.headers.get("If-None-Match") == tag:
                self._answer(304, b"")
                return
            if self.command == "GET":
                self.there.sent.append(key)
            self._answer(200, body, tag)

    do_HEAD = do_GET  # noqa: N815 - as the standard library calls it

    def _listed(self, prefix: str, delimiter: str) -> bytes:
        found = [key for key in self.there.files if key.startswith(prefix)]
        if delimiter:
            found = [key for key in found if delimiter not in key.removeprefix(prefix)]
        folders = {
            f"{prefix}{key.removeprefix(prefix).split('/')[0]}/"
            for key in self.there.files
            if delimiter and key.startswith(prefix) and "/" in key.removeprefix(prefix)
        }
        entries = "".join(
            f"<Contents><Key>{key}</Key><Size>{len(self.there.files[key])}</Size>"
            f"<LastModified>2026-01-15T12:00:00.000Z</LastModified><ETag>{hash(self.there.files[key])}</ETag></Contents>"
            for key in found
        ) + "".join(f"<CommonPrefixes><Prefix>{one}</Prefix></CommonPrefixes>" for one in sorted(folders))
        return f"<ListBucketResult><KeyCount>{len(found)}</KeyCount>{entries}</ListBucketResult>".encode()

    def _answer(self, status: int, body: bytes, tag: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Last-Modified", "Thu, 15 Jan 2026 12:00:00 GMT")
        if tag:
            self.send_header("ETag", tag)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[tuple[Elsewhere, int]]:
    there = Elsewhere()
    handler = type("Bound", (StoreHandler,), {"there": there})
    serving = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield there, serving.server_address[1]
    serving.shutdown()
    serving.server_close()


class StoreInMemory(Elsewhere):
    """fsspec's own file system in memory."""

    def put(self, key: str, body: bytes) -> None:
        import fsspec  # type: ignore[import-untyped]

        fsspec.filesystem("memory").pipe(f"/host/{key}", body)


@pytest.fixture(params=["http", "s3", "memory"])
def elsewhere(
    request: pytest.FixtureRequest, server: tuple[Elsewhere, int], monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Elsewhere, str]]:
    there, port = server
    if request.param == "http":
        yield there, f"http://127.0.0.1:{port}"
    elif request.param == "s3":
        if find_spec("s3fs") is None:
            pytest.skip("needs the extra `remote`")
        for name, value in (("ACCESS_KEY_ID", "x"), ("SECRET_ACCESS_KEY", "y"), ("DEFAULT_REGION", "eu-west-1")):
            monkeypatch.setenv(f"AWS_{name}", value)
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        monkeypatch.setenv("FSSPEC_S3_SKIP_INSTANCE_CACHE", "true")
        import s3fs  # type: ignore[import-untyped,import-not-found,unused-ignore]

        s3fs.S3FileSystem.clear_instance_cache()
        yield there, "s3://bucket"
    else:
        import fsspec

        fsspec.filesystem("memory").store.clear()
        yield StoreInMemory(), "memory://host"


def spelt(url: str) -> Path:
    """An address as the command line gets it: a path, which has lost a slash."""
    return Path(url)


def test_a_manifest_and_its_recordings_are_brought(elsewhere: tuple[Elsewhere, str], tmp_path: Path) -> None:
    there, root = elsewhere
    there.put("set/manifest.jsonl", json.dumps(LINE | {"expect": {"transcript": "x"}}).encode())
    there.put("set/defaults.json", b'{"customer": "alex-morgan"}')
    there.put("set/audio/one two.opus", SOUND)
    manifest = spelt(f"{root}/set/manifest.jsonl")
    found = examine(manifest, mirror=tmp_path)
    assert found.faults == ()
    assert "1 recordings: channel 0, the only one" in found.says
    read = remote.with_sound(load(remote.brought(manifest, tmp_path)), manifest, tmp_path)
    assert read.cases[0].customer == "alex-morgan"
    assert (read.base / str(read.cases[0].turns[0].audio)).read_bytes() == SOUND
    assert str(tmp_path) not in str(read.cases[0].turns[0].audio), "what is on record does not depend on where it lies"


def test_what_is_not_there_is_told_and_what_vanished_is_not_kept(
    elsewhere: tuple[Elsewhere, str], tmp_path: Path
) -> None:
    there, root = elsewhere
    with pytest.raises(NotFound, match="no manifest"):
        remote.brought(spelt(f"{root}/set/none.jsonl"), tmp_path)
    there.put("set/m.jsonl", json.dumps(LINE).encode())
    (fault,) = examine(spelt(f"{root}/set/m.jsonl"), mirror=tmp_path).faults
    assert "no such file" in fault


def test_a_recording_that_changed_is_brought_again(elsewhere: tuple[Elsewhere, str], tmp_path: Path) -> None:
    there, root = elsewhere
    there.put("set/m.jsonl", json.dumps(LINE).encode())
    for body in (SOUND, SOUND[:-40], SOUND[:-40]):
        there.put("set/audio/one two.opus", body)
        manifest = spelt(f"{root}/set/m.jsonl")
        read = remote.with_sound(load(remote.brought(manifest, tmp_path)), manifest, tmp_path)
        assert next(read.audio()).read_bytes() == body
    if root.startswith("http"):
        assert there.sent.count("set/audio/one two.opus") == 2, "what is the same is not sent again"


def test_a_folder_is_brought_whole(elsewhere: tuple[Elsewhere, str], tmp_path: Path) -> None:
    there, root = elsewhere
    if root.startswith("http"):
        pytest.skip("web servers list no folders")
    there.put("calls/defaults.json", b'{"locale": "en-US"}')
    there.put("calls/day/one.opus", SOUND)
    there.put("calls/day/one.txt", b"what's my balance")
    read = load(remote.brought(spelt(f"{root}/calls"), tmp_path))
    assert [case.id for case in read.cases] == ["day/one"]
    assert next(read.audio()).read_bytes() == SOUND


def test_a_manifest_here_may_name_recordings_elsewhere(server: tuple[Elsewhere, int], tmp_path: Path) -> None:
    there, port = server
    there.put("x.opus", SOUND)
    manifest = tmp_path / "m.jsonl"
    manifest.write_text(json.dumps(LINE | {"audio": f"http://127.0.0.1:{port}/x.opus?signature=secret"}))
    read = remote.with_sound(load(manifest), manifest, tmp_path / "mirror")
    assert next(read.audio()).read_bytes() == SOUND
    assert "secret" not in str(read.cases[0].turns[0].audio)


def test_a_service_that_fails_is_no_missing_recording(server: tuple[Elsewhere, int], tmp_path: Path) -> None:
    there, port = server
    there.status = 503
    with pytest.raises(DependencyFailed, match="503"):
        remote.brought(spelt(f"http://user:secret@127.0.0.1:{port}/m.jsonl?key=secret"), tmp_path)
    with pytest.raises(DependencyFailed) as told:
        remote.brought(spelt("http://user:secret@127.0.0.1:9/m.jsonl?key=secret"), tmp_path)
    assert "secret" not in str(told.value)


@pytest.mark.parametrize(
    "audio", ["file:///etc/passwd", "ftp://host/a.wav", "http://h/../../a", "http://h/%2e%2e/%2e%2e/a.wav"]
)
def test_addresses_that_lead_elsewhere_are_refused(audio: str, tmp_path: Path) -> None:
    manifest = tmp_path / "m.jsonl"
    manifest.write_text(json.dumps(LINE | {"audio": audio}))
    with pytest.raises(BadInput):
        remote.with_sound(load(manifest), manifest, tmp_path / "mirror")


def test_a_check_tells_of_every_recording_that_can_not_be_brought(tmp_path: Path) -> None:
    manifest = tmp_path / "m.jsonl"
    audio = ("http://127.0.0.1:9/a.opus", "ftp://host/a.wav", "http://h/%2e%2e/a.wav")
    manifest.write_text("\n".join(json.dumps(LINE | {"id": str(n), "audio": url}) for n, url in enumerate(audio)))
    told = "\n".join(examine(manifest, mirror=tmp_path / "mirror").faults)
    assert all(
        words in told for words in ("a.opus: ConnectError", "ftp:// can't be fetched", "can't be kept as a file")
    )


def test_two_files_that_differ_in_their_query_are_never_taken_for_one(
    server: tuple[Elsewhere, int], tmp_path: Path
) -> None:
    manifest = tmp_path / "m.jsonl"
    lines = [LINE | {"id": str(n), "audio": f"http://127.0.0.1:{server[1]}/get?id={n}"} for n in range(2)]
    manifest.write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(BadInput, match="two files"):
        remote.with_sound(load(manifest), manifest, tmp_path / "mirror")


def test_a_file_that_never_ends_is_cut(server: tuple[Elsewhere, int], tmp_path: Path) -> None:
    there, port = server
    there.put("x", b"0" * 5_000)
    url = f"http://127.0.0.1:{port}/x"
    with pytest.raises(TooLarge):
        remote.HttpStore().get(url, tmp_path / "x", "", 4_000)
    assert list(tmp_path.iterdir()) == []


def test_what_is_played_for_a_gateway_fetches_nothing(server: tuple[Elsewhere, int], tmp_path: Path) -> None:
    """Manifests that are uploaded must not make a server ask other servers."""
    there, port = server
    there.put("x.opus", SOUND)
    manifest = tmp_path / "m.jsonl"
    manifest.write_text(json.dumps(LINE | {"audio": f"http://127.0.0.1:{port}/x.opus"}))
    execute(Request(manifest, tmp_path / "out", jobs=1))
    assert there.sent == []
    assert b"only files are read here" in (tmp_path / "out" / "decisions.jsonl").read_bytes()
