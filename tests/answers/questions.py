"""What is asked: each question with its parameters, by each filter alone and by pairs of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, get_args

from newscrawl.items import Withheld
from newscrawl.storage.queries import Group, Measure, Period
from tests.answers.world import FIRST, LAST, QUERIES

WHOLE: dict[str, Any] = {"since": FIRST, "until": LAST}
FILTERS: dict[str, dict[str, Any]] = {
    "": {},
    "since": {"since": date(2026, 11, 12)},
    "until": {"until": date(2026, 11, 13)},
    "zone": {"zone": "America/St_Johns"},
    "source": {"source": "ft"},
    "country": {"country": "gb"},
    "language": {"language": "de"},
    "section": {"section": "Business"},
    "group": {"group": "mine"},
    "subsidiaries": {"subsidiaries": True},
    "among": {"among": "bridge* OR station"},
    "structure": {"structure": "other", "subsidiaries": True},
}
PAIRS = (
    ("source", "language"),
    ("country", "section"),
    ("zone", "subsidiaries"),
    ("group", "subsidiaries"),
    ("section", "language"),
    ("among", "source"),
    ("among", "subsidiaries"),
    ("since", "until"),
    ("zone", "until"),
    ("structure", "country"),
)
# For further parameters of a question, whose filters are those of the first.
FEW = ("", "subsidiaries")
NAMES = ("Alphabet", "Siemens", "our competitors", "rail strikes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The parameters of a question, and the command that asks it, if there is one."""

    values: Mapping[str, Any] = field(default_factory=dict)
    command: tuple[str, ...] = ()


def filters(names: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields of a scope for filters used together."""
    fields = dict(WHOLE)
    for name in names:
        fields |= FILTERS[name]
    return fields


ALL_FILTERS = [(name,) for name in FILTERS] + list(PAIRS)
_URL = "https://ft.example/"
_FT = ("revised", "shrunk", "agency-report")


def questions() -> dict[str, list[Parameters]]:
    """Return the parameters of each question; by its first ones, each filter is tried."""
    return {
        "article_page": [Parameters(values={"url": _URL + path}) for path in _FT],
        "articles": list(_articles()),
        "boilerplate": [Parameters(), Parameters(values={"company": "Alphabet"})],
        "co_mentions": [
            Parameters(
                values={"company": name, "stories": True}, command=("together", name, "--stories")
            )
            for name in NAMES
        ],
        "company_articles": [
            Parameters(
                values={"company": name},
                command=("articles", "-c", name, "--sentences", "-n", "50"),
            )
            for name in NAMES
        ],
        "company_names": [Parameters()],
        "company_ranking": [
            Parameters(values={"stories": True}, command=("mentions", "--stories")),
            Parameters(values={"limit": 3}, command=("mentions", "--limit", "3")),
        ],
        "completeness": [Parameters(), Parameters(values={"company": "rail strikes"})],
        "corrections": [
            Parameters(command=("corrections", "list")),
            Parameters(values={"undone": True}, command=("corrections", "list", "--undone")),
        ],
        "countries": [Parameters()],
        "coverage": [Parameters(command=("sources", "coverage"))],
        "facts": [Parameters()],
        "history": [Parameters(values={"url": _URL + path}) for path in _FT],
        "languages": [Parameters()],
        "mention_counts": list(_counts()),
        "new_sources": [
            Parameters(values={"company": name}, command=("ask", "new-sources", "-c", name))
            for name in NAMES
        ],
        "overview": [
            Parameters(values={"limit": 5}),
            Parameters(values={"limit": 5, "ranked": "before"}),
        ],
        "preview_query": [Parameters(values={"query": text}) for text in QUERIES.values()],
        "proof": list(_proofs()),
        "quarantine_decisions": [Parameters(command=("ask", "quarantine-decisions"))],
        "quarantine_sizes": [Parameters()],
        "quarantined": [Parameters(command=("articles", "--quarantined"))],
        "quarantined_text": [Parameters(values={"url": _URL + path}) for path in _FT],
        "saved_queries": [Parameters()],
        "search": [
            Parameters(values={"query": text, "limit": 50}, command=("search", text, "-n", "50"))
            for text in (
                '"rail strike"',
                "ferry OR quay*",
                "bridge -station",
                "rail NEAR/3 station",
            )
        ],
        "sections": [Parameters()],
        "share_of_voice": list(_shares()),
        "source_health": [Parameters()],
        "source_names": [Parameters()],
        "stories": [
            Parameters(values={"least": 2}, command=("ask", "stories", "--least", "2")),
            *(
                Parameters(
                    values={"company": name, "limit": 100},
                    command=("ask", "stories", "-c", name, "-n", "100"),
                )
                for name in NAMES
            ),
        ],
        "unmentioned_companies": [Parameters(command=("ask", "unmentioned-companies"))],
    }


def _articles() -> Iterator[Parameters]:
    yield Parameters(values={"limit": 200}, command=("articles", "-n", "200"))
    yield Parameters(values={"limit": 20, "offset": 40})
    yield Parameters(
        values={"limit": 300, "every_kind": True}, command=("articles", "-n", "300", "--all-kinds")
    )
    for name in NAMES:
        yield Parameters(
            values={"limit": 200, "company": name}, command=("articles", "-c", name, "-n", "200")
        )


def _counts() -> Iterator[Parameters]:
    for by in ("day", *get_args(Group), *get_args(Period)):
        for name in (None, *NAMES):
            if by == "hour" and name != "Siemens":
                continue  # has the most rows
            chosen = ("--company", name) if name else ()
            values = {"by": by, "company": name, "stories": True}
            command = ("mentions", *chosen, "--by", by, "--stories")
            yield Parameters(values=values, command=command if name else ())


def _shares() -> Iterator[Parameters]:
    for measure in get_args(Measure):
        for by in (None, "week", "source", "group"):
            names = ["Alphabet", "Meta", "our competitors"]
            command = ["share", *names, "--measure", measure]
            if by:
                command += ["--by", by]
            values = {"companies": names, "by": by, "measure": measure}
            yield Parameters(values=values, command=tuple(command))


# The numbers that can be proved (newscrawl.storage.queries.left_out).
_COUNTED = (
    *("articles", "mentions", "headline", "body", "stories", "boilerplate"),
    *("doubtful", "corrected", "kind", *get_args(Withheld)),
)


def _proofs() -> Iterator[Parameters]:
    for name in NAMES:
        for counted in _COUNTED:
            if name == "rail strikes" and counted not in {"articles", "stories", "paywalled"}:
                continue
            command = ("proof", "-c", name, "--measure", counted)
            yield Parameters(values={"company": name, "counted": counted}, command=command)
    yield Parameters(values={"counted": "read"})
    yield Parameters(
        values={"company": "Siemens", "beside": "Alphabet"},
        command=("proof", "-c", "Siemens", "--beside", "Alphabet"),
    )
    yield Parameters(values={"company": "Siemens", "order": "least-sure", "offset": 3, "limit": 4})
    yield Parameters(values={"company": "Siemens", "split": "source", "without": ["ft", "bbc"]})
    yield Parameters(values={"company": "Siemens", "story": _URL + "agency-report"})
