"""The proof of a number: the articles behind it, what it leaves out, and the sources' coverage."""

import re
from typing import Any, get_args

from fastapi import Request
from fastapi.responses import Response

from newscrawl.answers.coverage import most_unread
from newscrawl.answers.proof import number_corrections, number_proof
from newscrawl.dashboard.exports import export_format, proof_file
from newscrawl.dashboard.filters import LAST_PAGE, Filters, choose
from newscrawl.dashboard.names import check_is_named
from newscrawl.dashboard.rendering import (
    OpenDatabase,
    app_state,
    filters_of,
    name_of_person,
    page_router,
    proof_address,
    render,
    versions_in_use,
)
from newscrawl.dashboard.trial import offered_cures
from newscrawl.reports import MAX_ARTICLES
from newscrawl.storage import queries
from newscrawl.storage.queries import Counted
from newscrawl.storage.queries.left_out import OF_MENTIONS, REASONS, Order

router = page_router()

ARTICLES = 50  # on a page
MAX_LEFT_OUT = 20  # sources, languages or countries that a number leaves out


@router.get("/proof")
def show_proof(request: Request, database: OpenDatabase) -> Response:
    """Show the proof of a number, with the filters of its page, or return its articles as a
    file."""
    filters, kind = filters_of(request), export_format(request)
    target = _target(request, filters)
    company, counted, order = target["company"], target["counted"], target["order"]
    names = queries.company_names(database)
    for name in filter(None, (company, target["beside"])):
        check_is_named(request, name, names, filters.scope)
    answer = number_proof(
        database,
        versions_in_use(request),
        **target,
        scope=filters.scope,
        limit=MAX_ARTICLES if kind else ARTICLES,
        offset=0 if kind else (filters.page - 1) * ARTICLES,
    )
    if kind:
        return proof_file(kind, database, answer.proof, filters)
    person, number = name_of_person(request), request.query_params.get("corrected", "")
    corrections = number_corrections(
        database,
        filters.scope,
        counted,
        [name for name in (company, target["beside"]) if name is not None],
        person=person,
        number=int(number) if re.fullmatch(r"[1-9][0-9]{0,17}", number) else None,
        now=app_state(request).config.clock(),
    )
    changed = corrections.changed
    cures = []
    if changed is not None and changed.undone_at is None:
        cures = offered_cures(app_state(request).registry, database, changed)
    unread = most_unread(database, filters.scope)
    pages = -(-answer.proof.total // ARTICLES)
    parts = {key: target[key] or "" for key in ("counted", "company", "split", "beside", "story")}
    orders = {
        sequence: proof_address(
            filters,
            **parts,
            without=target["without"],
            order="" if sequence == "newest" else sequence,
        )
        for sequence in get_args(Order)
    }
    return render(
        request,
        "proof.html",
        filters=filters,
        answer=answer,
        found=answer.proof,
        company=company or "",
        split=target["split"] or "",
        without=target["without"],
        story=target["story"],
        here=orders[order],
        # The query of this page, to which its explanations lead back.
        asked=orders[order].removeprefix("/proof")
        + (f"&page={filters.page}" if filters.page > 1 else ""),
        orders=orders,
        order=order,
        may_order=company is not None and not answer.is_query and counted in OF_MENTIONS,
        of_mentions=OF_MENTIONS,
        unread=unread,
        person=person,
        made=corrections,
        cures=cures,
        has_file=app_state(request).registry is not None,
        pages=min(pages, LAST_PAGE),
        beyond=pages > LAST_PAGE,
        shown=ARTICLES,
        shows_left_out=counted not in REASONS and target["story"] is None,
    )


def _target(request: Request, filters: Filters) -> dict[str, Any]:
    """Return what the number is of, and the order of its articles, as `queries.proof` takes them;
    raise QuestionError."""
    values = request.query_params
    company, beside, story = (
        values.get(name, "").strip() or None for name in ("company", "beside", "story")
    )
    return {
        "counted": choose(values, "counted", get_args(Counted)),
        "company": company,
        "beside": beside,
        "split": filters.split if filters.split != "whole" else None,
        "without": list(filter(None, values.getlist("without")))[:MAX_LEFT_OUT],
        "story": story,
        "order": choose(values, "order", get_args(Order)),
    }
