"""WARC files in object stores and on web servers, read by ranges through fsspec, without a copy.

Every range that fails is requested again. Addresses that the user names are trusted, private ones
too; a web server may only redirect to a private address if the address named is private itself.
"""

import io
import ipaddress
import random
import re
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Final, TypeVar
from urllib.parse import urlsplit, urlunsplit

from newscrawl.archive import ArchiveError
from newscrawl.sources.urls import is_public

Result = TypeVar("Result")

# The suffixes of WARC files.
SUFFIXES: Final = (".warc.gz", ".warc")
_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_WEB = {"http", "https"}
_PATTERN = re.compile(r"[*?\[]")

# Ours: bytes of a request, and of one beyond the part that is read (for the end of its last page).
_BLOCK = 1024 * 1024
_BLOCK_BEYOND = 128 * 1024
# Ours: attempts for a range and the seconds between them, which double: together about a minute,
# longer than a store is busy or a router restarts. Some seconds for the list of files, since a user
# waits for it.
_MAX_ATTEMPTS = 11
_LIST_ATTEMPTS = 6
_FIRST_PAUSE = 0.1
_MAX_PAUSE = 20.0
_CONNECT_SECONDS = 10
_READ_SECONDS = 30

# What fsspec's packages raise besides OSError, by the module that defines it.
_ERRORS = (
    ("botocore.exceptions", "BotoCoreError"),
    ("botocore.exceptions", "ClientError"),
    ("aiohttp", "ClientError"),
    ("gcsfs.retry", "HttpError"),
)
_NO_CREDENTIALS = {
    "NoCredentialsError",
    "PartialCredentialsError",
    "ProfileNotFound",
    "CredentialRetrievalError",
    "TokenRetrievalError",
    "NoAuthTokenError",
}
# Statuses of temporary failures: Request Timeout, Too Early, Too Many Requests.
_BUSY = {408, 425, 429}
_PACKAGES = {"s3": "'newscrawl[s3]'", "http": "'newscrawl[s3]'", "https": "'newscrawl[s3]'"}


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file at a URL, and its size; as text it is the URL without secrets."""

    url: str
    size: int

    def __str__(self) -> str:
        return public_url(self.url)

    @property
    def name(self) -> str:
        """Return the name of the file without its folders."""
        return PurePosixPath(urlsplit(self.url).path).name


ArchiveFile = Path | RemoteFile


def is_url(text: str) -> bool:
    """Return whether a command-line argument is a URL, not a local path."""
    return bool(_URL.match(text))


def public_url(url: str) -> str:
    """Return a URL without user, password and query, which may be a signature."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def size_of(file: ArchiveFile) -> int:
    """Return the size of a file in bytes. Raises OSError."""
    return file.size if isinstance(file, RemoteFile) else file.stat().st_size


def open_file(file: ArchiveFile, stop: int | None = None) -> BinaryIO:
    """Open a file for reading; `stop` is the end of the range that is certainly needed.

    Raises OSError for a local file, ArchiveError for a remote one, also when it is read.
    """
    if isinstance(file, Path):
        return file.open("rb")
    return io.BufferedReader(_RangeStream(file, stop), _BLOCK)


def remote_files(url: str) -> list[RemoteFile]:
    """Return the WARC files at a URL: a file, a folder, or a pattern with `*`; sorted by name.

    Raises ArchiveError.
    """
    protocol = urlsplit(url).scheme.lower()
    if protocol in _WEB and (_PATTERN.search(urlsplit(url).path) or not _is_warc(url)):
        raise ArchiveError(
            f"can't list {public_url(url)}: a web server has no list of files, name each WARC file"
        )
    files = retry(lambda: _list_files(url), f"can't list {public_url(url)}", _LIST_ATTEMPTS)
    if not files:
        raise ArchiveError(f"no WARC file (*.warc.gz, *.warc) at {public_url(url)}")
    return files


def _is_warc(url: str) -> bool:
    return urlsplit(url).path.endswith(SUFFIXES)


def _list_files(url: str) -> list[RemoteFile]:
    system = file_system(url)
    if urlsplit(url).scheme.lower() in _WEB:
        size = system.info(url).get("size")
        if size is None:
            raise ArchiveError(
                f"can't read {public_url(url)}: the server gives no size; download it"
            )
        return [RemoteFile(url, size)]
    system.invalidate_cache()
    if _PATTERN.search(url):
        entries = system.glob(url, detail=True)
    elif _is_warc(url):
        entries = {url: system.info(url)}
    else:
        entries = system.find(url, detail=True)
    return [
        RemoteFile(system.unstrip_protocol(path), entry["size"])
        for path, entry in sorted(entries.items())
        if entry["type"] == "file" and path.endswith(SUFFIXES)
    ]


class _RangeStream(io.RawIOBase):
    """A remote file as a stream; each read is the request of a range."""

    def __init__(self, file: RemoteFile, stop: int | None) -> None:
        self._file = file
        self._stop = file.size if stop is None else stop
        self._position = 0
        self._system = file_system(file.url)
        # A web server may ignore the range and send the whole file: only fsspec's open() detects
        # this.
        self._source = None
        if urlsplit(file.url).scheme.lower() in _WEB:
            self._source = self._system.open(
                file.url, "rb", size=file.size, block_size=_BLOCK, cache_type="none"
            )

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._file.size}[whence]
        self._position = base + offset
        return self._position

    def readinto(self, buffer: Any) -> int:
        number = min(len(buffer), self._file.size - self._position)
        needed = self._stop - self._position
        number = min(number, needed if needed > 0 else _BLOCK_BEYOND)
        if number <= 0:
            return 0

        def request() -> bytes:
            if self._source is None:
                stop = self._position + number
                data: bytes = self._system.cat_file(self._file.url, start=self._position, end=stop)
            else:
                self._source.seek(self._position)
                try:
                    data = self._source.read(number)
                except ValueError as error:
                    raise ArchiveError(
                        f"can't read {self._file}: the server serves no ranges, download the file"
                    ) from error
            if len(data) != number:
                raise OSError(f"the server sent {len(data)} of {number} bytes")
            return data

        buffer[:number] = retry(request, f"can't read {self._file}")
        self._position += number
        return number

    def close(self) -> None:
        if self._source is not None:
            self._source.close()
        super().close()


def retry(request: Callable[[], Result], purpose: str, attempts: int = _MAX_ATTEMPTS) -> Result:
    """Return the result of a request; raise ArchiveError if it can't succeed or often failed."""
    attempt = 0
    while True:
        try:
            return request()
        except _errors() as error:
            attempt += 1
            advice = _reason_if_permanent(error)
            if advice is not None:
                raise ArchiveError(f"{purpose}: {advice}") from error
            if attempt == attempts:
                cause = _cause(error)
                raise ArchiveError(f"{purpose}, {attempts} attempts failed: {cause}") from error
        pause = min(_FIRST_PAUSE * 2 ** (attempt - 1), _MAX_PAUSE)
        # Random, so that workers that failed at the same time don't retry at the same time.
        time.sleep(pause * random.uniform(0.5, 1))  # noqa: S311 - no secret


def _errors() -> tuple[type[Exception], ...]:
    """Return the errors of the packages that are loaded by now."""
    loaded = [(sys.modules[module], name) for module, name in _ERRORS if module in sys.modules]
    return OSError, *(getattr(module, name) for module, name in loaded)


def _reason_if_permanent(error: BaseException) -> str | None:
    """Return the reason and what to do if no further attempt can help, else None."""
    error = _origin(error)
    status = getattr(error, "status", None)
    if isinstance(error, _PrivateAddressError):
        return str(error)
    if isinstance(error, FileNotFoundError | IsADirectoryError):
        return "not there"
    if isinstance(status, int) and 400 <= status < 500 and status not in _BUSY:
        return "not there" if status in {404, 410} else f"the server answered {status}"
    if type(error).__name__ in _NO_CREDENTIALS:
        return (
            f"{_cause(error)}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE, or "
            "FSSPEC_S3_ANON=true for a public bucket"
        )
    if isinstance(error, PermissionError):
        return f"access denied ({_cause(error)}): check the credentials and their permissions"
    return None


def _origin(error: BaseException) -> BaseException:
    """Return the error of the connection; fsspec turns each of a web server into "not found"."""
    while error.__cause__ is not None and (
        type(error.__cause__).__module__.startswith("aiohttp")
        or isinstance(error.__cause__, _PrivateAddressError)
    ):
        error = error.__cause__
    return error


def _cause(error: BaseException) -> str:
    error = _origin(error)
    return " ".join(str(error).split()) or type(error).__name__


class _PrivateAddressError(OSError):
    """A web server redirects to a private address."""


def file_system(url: str) -> Any:
    """Return fsspec's file system for a URL. Raises ArchiveError."""
    parts = urlsplit(url)
    protocol = parts.scheme.lower()
    return _system_of(protocol, (parts.hostname or "") if protocol in _WEB else "")


@cache
def _system_of(protocol: str, host: str) -> Any:
    """Return the file system of a protocol, for web servers one for each host.

    It tries once, because `retry` repeats what fails; s3fs, botocore and this module would
    otherwise multiply their attempts.
    """
    try:
        import fsspec  # noqa: PLC0415 - an extra

        if protocol in _WEB:
            return fsspec.filesystem(
                protocol,
                get_client=_web_client(host),
                client_kwargs={"headers": {"Accept-Encoding": "identity"}},
                skip_instance_cache=True,
            )
        if protocol != "s3":
            return fsspec.filesystem(protocol)
        timeouts = {"connect_timeout": _CONNECT_SECONDS, "read_timeout": _READ_SECONDS}
        system = fsspec.filesystem(
            "s3",
            config_kwargs={**timeouts, "retries": {"max_attempts": 0}},
            use_listings_cache=False,
        )
        system.retries = 1
    except ImportError as error:
        package = _PACKAGES.get(protocol, {"gs": "gcsfs"}.get(protocol, str(error)))
        raise ArchiveError(f"{protocol}:// needs another package: pip install {package}") from error
    except ValueError as error:
        raise ArchiveError(f"can't read {protocol}:// addresses: {_cause(error)}") from error
    else:
        return system


def _web_client(host: str) -> Any:
    """Return a function that opens an HTTP session which connects to no private address, unless
    `host` is one itself."""
    try:
        addresses = {info[4][0] for info in socket.getaddrinfo(host, None)}
    except OSError:
        addresses = set()
    private = not all(map(_is_public, addresses))

    def new_socket(address_info: tuple[Any, ...]) -> socket.socket:
        family, kind, protocol, _, address = address_info
        if not private and not _is_public(address[0]):
            raise _PrivateAddressError(
                f"{host} redirects to the private address {address[0]}, which must be named itself"
            )
        return socket.socket(family, kind, protocol)

    async def client(**options: Any) -> Any:
        import aiohttp  # noqa: PLC0415 - an extra

        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(socket_factory=new_socket),
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=_CONNECT_SECONDS, sock_read=_READ_SECONDS
            ),
            **options,
        )

    return client


def _is_public(address: object) -> bool:
    return is_public(ipaddress.ip_address(str(address).partition("%")[0]))
