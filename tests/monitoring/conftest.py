"""The servers that receive notices: webhooks and e-mail."""

from collections.abc import Iterator

import pytest

from newscrawl import config
from newscrawl.monitoring.delivery import MailChannel, WebhookChannel
from tests.receivers import Hook, Inbox, mail_server


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hook]:
    """A webhook to which notices may be sent, once each."""
    monkeypatch.setattr(config, "NEWSCRAWL_WEBHOOK_PRIVATE", "yes")
    monkeypatch.setattr("newscrawl.monitoring.delivery._WEBHOOK_PAUSES", ())
    with Hook() as opened:
        yield opened


@pytest.fixture
def inbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[Inbox]:
    """The mailbox of the mail server in use."""
    with mail_server() as (opened, port):
        monkeypatch.setattr(config, "NEWSCRAWL_SMTP_URL", f"smtp://127.0.0.1:{port}")
        monkeypatch.setattr(config, "NEWSCRAWL_MAIL_FROM", "news@example.org")
        yield opened


@pytest.fixture
def hooking(hook: Hook) -> WebhookChannel:
    return WebhookChannel(url=hook.url, allow_private=True, pauses=())


@pytest.fixture
def mailing(inbox: Inbox) -> MailChannel:
    return MailChannel.of(config.NEWSCRAWL_SMTP_URL, "news@example.org", "desk@example.org")
