"""The pages of reports, and of recipients of alerts and digests."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from newscrawl import config as settings
from newscrawl.answers.names import company_of
from newscrawl.config import SettingError
from newscrawl.dashboard.exports import export_format, table_file
from newscrawl.dashboard.rendering import (
    OpenDatabase,
    Sent,
    app_state,
    companies_in_use,
    company_address,
    filters_of,
    name_of_person,
    page_router,
    render,
)
from newscrawl.dashboard.security import HEADERS
from newscrawl.monitoring.alerts import send_test
from newscrawl.monitoring.delivery import configured_recipients, save_recipient
from newscrawl.reports import (
    MEDIA_TYPES,
    ReportFormat,
    Table,
    article_table,
    html_report,
    make_report,
    report_policy,
    workbook,
)
from newscrawl.storage import Database, QuestionError, queries
from newscrawl.storage.company_alerts import (
    ALERTS_SHOWN,
    NOTICE_KINDS,
    UNCONFIRMED,
    Recipient,
    RecipientError,
    describe_repeats,
    kind_of,
    list_alerts,
    list_recipients,
    remove_recipient,
    sent_notices,
    unwatch_company,
    watch_company,
    watched_companies,
)
from newscrawl.storage.scope import MAX_VALUE
from newscrawl.storage.status import last_monitor, next_digests

router = page_router()

MAX_SENT = 50
MAX_ROWS = 10_000  # in a file; ours
MAX_ALERTS = 20
# Ours, in characters: the URL of a webhook of Teams has some 300, and the companies of a recipient.
MAX_ADDRESS = 2_000
MAX_LINES = 10_000


@router.get("/report")
def report(
    request: Request,
    database: OpenDatabase,
    company: Annotated[list[str], Query(max_length=50)],
    format: ReportFormat = "html",  # noqa: A002 - the name in the address
) -> Response:
    """Return the report on companies or groups over the period of the filters."""
    filters = filters_of(request)
    names = [name for name in company if name.strip()]
    stored = {*queries.company_names(database)}
    for name in names:
        if stored.isdisjoint(filters.scope.members(name)):
            raise HTTPException(404, f"No company {name!r} was ever mentioned here.")
    document = make_report(database, names, filters.scope)
    articles = article_table(database, names, filters.scope) if format == "xlsx" else None
    if format == "xlsx":
        headers = {"Content-Disposition": f'attachment; filename="{document.file_name}.xlsx"'}
        content = workbook(document, articles)
        return Response(content, media_type=MEDIA_TYPES[format], headers=headers)
    address = str(request.base_url)
    policy = f"{report_policy()}; frame-ancestors 'none'"
    return HTMLResponse(
        html_report(document, address), headers={**HEADERS, "Content-Security-Policy": policy}
    )


class WatchForm(BaseModel):
    """The form that begins or ends a watch, of a pair if `other` is given; `back` are the filters
    of the company's page from which it was sent, if from there."""

    company: str = Field("", max_length=MAX_VALUE)
    other: str = Field("", max_length=MAX_VALUE)
    person: str = Field("", max_length=MAX_VALUE)
    back: str = Field("", max_length=MAX_ADDRESS, pattern=r"^(\?.*)?$")


class RecipientForm(BaseModel):
    """The form for a recipient; `companies` has one a line, an empty `kind` is that of the address,
    an empty `gets` is all."""

    name: str = Field("", max_length=MAX_VALUE)
    address: str = Field("", max_length=MAX_ADDRESS)
    kind: Literal["", "e-mail", "webhook", "slack", "teams"] = ""
    companies: str = Field("", max_length=MAX_LINES)
    gets: Literal["", "alerts", "digests"] = ""
    person: str = Field("", max_length=MAX_VALUE)


@router.get("/alerts")
def alerts(
    request: Request,
    database: OpenDatabase,
    saved: str = "",
    removed: str = "",
    tested: str = "",
    edit: str = "",
) -> Response:
    """Show what is watched, who gets alerts and digests, and what was sent, or return what was sent
    as a file; with `edit`, the form to change this recipient."""
    if kind := export_format(request):
        notices = sent_notices(database, MAX_ROWS)
        table = Table.of_records(notices, "sent_at", "recipient", "cause", "subject", "fault")
        return table_file(kind, {"Sent": table}, "sent", filters_of(request))
    if not edit:
        done = {"saved": saved, "removed": removed, "tested": tested}
        return _alerts(request, database, RecipientForm.model_construct(), done)
    former = _recipient(database, edit)
    return _alerts(request, database, _form_of(former), former=former)


@router.post("/alerts/watch")
def watch(request: Request, database: OpenDatabase, form: Sent[WatchForm]) -> Response:
    """Watch a company, group, saved query or pair of these from now on."""
    person = name_of_person(request) or form.person.strip()
    if not person:
        raise HTTPException(422, "Who watches it? Go back and write your name.")
    registry, stored = companies_in_use(request), queries.company_names(database)
    groups = registry.structure.groups
    name = company_of(form.company, registry, stored, groups)
    other = company_of(form.other, registry, stored, groups) if form.other.strip() else ""
    if other == name:
        raise HTTPException(422, "A pair is of two different companies.")
    watch_company(database, name, other, by=person)
    return _back(name, form)


@router.post("/alerts/unwatch")
def unwatch(database: OpenDatabase, form: Sent[WatchForm]) -> Response:
    """Stop watching a company, group, saved query or pair."""
    if not unwatch_company(database, form.company, form.other):
        raise HTTPException(404, f"{form.company!r} is not watched.")
    return _back(form.company, form)


def _back(name: str, form: WatchForm) -> RedirectResponse:
    page = f"{company_address(name)}{form.back}#alerts" if form.back else "/alerts#watched"
    return RedirectResponse(page, 303)


@router.post("/alerts/recipients/add")
def add(request: Request, database: OpenDatabase, form: Sent[RecipientForm]) -> Response:
    """Add a recipient, or show the form again with the fault."""
    return _save(request, database, form, None)


@router.post("/alerts/recipients/edit")
def edit(request: Request, database: OpenDatabase, form: Sent[RecipientForm]) -> Response:
    """Change a recipient, or show the form again with the fault; an empty address stays."""
    former = _recipient(database, form.name)
    return _save(request, database, form, former)


def _save(
    request: Request, database: Database, form: RecipientForm, former: Recipient | None
) -> Response:
    person = name_of_person(request) or form.person.strip()
    if not person:
        return _alerts(
            request, database, form, fault="who saves it? write your name", former=former
        )
    address = form.address.strip() or (former.address if former else "")
    recipient = Recipient(
        name=form.name.strip(),
        kind=form.kind or kind_of(address),
        address=address,
        companies=tuple(filter(None, map(str.strip, form.companies.splitlines()))),
        gets=(form.gets,) if form.gets else NOTICE_KINDS,
        added_by=person,
    )
    try:
        save_recipient(database, companies_in_use(request), recipient, former)
    except (RecipientError, QuestionError, SettingError) as error:
        return _alerts(request, database, form, fault=str(error), former=former)
    return RedirectResponse(f"/alerts?saved={quote(recipient.name, safe='')}", 303)


def _recipient(database: Database, name: str) -> Recipient:
    for recipient in list_recipients(database):
        if recipient.name == name:
            return recipient
    raise HTTPException(404, f"No recipient {name!r} is in the database.")


def _form_of(recipient: Recipient) -> RecipientForm:
    """Return the form that edits a recipient; the address of a webhook is a secret."""
    return RecipientForm.model_construct(
        name=recipient.name,
        address=recipient.address if recipient.kind == "e-mail" else "",
        kind=recipient.kind,
        companies="\n".join(recipient.companies),
        gets="" if len(recipient.gets) > 1 else recipient.gets[0],
    )


@router.post("/alerts/recipients/remove")
def remove(database: OpenDatabase, form: Sent[RecipientForm]) -> Response:
    """Remove a recipient; its companies stay watched."""
    if not remove_recipient(database, form.name):
        raise HTTPException(404, f"No recipient {form.name!r} is in the database.")
    return RedirectResponse(f"/alerts?removed={quote(form.name, safe='')}", 303)


@router.post("/alerts/recipients/test")
def test_recipient(database: OpenDatabase, form: Sent[RecipientForm]) -> Response:
    """Send a test message to a recipient, and show whether it was delivered."""
    send_test(database, _recipient(database, form.name))
    return RedirectResponse(f"/alerts?tested={quote(form.name, safe='')}", 303)


def _alerts(
    request: Request,
    database: Database,
    form: RecipientForm,
    done: Mapping[str, str] = MappingProxyType({}),
    *,
    fault: str = "",
    former: Recipient | None = None,
) -> HTMLResponse:
    of_settings, settings_fault = _settings_recipients()
    try:
        digests = next_digests(
            database, settings.NEWSCRAWL_DIGEST, app_state(request).config.clock()
        )
    except SettingError as error:
        digests, settings_fault = (), str(error)
    recipients = list_recipients(database)
    return render(
        request,
        "alerts.html",
        status=422 if fault else 200,
        watched=watched_companies(database),
        recipients=recipients,
        repeats=[
            sentence
            for recipient in recipients
            if recipient.name == done.get("saved")
            for sentence in describe_repeats(recipient, [*of_settings, *recipients])
        ],
        of_settings=of_settings,
        settings_fault=settings_fault,
        digests=digests,
        monitor=last_monitor(database),
        has_mail_server=bool(settings.NEWSCRAWL_SMTP_URL),
        sent=sent_notices(database, MAX_SENT),
        filters=filters_of(request),
        alerts=[
            stored.alert for stored in list_alerts(database, limit=MAX_ALERTS, kinds=ALERTS_SHOWN)
        ],
        shown=MAX_SENT,
        unconfirmed=UNCONFIRMED,
        form=form,
        former=former,
        fault=fault,
        done=done,
        person=name_of_person(request),
    )


def _settings_recipients() -> tuple[Sequence[Recipient], str]:
    """Return the recipients of the settings, and the error if the settings are invalid."""
    try:
        return configured_recipients(), ""
    except SettingError as error:
        return (), str(error)
