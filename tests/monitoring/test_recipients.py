"""Each recipient gets what it is addressed about, in the format of its product, once."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from newscrawl import config
from newscrawl.config import SettingError
from newscrawl.items import CompanyStructure
from newscrawl.monitoring.alerts import (
    alert_articles,
    alert_notice,
    find_alerts,
    pending_alerts,
    send_test,
)
from newscrawl.monitoring.delivery import (
    Link,
    Notice,
    channel_of,
    deliver_pending,
    recipient_channels,
    slack_payload,
    teams_payload,
)
from newscrawl.monitoring.digests import (
    digest_channels,
    digest_notice,
    html_digest,
    make_digest,
    markdown_digest,
    send_digest,
)
from newscrawl.storage import Database, company_alerts, open_database, queries
from newscrawl.storage.company_alerts import (
    CompanyAlert,
    Recipient,
    RecipientError,
    RecipientKind,
    add_recipient,
    edit_recipient,
    list_recipients,
    remove_recipient,
    sent_notices,
)
from newscrawl.storage.saved_queries import add_query, count_history
from tests.conftest import Newscrawl
from tests.worlds import body, day, document, moment, register, save_documents

SIEMENS, BOSCH = "Siemens builds trams.", "Bosch builds drills."
HOSTILE = "<!channel> *A* [b](javascript:c) & <https://evil.example|you won>"


def publish(database: Database, *texts: str, title: str = "A headline") -> None:
    """Save an article for each text, now, with the companies that it names."""
    run = register(database)
    names = ("Siemens", "Bosch", "Alstom")
    documents = [
        document(
            f"n-{number}-{len(text)}",
            title=title,
            text=text,
            mentions=[body(name, text.index(name)) for name in names if name in text],
            published=moment(0),
            fetched_at=moment(400),
        )
        for number, text in enumerate(texts)
    ]
    save_documents(database, documents, run)
    database.record_coverage("ft", day(0), "ok", len(texts), len(texts))


def deliver(
    database: Database, structure: CompanyStructure | None = None, now: datetime | None = None
) -> Any:
    structure = structure or CompanyStructure()
    find_alerts(database, today=day(1), structure=structure)
    channels = recipient_channels(database, structure.groups)
    return deliver_pending(pending_alerts(database, structure, now), channels)


def recipient(name: str, address: str, kind: RecipientKind, *companies: str) -> Recipient:
    return Recipient(name=name, kind=kind, address=address, companies=companies)


def watch_before(database: Database, *names: str) -> None:
    for name in names:
        company_alerts.watch_company(database, name)


def headline_of(subject: str) -> str:
    """The subject without the day on which the watch began."""
    return re.sub(r" since the watch began on \d{4}-\d\d-\d\d$", "", subject)


# Addressing --------------------------------------------------------------------------------------


def test_each_gets_alerts_about_its_own_companies(database, hook, inbox):
    watch_before(database, "Siemens", "Bosch")
    add_recipient(database, recipient("trams", "trams@example.org", "e-mail", "Siemens"))
    add_recipient(database, recipient("drills", hook.url, "webhook", "Bosch"))
    add_recipient(database, recipient("all", "all@example.org", "e-mail"))
    publish(database, SIEMENS, BOSCH)
    assert deliver(database).failed == ()
    got = sorted((message["To"], headline_of(message["Subject"])) for message in inbox.messages)
    assert got == [
        ("all@example.org", "Bosch: first article since you started watching"),
        ("all@example.org", "Siemens: first article since you started watching"),
        ("trams@example.org", "Siemens: first article since you started watching"),
    ]
    assert [notice["facts"]["company"] for notice in hook.notices] == ["Bosch"]


def test_group_gets_alerts_about_its_companies(database, hook):
    structure = CompanyStructure(groups={"makers": ("Siemens", "Bosch")})
    watch_before(database, "Siemens", "makers", "Alstom")
    add_recipient(database, recipient("desk", hook.url, "webhook", "makers"))
    publish(database, SIEMENS, "Alstom builds trains.")
    deliver(database, structure)
    assert sorted(notice["facts"]["company"] for notice in hook.notices) == ["Siemens", "makers"]


def test_recipient_of_digests_gets_no_alerts(database, hook):
    watch_before(database, "Siemens")
    add_recipient(
        database, Recipient(name="weekly", kind="webhook", address=hook.url, gets=("digests",))
    )
    publish(database, SIEMENS)
    deliver(database)
    assert hook.notices == []
    digest = make_digest(database, "daily", day(0))
    sent = send_digest(database, digest, recipient_channels(database, {}))
    assert sent.failed == ()
    assert hook.notices[0]["facts"]["companies"] == {"Siemens": 1}


def test_digest_is_about_the_companies_of_its_recipient(database, hook, inbox):
    watch_before(database, "Siemens", "Bosch")
    add_recipient(database, recipient("drills", hook.url, "webhook", "Bosch"))
    add_recipient(database, recipient("all", "all@example.org", "e-mail"))
    publish(database, SIEMENS, BOSCH)
    digest = make_digest(database, "daily", day(0))
    channels = recipient_channels(database, {})
    assert send_digest(database, digest, channels, report="html") is not None
    assert hook.notices[0]["facts"]["companies"] == {"Bosch": 1}
    (message,) = inbox.messages
    assert "Siemens" in message.get_body(("plain",)).get_content()
    assert [file.get_content_type() for file in message.iter_attachments()] == ["text/html"]
    assert send_digest(database, digest, channels) is None


def test_digest_in_a_chat_has_stories_about_the_companies_of_its_recipient(database, hook):
    watch_before(database, "Siemens", "Bosch")
    add_recipient(database, recipient("room", hook.url, "slack", "Bosch"))
    add_recipient(database, recipient("quiet", hook.url, "slack", "Alstom"))
    for name, verb in (("Siemens", "rides"), ("Bosch", "drills")):
        text = f"{name} {' '.join(f'{verb}{number}' for number in range(60))}"
        publish(database, text, f"{text} again", title=f"{name} twice")
    publish(database, "Alstom waits.")
    digest = make_digest(database, "daily", day(0))
    send_digest(database, digest, recipient_channels(database, {}))
    quiet, room = (json.dumps(notice) for notice in hook.notices)
    assert "Bosch twice> (2 articles in 1 source)" in room
    assert "Siemens twice" not in room + quiet
    assert "A headline> (FT" in quiet


def test_messages_show_sources_by_name(database):
    publish(database, "Siemens builds trams with Alstom.")
    notice = notice_of(database, PAIR)
    assert notice.links[0].note == f"FT, {day(0)}"
    assert f"(FT, {day(0)})" in notice.text
    assert f"FT, {day(0)}" in (notice.html or "")
    digest = make_digest(database, "daily", day(0), companies=["Siemens"])
    assert f"(FT, {day(0)})" in markdown_digest(digest)


def test_digest_marks_saved_queries(database):
    publish(database, "A strike stops all trams of Siemens.", BOSCH)
    for name, text in (("strikes", "strike*"), ("quiet", "silence")):
        add_query(database, name, text, "me")
        count_history(database, name)
    names = ["Siemens", "strikes", "quiet"]
    digest = make_digest(database, "daily", day(0), companies=names)
    text, page = markdown_digest(digest), html_digest(digest)
    assert "| strikes (saved query) | 1 |" in text
    assert "## strikes (saved query)" in text
    assert "Not named: quiet (saved query)." in text
    assert ">strikes (saved query)</h2>" in page
    assert "strikes (saved query): 1 of 2 articles read" in digest_notice(digest).summary
    assert "Siemens (" not in text + page
    assert digest_notice(digest).facts["companies"] == {"Siemens": 1, "strikes": 1}


def test_failure_is_recorded_and_repeated_for_this_recipient_alone(database, hook, inbox):
    watch_before(database, "Siemens")
    add_recipient(database, recipient("desk", "desk@example.org", "e-mail"))
    add_recipient(database, recipient("room", hook.url, "slack"))
    publish(database, SIEMENS)
    hook.answers = [404]
    (failure,) = deliver(database).failed
    assert (failure.channel, failure.reason) == ("room", "the server answered 404")
    later = datetime.now(UTC) + timedelta(hours=1)
    assert deliver(database, now=later).failed == ()
    assert (len(inbox.messages), len(hook.taken)) == (1, 2)
    sent = [(notice.recipient, notice.fault) for notice in sent_notices(database, 10)]
    assert sorted(sent) == [("desk", ""), ("room", ""), ("room", "the server answered 404")]
    assert {headline_of(notice.subject) for notice in sent_notices(database, 10)} == {
        "Siemens: first article since you started watching"
    }


def test_name_is_taken_once(database):
    add_recipient(database, recipient("desk", "desk@example.org", "e-mail"))
    with pytest.raises(RecipientError, match="desk is a recipient already"):
        add_recipient(database, recipient("desk", "other@example.org", "e-mail"))
    assert remove_recipient(database, "desk")
    assert not remove_recipient(database, "desk")
    assert list_recipients(database) == []


def test_edited_recipient_gets_notices_at_its_new_address(database, inbox):
    watch_before(database, "Siemens", "Bosch")
    add_recipient(database, recipient("desk", "old@example.org", "e-mail", "Siemens"))
    (before,) = list_recipients(database)
    edit_recipient(database, recipient("desk", "new@example.org", "e-mail", "Bosch"))
    (after,) = list_recipients(database)
    assert (after.added_at, after.added_by) == (before.added_at, before.added_by)
    publish(database, SIEMENS, BOSCH)
    deliver(database)
    got = [(message["To"], headline_of(message["Subject"])) for message in inbox.messages]
    assert got == [("new@example.org", "Bosch: first article since you started watching")]
    with pytest.raises(RecipientError, match="no recipient room is in the database"):
        edit_recipient(database, recipient("room", "new@example.org", "e-mail"))


def test_one_address_gets_alerts_on_one_subject_and_the_digest_on_another(database, inbox):
    watch_before(database, "Siemens", "Bosch")
    for name, company, gets in (("now", "Siemens", "alerts"), ("weekly", "Bosch", "digests")):
        ann = recipient(name, "ann@example.org", "e-mail", company)
        add_recipient(database, replace(ann, gets=(gets,)))
    publish(database, SIEMENS, BOSCH)
    deliver(database)
    digest = make_digest(database, "daily", day(0))
    send_digest(database, digest, digest_channels(database, CompanyStructure()))
    alert, letter = inbox.messages
    assert {alert["To"], letter["To"]} == {"ann@example.org"}
    assert headline_of(alert["Subject"]) == "Siemens: first article since you started watching"
    text = letter.get_body(("plain",)).get_content()
    assert "| Bosch | 1 |" in text
    assert "Siemens" not in text


# Pairs and first mentions ------------------------------------------------------------------------


PAIR = CompanyAlert(cause="x", kind="first pair", company="Alstom", other="Siemens", day=day(0))


def notice_of(database: Database, alert: CompanyAlert) -> Notice:
    articles = alert_articles(database, alert)
    return alert_notice(alert, articles, queries.source_names(database))


def pair_texts(database: Database) -> list[str]:
    notice = notice_of(database, PAIR)
    return [link.sentence for link in notice.links]


def test_alert_of_a_pair_shows_the_sentence_that_names_both(database):
    publish(
        database,
        "Siemens builds trams. It is large. Alstom, it says, will buy them from Siemens. The end.",
        "Siemens alone.",
    )
    run = register(database)
    text = "Siemens builds trams. It is large. Both Alstom and Siemens will sell them. The end."
    places = [body("Siemens"), body("Alstom", 40), body("Siemens", 51)]
    save_documents(database, [document("b", text=text, mentions=places)], run)
    assert "Both Alstom and Siemens will sell them." in pair_texts(database)
    assert len(pair_texts(database)) == 2


def test_pair_without_a_common_sentence_shows_one_for_each(database):
    publish(database, "Siemens builds trams. It is large. Alstom builds trains.")
    assert pair_texts(database) == ["Alstom builds trains. Siemens builds trams."]
    notice = notice_of(database, PAIR)
    assert notice.text.count("\n  > ") == 2
    assert "Alstom</b> builds" in (notice.html or "")


def test_saved_query_may_be_one_of_a_pair(database):
    publish(database, "A strike stops all trams of Siemens. It began on Monday.", "Siemens alone.")
    add_query(database, "strikes", "strike*", "me")
    count_history(database, "strikes")
    alert = replace(PAIR, company="strikes")
    (link,) = notice_of(database, alert).links
    assert link.sentence == "A strike stops all trams of Siemens."


def test_sentence_of_a_pair_is_cut_around_both(database):
    text = f"Siemens {'and so on ' * 20}with Alstom {'and so on ' * 60}"
    publish(database, text)
    (sentence,) = pair_texts(database)
    assert "Siemens" in sentence
    assert "Alstom" in sentence
    assert len(sentence) < 400


def test_first_mention_says_since_when(database, hook):
    watch_before(database, "Siemens")
    (watched,) = company_alerts.watched_companies(database)
    add_recipient(database, recipient("room", hook.url, "webhook"))
    publish(database, SIEMENS)
    deliver(database)
    (notice,) = hook.notices
    since = f"is the first one found since the watch began on {watched.added_at.date()} that names"
    assert since in notice["text"]
    assert notice["facts"]["watched_since"] == str(watched.added_at.date())


# The formats of products -------------------------------------------------------------------------


NOTICE = Notice(
    subject=f"First article {HOSTILE}",
    text="in Markdown",
    summary=f"Named on a day: {HOSTILE}",
    links=(
        Link(
            title=HOSTILE,
            url="https://ft.example/a(b)?c=1&d=2",
            note="ft, 2026-11-20",
            sentence=HOSTILE,
        ),
        Link(title="x", url="javascript:alert(1)"),
    ),
)


def test_slack_message_is_made_of_blocks_without_mentions():
    got = slack_payload(NOTICE)
    header, summary, link, bare = got["blocks"]  # type: ignore[misc]
    assert header["text"]["type"] == "plain_text"
    assert len(header["text"]["text"]) <= 150
    assert summary["text"] == {
        "type": "mrkdwn",
        "text": "Named on a day: &lt;!channel&gt; *A* [b](javascript:c) &amp; "
        "&lt;https://evil.example|you won&gt;",
        "verbatim": True,
    }
    first, quoted = link["text"]["text"].split("\n")
    assert first.startswith("<https://ft.example/a(b)?c=1&amp;d=2|&lt;!channel&gt;")
    assert quoted.startswith(">&lt;!channel&gt;")
    assert bare["text"]["text"] == "x"
    assert "<" not in str(got["text"])


def test_teams_message_is_an_adaptive_card():
    got: Any = teams_payload(NOTICE)
    assert got["type"] == "message"
    (attachment,) = got["attachments"]
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    assert attachment["contentUrl"] is None
    card = attachment["content"]
    assert (card["type"], card["version"]) == ("AdaptiveCard", "1.2")
    assert {block["type"] for block in card["body"]} == {"TextBlock"}
    texts = [block["text"] for block in card["body"]]
    assert any("](https://ft.example/a%28b%29?c=1&d=2)" in text for text in texts)
    assert not any("](javascript:" in text.replace("\\", "") for text in texts if "b" not in text)
    assert texts[-1] == "x"


# What a company or saved query, a headline, an address and a sentence may be in the worst case.
WORST = {
    "marks": HOSTILE * 200,
    "ampersands": "&<>" * 3000,
    "wide": "\U0001f525ä" * 4000,
    "one word": "x" * 9000,
    "lines": "- *a*\n" * 2000,
    "nothing": "",
}


@pytest.mark.parametrize("worst", WORST.values(), ids=WORST.keys())
@pytest.mark.parametrize("kind", ["webhook", "slack", "teams"])
def test_hostile_message_of_each_kind_stays_within_the_limits_of_its_product(hook, kind, worst):
    address = f"https://a.example/{'ä' * 1900}"
    addresses = ("https://a.example/x", address, "javascript:alert(1)")
    notice = Notice(
        subject=f"{worst}: first article since you started watching",
        text=worst,
        summary=worst or "-",
        links=tuple(
            Link(title=worst or "-", url=url, note=worst, sentence=worst) for url in addresses * 9
        ),
    )
    channel_of(recipient("room", hook.url, kind)).deliver(notice)
    ((headers, content),) = hook.taken
    assert headers["Content-Type"] == "application/json; charset=utf-8"
    got = json.loads(content)
    {"webhook": check_webhook, "slack": check_slack, "teams": check_teams}[kind](got, content)


def check_webhook(got: Any, _: bytes) -> None:
    assert got.keys() == {"text", "subject", "event", "cause", "facts"}


def check_slack(got: Any, _: bytes) -> None:
    """The limits of Block Kit: 50 blocks, 150 characters of a header, 3,000 of a section; the text
    of a message; and no markup but links of ours."""
    assert got.keys() == {"text", "blocks", "unfurl_links"}
    assert 1 <= len(got["text"]) <= 4000
    header, *sections = got["blocks"]
    assert 1 <= len(sections) <= 49
    assert header["type"] == "header"
    assert header["text"]["type"] == "plain_text"
    assert 1 <= len(header["text"]["text"]) <= 150
    assert len(json.dumps(got["blocks"], ensure_ascii=False)) <= 13_000
    for section in sections:
        assert (section["type"], section["text"]["type"]) == ("section", "mrkdwn")
        assert 1 <= len(section["text"]["text"]) <= 3000
        plain = re.sub(r"^<https://a\.example/[^<>|\s]+\|[^<>]*>", "", section["text"]["text"])
        assert "<" not in plain
        assert ">" not in plain.replace("\n>", "")
        assert re.fullmatch(r"(&amp;|&lt;|&gt;|[^&])*", plain)


def check_teams(got: Any, content: bytes) -> None:
    """The envelope that Workflows document, of less than 28 KB, with an Adaptive Card."""
    assert len(content) < 28 * 1024
    assert got.keys() == {"type", "attachments"}
    assert got["type"] == "message"
    (attachment,) = got["attachments"]
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    card = attachment["content"]
    assert card.keys() == {"$schema", "type", "version", "body"}
    assert card["type"] == "AdaptiveCard"
    assert card["body"]
    for block in card["body"]:
        assert block["type"] == "TextBlock"
        assert block["text"]
        assert "\n" not in block["text"]
        links = re.findall(r"(?<!\\)\]\((.*?)\)", block["text"])
        assert all(link.startswith("https://a.example/") for link in links)


# Addresses ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("url", ["http://example.org/h", "ftp://example.org/", "https://", "x"])
def test_webhook_must_be_https(url):
    with pytest.raises(SettingError):
        channel_of(recipient("room", url, "slack"))


def test_private_address_is_refused_when_it_is_sent(database):
    room = recipient("room", "https://127.0.0.1:9/hooks/t0ken", "teams")
    fault = send_test(database, room)
    assert "NEWSCRAWL_WEBHOOK_PRIVATE=yes" in fault
    assert "t0ken" not in fault
    (sent,) = sent_notices(database, 5)
    assert (sent.recipient, sent.fault) == ("room", fault)


def test_mail_without_a_server_is_a_failed_delivery(database):
    assert "no mail server" in send_test(database, recipient("a", "a@example.org", "e-mail"))


# On the command line -----------------------------------------------------------------------------


@pytest.fixture
def stored(newscrawl: Newscrawl) -> Newscrawl:
    with open_database("sqlite:///newscrawl.sqlite") as database:
        publish(database, SIEMENS, BOSCH)
    return newscrawl


def test_recipients_are_added_tested_listed_and_removed(stored, inbox):
    run = ("alerts", "recipients")
    added = stored(*run, "add", "desk", "desk@example.org", "-c", "siemens")
    assert added.code == 0
    assert "desk: gets alerts and digests about Siemens." in added.err
    assert "Watched from now on: Siemens." in added.err
    assert stored(*run, "test", "desk").code == 0
    assert inbox.messages[0]["To"] == "desk@example.org"
    url = "https://hooks.slack.com/services/T0/B0/s3cret"
    assert stored(*run, "add", "room", url, "--only", "alerts").code == 0
    rows = json.loads(stored(*run, "list", "--format", "json").out)
    assert [(row["name"], row["kind"], row["address"]) for row in rows] == [
        ("desk", "e-mail", "desk@example.org"),
        ("room", "slack", "hooks.slack.com"),
    ]
    assert [row["gets"] for row in rows] == ["alerts, digests", "alerts"]
    (sent,) = json.loads(stored(*run, "sent", "--format", "json").out)
    assert (sent["recipient"], sent["result"]) == ("desk", "delivered")
    assert stored(*run, "remove", "room").code == 0
    assert stored(*run, "remove", "room").code == 1


@pytest.mark.parametrize(
    ("first", "second", "repeated"),
    [
        ((), (), "alerts and digests about all that is watched"),
        ((), ("-c", "Bosch", "--only", "digests"), "digests about Bosch"),
        (("-c", "Siemens", "-c", "Bosch"), ("-c", "Bosch"), "alerts and digests about Bosch"),
        (("-c", "Siemens"), ("-c", "Bosch"), ""),
        (("--only", "alerts"), ("--only", "digests"), ""),
    ],
)
def test_what_comes_twice_to_an_address_is_said(stored, first, second, repeated):
    add = ("alerts", "recipients", "add")
    stored(*add, "press office", "press@example.org", *first)
    stored(*add, "other", "other@example.org")
    added = stored(*add, "desk", "press@example.org", *second)
    assert added.code == 0
    warning = f"press@example.org already gets {repeated} as 'press office': they will come twice."
    assert (warning in added.err) == bool(repeated)
    assert ("twice" in added.err) == bool(repeated)


def test_recipient_is_edited(stored):
    run = ("alerts", "recipients")
    stored(*run, "add", "desk", "desk@example.org", "-c", "siemens")
    edited = stored(*run, "edit", "desk", "--gets", "alerts", "-c", "bosch")
    assert edited.code == 0
    assert "desk: gets alerts about Bosch.\nWatched from now on: Bosch.\n" in edited.err
    url = "https://hooks.slack.com/services/T0/B0/s3cret"
    assert stored(*run, "edit", "desk", "--address", url, "--all", "--gets", "both").code == 0
    (row,) = json.loads(stored(*run, "list", "--format", "json").out)
    assert (row["kind"], row["companies"], row["gets"]) == ("slack", "all", "alerts, digests")


def test_company_of_a_digest_is_not_watched_for_alerts(stored):
    run = ("alerts", "recipients")
    added = stored(*run, "add", "desk", "desk@example.org", "-c", "siemens", "--only", "digests")
    assert added.err.endswith("desk: gets digests about Siemens.\n")
    stored(*run, "edit", "desk", "-c", "bosch")
    assert json.loads(stored("alerts", "watched", "--format", "json").out) == []
    stored(*run, "edit", "desk", "--gets", "both")
    (row,) = json.loads(stored("alerts", "watched", "--format", "json").out)
    assert row["company"] == "Bosch"


def test_group_that_is_gone_does_not_hinder_an_edit(stored):
    with open_database("sqlite:///newscrawl.sqlite") as database:
        add_recipient(database, recipient("desk", "desk@example.org", "e-mail", "rivals", "Bosch"))
    ran = stored("alerts", "recipients", "edit", "desk", "--gets", "alerts")
    assert "desk: gets alerts about rivals, Bosch." in ran.err


def test_company_of_a_recipient_stays_watched_and_unwatch_says_so(stored):
    stored("alerts", "recipients", "add", "desk", "desk@example.org", "-c", "Siemens")
    ran = stored("alerts", "unwatch", "Siemens")
    sentence = "Siemens: still watched for the recipients of alerts about it.\n"
    assert (ran.code, ran.err) == (0, sentence)
    (row,) = json.loads(stored("alerts", "watched", "--format", "json").out)
    assert (row["company"], row["by"]) == ("Siemens", "recipients")
    stored("alerts", "recipients", "remove", "desk")
    assert stored("alerts", "unwatch", "Siemens").code == 1


def test_recipients_of_the_settings_are_listed_first(stored, monkeypatch):
    run = ("alerts", "recipients")
    stored(*run, "add", "room", "https://hooks.slack.com/services/T0/B0/s3cret")
    monkeypatch.setattr(config, "NEWSCRAWL_WEBHOOKS", "https://example.org/hook?key=s3cret")
    first, second = json.loads(stored(*run, "list", "--format", "json").out)
    assert (first["address"], first["added_by"]) == ("example.org", "settings")
    assert first["gets"] == "alerts, digests, incidents"
    assert (second["name"], second["gets"]) == ("room", "alerts, digests")
    monkeypatch.setattr(config, "NEWSCRAWL_WEBHOOKS", "nowhere")
    ran = stored(*run, "list", "--format", "json")
    assert [row["name"] for row in json.loads(ran.out)] == ["room"]
    assert "the recipients of the settings are not listed" in ran.err
