"""What `newscrawl mentions` shows of companies beside each other."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from newscrawl.cli.arguments import ExportFormat
from newscrawl.cli.mentions import foundation, say_nothing, span
from newscrawl.cli.output import Column, render
from newscrawl.storage import queries

if TYPE_CHECKING:
    from newscrawl.storage import Database
    from newscrawl.storage.queries import By, Measure, Scope


def show_shares(
    store: "Database",
    names: Sequence[str],
    by: "By | None",
    measure: "Measure",
    scope: "Scope",
    form: ExportFormat,
) -> bool:
    """The shares of voice; says whether there is any."""
    shares = queries.share_of_voice(store, names, by=by, measure=measure, scope=scope)
    reach = queries.completeness(store, scope=scope)
    columns = (
        *((Column(key=by, heading=by),) if by else ()),
        Column(key="company", heading="company", wide=True),
        Column(key=measure, heading=measure, number=True),
        Column(key="share", heading="share", number=True, show=_percent),
    )
    records = [
        {
            **({by: row.key} if by else {}),
            "company": row.company,
            measure: row.number,
            "share": row.share,
        }
        for row in shares
    ]
    title = f"Share of voice by {measure}{span(scope)}"
    render(records, columns, form, title=title, note=foundation(reach))
    found = any(row.number for row in shares)
    if not found:
        say_nothing(" or ".join(dict.fromkeys(names)), reach)
    return found


def show_companions(
    store: "Database", company: str, scope: "Scope", limit: int, form: ExportFormat
) -> bool:
    """The companies named beside one; says whether there is any."""
    rows = queries.co_mentions(store, company, scope=scope, limit=limit)
    reach = queries.completeness(store, scope=scope)
    columns = (
        Column(key="company", heading="company", wide=True),
        Column(key="articles", heading="articles", number=True),
        Column(key="stories", heading="stories", number=True),
        Column(key="share", heading=f"of {company}'s", number=True, show=_percent),
    )
    records = [
        {
            "company": row.company,
            "articles": row.articles,
            "stories": row.stories,
            "share": row.share,
        }
        for row in rows
    ]
    title = f"Named beside {company}{span(scope)}"
    render(records, columns, form, title=title, note=foundation(reach))
    if not rows:
        say_nothing(f"a company beside {company}", reach)
    return bool(rows)


def _percent(value: object) -> str:
    return f"{value:.1%}" if isinstance(value, float) else "–"
