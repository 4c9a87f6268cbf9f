"""What a definition of a company finds in the stored articles, and what would go by a change of one
that cures a wrong mention."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from newscrawl.dashboard.companies_file import (
    CompaniesFile,
    CompaniesFileError,
    FileState,
    registry_of,
    small_registry,
)
from newscrawl.dashboard.rendering import query
from newscrawl.items import Mention
from newscrawl.mentions import Companies, Company, sentence_span
from newscrawl.mentions.vocabulary import load_vocabulary
from newscrawl.storage import Database, queries
from newscrawl.storage.mentions import StoredText
from newscrawl.storage.queries.article_details import CorrectionRow
from newscrawl.storage.queries.article_lists import newest_texts
from newscrawl.storage.queries.suggestions import word_in_archive
from newscrawl.templating import marked_pieces

TRIED_ARTICLES = 2000  # ours: they are matched in half a second
MAX_FOUND = 12  # articles of a preview
EVERYDAY = 3  # ours: articles with a form in small letters, which a name hardly has
MAX_SNIPPET = 400  # characters
TRIED = 1000  # newest articles of the company that are matched anew; ours: half a second
MAX_BESIDE = 50  # companies named together with it, which may support its name; ours
# "context": the form counts only with support; "phrase": the form never counts within the phrase.
Kind = Literal["context", "phrase"]


class AlreadySoError(CompaniesFileError):
    """A cure that is in the file."""


@dataclass(frozen=True, slots=True)
class TrialArticle:
    """An article with mentions, which are marked in its title and in a sentence, and the number of
    those that are `known` now."""

    url: str
    source: str
    day: date
    title: list[tuple[str, bool]]
    snippet: list[tuple[str, bool]]
    mentions: int
    known: int


@dataclass(frozen=True, slots=True)
class Trial:
    """The matches of a definition in `read` articles since `since`. `new` articles would newly be
    counted, `lost` ones would no longer be. `certain` and `ambiguous` are the forms that are
    searched, with those that follow from the registered name; `everyday` are certain ones that are
    words, listed ones or those that many articles have in small letters."""

    certain: tuple[str, ...]
    ambiguous: tuple[str, ...]
    read: int
    since: date | None
    mentions: int
    articles: int
    new: int
    lost: int
    found: tuple[TrialArticle, ...]
    everyday: tuple[str, ...]
    in_small_letters: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cure:
    """A change of a company for good, and the articles that it would no longer count in, of those
    `read`."""

    company: str
    kind: Kind
    words: str
    read: int
    leaving: tuple[TrialArticle, ...]

    @property
    def address(self) -> str:
        return f"/cure{query(company=self.company, kind=self.kind, words=self.words)}"


def try_out(database: Database, defined: Company, former: str | None) -> Trial:
    """Match a definition in the newest articles; raise CompaniesFileError for an invalid one.
    `former` is the name under which it is stored now."""
    companies = small_registry(defined)
    texts = newest_texts(database, company=former or defined.name, limit=TRIED_ARTICLES)
    hits, lost = [], 0
    for text in texts:
        mentions = companies.find(text.text, title=text.title, language=text.language)
        if mentions:
            hits.append((text, mentions))
        elif text.known:
            lost += 1
    # New articles come first.
    shown = sorted(hits, key=lambda hit: hit[0].known > 0)[:MAX_FOUND]
    company = companies[0]
    everyday, in_small_letters = _everyday_forms(company, database)
    return Trial(
        certain=company.certain,
        ambiguous=company.ambiguous,
        read=len(texts),
        since=min((text.day for text in texts), default=None),
        mentions=sum(len(mentions) for _, mentions in hits),
        articles=len(hits),
        new=sum(not text.known for text, _ in hits),
        lost=lost,
        found=tuple(trial_article(text, mentions) for text, mentions in shown),
        everyday=everyday,
        in_small_letters=in_small_letters,
    )


def _everyday_forms(company: Company, database: Database) -> tuple[tuple[str, ...], int]:
    """Return the certain forms that are everyday words, and the number of the newest articles that
    write such a form in small letters."""
    everyday, number = [], 0
    for form in company.certain:
        if " " in form or form == form.lower():
            continue
        in_small_letters = word_in_archive(database, form, sentences=0).in_small_letters
        if load_vocabulary().is_of_many(form) or in_small_letters >= EVERYDAY:
            everyday.append(form)
            number += in_small_letters
    return tuple(everyday), number


def trial_article(text: StoredText, mentions: Sequence[Mention]) -> TrialArticle:
    """Return an article with a sentence of these mentions."""
    title = [(mention.start, mention.end) for mention in mentions if mention.section == "title"]
    body = [mention for mention in mentions if mention.section == "body"]
    snippet: list[tuple[str, bool]] = []
    if body:
        start, end = sentence_span(text.text, body[0])
        start = max(start, body[0].start - MAX_SNIPPET // 2)
        end = min(end, body[0].end + MAX_SNIPPET // 2)
        marks = [(mention.start - start, mention.end - start) for mention in body]
        snippet = marked_pieces(text.text[start:end], marks)
    return TrialArticle(
        text.url,
        text.source,
        text.day,
        marked_pieces(text.title, title),
        snippet,
        len(mentions),
        text.known,
    )


def offered_cures(
    file: CompaniesFile | None, database: Database, wrong: CorrectionRow
) -> list[Cure]:
    """Return the cures of a mention that a person called wrong by which further articles go; none
    without a companies file that can be edited."""
    cures = []
    for kind, words in _candidates(wrong):
        with suppress(CompaniesFileError):
            cures.append(try_cure(file, database, wrong.company, kind, words))
    return [cure for cure in cures if cure.leaving]


def _candidates(wrong: CorrectionRow) -> Iterator[tuple[Kind, str]]:
    """Yield the form alone, and the form with the word after or else before it."""
    yield "context", wrong.surface
    around = re.search(rf"(\w+ )?{re.escape(wrong.surface)}( \w+)?", wrong.sentence)
    if around and (after := around[2]):
        yield "phrase", wrong.surface + after
    elif around and (before := around[1]):
        yield "phrase", before + wrong.surface


def try_cure(
    file: CompaniesFile | None, database: Database, company: str, kind: Kind, words: str
) -> Cure:
    """Return a cure with what goes by it; raise CompaniesFileError for one that changes nothing, or
    can't be."""
    _, definition = definition_of(file, company)
    changed = changed_definition(definition, kind, words)
    registry = {each.name: each for each in registry_of(file)}
    beside = [
        registry[row.company]
        for row in queries.co_mentions(database, company, limit=MAX_BESIDE)
        if row.company in registry
    ]
    texts = newest_texts(database, company=company, limit=TRIED, naming=True)

    def mentions_in(text: StoredText, companies: Companies) -> list[Mention]:
        mentions = companies.find(text.text, title=text.title, language=text.language)
        return [mention for mention in mentions if mention.company == company]

    # Only articles with the words can change.
    having = [each for each in texts if words.casefold() in f"{each.title} {each.text}".casefold()]
    then = _with_support(changed, beside)
    lost = [text for text in having if not mentions_in(text, then)]
    now = _with_support(definition, beside) if lost else then
    leaving = [
        trial_article(text, mentions) for text in lost if (mentions := mentions_in(text, now))
    ]
    return Cure(company=company, kind=kind, words=words, read=len(texts), leaving=tuple(leaving))


def _with_support(definition: Company, beside: list[Company]) -> Companies:
    """Return a registry of a company and those that are named together with it, or of the company
    alone, where they need others."""
    try:
        return small_registry(definition, *beside)
    except CompaniesFileError:
        return small_registry(definition)


def definition_of(file: CompaniesFile | None, name: str) -> tuple[FileState, Company]:
    """Return the state of the file, and the definition of a company in it or of a bundled one;
    raise CompaniesFileError."""
    if file is None:
        raise CompaniesFileError("No file to write to: start with newscrawl serve --companies FILE")
    opened = file.open()
    if opened.fault:
        raise CompaniesFileError(opened.fault)
    for company in (*opened.companies, *registry_of(None)):
        if company.name == name:
            return opened, company
    raise CompaniesFileError(f"No company {name!r} is in the registry.")


def changed_definition(company: Company, kind: Kind, words: str) -> Company:
    """Return a definition in which a form counts only with support, or not within a phrase; raise
    AlreadySoError if that is so."""
    if kind == "phrase":
        changed = replace(company, exclude=tuple(dict.fromkeys([*company.exclude, words])))
    else:
        forms = (company.name, *company.aliases)
        same = [form for form in forms if form.casefold() == words.casefold()]
        changed = replace(
            company,
            ambiguous=tuple(dict.fromkeys([*company.ambiguous, *same])),
            aliases=tuple(form for form in company.aliases if form not in same),
        )
    if changed == company:
        raise AlreadySoError("That is so already.")
    return changed
