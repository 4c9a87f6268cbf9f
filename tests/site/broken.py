"""Answers that are not HTTP, or never end, on the level of the connection."""

import contextlib
import socket
import struct
import time
from collections.abc import Callable

from tests.site.faults import Answer

# No test waits as long; it ends a thread whose visitor has not hung up.
_LONGEST = 60.0


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
