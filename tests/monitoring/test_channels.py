"""Notices reach a real mail server and a real webhook, and secrets reach nobody."""

import datetime
import hashlib
import hmac
import json
import logging
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from newscrawl import config
from newscrawl.config import SettingError
from newscrawl.monitoring.delivery import (
    DeliveryError,
    FailedDelivery,
    LogChannel,
    MailChannel,
    Notice,
    WebhookChannel,
    configured_channels,
    deliver,
)
from tests.receivers import Hook, Inbox, free_port, mail_server

KEY = "s3cret"
NOTICE = Notice(
    subject="ft: no new articles",
    text="The last one came three days ago.\nExpected: 41.",
    event="opened",
    cause="ft/stale_feed",
    facts={"source": "ft", "expected": 41, "since": datetime.date(2026, 11, 20)},
)


# Mail --------------------------------------------------------------------------------------------


def check(
    _server: SMTP, _session: Session, _envelope: Envelope, _how: str, data: Any
) -> AuthResult:
    return AuthResult(success=data.password == b"pass/word", handled=False, auth_data=data)


@pytest.fixture
def plain_server() -> Iterator[tuple[Inbox, int]]:
    with mail_server() as inbox_and_port:
        yield inbox_and_port


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for localhost with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + signed.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.fixture
def tls_server(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Inbox, int]]:
    """A server that wants STARTTLS and a password, with a certificate that we trust."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    inbox = Inbox()
    controller = Controller(
        inbox,
        hostname="localhost",
        port=free_port(),
        tls_context=context,
        require_starttls=True,
        auth_required=True,
        authenticator=check,
    )
    controller.start()
    yield inbox, controller.port
    controller.stop()


def mail(
    port: int, *, user: str = "", to: str = "desk@example.org", host: str = "127.0.0.1"
) -> MailChannel:
    return MailChannel.of(f"smtp://{user}{host}:{port}", "newscrawl@example.org", to)


def test_notice_arrives_by_mail(plain_server):
    inbox, port = plain_server
    assert deliver(NOTICE, [mail(port, to="desk@example.org, ops@example.org")]).failed == ()
    (message,) = inbox.messages
    assert message["Subject"] == "ft: no new articles"
    assert message["To"] == "desk@example.org, ops@example.org"
    assert message["X-Newscrawl-Cause"] == "ft/stale_feed"
    assert message.get_content().replace("\r\n", "\n").strip() == NOTICE.text


def test_html_is_sent_beside_its_text(plain_server):
    inbox, port = plain_server
    mail(port).deliver(Notice(subject="Today", text="Siemens 3", html="<b>Siemens 3</b>"))
    (message,) = inbox.messages
    kinds = [part.get_content_type() for part in message.walk()]
    assert kinds == ["multipart/alternative", "text/plain", "text/html"]


def test_subject_of_many_lines_adds_no_header(plain_server):
    inbox, port = plain_server
    mail(port).deliver(Notice(subject="A\r\nBcc: all@example.org\n\nB", text="x"))
    (message,) = inbox.messages
    assert message["Subject"] == "A Bcc: all@example.org B"
    assert message["Bcc"] is None


def test_password_is_sent_over_tls(tls_server):
    inbox, port = tls_server
    mail(port, user="me:pass%2Fword@", host="localhost").deliver(NOTICE)
    assert inbox.users == ["me"]


def test_error_of_a_wrong_password_hides_it(tls_server):
    _, port = tls_server
    with pytest.raises(DeliveryError, match="refuses user or password") as raised:
        mail(port, user="me:hush@", host="localhost").deliver(NOTICE)
    assert "hush" not in str(raised.value)


def test_password_is_never_sent_in_the_clear(plain_server):
    inbox, port = plain_server
    with pytest.raises(DeliveryError, match="no STARTTLS"):
        mail(port, user="me:hush@").deliver(NOTICE)
    assert inbox.messages == []


def test_untrusted_certificate_is_refused(tls_server, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE")
    with pytest.raises(DeliveryError, match=r"(?i)certificate"):
        mail(tls_server[1], host="localhost").deliver(NOTICE)


def test_refused_recipient_is_named(plain_server):
    inbox, port = plain_server
    with pytest.raises(DeliveryError, match=r"refused for nobody@example\.org"):
        mail(port, to="desk@example.org,nobody@example.org").deliver(NOTICE)
    assert len(inbox.messages) == 1


@pytest.mark.parametrize(
    ("url", "to", "message"),
    [
        ("mail.example.org", "a@example.org", "NEWSCRAWL_SMTP_URL"),
        ("ftp://me:hush@mail.example.org", "a@example.org", "NEWSCRAWL_SMTP_URL"),
        ("smtp://me:hush@mail.example.org:port", "a@example.org", "NEWSCRAWL_SMTP_URL"),
        ("smtp://mail.example.org", "", "NEWSCRAWL_MAIL_TO: no address"),
        ("smtp://mail.example.org", "desk", "NEWSCRAWL_MAIL_TO=desk: not an e-mail address"),
    ],
    ids=["no scheme", "other scheme", "no port", "nobody", "no address"],
)
def test_invalid_mail_setting_is_named(url, to, message):
    with pytest.raises(SettingError, match=message) as raised:
        MailChannel.of(url, "", to)
    assert "hush" not in str(raised.value)


# Webhooks ----------------------------------------------------------------------------------------


@pytest.fixture
def hook() -> Iterator[Hook]:
    with Hook() as opened:
        yield opened


def channel(url: str, **given: Any) -> WebhookChannel:
    return WebhookChannel(url=url, allow_private=True, pauses=(0, 0), **given)


def test_notice_arrives_at_a_webhook(hook):
    assert deliver(NOTICE, [channel(hook.url)]).failed == ()
    ((headers, body),) = hook.taken
    assert headers["Content-Type"] == "application/json; charset=utf-8"
    assert json.loads(body) == {
        "text": "ft: no new articles\nThe last one came three days ago.\nExpected: 41.",
        "subject": "ft: no new articles",
        "event": "opened",
        "cause": "ft/stale_feed",
        "facts": {"source": "ft", "expected": 41, "since": "2026-11-20"},
    }


def test_webhook_body_is_signed(hook):
    channel(hook.url, secret=KEY).deliver(NOTICE)
    ((headers, body),) = hook.taken
    digest = hmac.new(KEY.encode(), body, hashlib.sha256).hexdigest()
    assert headers["X-Newscrawl-Signature"] == f"sha256={digest}"


def test_failing_webhook_is_tried_again(hook):
    hook.answers = [503, 429]
    channel(hook.url).deliver(NOTICE)
    assert len(hook.taken) == 3


@pytest.mark.parametrize(
    ("answers", "reason", "times"),
    [
        ([404], "the server answered 404", 1),
        ([302], "the server answered 302", 1),
        ([500] * 3, "the server answered 500, 3 times", 3),
    ],
    ids=["refused", "redirect", "failing for long"],
)
def test_error_of_a_webhook_hides_its_path(hook, answers, reason, times):
    hook.answers = answers
    (failure,) = deliver(NOTICE, [channel(hook.url)]).failed
    assert failure == FailedDelivery("webhook (127.0.0.1)", reason)
    assert len(hook.taken) == times
    assert "t0ken" not in str(failure)


def test_private_address_must_be_allowed(hook):
    with pytest.raises(DeliveryError, match="NEWSCRAWL_WEBHOOK_PRIVATE"):
        WebhookChannel.of(hook.url).deliver(NOTICE)
    assert hook.taken == []


@pytest.mark.parametrize(
    "url", ["ftp://example.org/t0ken", "example.org/t0ken", "http://[t0ken", "http://e x/t0ken"]
)
def test_invalid_webhook_is_refused_without_quoting_it(url):
    with pytest.raises(SettingError, match="NEWSCRAWL_WEBHOOKS") as raised:
        WebhookChannel.of(url)
    assert "t0ken" not in str(raised.value)


@pytest.mark.parametrize(
    "host", ["nowhere.invalid", "a" * 70 + ".example", "127.0.0.1:1"], ids=["none", "long", "shut"]
)
def test_unreachable_webhook_is_an_error(host):
    with pytest.raises(DeliveryError):
        channel(f"http://{host}/t0ken").deliver(NOTICE)


# All of them -------------------------------------------------------------------------------------


def test_failing_channel_does_not_stop_the_next(hook, plain_server):
    hook.answers = [410]
    inbox, port = plain_server
    delivery = deliver(NOTICE, [channel(hook.url), mail(port)])
    assert [failure.channel for failure in delivery.failed] == ["webhook (127.0.0.1)"]
    assert len(inbox.messages) == 1


def test_log_gets_one_line(caplog):
    with caplog.at_level(logging.INFO):
        deliver(NOTICE, [LogChannel()])
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage() == (
        "ft: no new articles: The last one came three days ago. Expected: 41."
    )


def test_channels_show_no_secret():
    shown = repr([mail(1, user="me:hush@"), channel("http://x.example/t0ken", secret=KEY)])
    assert "hush" not in shown
    assert "t0ken" not in shown
    assert KEY not in shown


def test_settings_name_the_channels(monkeypatch):
    monkeypatch.setattr(config, "NEWSCRAWL_SMTP_URL", "smtps://mail.example.org")
    monkeypatch.setattr(config, "NEWSCRAWL_MAIL_TO", "desk@example.org")
    monkeypatch.setattr(config, "NEWSCRAWL_WEBHOOKS", "https://a.example/x, https://b.example/y")
    assert [channel_in_use.name for channel_in_use in configured_channels()] == [
        "log",
        "e-mail (mail.example.org:465)",
        "webhook (a.example)",
        "webhook (b.example)",
    ]


def test_setting_that_is_neither_yes_nor_no_is_named(monkeypatch):
    monkeypatch.setattr(config, "NEWSCRAWL_WEBHOOK_PRIVATE", "maybe")
    with pytest.raises(SettingError, match="NEWSCRAWL_WEBHOOK_PRIVATE=maybe: write yes or no"):
        configured_channels()
