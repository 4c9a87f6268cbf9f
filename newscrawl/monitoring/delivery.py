"""Deliver notices to people and programs over channels: the log, e-mail, webhooks.

Incidents, company alerts and digests are all delivered as `PendingNotice`s, which `deliver_pending`
passes to every channel that has not delivered it yet. Its `acknowledge` stores the result in the
database.
"""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from newscrawl.templating import one_line

logger = logging.getLogger(__name__)

Event = Literal["opened", "recovered", "report"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A message: `subject` in one line, `text` for people, `facts` for programs.

    The notice of an incident ("opened") and that of its end ("recovered") have the same `cause`.
    E-mail shows `html`, where there is any, instead of the text; the caller escapes it.
    """

    subject: str
    text: str
    event: Event = "report"
    cause: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)
    html: str | None = None


class DeliveryError(Exception):
    """A channel could not deliver a notice: one line without secrets that says why."""


class Channel(Protocol):
    """A way to deliver notices."""

    @property
    def name(self) -> str:
        """The channel's name in logs, without passwords and tokens."""

    def deliver(self, notice: Notice) -> None:
        """Deliver the notice, or raise DeliveryError."""


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
    """The number of notices that every channel has delivered, and the failures of the others."""

    delivered: int = 0
    failed: tuple[FailedDelivery, ...] = ()


def deliver_pending(
    pending: Iterable[PendingNotice], channels: Sequence[Channel]
) -> DeliveryReport:
    """Deliver each notice over the channels that have not delivered it yet."""
    delivered = 0
    failed: list[FailedDelivery] = []
    for one in pending:
        delivery = deliver(one.notice, channels, delivered_by=one.delivered_by)
        one.acknowledge(delivery)
        delivered += not delivery.failed
        failed += delivery.failed
    return DeliveryReport(delivered=delivered, failed=tuple(failed))


def deliver(
    notice: Notice, channels: Iterable[Channel], *, delivered_by: Collection[str] = ()
) -> Delivery:
    """Deliver a notice over all channels but those in `delivered_by`."""
    delivered, failed = list(delivered_by), []
    for name, channel in named_channels(channels).items():
        if name in delivered_by:
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
    seen: Counter[str] = Counter()
    named = {}
    for channel in channels:
        seen[channel.name] += 1
        number = seen[channel.name]
        named[channel.name if number == 1 else f"{channel.name} {number}"] = channel
    return named
