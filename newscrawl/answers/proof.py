"""The proof of a number: what is behind it, what it leaves out, and the sentences about both; and
what an article counts for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, Protocol

from newscrawl.answers.words import (
    BARRIERS,
    PLAIN,
    Does,
    Notice,
    Pen,
    does_of,
    left_out_notice,
    none_forbidden,
    unread_texts,
)
from newscrawl.items import Versions
from newscrawl.storage import Database, queries
from newscrawl.storage.mentions import CORRECTED
from newscrawl.storage.queries import ArticlePage, MarkedMention, Proof, ProvenArticle, Scope
from newscrawl.storage.queries.article_details import (
    CorrectionRow,
    correction_of_number,
    made_together,
)
from newscrawl.text import count_of

# Ours: from which score on a mention is called very likely right, and likely right.
VERY_LIKELY, LIKELY = 0.95, 0.8
MAX_EARLIER = 20  # ours: corrections that are offered to be undone

_PROOF_TITLES: Mapping[str, tuple[str, str]] = {
    "articles": ("article {does_it}", "articles {does}"),
    "mentions": ("mention of", "mentions of"),
    "headline": ("time in headlines:", "times in headlines:"),
    "body": ("time in the body:", "times in the body:"),
    "stories": ("story {does_it}", "stories {does}"),
    "read": ("article read", "articles read"),
    "boilerplate": ("hit in menus and teasers:", "hits in menus and teasers:"),
    "doubtful": ("article may {does}", "articles may {does}"),
    "paywalled": (
        "article behind a paywall may {does}",
        "articles behind a paywall may {does}",
    ),
    "disallowed": ("unread article may {does}", "unread articles may {does}"),
    "refused": ("refused article may {does}", "refused articles may {does}"),
    "unreadable": ("unreadable article may {does}", "unreadable articles may {does}"),
    "corrected": ("mention called wrong:", "mentions called wrong:"),
    "kind": ("mention outside articles:", "mentions outside articles:"),
}
# The words that match a saved query count as its mentions; an article has several.
_TITLES_OF_QUERY: Mapping[str, tuple[str, str]] = {
    "mentions": ("word matched by", "words matched by"),
    "headline": ("word matched in headlines by", "words matched in headlines by"),
    "body": ("word matched in the body by", "words matched in the body by"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberProof:
    """A number with what proves it; `is_query` is set if it is that of a saved query."""

    proof: Proof
    is_query: bool

    @property
    def does(self) -> Does:
        """Return what articles do that count: they "name" a company, and "match" a query."""
        return does_of(self.is_query)

    @property
    def title(self) -> str:
        """Return the number in words."""
        proof, company = self.proof, self.proof.company
        titles = {**_PROOF_TITLES, **(_TITLES_OF_QUERY if self.is_query else {})}
        words = titles[proof.counted][0 if proof.number == 1 else 1]
        words = words.format(does=self.does, does_it="matches" if self.is_query else "names")
        words = f"{proof.number:,} {words}"
        if proof.counted == "read":
            return f"{words} that {company} may match" if self.is_query and company else words
        return f"{words} {company or 'any company'}{f' and {proof.beside}' if proof.beside else ''}"

    @property
    def heading(self) -> str:
        """Return the heading over the articles."""
        counted, total = self.proof.counted, self.proof.total
        if not total:
            return "Nothing is counted"
        headings: dict[str, str] = {
            "doubtful": "Not counted, with doubtful words",
            "boilerplate": "Not counted, in menus and teasers",
            "corrected": "Not counted, since a person called it wrong",
            "kind": "Not counted, since these pages are not articles",
            **dict.fromkeys(BARRIERS, "Only headline and introduction are known"),
        }
        mentions = f"{count_of(self.proof.number, 'mention')} in " if counted == "corrected" else ""
        pages = count_of(total, "page" if counted == "kind" else "article")
        return f"{headings.get(counted, 'What is counted')}: {mentions}{pages}"

    def added(self, article: ProvenArticle) -> str:
        """Return what an article adds to the number; nothing where each article adds itself."""
        counted = self.proof.counted
        if counted in {"articles", "read", "doubtful", *BARRIERS}:
            return ""
        if counted == "stories":
            return "1 story" if article.number else "1 more copy of this story"
        noun = "matched word" if self.is_query else "mention"
        return count_of(article.number, "hit" if counted == "boilerplate" else noun)

    def left_out(self, pen: Pen = PLAIN) -> list[Notice]:
        """Return what the number leaves out, by reason."""
        proof, name = self.proof, self.proof.company or "a company"
        reasons = {each.reason for each in proof.left_out}
        if proof.counted == "read":
            around = [each for each in proof.left_out if each.reason == "boilerplate"]
            return [left_out_notice(each, name, self.does, pen) for each in around] + [
                unread_texts(proof.left_out, reason, "these articles", pen) for reason in BARRIERS
            ]
        notices = [left_out_notice(each, name, self.does, pen) for each in proof.left_out]
        if notices and "disallowed" not in reasons:
            notices.append(none_forbidden(name, self.does))
        return notices

    def after_correction(
        self, changed: CorrectionRow, further: int, mentions_left: int, pen: Pen = PLAIN
    ) -> Notice:
        """Return what was just corrected or undone, together with `others` of the same article,
        which still has `mentions_left` that count."""
        undone = changed.undone_at is not None
        text = pen.write(
            "{surface} in {excerpt}{further} {verb} {company}.",
            surface=pen.quote(changed.surface),
            excerpt=pen.quote(changed.sentence),
            further=f" and {count_of(further, 'more mention')}" if further else "",
            verb=f"{'count' if further else 'counts'} again as" if undone else "is not",
            company=pen.isolate(changed.company),
        )
        if undone:
            return Notice("Undone:", text)
        places = {"headline": " in the headline", "body": " in the body"}
        effect = (
            f"The article still counts: it mentions {self.proof.company or 'companies'} "
            f"{count_of(mentions_left, 'more time')}{places.get(self.proof.counted, '')}."
            if mentions_left
            else f"The article counts no longer: now {count_of(self.proof.total, 'article')}."
        )
        return Notice("Corrected:", pen.write("{text} {left}", text=text, left=effect))


def number_proof(database: Database, versions: Versions, **parts: Any) -> NumberProof:
    """Return the proof of a number, whose parts are those of `queries.proof`."""
    proof = queries.proof(database, versions, **parts)
    saved = {query.name for query in queries.saved_queries(database)}
    return NumberProof(proof=proof, is_query=proof.company in saved)


def correction_text(correction: CorrectionRow, further: int, pen: Pen = PLAIN) -> str:
    """Return a correction that calls a mention wrong, and `others` of its article with it."""
    return pen.write(
        "{surface} in {excerpt} {verb} not {company}.",
        surface=pen.quote(correction.surface),
        excerpt=pen.quote(correction.sentence),
        verb=f"and {count_of(further, 'more mention')} in this article are" if further else "is",
        company=pen.isolate(correction.company),
    )


# --- Why a mention counts ---

# The rules of docs/mentions.md in words.
_EVIDENCE: Mapping[str, str] = {
    "name": "unambiguous name of the registry",
    "inflection": "unambiguous name of the registry, declined",
    "ticker": "named by its stock symbol, or next to it",
    "full name": "short name; the article also has a sure one, or one of its owner or subsidiaries",
    "context": "ambiguous name, near words of its business",
    "legal form": "ambiguous name, before a legal form or trademark sign",
    "cue": "ambiguous name, next to a word used only with companies",
    "capital": "ambiguous word, written as a name",
    "company beside": "ambiguous name, in a list with another company",
    "other name": "ambiguous name, in an article with another name of the company",
    "repetition": "ambiguous name, clear elsewhere in the article",
    "query": "words of the saved query",
    "correction": "added by a person",
    "doubtful": "ambiguous name without support",
    "wrong": "called wrong by a person",
}


class Evidence(Protocol):
    """A mention with the rule that found it, and the probability that it is right."""

    @property
    def rule(self) -> str: ...

    @property
    def score(self) -> float | None: ...


def evidence_text(mention: Evidence) -> str:
    """Return in words why a mention counts and how likely it is right, then its score."""
    words = _EVIDENCE.get(mention.rule, mention.rule)
    if mention.score is None or mention.rule == CORRECTED:
        return words
    sure = "uncertain"
    if mention.score >= LIKELY:
        sure = "very likely right" if mention.score >= VERY_LIKELY else "likely right"
    return f"{words}; {sure} ({mention.score:.2f})"


def method_words(method: str) -> str:
    """Return in words how a text was found on its page; the program's name of the method last."""
    words = (
        "by a model learned from labelled pages" if method.startswith("combined") else "by rules"
    )
    return f"{words} ({method})"


_QUARANTINE_REASONS: Mapping[str, str] = {
    "no_article": "there is no longer an article at its address",
    "text_shrank": "most of the text is gone",
    "text_replaced": "the text is that of another article, or written anew",
    "headline_lost": "the headline is gone",
    "layout_changed": "the site's pages have changed",
}


def quarantine_reason(reason: str, note: str) -> str:
    """Return the reason why a version of an article was not applied."""
    words = _QUARANTINE_REASONS.get(reason, reason)
    return f"{words}: {note}" if note else words


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberCorrections:
    """Corrections of what a number counts: the one that was just `changed`, made or undone, with
    how many others were undone at once with it, and how many mentions its article still has that
    count for the number; the person's `earlier` ones of the last day, each with those that were
    made with it; and of a list of corrections, their numbers by place, and those made at once."""

    changed: CorrectionRow | None = None
    also: int = 0
    mentions_left: int = 0
    earlier: Sequence[Sequence[CorrectionRow]] = ()
    wrong: Mapping[tuple[str, str, int, str], int] = field(default_factory=dict)
    at_once: Sequence[Sequence[CorrectionRow]] = ()


def number_corrections(
    database: Database,
    scope: Scope,
    counted: str,
    names: Sequence[str],
    *,
    person: str,
    number: int | None,
    now: datetime,
) -> NumberCorrections:
    """Return the corrections of a number about companies or groups, which a person may correct;
    `number` is that of the correction that was just made or undone."""
    members = [scope.members(name) for name in names]
    corrections = queries.corrections(database, scope=scope)
    mistakes = [correction for correction in corrections if correction.kind == "wrong"]
    shown = NumberCorrections()
    if counted == "corrected":
        places = {(row.url, row.section, row.start, row.company): row.id for row in mistakes}
        at_once = [together for together in made_together(mistakes) if len(together) > 1]
        shown = NumberCorrections(wrong=places, at_once=at_once)
    elif person:
        earlier = (
            row
            for row in mistakes
            if row.made_by == person
            and row.made_at > now - timedelta(days=1)
            and row.id != number
            and (not names or row.company in {*chain(*members)})
        )
        shown = NumberCorrections(earlier=made_together(earlier)[:MAX_EARLIER])
    changed = correction_of_number(database, number) if number else None
    page = queries.article_page(database, changed.url) if changed else None
    if changed is None or changed.kind != "wrong" or page is None:
        return shown
    section = {"headline": "title", "body": "body"}.get(counted)
    # Of two companies that are named together, the number is of the articles that name both.
    of_number = {*chain(*(member for member in members if changed.company in member))}
    mentions = [
        mention
        for mention in page.mentions
        if section in {None, mention.section} and (not names or mention.company in of_number)
    ]
    also = 0
    if changed.undone_at:
        day = Scope(since=changed.day, until=changed.day, source=changed.source)
        rows = queries.corrections(database, scope=day, undone=True)
        also = sum(row.undone_at == changed.undone_at for row in rows if row.url == changed.url) - 1
    return replace(shown, changed=changed, also=also, mentions_left=len(mentions))


def marks_in(article_page: ArticlePage, section: str) -> list[MarkedMention | CorrectionRow]:
    """Return the marks in headline or body: mentions, and corrections with their place; of several
    at one place, counted ones come first."""
    here = [
        correction
        for correction in article_page.corrections
        if correction.section == section and correction.state != "misplaced"
    ]
    missed = [row for row in here if row.kind == "missed"]
    wrong = [row for row in here if row.kind == "wrong"]
    mentions = [
        mention
        for mention in article_page.mentions
        if mention.section == section and mention.rule != CORRECTED
    ]
    return [*missed, *mentions, *wrong]


def companies_of(article_page: ArticlePage) -> list[tuple[str, int]]:
    """Return the companies of the article, the most mentioned first."""
    counts: dict[str, int] = {}
    for mention in article_page.mentions:
        counts[mention.company] = counts.get(mention.company, 0) + 1
    return sorted(counts.items(), key=lambda count: (-count[1], count[0]))


def corrected_companies(article_page: ArticlePage) -> list[tuple[str, int]]:
    """Return the companies with mentions that a person called wrong, and how many are left."""
    companies = dict(companies_of(article_page))
    wrong = {
        correction.company for correction in article_page.corrections if correction.kind == "wrong"
    }
    return [(name, companies.get(name, 0)) for name in sorted(wrong)]
