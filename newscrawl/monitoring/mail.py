"""Notices by e-mail, over a server that takes them by SMTP."""

import smtplib
import socket
import ssl
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import formatdate, make_msgid, parseaddr
from typing import Self
from urllib.parse import unquote, urlsplit

from newscrawl.config import SettingError
from newscrawl.monitoring.notify import DeliveryError, Notice, one_line

SECONDS = 20
_PORTS = {"smtp": 587, "smtps": 465}
_EXAMPLE = "smtp://user:password@mail.example.org:587 or smtps://user:password@mail.example.org"
_SUBJECT_CHARACTERS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class MailChannel:
    """A server and the addresses of those who are told.

    `implicit_tls` is that of smtps://. Else STARTTLS is used where the server offers it, and a
    password is never sent without it.
    """

    host: str
    port: int
    recipients: tuple[str, ...]
    sender: str
    implicit_tls: bool = False
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, url: str, sender: str, recipients: str) -> Self:
        """The channel of NEWSCRAWL_SMTP_URL, NEWSCRAWL_MAIL_FROM and NEWSCRAWL_MAIL_TO.

        Raises SettingError, which quotes nothing of the URL: it may hold a password.
        """
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port or _PORTS.get(parts.scheme, 0)
        except ValueError:
            host, port = None, 0
        if not host or not port:
            raise SettingError(f"NEWSCRAWL_SMTP_URL: no mail server's URL; as in {_EXAMPLE}")
        return cls(
            host=host,
            port=port,
            recipients=_addresses("NEWSCRAWL_MAIL_TO", recipients),
            sender=_addresses("NEWSCRAWL_MAIL_FROM", sender or f"newscrawl@{socket.getfqdn()}")[0],
            implicit_tls=parts.scheme == "smtps",
            user=unquote(parts.username) if parts.username else None,
            password=unquote(parts.password) if parts.password else None,
        )

    @property
    def name(self) -> str:
        return f"e-mail ({self.host}:{self.port})"

    def deliver(self, notice: Notice) -> None:
        try:
            with self._server() as server:
                self._open_up(server)
                refused = server.send_message(self.message(notice))
        except (OSError, smtplib.SMTPException, UnicodeError) as error:
            raise DeliveryError(self._cause(error)) from error
        if refused:
            raise DeliveryError(f"refused for {', '.join(sorted(refused))}")

    def message(self, notice: Notice) -> EmailMessage:
        """The notice as an e-mail. Those of one cause are one thread."""
        message = EmailMessage()
        message["Subject"] = one_line(notice.subject)[:_SUBJECT_CHARACTERS]
        message["From"] = self.sender
        message["To"] = ", ".join(self.recipients)
        message["Date"] = formatdate()
        message["Message-ID"] = make_msgid("newscrawl", parseaddr(self.sender)[1].split("@")[-1])
        message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no out-of-office answers
        if notice.cause:
            message["X-Newscrawl-Cause"] = one_line(notice.cause)
        message.set_content(notice.text)
        if notice.html is not None:
            message.add_alternative(notice.html, subtype="html")
        return message

    def _server(self) -> smtplib.SMTP:
        if self.implicit_tls:
            context = ssl.create_default_context()
            return smtplib.SMTP_SSL(self.host, self.port, timeout=SECONDS, context=context)
        return smtplib.SMTP(self.host, self.port, timeout=SECONDS)

    def _open_up(self, server: smtplib.SMTP) -> None:
        server.ehlo()
        secure = self.implicit_tls
        if not secure and server.has_extn("starttls"):
            server.starttls(context=ssl.create_default_context())
            server.ehlo()
            secure = True
        if self.user is None:
            return
        if not secure:
            raise DeliveryError("it offers no STARTTLS, and no password goes out in the clear")
        server.login(self.user, self.password or "")

    def _cause(self, error: Exception) -> str:
        if isinstance(error, smtplib.SMTPAuthenticationError):
            return "the server refuses user or password of NEWSCRAWL_SMTP_URL"
        told = one_line(str(error)) or type(error).__name__
        return told.replace(self.password, "***") if self.password else told


def _addresses(setting: str, text: str) -> tuple[str, ...]:
    addresses = tuple(part.strip() for part in text.split(",") if part.strip())
    if not addresses:
        raise SettingError(f"{setting}: names nobody; as in desk@example.org,ops@example.org")
    for address in addresses:
        found = parseaddr(address)[1]
        if "@" not in found.strip("@") or any(not sign.isprintable() for sign in address):
            raise SettingError(f"{setting}={one_line(address)}: no e-mail address")
    return addresses
