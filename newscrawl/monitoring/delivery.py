"""Deliver notices to people and programs over channels: the log, e-mail, webhooks.

Incidents, company alerts and digests are all delivered as `PendingNotice`s, which `deliver_pending`
passes to every channel that has not delivered it yet. Its `acknowledge` stores the result in the
database. The channels are those of the settings, and those of the recipients in the database.

A webhook gets JSON by POST, in the format of its product. Its host is resolved here and the
connection goes to the address that was checked: a webhook into our own network must be allowed by a
setting. Redirects are not followed.
"""

import contextlib
import hashlib
import hmac
import http.client
import ipaddress
import json
import logging
import smtplib
import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from email.message import EmailMessage
from email.utils import formatdate, make_msgid, parseaddr
from typing import Literal, Protocol, Self
from urllib.parse import SplitResult, unquote, urlsplit

from newscrawl import config
from newscrawl.answers.names import company_of
from newscrawl.config import SettingError, user_agent
from newscrawl.mentions import Companies
from newscrawl.sources.urls import is_public
from newscrawl.storage import Database, queries
from newscrawl.storage.company_alerts import (
    NoticeKind,
    Recipient,
    RecipientError,
    add_recipient,
    edit_recipient,
    list_recipients,
    watch_company,
)
from newscrawl.templating import MAX_TITLE, MAX_URL, markdown, one_line, safe_url

logger = logging.getLogger(__name__)

# An incident and its end; a company alert, a digest, a test message.
Event = Literal["opened", "recovered", "alert", "digest", "test"]
WebhookStyle = Literal["webhook", "slack", "teams"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """An article that a notice names: its headline, URL and source, and a sentence of it."""

    title: str
    url: str
    note: str = ""
    sentence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that an e-mail carries; `kind` is its media type."""

    name: str
    kind: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A message: `subject` in one line, `text` for people, `facts` for programs.

    The notice of an incident ("opened") and that of its end ("recovered") have the same `cause`.
    E-mail shows `html`, if there is any, instead of the text; the caller escapes it. Only e-mail
    has the attachments. Chats show the `summary`, plain text, and the links. `companies` and `kind`
    decide which recipients get the notice.
    """

    subject: str
    text: str
    event: Event = "alert"
    cause: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)
    html: str | None = None
    attachments: tuple[Attachment, ...] = ()
    summary: str = ""
    links: tuple[Link, ...] = ()
    companies: frozenset[str] = frozenset()
    kind: NoticeKind | None = None


class DeliveryError(Exception):
    """A channel could not deliver a notice: one line without secrets that says why."""


class Channel(Protocol):
    """A way to deliver notices."""

    @property
    def name(self) -> str:
        """Return the channel's name in logs, without passwords and tokens."""

    def deliver(self, notice: Notice) -> None:
        """Deliver the notice, or raise DeliveryError."""


@dataclass(frozen=True, slots=True)
class RecipientChannel:
    """The way to a recipient who gets only notices about certain companies; `about` are the names
    of these companies, empty for all."""

    recipient: Recipient
    about: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return self.recipient.name

    def accepts(self, notice: Notice) -> bool:
        """Return whether the recipient gets the notice."""
        if notice.kind not in self.recipient.gets:
            return False
        return not self.about or not self.about.isdisjoint(notice.companies)

    def deliver(self, notice: Notice) -> None:
        try:
            channel = channel_of(self.recipient)
        except SettingError as error:
            raise DeliveryError(str(error)) from error
        channel.deliver(notice)


@dataclass(frozen=True, slots=True)
class LogChannel:
    """Notices in the log: incidents as warnings, all others as information."""

    name: str = "log"

    def deliver(self, notice: Notice) -> None:
        level = logging.WARNING if notice.event == "opened" else logging.INFO
        logger.log(level, "%s: %s", one_line(notice.subject), one_line(notice.text))


@dataclass(frozen=True, slots=True)
class FailedDelivery:
    """A channel that failed, and why."""

    channel: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """The channels that have delivered a notice, now or earlier, and those that failed."""

    delivered_by: tuple[str, ...]
    failed: tuple[FailedDelivery, ...]

    @property
    def is_lost(self) -> bool:
        """Return whether every channel but the log failed."""
        return bool(self.failed) and set(self.delivered_by) <= {LogChannel().name}


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingNotice:
    """A notice to be delivered; `acknowledge` stores the result, `delivered_by` names the channels
    that have delivered it before."""

    notice: Notice
    acknowledge: Callable[[Delivery], None]
    delivered_by: Collection[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryReport:
    """The number of notices that every channel has delivered, the failures of the others, and what
    was sent now over which channels, by the subject of each notice."""

    delivered: int = 0
    failed: tuple[FailedDelivery, ...] = ()
    deliveries: tuple[tuple[str, Delivery], ...] = ()


def deliver_pending(
    pending: Iterable[PendingNotice], channels: Sequence[Channel]
) -> DeliveryReport:
    """Deliver each notice over the channels that have not delivered it yet."""
    delivered = 0
    failed: list[FailedDelivery] = []
    deliveries: list[tuple[str, Delivery]] = []
    for notice in pending:
        delivery = deliver(notice.notice, channels, delivered_by=notice.delivered_by)
        notice.acknowledge(delivery)
        delivered += not delivery.failed
        failed += delivery.failed
        fresh = tuple(name for name in delivery.delivered_by if name not in notice.delivered_by)
        deliveries.append((notice.notice.subject, replace(delivery, delivered_by=fresh)))
    return DeliveryReport(delivered=delivered, failed=tuple(failed), deliveries=tuple(deliveries))


def deliver(
    notice: Notice, channels: Iterable[Channel], *, delivered_by: Collection[str] = ()
) -> Delivery:
    """Deliver a notice over all channels but those in `delivered_by`."""
    delivered, failed = list(delivered_by), []
    for name, channel in named_channels(channels).items():
        if name in delivered_by:
            continue
        if isinstance(channel, RecipientChannel) and not channel.accepts(notice):
            continue
        try:
            channel.deliver(notice)
        except DeliveryError as error:
            failed.append(FailedDelivery(channel.name, str(error)))
        else:
            delivered.append(name)
    return Delivery(delivered_by=tuple(delivered), failed=tuple(failed))


def named_channels(channels: Iterable[Channel]) -> dict[str, Channel]:
    """Return the channels by unique names: two webhooks may have the same host."""
    numbers: Counter[str] = Counter()
    channels_by_name = {}
    for channel in channels:
        numbers[channel.name] += 1
        number = numbers[channel.name]
        channels_by_name[channel.name if number == 1 else f"{channel.name} {number}"] = channel
    return channels_by_name


MAX_NAME = 60  # characters of the name of a recipient
_SMTP_SECONDS = 20
_SMTP_PORTS = {"smtp": 587, "smtps": 465}
_SMTP_EXAMPLE = (
    "smtp://user:password@mail.example.org:587 or smtps://user:password@mail.example.org"
)
_MAX_SUBJECT = 200  # characters
_WEBHOOK_SECONDS = 10
_WEBHOOK_PORTS = {"http": 80, "https": 443}
# Ours: seconds before the second and third attempt, if the server fails.
_WEBHOOK_PAUSES = (1.0, 4.0)
SIGNATURE = "X-Newscrawl-Signature"


def configured_channels(*, recipients: bool = False) -> tuple[Channel, ...]:
    """Return the log and the channels of NEWSCRAWL_SMTP_URL and NEWSCRAWL_WEBHOOKS; raise
    SettingError for an invalid setting. With other `recipients`, NEWSCRAWL_MAIL_TO may be empty."""
    channels: list[Channel] = [LogChannel()]
    if config.NEWSCRAWL_SMTP_URL and (config.NEWSCRAWL_MAIL_TO or not recipients):
        channels.append(
            MailChannel.of(
                config.NEWSCRAWL_SMTP_URL,
                config.NEWSCRAWL_MAIL_FROM,
                config.NEWSCRAWL_MAIL_TO,
            )
        )
    private = _private()
    channels += [
        WebhookChannel.of(url, secret=config.NEWSCRAWL_WEBHOOK_SECRET, allow_private=private)
        for url in filter(None, map(str.strip, config.NEWSCRAWL_WEBHOOKS.split(",")))
    ]
    return tuple(channels)


def configured_recipients() -> list[Recipient]:
    """Return those who get everything by the settings; raise SettingError for an invalid one."""
    recipients: list[Recipient] = []
    for name, channel in named_channels(configured_channels(recipients=True)).items():
        if isinstance(channel, MailChannel):
            recipients += [
                Recipient(name=name, kind="e-mail", address=address)
                for address in channel.recipients
            ]
        elif isinstance(channel, WebhookChannel):
            recipients.append(Recipient(name=name, kind=channel.style, address=channel.url))
    return recipients


def _private() -> bool:
    return config.yes("NEWSCRAWL_WEBHOOK_PRIVATE", config.NEWSCRAWL_WEBHOOK_PRIVATE)


def channel_of(recipient: Recipient) -> Channel:
    """Return the channel to a recipient; raise SettingError for an address that can't be used, or
    without a mail server."""
    if recipient.kind == "e-mail":
        if not config.NEWSCRAWL_SMTP_URL:
            raise SettingError("NEWSCRAWL_SMTP_URL: no mail server is set")
        (address,) = _addresses(recipient.name, recipient.address)
        return MailChannel.of(config.NEWSCRAWL_SMTP_URL, config.NEWSCRAWL_MAIL_FROM, address)
    if not recipient.address.startswith("https://") and not _private():
        raise SettingError(
            f"{recipient.name}: the URL of a webhook begins with https://; "
            "NEWSCRAWL_WEBHOOK_PRIVATE=yes allows http, for your own network"
        )
    secret = config.NEWSCRAWL_WEBHOOK_SECRET if recipient.kind == "webhook" else ""
    channel = WebhookChannel.of(
        recipient.address, secret=secret, allow_private=_private(), setting=recipient.name
    )
    return replace(channel, style=recipient.kind)


def check_address(recipient: Recipient) -> None:
    """Raise SettingError for an address to which nothing can be sent; a mail server may be set
    later."""
    if recipient.kind == "e-mail":
        if len(_addresses(recipient.name, recipient.address)) > 1:
            raise SettingError(f"{recipient.name}: one address each; add the others by themselves")
    else:
        channel_of(recipient)


def recipient_channels(
    database: Database, groups: Mapping[str, Collection[str]]
) -> tuple[RecipientChannel, ...]:
    """Return the channels to all recipients; a recipient of a group also gets notices about its
    companies."""
    return tuple(
        RecipientChannel(
            recipient,
            frozenset(
                name
                for company in recipient.companies
                for name in (company, *groups.get(company, ()))
            ),
        )
        for recipient in list_recipients(database)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MailChannel:
    """E-mail over an SMTP server.

    `implicit_tls` is that of smtps://. Otherwise STARTTLS is used if the server offers it; a
    password is never sent without TLS.
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
        """Return the channel of NEWSCRAWL_SMTP_URL, NEWSCRAWL_MAIL_FROM and NEWSCRAWL_MAIL_TO.

        The message of SettingError does not quote the URL: it may hold a password.
        """
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port or _SMTP_PORTS.get(parts.scheme, 0)
        except ValueError:
            host, port = None, 0
        if not host or not port:
            raise SettingError(
                f"NEWSCRAWL_SMTP_URL: not the URL of a mail server; as in {_SMTP_EXAMPLE}"
            )
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
            server: smtplib.SMTP
            if self.implicit_tls:
                context = ssl.create_default_context()
                server = smtplib.SMTP_SSL(
                    self.host, self.port, timeout=_SMTP_SECONDS, context=context
                )
            else:
                server = smtplib.SMTP(self.host, self.port, timeout=_SMTP_SECONDS)
            with server:
                self._log_in(server)
                refused = server.send_message(self.message(notice))
        except (OSError, smtplib.SMTPException, UnicodeError) as error:
            cause = one_line(str(error)) or type(error).__name__
            if isinstance(error, smtplib.SMTPAuthenticationError):
                cause = "the server refuses user or password of NEWSCRAWL_SMTP_URL"
            elif self.password:
                cause = cause.replace(self.password, "***")
            raise DeliveryError(cause) from error
        if refused:
            raise DeliveryError(f"refused for {', '.join(sorted(refused))}")

    def message(self, notice: Notice) -> EmailMessage:
        """Return the notice as an e-mail."""
        message = EmailMessage()
        message["Subject"] = one_line(notice.subject)[:_MAX_SUBJECT]
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
        for attachment in notice.attachments:
            kind, _, subkind = attachment.kind.partition("/")
            message.add_attachment(attachment.content, kind, subkind, filename=attachment.name)
        return message

    def _log_in(self, server: smtplib.SMTP) -> None:
        server.ehlo()
        secure = self.implicit_tls
        if not secure and server.has_extn("starttls"):
            server.starttls(context=ssl.create_default_context())
            server.ehlo()
            secure = True
        if self.user is None:
            return
        if not secure:
            raise DeliveryError(
                "the server offers no STARTTLS, and a password is never sent in the clear"
            )
        server.login(self.user, self.password or "")


def _addresses(setting: str, text: str) -> tuple[str, ...]:
    addresses = tuple(part.strip() for part in text.split(",") if part.strip())
    if not addresses:
        raise SettingError(f"{setting}: no address; as in desk@example.org,ops@example.org")
    for address in addresses:
        parsed = parseaddr(address)[1]
        if "@" not in parsed.strip("@") or any(not char.isprintable() for char in address):
            raise SettingError(f"{setting}={one_line(address)}: not an e-mail address")
    return addresses


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookChannel:
    """JSON by POST to a URL. With `secret`, the header `X-Newscrawl-Signature: sha256=...` has the
    HMAC of the body."""

    url: str = field(repr=False)
    secret: str = field(default="", repr=False)
    allow_private: bool = False
    pauses: tuple[float, ...] = _WEBHOOK_PAUSES
    style: WebhookStyle = "webhook"

    @classmethod
    def of(
        cls,
        url: str,
        *,
        secret: str = "",
        allow_private: bool = False,
        setting: str = "NEWSCRAWL_WEBHOOKS",
    ) -> Self:
        """Return the channel of one URL of a setting. The message of SettingError does not quote
        the URL: its path may be a token."""
        try:
            parts = urlsplit(url)
            usable = parts.scheme in _WEBHOOK_PORTS and parts.hostname and parts.port != 0
        except ValueError:
            usable = False
        if not usable or any(not char.isprintable() or char == " " for char in url):
            raise SettingError(
                f"{setting}: not an http or https URL; as in https://example.org/hooks/news"
            )
        return cls(url=url, secret=secret, allow_private=allow_private)

    @property
    def name(self) -> str:
        return f"webhook ({urlsplit(self.url).hostname})"

    def deliver(self, notice: Notice) -> None:
        content = PAYLOADS[self.style](notice)
        body = json.dumps(
            content,
            ensure_ascii=False,
            default=lambda value: (
                value.isoformat() if isinstance(value, (date, datetime)) else str(value)
            ),
        ).encode()
        for pause in (*self.pauses, None):
            try:
                status = self._post(body)
            except (OSError, http.client.HTTPException, UnicodeError) as error:
                reason = getattr(error, "strerror", None) or str(error)  # without the number
                cause = one_line(reason) or type(error).__name__
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
        address, port = self._address(parts), parts.port or _WEBHOOK_PORTS[parts.scheme]
        connection: http.client.HTTPConnection
        if parts.scheme == "https":
            connection = _Tls(parts.hostname or "", port, address)
        else:
            connection = http.client.HTTPConnection(address, port, timeout=_WEBHOOK_SECONDS)
        headers = {
            "Host": parts.netloc.rpartition("@")[2],
            "Content-Type": "application/json; charset=utf-8",
            "User-Agent": user_agent(""),
        }
        if self.secret:
            digest = hmac.new(self.secret.encode(), body, hashlib.sha256).hexdigest()
            headers[SIGNATURE] = f"sha256={digest}"
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            connection.connect()
            sock = connection.sock

            def shut() -> None:
                with contextlib.suppress(OSError):  # it is closed already
                    sock.shutdown(socket.SHUT_RDWR)

            # The socket's timeout does not end a response that arrives byte by byte.
            deadline = threading.Timer(_WEBHOOK_SECONDS, shut)
            deadline.daemon = True
            deadline.start()
            try:
                connection.request("POST", path, body, headers)
                return connection.getresponse().status
            finally:
                deadline.cancel()
        finally:
            connection.close()

    def _address(self, parts: SplitResult) -> str:
        """Return the address to connect to; raise DeliveryError if one isn't public."""
        host, port = parts.hostname or "", parts.port or _WEBHOOK_PORTS[parts.scheme]
        try:
            entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except socket.gaierror as error:
            raise OSError(f"no address for the host {host!r}") from error
        addresses = [str(entry[4][0]) for entry in entries]
        private = [
            address
            for address in addresses
            if not is_public(ipaddress.ip_address(address.partition("%")[0]))
        ]
        if private and not self.allow_private:
            raise DeliveryError(
                f"{host} is the private address {private[0]}; NEWSCRAWL_WEBHOOK_PRIVATE=yes "
                "allows it"
            )
        return addresses[0]


def payload(notice: Notice) -> Mapping[str, object]:
    """Return the JSON for a program; chats such as Mattermost show the value of `text`."""
    return {
        "text": f"{notice.subject}\n{notice.text}",
        "subject": notice.subject,
        "event": notice.event,
        "cause": notice.cause,
        "facts": dict(notice.facts),
    }


# Limits of Slack's blocks (docs.slack.dev/reference/block-kit/blocks) and of messages in Teams
# (28 KB as documented, about 21 in practice); the number of links is ours. Slack documents no limit
# for all blocks together, but refuses more than about 13,000 characters
# (github.com/slackapi/bolt-js/issues/2509).
_SLACK_HEADER, _SLACK_SECTION, _SLACK_BLOCKS = 150, 3000, 12_000  # characters
_TEAMS_TEXT, _TEAMS_BYTES = 4000, 20_000  # characters of a text, bytes of all
_MAX_LINKS = 10
_SLACK_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def slack_payload(notice: Notice) -> Mapping[str, object]:
    """Return the JSON for an incoming webhook of Slack: blocks, and a text for notifications."""
    subject = one_line(notice.subject)
    blocks: list[Mapping[str, object]] = [
        {
            "type": "header",
            "text": {"type": "plain_text", "text": subject[:_SLACK_HEADER], "emoji": False},
        },
        _slack_section(_slack_text(_summary(notice))),
    ]
    for link in notice.links[:_MAX_LINKS]:
        # The headline, as a link if its address is short enough, and the sentence.
        url, text = safe_url(link.url), _slack_text(one_line(link.title)[:MAX_TITLE])
        if url is not None and len(url) <= MAX_URL:
            text = f"<{_slack_text(url)}|{text}>"
        if note := _slack_text(one_line(link.note), MAX_TITLE):
            text += f" ({note})"
        space = _SLACK_SECTION - len(text) - len("\n>")
        if link.sentence and space > 0:
            text += f"\n>{_slack_text(one_line(link.sentence), space)}"
        blocks.append(_slack_section(text[:_SLACK_SECTION]))
    while len(json.dumps(blocks, ensure_ascii=False)) > _SLACK_BLOCKS:
        blocks.pop()
    return {"text": _slack_text(subject), "blocks": blocks, "unfurl_links": False}


def _slack_section(text: str) -> Mapping[str, object]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text, "verbatim": True}}


def _slack_text(text: str, longest: int = _SLACK_SECTION) -> str:
    """Return text with the three characters of links and mentions escaped, cut to `longest`."""
    escaped, length = [], 0
    for char in text:
        escaped.append(_SLACK_ESCAPES.get(char, char))
        length += len(escaped[-1])
        if length > longest:
            escaped.pop()
            break
    return "".join(escaped)


def teams_payload(notice: Notice) -> Mapping[str, object]:
    """Return the JSON for a webhook of Microsoft Teams' Workflows: a message with an Adaptive
    Card."""
    body: list[Mapping[str, object]] = [
        _teams_text(markdown(notice.subject), size="Medium", weight="Bolder"),
        *(_teams_text(markdown(line)) for line in _summary(notice).splitlines() if line.strip()),
    ]
    for link in notice.links[:_MAX_LINKS]:
        note = f" ({markdown(link.note[:MAX_TITLE])})" if link.note else ""
        url, text = safe_url(link.url), str(markdown(one_line(link.title)[:MAX_TITLE]))
        if url is not None and len(url) <= MAX_URL:
            # Cards don't support brackets around an address, and a parenthesis in it would end
            # the link.
            text = f"[{text}]({url.replace('(', '%28').replace(')', '%29')})"
        body.append(_teams_text(text + note))
        if link.sentence:
            body.append(_teams_text(markdown(link.sentence), isSubtle=True, spacing="None"))
    while len(json.dumps(body, ensure_ascii=False).encode()) > _TEAMS_BYTES:
        body.pop()
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.2",
        "body": body,
    }
    attachment = {
        "contentType": "application/vnd.microsoft.card.adaptive",
        "contentUrl": None,
        "content": card,
    }
    return {"type": "message", "attachments": [attachment]}


def _teams_text(text: str, **more: object) -> Mapping[str, object]:
    return {"type": "TextBlock", "text": text[:_TEAMS_TEXT], "wrap": True, **more}


def _summary(notice: Notice) -> str:
    return notice.summary or notice.text


PAYLOADS: Mapping[WebhookStyle, Callable[[Notice], Mapping[str, object]]] = {
    "webhook": payload,
    "slack": slack_payload,
    "teams": teams_payload,
}


class _Tls(http.client.HTTPSConnection):
    """A TLS connection to a checked address, with the certificate of the host name."""

    def __init__(self, host: str, port: int, address: str) -> None:
        self._context = ssl.create_default_context()
        super().__init__(host, port, timeout=_WEBHOOK_SECONDS, context=self._context)
        self._checked = address

    def connect(self) -> None:
        plain = socket.create_connection((self._checked, self.port), self.timeout)
        self.sock = self._context.wrap_socket(plain, server_hostname=self.host)


def save_recipient(
    store: Database, registry: Companies, draft: Recipient, former: Recipient | None = None
) -> tuple[Recipient, list[str]]:
    """Store a recipient, whose companies are given by name or alias, in the place of its `former`
    state; return it, and the companies that are newly watched, for alerts. Raise SettingError,
    QuestionError or RecipientError."""

    name = draft.name.strip()
    if not name or len(name) > MAX_NAME or not name.isprintable() or name == "log":
        raise RecipientError(
            f"{name!r} can't be a name: write up to {MAX_NAME} letters, as in desk"
        )
    stored, groups = queries.company_names(store), registry.structure.groups
    # A group that the companies file has no longer may stay.
    former_companies = former.companies if former else ()
    about = [
        company if company in former_companies else company_of(company, registry, stored, groups)
        for company in draft.companies
    ]
    recipient = replace(
        draft,
        name=name,
        address=draft.address.strip(),
        companies=tuple(dict.fromkeys(about)),
    )
    check_address(recipient)
    if former is None:
        add_recipient(store, recipient)
    else:
        edit_recipient(store, recipient)
    watches = recipient.companies if "alerts" in recipient.gets else ()
    return recipient, [watch for watch in watches if watch_company(store, watch, by=draft.added_by)]
