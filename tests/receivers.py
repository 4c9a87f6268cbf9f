"""Servers that take what is sent to people and programs: mail, and webhooks."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.message import Message
from email.parser import BytesParser
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, LoginPassword, Session


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


class Inbox:
    """Takes what the server is given, unless `refuse` is set."""

    def __init__(self) -> None:
        self.refuse = False
        self.messages: list[Any] = []
        self.users: list[str | None] = []

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's name
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: object
    ) -> str:
        if address.startswith("nobody"):
            return "550 no such user"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(  # noqa: N802 - aiosmtpd's name
        self, _server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        if self.refuse:
            return "451 try again later"
        self.messages.append(BytesParser(policy=default).parsebytes(envelope.content or b""))
        login = session.auth_data
        self.users.append(login.login.decode() if isinstance(login, LoginPassword) else None)
        return "250 OK"


@contextmanager
def mail_server() -> Iterator[tuple[Inbox, int]]:
    """A mail server without TLS or passwords, and its port."""
    inbox = Inbox()
    controller = Controller(inbox, hostname="127.0.0.1", port=free_port())
    controller.start()
    try:
        yield inbox, controller.port
    finally:
        controller.stop()


class Hook:
    """A webhook's server; `answers` are its next ones, 200 after them. `before_answer` is called
    between a request and its answer."""

    def __init__(self) -> None:
        self.before_answer: Callable[[], None] | None = None
        self.answers: list[int] = []
        self.taken: list[tuple[Message, bytes]] = []
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                hook.taken.append((self.headers, body))
                if hook.before_answer:
                    hook.before_answer()
                self.send_response(hook.answers.pop(0) if hook.answers else 200)
                self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Stay silent."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hooks/t0ken?room=1"

    @property
    def notices(self) -> list[dict[str, Any]]:
        """What was posted."""
        return [json.loads(body) for _, body in self.taken]

    def __enter__(self) -> Self:
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
