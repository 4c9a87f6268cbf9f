"""Notices to programs and chats: JSON by POST to a URL.

The name is resolved here and the connection goes to the very address that was checked: a
webhook that leads into our own network needs a setting's leave. Redirects are not followed.
"""

import contextlib
import hashlib
import hmac
import http.client
import ipaddress
import json
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Self
from urllib.parse import SplitResult, urlsplit

from newscrawl.config import SettingError, user_agent
from newscrawl.monitoring.notify import DeliveryError, Notice, one_line
from newscrawl.sources.addresses import is_public

SECONDS = 10
# Ours: pauses before the second and third try, where the server is in incident.
PAUSES = (1.0, 4.0)
_PORTS = {"http": 80, "https": 443}
SIGNATURE = "X-Newscrawl-Signature"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookChannel:
    """A URL that takes notices. With `secret`, each bears `X-Newscrawl-Signature: sha256=...`,
    the HMAC of the body."""

    url: str = field(repr=False)
    secret: str = field(default="", repr=False)
    allow_private: bool = False
    pauses: tuple[float, ...] = PAUSES

    @classmethod
    def of(cls, url: str, *, secret: str = "", allow_private: bool = False) -> Self:
        """The channel of one URL of NEWSCRAWL_WEBHOOKS; SettingError, without the URL, for a bad
        one: its path may be a token."""
        try:
            parts = urlsplit(url)
            usable = parts.scheme in _PORTS and parts.hostname and parts.port != 0
        except ValueError:
            usable = False
        if not usable or any(not sign.isprintable() or sign == " " for sign in url):
            raise SettingError(
                "NEWSCRAWL_WEBHOOKS: not an http or https URL; as in https://example.org/hooks/news"
            )
        return cls(url=url, secret=secret, allow_private=allow_private)

    @property
    def name(self) -> str:
        return f"webhook ({urlsplit(self.url).hostname})"

    def deliver(self, notice: Notice) -> None:
        body = json.dumps(payload(notice), ensure_ascii=False, default=_plain).encode()
        for pause in (*self.pauses, None):
            try:
                status = self._post(body)
            except (OSError, http.client.HTTPException, UnicodeError) as error:
                cause = one_line(str(error)) or type(error).__name__
            else:
                if 200 <= status < 300:
                    return
                cause = f"the server answered {status}"
                if status < 500 and status != 429:
                    raise DeliveryError(cause)
            if pause is None:
                raise DeliveryError(f"{cause}, {len(self.pauses) + 1} times")
            time.sleep(pause)

    def _post(self, body: bytes) -> int:
        parts = urlsplit(self.url)
        connection = _connection(parts, self._address(parts))
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            connection.connect()
            # A server that answers byte by byte would pass every timeout of the socket.
            deadline = threading.Timer(SECONDS, _shut, (connection.sock,))
            deadline.daemon = True
            deadline.start()
            try:
                connection.request("POST", path, body, self._headers(parts, body))
                return connection.getresponse().status
            finally:
                deadline.cancel()
        finally:
            connection.close()

    def _headers(self, parts: SplitResult, body: bytes) -> dict[str, str]:
        headers = {
            "Host": parts.netloc.rpartition("@")[2],
            "Content-Type": "application/json; charset=utf-8",
            "User-Agent": user_agent(""),
        }
        if self.secret:
            digest = hmac.new(self.secret.encode(), body, hashlib.sha256).hexdigest()
            headers[SIGNATURE] = f"sha256={digest}"
        return headers

    def _address(self, parts: SplitResult) -> str:
        """The address to connect to; DeliveryError where one of the host's isn't public."""
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        found = [
            str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        ]
        private = [
            one for one in found if not is_public(ipaddress.ip_address(one.partition("%")[0]))
        ]
        if private and not self.allow_private:
            raise DeliveryError(
                f"{host} is the private address {private[0]}; NEWSCRAWL_WEBHOOK_PRIVATE=yes "
                "allows it"
            )
        return found[0]


def payload(notice: Notice) -> Mapping[str, object]:
    """What a webhook gets. `text` is the key that chats (Slack, Mattermost) show."""
    return {
        "text": f"{notice.subject}\n{notice.text}",
        "subject": notice.subject,
        "event": notice.event,
        "cause": notice.cause,
        "facts": dict(notice.facts),
    }


class _Tls(http.client.HTTPSConnection):
    """A connection to an address that was checked, with the certificate of the host's name."""

    def __init__(self, host: str, port: int, address: str) -> None:
        self._context = ssl.create_default_context()
        super().__init__(host, port, timeout=SECONDS, context=self._context)
        self._checked = address

    def connect(self) -> None:
        plain = socket.create_connection((self._checked, self.port), self.timeout)
        self.sock = self._context.wrap_socket(plain, server_hostname=self.host)


def _connection(parts: SplitResult, address: str) -> http.client.HTTPConnection:
    port = parts.port or _PORTS[parts.scheme]
    if parts.scheme == "https":
        return _Tls(parts.hostname or "", port, address)
    return http.client.HTTPConnection(address, port, timeout=SECONDS)


def _shut(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it has been closed meanwhile
        sock.shutdown(socket.SHUT_RDWR)


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, (date, datetime)) else str(value)
