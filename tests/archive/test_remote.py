"""Archives in object stores and on web servers: a real S3 server, behind a proxy that cuts."""

import json
import os
import random
import socket
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from newscrawl.archive import ArchiveError, remote
from newscrawl.archive.ingest import Ingestion, ReadingConfig
from newscrawl.archive.remote import RemoteFile, open_file, remote_files
from newscrawl.reading import PageReader
from newscrawl.storage import open_database
from tests.archives import page, warc
from tests.site.crawling import rows_of

# Found but not imported yet: that takes a second of all processes of pytest.
if not all(map(find_spec, ("s3fs", "boto3", "moto"))):
    reason = "needs the extra s3 and moto[server]; make dev installs them"
    pytest.skip(reason, allow_module_level=True)

CONFIG = ReadingConfig(reader=PageReader(method="combined", min_characters=120))
BUSY = (
    b"HTTP/1.1 503 Slow Down\r\nContent-Type: application/xml\r\nConnection: close\r\n\r\n"
    b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
)
READ_NOTHING = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": ["s3:ListBucket"], "Resource": "*"}],
}


class Proxy:
    """A TCP proxy that answers `busy` connections with 503 and cuts `cuts` others in mid-answer."""

    def __init__(self, target: tuple[str, int], *, busy: int = 0, cuts: int = 0) -> None:
        self._target = target
        self.busy = busy
        self.cuts = cuts
        self._random = random.Random(16)  # noqa: S311 - the same cuts in each run
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._forward, args=(client,), daemon=True).start()

    def _forward(self, client: socket.socket) -> None:
        """Forward one request, which has no body; the server ends the connection after it."""
        with client, socket.create_connection(self._target) as server:
            request = client.recv(65536)
            if self.busy:
                self.busy -= 1
                client.sendall(BUSY)
                return
            server.sendall(request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
            answer = b"".join(iter(lambda: server.recv(65536), b""))
            if self.cuts and b"range:" in request.lower():
                self.cuts -= 1
                answer = answer[: self._random.randrange(len(answer))]
            client.sendall(answer)

    def close(self) -> None:
        """Accept no more connections."""
        self._listener.close()


@pytest.fixture(scope="module")
def s3_server() -> Iterator[tuple[str, int]]:
    from moto.server import ThreadedMotoServer  # noqa: PLC0415

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield server.get_host_and_port()
    server.stop()


def client_of(service: str, url: str) -> Any:
    import boto3  # noqa: PLC0415

    return boto3.client(service, endpoint_url=url)


@pytest.fixture
def s3(s3_server: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of the S3 server with an empty bucket, whose address the environment has."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setattr(remote, "_FIRST_PAUSE", 0.001)
    url = "http://{}:{}".format(*s3_server)
    connect(monkeypatch, url)
    client = client_of("s3", url)
    client.create_bucket(Bucket="news")
    yield client
    for entry in client.list_objects_v2(Bucket="news").get("Contents", ()):
        client.delete_object(Bucket="news", Key=entry["Key"])
    client.delete_bucket(Bucket="news")
    client.close()


def connect(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Let s3:// addresses be those of a server."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", url)
    remote._system_of.cache_clear()
    import s3fs  # noqa: PLC0415 - an extra

    s3fs.S3FileSystem.clear_instance_cache()


def stored(path: Path) -> list[dict[str, Any]]:
    """The articles and mentions of an SQLite database."""
    return rows_of(
        path,
        "SELECT url, title, text, published_at, content_hash, "
        "(SELECT count(*) FROM mentions WHERE article_id = articles.id) "
        "FROM articles ORDER BY url",
    )


@pytest.mark.parametrize("part_bytes", [2_000, 2_000_000], ids=["many ranges", "one range"])
def test_s3_and_disk_give_the_same_rows_although_connections_are_cut(
    s3, s3_server, tmp_path, monkeypatch, part_bytes
):
    monkeypatch.setattr("newscrawl.archive.ingest.PART_BYTES", part_bytes)
    path = warc(tmp_path / "cc.warc.gz", *(page(number) for number in range(24)))
    s3.upload_file(str(path), "news", "2026/11/cc.warc.gz")
    proxy = Proxy(s3_server, busy=4, cuts=10)
    connect(monkeypatch, proxy.url)
    with open_database(f"sqlite:///{tmp_path}/disk.sqlite") as database:
        Ingestion(database, CONFIG, workers=1).run([path])
        # The same file, elsewhere: nothing is left to do.
        (again,) = Ingestion(database, CONFIG, workers=1).run(remote_files("s3://news/2026/"))
    with open_database(f"sqlite:///{tmp_path}/s3.sqlite") as database:
        files = remote_files("s3://news/2026/*/*.warc.gz")
        (state,) = Ingestion(database, CONFIG, workers=1).run(files)
    proxy.close()
    assert again.done_before
    assert (proxy.busy, proxy.cuts) == (0, 0)
    assert (state.counts["new"], state.counts["damaged"], state.problem) == (24, 0, "")
    rows = stored(tmp_path / "disk.sqlite")
    assert len(rows) == 24
    assert stored(tmp_path / "s3.sqlite") == rows


def test_store_that_stays_busy_is_one_line(s3, s3_server, monkeypatch, newscrawl):
    proxy = Proxy(s3_server, busy=1_000)
    connect(monkeypatch, proxy.url)
    done = newscrawl("ingest", "s3://news/")
    proxy.close()
    assert "can't list s3://news/, 6 attempts failed" in done.refused()


def test_denied_access_is_one_line(s3, s3_server, tmp_path, monkeypatch, newscrawl):
    """With wrong keys nothing can be listed; with others, files can be listed but not read."""
    url = os.environ["AWS_ENDPOINT_URL"]
    s3.upload_file(str(warc(tmp_path / "a.warc.gz", page(1))), "news", "a.warc.gz")
    iam = client_of("iam", url)
    iam.create_user(UserName="reader")
    policy = json.dumps(READ_NOTHING)
    iam.put_user_policy(UserName="reader", PolicyName="list", PolicyDocument=policy)
    key = iam.create_access_key(UserName="reader")["AccessKey"]
    iam.close()
    check_keys(s3_server, b"0")
    try:
        connect(monkeypatch, url)
        wrong = newscrawl("ingest", "s3://news/")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", key["AccessKeyId"])
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", key["SecretAccessKey"])
        connect(monkeypatch, url)
        unreadable = newscrawl("ingest", "s3://news/", "--format", "json")
    finally:
        check_keys(s3_server, b"1000000")
    assert "can't list s3://news/: access denied" in wrong.refused()
    assert "check the credentials" in wrong.err
    assert unreadable.code == 1
    assert "can't read s3://news/a.warc.gz: access denied" in unreadable.err
    assert [row["state"] for row in json.loads(unreadable.out)] == ["failed"]


def check_keys(server: tuple[str, int], requests: bytes) -> None:
    """Let moto check the keys after a number of further requests."""
    length = f"Content-Length: {len(requests)}\r\n".encode()
    with socket.create_connection(server) as connection:
        head = b"POST /moto-api/reset-auth HTTP/1.1\r\nHost: s3\r\nConnection: close\r\n"
        connection.sendall(head + length + b"\r\n" + requests)
        assert b" 200 " in connection.recv(4096)


def test_missing_credentials_are_one_line(s3, tmp_path, monkeypatch, newscrawl):
    url = os.environ["AWS_ENDPOINT_URL"]
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("HOME", str(tmp_path))
    connect(monkeypatch, url)
    done = newscrawl("ingest", "s3://news/a.warc.gz")
    assert "set AWS_ACCESS_KEY_ID" in done.refused()


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("s3://news/", "no WARC file (*.warc.gz, *.warc) at s3://news/"),
        ("s3://none/a.warc.gz", "can't list s3://none/a.warc.gz: not there"),
        ("https://news.example/2026/", "name each WARC file"),
        ("https://news.example/*.warc.gz", "name each WARC file"),
        ("nothing://news/a.warc", "can't read nothing:// addresses"),
    ],
)
def test_invalid_address_is_one_line(s3, newscrawl, url, problem):
    assert problem in newscrawl("ingest", url).refused()


def test_missing_package_is_named(monkeypatch, newscrawl):
    remote._system_of.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    done = newscrawl("ingest", "s3://news/a.warc.gz")
    assert "pip install 'newscrawl[s3]'" in done.refused()


def test_results_are_written_to_s3(s3, tmp_path, newscrawl):
    pytest.importorskip("pyarrow")
    path = warc(tmp_path / "cc.warc.gz", *(page(number) for number in range(6)))
    for target in ("s3://news/results", tmp_path / "results"):
        done = newscrawl("ingest", path, "--to", target, "--workers", 1)
        assert done.code == 0, done.err
    again = newscrawl("ingest", path, "--to", "s3://news/results", "--workers", 1, "-f", "json")
    assert [row["state"] for row in json.loads(again.out)] == ["done before"]
    names = [entry["Key"] for entry in s3.list_objects_v2(Bucket="news")["Contents"]]
    local = {
        f"results/{file.relative_to(tmp_path / 'results')}": file.read_bytes()
        for file in (tmp_path / "results").rglob("*.parquet")
    }
    assert len(local) == 6
    assert {name for name in names if name.endswith(".parquet")} == set(local)
    for name, data in local.items():
        assert s3.get_object(Bucket="news", Key=name)["Body"].read() == data


# Web servers -------------------------------------------------------------------------------------


def test_archive_of_a_web_server_is_read_by_ranges(s3, tmp_path):
    data = warc(tmp_path / "a.warc.gz", *(page(number) for number in range(3))).read_bytes()
    s3.put_object(Bucket="news", Key="a.warc.gz", Body=data, ACL="public-read")
    (file,) = remote_files(f"{os.environ['AWS_ENDPOINT_URL']}/news/a.warc.gz?signature=secret")
    assert (file.name, file.size, "secret" in str(file)) == ("a.warc.gz", len(data), False)
    with open_file(file) as stream:
        stream.seek(1_000)
        assert stream.read(50) == data[1_000:1_050]


class _Redirect(SimpleHTTPRequestHandler):
    """Redirects /moved.warc to /a.warc, and ignores ranges."""

    def send_head(self) -> Any:
        if self.path != "/moved.warc":
            return super().send_head()
        self.send_response(302)
        self.send_header("Location", "/a.warc")
        self.end_headers()
        return None

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@pytest.fixture
def web_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(remote, "_FIRST_PAUSE", 0.001)
    remote._system_of.cache_clear()
    handler = partial(_Redirect, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_web_server_without_ranges_is_one_line(web_server, tmp_path):
    (tmp_path / "a.warc").write_bytes(bytes(3_000_000))
    (file,) = remote_files(f"{web_server}/a.warc")
    with open_file(file) as stream:
        stream.seek(1_000_000)
        with pytest.raises(ArchiveError, match="serves no ranges, download the file"):
            stream.read(10)


def test_only_named_private_addresses_are_requested(web_server, tmp_path, monkeypatch):
    (tmp_path / "a.warc").write_bytes(b"WARC/1.0")
    assert remote_files(f"{web_server}/moved.warc") == [RemoteFile(f"{web_server}/moved.warc", 8)]
    # A name with a public address when it is checked, and a private one when it is connected.
    resolve = socket.getaddrinfo

    def resolve_twice(host: str, port: int | None, *args: Any, **options: Any) -> Any:
        address = "127.0.0.1" if port else "93.184.215.14"
        return resolve(address if host == "news.example" else host, port, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolve_twice)
    with pytest.raises(ArchiveError, match=r"redirects to the private address 127\.0\.0\.1"):
        remote_files(f"{web_server.replace('127.0.0.1', 'news.example')}/a.warc")


def test_unreachable_web_server_is_one_line(web_server, newscrawl):
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    done = newscrawl("ingest", f"http://127.0.0.1:{port}/a.warc")
    assert "attempts failed" in done.refused()


@pytest.fixture
def gs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A file system of Google Cloud Storage, whose server the environment names."""
    emulator = pytest.importorskip("gcp_storage_emulator.server", reason="make dev installs it")
    pytest.importorskip("gcsfs", reason="make dev installs it")
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    server = emulator.create_server("127.0.0.1", port, in_memory=True, default_bucket="news")
    server.start()
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{port}")
    # The emulator has no gRPC, by which gcsfs asks for the kind of a bucket.
    monkeypatch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
    monkeypatch.setattr(remote, "_FIRST_PAUSE", 0.001)
    remote._system_of.cache_clear()
    yield remote.file_system("gs://news/")
    remote._system_of.cache_clear()
    server.stop()


def test_google_cloud_storage_gives_the_rows_of_the_disk(gs, tmp_path, newscrawl):
    local = warc(tmp_path / "a.warc.gz", *map(page, range(6)))
    gs.pipe_file("gs://news/2026/11/a.warc.gz", local.read_bytes())
    for name, address in (("disk", local), ("cloud", "gs://news/2026/*/*.warc.gz")):
        database = f"sqlite:///{tmp_path}/{name}.sqlite"
        done = newscrawl("ingest", address, "--workers", 1, "--database", database)
        assert done.code == 0, done.err
    assert stored(tmp_path / "cloud.sqlite") == stored(tmp_path / "disk.sqlite")
    missing = newscrawl("ingest", "gs://news/2025/")
    assert (missing.code, missing.err.count("\n")) == (2, 1)
    pytest.importorskip("pyarrow")
    ingested = newscrawl("ingest", local, "--workers", 1, "--to", "gs://news/results")
    assert ingested.code == 0, ingested.err
    assert len(gs.glob("gs://news/results/articles/*/*/*.parquet")) == 3
