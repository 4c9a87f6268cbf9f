"""The channels that the settings name."""

from newscrawl import config
from newscrawl.monitoring.mail import MailChannel
from newscrawl.monitoring.notify import Channel, LogChannel
from newscrawl.monitoring.webhook import WebhookChannel


def configured_channels() -> tuple[Channel, ...]:
    """The log, and what NEWSCRAWL_SMTP_URL and NEWSCRAWL_WEBHOOKS add; SettingError for what
    can't work."""
    channels: list[Channel] = [LogChannel()]
    if config.NEWSCRAWL_SMTP_URL:
        channels.append(
            MailChannel.of(
                config.NEWSCRAWL_SMTP_URL,
                config.NEWSCRAWL_MAIL_FROM,
                config.NEWSCRAWL_MAIL_TO,
            )
        )
    allowed = config.yes("NEWSCRAWL_WEBHOOK_PRIVATE", config.NEWSCRAWL_WEBHOOK_PRIVATE)
    channels += [
        WebhookChannel.of(url, secret=config.NEWSCRAWL_WEBHOOK_SECRET, allow_private=allowed)
        for url in filter(None, map(str.strip, config.NEWSCRAWL_WEBHOOKS.split(",")))
    ]
    return tuple(channels)
