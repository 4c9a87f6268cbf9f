"""Who wrote a page: fields first, bylines of the markup where fields name nobody."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from newscrawl.extraction.metadata import jsonld, names, titles
from newscrawl.extraction.metadata.evidence import Evidence
from newscrawl.extraction.metadata.signals import squeeze
from newscrawl.extraction.metadata.vocabulary import any_of, words

MAX_GAP: Final = 12
MAX_GAP_OF_MARKED: Final = 2
"""Ours, fitted on half 0 of the sites by benchmarks.metadata: nodes from one byline
of the page to its next; a farther one belongs to a teaser."""
_AUTHOR: Final = words("metas", "author")
_LABELS: Final = tuple((f"twitter:label{number}", f"twitter:data{number}") for number in (1, 2))
_WRITTEN_BY: Final = re.compile(any_of(words("bylines", "written_by")), re.IGNORECASE)


def read(evidence: Evidence) -> tuple[str, ...]:
    """The authors' names, once each.

    A field that names but the site itself gives way to persons whom the page shows.
    """
    stated: tuple[str, ...] = ()
    for bylines in _stated(evidence):
        found = names.clean(bylines)
        if found and not titles.all_sites(found, evidence.site_names):
            return found
        stated = stated or found or names.desks(bylines)
    beside = names.persons(evidence.around.best_bylines(MAX_GAP))
    return beside or stated or names.persons(evidence.anywhere.best_bylines(MAX_GAP_OF_MARKED))


def _stated(evidence: Evidence) -> Iterator[Sequence[str]]:
    for key in ("author", "creator"):
        if key in evidence.article:
            yield list(_person_names(evidence, evidence.article[key]))
    metas = evidence.signals.metas
    for name in _AUTHOR:
        if name in metas:
            yield metas[name]
    for label, data in _LABELS:
        if label in metas and data in metas and _WRITTEN_BY.search(metas[label][0]):
            yield metas[data]


def _person_names(evidence: Evidence, value: object) -> Iterator[str]:
    values = value if isinstance(value, list) else [value]
    for each in values[: names.MAX_AUTHORS]:
        person = evidence.signals.data.resolve(each)
        name = person.get("name") if isinstance(person, dict) else person
        if isinstance(name, list):
            yield from (text for one in name if (text := squeeze(jsonld.text_of(one))))
        elif text := squeeze(jsonld.text_of(name)):
            yield text
