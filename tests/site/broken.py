"""Answers that are not HTTP, or never end, on the level of the connection."""

import contextlib
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.site.faults import Answer

# No test waits as long; it ends a thread whose visitor has not hung up.
_LONGEST = 60.0
# Bytes that a server can send to a visitor who has hung up: the buffers of Linux on both sides have
# 6 MiB at most (tcp_rmem).
BUFFERED = 16 * 1024 * 1024


def reset(connection: socket.socket) -> None:
    """Send an RST instead of an answer: closing with unsent data and no lingering does."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def garbage(connection: socket.socket) -> None:
    """Send an answer that is not HTTP."""
    connection.sendall(b"\x00\xffSSH-2.0-nothing to see here\r\n\r\n" * 20)
    connection.shutdown(socket.SHUT_RDWR)


def silence(connection: socket.socket) -> None:
    """Say nothing until the visitor hangs up."""
    connection.settimeout(_LONGEST)
    with contextlib.suppress(OSError):
        connection.recv(1)


def endless(line: bytes, pause: float = 0.0) -> Callable[[socket.socket], None]:
    """Return what sends a line again and again, for as long as somebody listens."""

    def send(connection: socket.socket) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
        connection.sendall(head)
        end = time.monotonic() + _LONGEST
        while time.monotonic() < end:
            connection.sendall(line)
            time.sleep(pause)

    return send


def instead(what: Callable[[socket.socket], None]) -> Callable[[int], Answer]:
    """Return a route that does this with each connection."""
    fixed = Answer(instead=what)
    return lambda _visit: fixed


@dataclass(slots=True)
class Flood:
    """Sends a beginning and then the same bytes again and again, `longest` bytes at most; `sent` is
    how many the visitors' connections accepted."""

    head: bytes
    repeated: bytes
    longest: int = 64 * 1024 * 1024
    sent: int = 0

    def __call__(self, connection: socket.socket) -> None:
        """Send to a connection until it is closed."""
        # Otherwise the system would accept megabytes that nobody has read.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 * 1024)
        connection.settimeout(_LONGEST)
        connection.sendall(self.head)
        block = self.repeated * (64 * 1024 // len(self.repeated))
        while self.sent < self.longest:
            connection.sendall(block)
            self.sent += len(block)


_OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
_CHUNKED = _OK + b"Transfer-Encoding: chunked\r\n\r\n"


def floods() -> dict[str, Flood]:
    """Return responses in which what is not the body never ends, by what it is."""
    return {
        "status-line": Flood(b"", b"H"),
        "header": Flood(_OK + b"X-Long: ", b"x"),
        "headers": Flood(_OK, b"X-Header: value\r\n"),
        "folded-header": Flood(_OK + b"X-Long: x\r\n", b" folded\r\n"),
        "lines-without-colon": Flood(_OK, b"nothing\r\n"),
        "continue": Flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        "early-hints": Flood(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"),
        "chunk-size": Flood(_CHUNKED, b"0"),
        "chunk-extensions": Flood(_CHUNKED, b"1;name=" + b"x" * 900 + b"\r\ny\r\n"),
        "trailers": Flood(_CHUNKED + b"0\r\n", b"X-Trailer: value\r\n"),
    }
