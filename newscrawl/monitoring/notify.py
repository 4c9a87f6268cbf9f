"""Notices to people and programs, over channels: the log, e-mail, webhooks."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

logger = logging.getLogger(__name__)

Event = Literal["opened", "recovered", "report"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What is to be told: `subject` in one line, `text` in plain words, `facts` for programs.

    An incident's notice ("opened") and that of its end ("recovered") bear the same `cause`.
    `html`, where given, is what e-mail shows in place of the text; the caller escapes it.
    """

    subject: str
    text: str
    event: Event = "report"
    cause: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)
    html: str | None = None


class DeliveryError(Exception):
    """A channel could not pass a notice on: one line without secrets that says why."""


class Channel(Protocol):
    """A way to whoever must know."""

    @property
    def name(self) -> str:
        """How logs name the channel: no password or token in it."""

    def deliver(self, notice: Notice) -> None:
        """Passes the notice on, or raises DeliveryError."""


@dataclass(frozen=True, slots=True)
class Undelivered:
    """A channel that failed, and why."""

    channel: str
    reason: str


@dataclass(frozen=True, slots=True)
class LogChannel:
    """Notices in the log: incidents as warnings, all else for information."""

    name: str = "log"

    def deliver(self, notice: Notice) -> None:
        level = logging.WARNING if notice.event == "opened" else logging.INFO
        logger.log(level, "%s: %s", one_line(notice.subject), one_line(notice.text))


def send(notice: Notice, channels: Iterable[Channel]) -> tuple[Undelivered, ...]:
    """Passes the notice on over every channel; gives those that failed, which are logged too."""
    failed = []
    for channel in channels:
        try:
            channel.deliver(notice)
        except DeliveryError as error:
            logger.error("No notice by %s: %s", channel.name, error)  # noqa: TRY400 - one line
            failed.append(Undelivered(channel.name, str(error)))
    return tuple(failed)


def one_line(text: str) -> str:
    """The text without line breaks and other controls: it may quote a web page."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
