"""Recipients and watches in a real browser: added, refused, shown with those of the settings, and
removed."""

import re
from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Page, expect

from newscrawl import config
from newscrawl.dashboard import create_app
from newscrawl.dashboard.pages import reports
from newscrawl.storage import Database, open_database
from newscrawl.storage.company_alerts import (
    Recipient,
    SentNotice,
    add_recipient,
    list_recipients,
    record_sent,
    remove_recipient,
    watched_companies,
)
from newscrawl.storage.leases import WorkerFacts, record_heartbeat, record_worker_start
from newscrawl.storage.tokens import add_token
from tests.dashboards import FIRST_NAMED, SCRIPT, TODAY, config_of, dashboard, serving

HOOK = "https://hooks.slack.com/services/T0/s3cret"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("alerts")


@pytest.fixture(scope="module")
def base(folder: Path) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(config, "NEWSCRAWL_SMTP_URL", "smtp://ann:s3cret@mail.example.org")
        patch.setattr(config, "NEWSCRAWL_MAIL_TO", "ops@example.org, desk@example.org")
        patch.setattr(config, "NEWSCRAWL_WEBHOOKS", "https://hooks.example.org/s3cret")
        with dashboard(folder, days=3, hostile=True) as url:
            yield url


@pytest.fixture
def news(base: str, folder: Path) -> Iterator[Database]:
    with open_database(f"sqlite:///{folder}/news.sqlite") as opened:
        yield opened
        for one in list_recipients(opened):
            if one.name.startswith("new "):
                remove_recipient(opened, one.name)


def fill_in(page: Page, name: str, address: str, companies: str = "") -> None:
    if not page.locator("#save-recipient[open]").count():
        page.get_by_text("Add a recipient", exact=True).click()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Address", exact=True).fill(address)
    page.get_by_label("Companies, groups and saved queries").fill(companies)


@pytest.mark.parametrize("width", [1280, 390], ids=["wide", "phone"])
def test_recipient_is_added_and_removed(look, news, width):
    page = look("/alerts", width=width).page
    fill_in(page, f"new {SCRIPT}", f" {HOOK} ", "siemens mobility\nour competitors\n")
    page.get_by_label("Gets").select_option("only alerts")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("was saved. Its companies are watched")
    added = next(one for one in list_recipients(news) if one.name == f"new {SCRIPT}")
    assert (added.kind, added.address, added.gets) == ("slack", HOOK, ("alerts",))
    assert added.companies == ("Siemens", "our competitors")
    assert "our competitors" in {one.company for one in watched_companies(news)}
    row = page.get_by_role("row").filter(has_text="new <script>")
    expect(row).to_contain_text("hooks.slack.com")
    assert "s3cret" not in page.content()
    assert page.evaluate("window.hacked") is None
    row.get_by_role("button", name="Remove").click()
    expect(page.get_by_role("status")).to_contain_text("Removed.")
    expect(page.get_by_role("row").filter(has_text="new <script>")).to_have_count(0)


def test_recipient_at_a_known_address_is_saved_with_a_warning(look, news):
    page = look("/alerts").page
    for name, companies in (("new press", ""), ("new desk", "Siemens")):
        fill_in(page, name, "New@example.org" if companies else "new@example.org", companies)
        page.get_by_role("button", name="Add", exact=True).click()
        expect(page.get_by_role("status")).to_contain_text(f"{name} was saved.")
    expect(page.get_by_role("note")).to_have_text(
        "New@example.org already gets alerts and digests about Siemens as 'new press': "
        "they will come twice."
    )


@pytest.mark.parametrize("width", [1280, 390], ids=["wide", "phone"])
def test_recipient_is_edited_and_its_secret_address_stays(look, news, width):
    add_recipient(
        news, Recipient(name="new ?&/", kind="slack", address=HOOK, companies=("Siemens",))
    )
    watched = look("/alerts", width=width)
    page = watched.page
    page.get_by_role("link", name="Edit new ?&/").click()
    expect(page.get_by_role("heading", name="Edit new ?&/")).to_be_in_viewport()
    assert watched.violations() == []
    assert "s3cret" not in page.content()
    companies = page.get_by_label("Companies, groups and saved queries")
    expect(companies).to_have_value("Siemens")
    companies.fill("Siemens\nsiemns")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("did you mean Siemens")
    expect(page.get_by_role("heading", name="Edit new ?&/")).to_be_visible()
    companies.fill("our competitors")
    page.get_by_label("Gets").select_option("only digests")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("status")).to_have_text("new ?&/ was saved.")
    edited = next(one for one in list_recipients(news) if one.name == "new ?&/")
    assert (edited.kind, edited.address) == ("slack", HOOK)
    assert (edited.companies, edited.gets) == (("our competitors",), ("digests",))
    watched.said[:] = [one for one in watched.said if "status of 422" not in one]


@pytest.mark.parametrize("width", [1280, 390], ids=["wide", "phone"])
def test_company_is_watched_by_a_button_and_no_longer(look, news, width):
    page = look("/company/Bosch?days=7", width=width).page
    section = page.locator("section[aria-labelledby=alerts]")
    expect(section).to_contain_text("Bosch is not watched")
    section.get_by_role("button", name="Watch Bosch").click()
    expect(page).to_have_url(re.compile("/company/Bosch\\?days=7#alerts$"))
    watch = next(one for one in watched_companies(news) if one.company == "Bosch")
    assert (watch.other, watch.added_by, watch.for_recipient) == ("", config.user_name(), False)
    expect(section).not_to_contain_text("is not watched")
    section.get_by_role("button", name="Stop watching Bosch").click()
    expect(section).to_contain_text("Bosch is not watched")
    assert "Bosch" not in {one.company for one in watched_companies(news)}


@pytest.mark.parametrize("width", [1280, 390], ids=["wide", "phone"])
def test_pair_is_watched_by_name(look, news, base, width):
    page = look("/alerts", width=width).page
    panel = page.locator("section[aria-labelledby=watched]")
    panel.get_by_text("Watch a company").click()
    panel.get_by_label("Company, group or saved query").fill("siemens mobility")
    panel.get_by_label("Only together with (optional)").fill("Bosch")
    page.keyboard.press("Enter")
    row = panel.get_by_role("listitem").filter(has_text="Bosch and Siemens")
    expect(row).to_contain_text(f"by {config.user_name()}")
    assert ("Bosch", "Siemens") in {(one.company, one.other) for one in watched_companies(news)}
    row.get_by_role("button", name="Stop watching Bosch and Siemens").click()
    expect(row).to_have_count(0)
    form = {"seal": page.locator("input[name=seal]").first.input_value(), "company": "Siemens"}
    for other, fault in (("Siemns", "mean Siemens or Simons?"), ("siemens", "two different")):
        answer = page.request.post(f"{base}/alerts/watch", form={**form, "other": other})
        assert answer.status == 422
        assert fault in answer.text()


def test_alert_leads_to_its_articles(look, base):
    page = look("/alerts").page
    alert = page.locator("section[aria-labelledby=newest]").get_by_role(
        "link", name="first article"
    )
    alert.first.click()
    panel = page.get_by_role("dialog", name="Proof of the number")
    expect(panel.locator("h1")).to_contain_text(FIRST_NAMED)
    expect(panel.locator("mark").first).to_have_text("Stadler")
    # It is the first one, as the rule says.
    before = {"company": FIRST_NAMED, "until": str(TODAY - timedelta(days=2))}
    assert page.request.get(f"{base}/api/articles", params=before).json() == []


def test_reader_sees_commands_in_place_of_buttons(news, folder):
    proxy = ip_network("127.0.0.1")
    app = create_app(config_of(folder / "news.sqlite", proxies=(proxy,)))
    settings: Any = {"headers": {"X-Forwarded-User": "reader"}, "client": ("127.0.0.1", 5000)}
    with TestClient(app, base_url="http://127.0.0.1:8300", **settings) as client:
        text = client.get("/company/Bosch").text
        assert "<code>newscrawl alerts watch Bosch</code> begins." in text
        assert "/alerts/watch" not in text + client.get("/alerts").text
        assert client.post("/alerts/watch", data={"company": "Bosch"}).status_code == 403


@pytest.mark.parametrize("fault", ["", "the server answered 404"])
def test_test_message_is_sent_by_a_button(news, folder, browser, fault, monkeypatch):
    asked: list[str] = []

    def send(database: Database, recipient: Recipient) -> str:
        asked.append(recipient.name)
        notice = SentNotice(recipient=recipient.name, cause="test", subject="a test", fault=fault)
        record_sent(database, [notice])
        return fault

    monkeypatch.setattr(reports, "send_test", send)
    with serving(config_of(folder / "news.sqlite")) as url:
        page = browser.new_page()
        page.goto(f"{url}/alerts")
        page.get_by_role("button", name="Send a test to mobility-room").click()
        status = page.get_by_role("status")
        expect(status).to_contain_text("Test message to mobility-room:")
        expect(status).to_contain_text(f"not delivered. {fault}" if fault else "delivered.")
        assert asked == ["mobility-room"]
        page.close()


def test_tables_of_alerts_fit_a_phone(look):
    page = look("/alerts", width=390).page
    for area in page.locator(".scroll").all():
        assert area.evaluate("one => one.scrollWidth <= one.clientWidth")
    expect(page.get_by_role("cell", name="delivered").first).to_be_visible()
    assert page.get_by_role("columnheader", name="Result").count() == 1
    for button in page.get_by_role("button", name="Stop watching").all():
        assert button.evaluate(
            "one => one.clientHeight < 3 * parseFloat(getComputedStyle(one).fontSize)"
        )


@pytest.mark.parametrize(
    ("address", "companies", "fault"),
    [
        ("nowhere", "", "not an e-mail address"),
        ("http://hooks.example.org/x", "", "begins with https://"),
        ("https://:0/", "", "new desk: not an http or https URL"),
        ("desk@example.org", "Siemns", "did you mean Siemens"),
    ],
)
def test_fault_is_shown_and_the_form_kept(look, news, address, companies, fault):
    watched = look("/alerts")
    page = watched.page
    fill_in(page, "new desk", address, companies)
    page.get_by_label("Kind").select_option("Detect automatically")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text(fault)
    assert watched.violations() == []
    expect(page.get_by_label("Address", exact=True)).to_have_value(address)
    assert "new desk" not in {one.name for one in list_recipients(news)}
    watched.said[:] = [one for one in watched.said if "status of 422" not in one]


def test_recipients_of_the_settings_are_marked_and_show_no_secret(look):
    page = look("/alerts").page
    rows = page.get_by_role("row").filter(has=page.locator(".tag", has_text="settings"))
    expect(rows).to_have_count(3)
    for place, text in enumerate(("ops@example.org", "desk@example.org", "hooks.example.org")):
        expect(rows.nth(place)).to_contain_text(text)
        expect(rows.nth(place)).to_contain_text("incidents")
        expect(rows.nth(place).get_by_role("button")).to_have_count(0)
    assert "s3cret" not in page.content()


def test_reader_sees_recipients_but_no_form(tmp_path):
    file = tmp_path / "news.sqlite"
    with open_database(f"sqlite:///{file}") as database:
        secret = add_token(database, "ann", "read")
    app = create_app(config_of(file))
    headers = {"Authorization": f"Bearer {secret}"}
    with TestClient(app, base_url="http://127.0.0.1:8300", headers=headers) as client:
        page = client.get("/alerts").text
        answer = client.post("/alerts/recipients/add", data={"name": "a", "address": "a@b.example"})
    assert "Add a recipient" not in page
    assert answer.status_code == 403


def test_alerts_say_whether_a_monitor_runs_and_a_mail_server_is_set(tmp_path, monkeypatch):
    file = tmp_path / "news.sqlite"
    facts = WorkerFacts(host="h", pid=1, slots=1, version="0.1.0")
    monkeypatch.setattr(config, "NEWSCRAWL_SMTP_URL", "")
    with (
        open_database(f"sqlite:///{file}") as database,
        TestClient(create_app(config_of(file)), base_url="http://127.0.0.1:8300") as client,
    ):
        page = client.get("/alerts").text
        assert "<strong>No monitor is running</strong>: no digest" in page
        assert "<strong>No mail server is set:</strong>" in page
        assert "NEWSCRAWL_" not in page
        record_worker_start(database, "h:1:x", facts)
        monkeypatch.setattr(config, "NEWSCRAWL_SMTP_URL", "smtp://mail.example.org")
        page = client.get("/alerts").text
        assert "<strong>A monitor is running</strong>, last seen " in page
        assert "<strong>A mail server is set.</strong>" in page
        record_heartbeat(database, "h:1:x", stopped=True)
        page = client.get("/alerts").text
        assert "<strong>No monitor is running</strong>, last seen " in page


def test_next_digest_is_shown(look, news, monkeypatch):
    monkeypatch.setattr(config, "NEWSCRAWL_DIGEST", "")
    shown = look("/alerts").page.locator("#next-digest")
    expect(shown).to_contain_text("No digest is scheduled.")
    monkeypatch.setattr(config, "NEWSCRAWL_DIGEST", "monday 07:00")
    monday = TODAY + timedelta(days=7 - TODAY.weekday())
    shown = look("/alerts").page.locator("#next-digest")
    expect(shown).to_have_text(
        f"Next digest: weekly, Monday {monday} 07:00 UTC, as soon as newscrawl monitor runs."
    )
    facts = WorkerFacts(host="h", pid=1, slots=1, version="0.1.0", digests="daily 23:59")
    record_worker_start(news, "h:1:x", facts)
    shown = look("/alerts").page.locator("#next-digest")
    expect(shown).to_have_text(f"Next digest: daily, {TODAY:%A %Y-%m-%d} 23:59 UTC.")
    record_heartbeat(news, "h:1:x", stopped=True)


def test_invalid_setting_is_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "NEWSCRAWL_WEBHOOKS", "no-url")
    file = tmp_path / "news.sqlite"
    with open_database(f"sqlite:///{file}"):
        pass
    app = create_app(config_of(file))
    with TestClient(app, base_url="http://127.0.0.1:8300") as client:
        answer = client.get("/alerts")
    assert answer.status_code == 200
    assert "A setting is invalid: NEWSCRAWL_WEBHOOKS: not an http or https URL" in answer.text


@pytest.mark.thorough
def test_recipient_is_added_by_keyboard_alone(look, news):
    page = look("/alerts").page
    page.locator("#save-recipient summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("new keys")
    page.keyboard.press("Tab")
    page.keyboard.type("keys@example.org")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("new keys was saved.")
    added = next(one for one in list_recipients(news) if one.name == "new keys")
    assert (added.kind, added.companies) == ("e-mail", ())
    assert set(added.gets) == {"alerts", "digests"}
