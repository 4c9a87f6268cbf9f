"""The channels that the settings name."""

from newscrawl import settings
from newscrawl.monitoring.mail import MailChannel
from newscrawl.monitoring.notify import Channel, LogChannel
from newscrawl.monitoring.webhook import WebhookChannel


def configured_channels() -> tuple[Channel, ...]:
    """The log, and what NEWSCRAWL_SMTP_URL and NEWSCRAWL_WEBHOOKS add; SettingError for what
    can't work."""
    channels: list[Channel] = [LogChannel()]
    if settings.NEWSCRAWL_SMTP_URL:
        channels.append(
            MailChannel.of(
                settings.NEWSCRAWL_SMTP_URL,
                settings.NEWSCRAWL_MAIL_FROM,
                settings.NEWSCRAWL_MAIL_TO,
            )
        )
    allowed = settings.yes("NEWSCRAWL_WEBHOOK_PRIVATE", settings.NEWSCRAWL_WEBHOOK_PRIVATE)
    channels += [
        WebhookChannel.of(url, secret=settings.NEWSCRAWL_WEBHOOK_SECRET, allow_private=allowed)
        for url in filter(None, map(str.strip, settings.NEWSCRAWL_WEBHOOKS.split(",")))
    ]
    return tuple(channels)
