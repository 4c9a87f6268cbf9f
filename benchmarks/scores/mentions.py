"""Precision and recall of mentions, over bundled texts and over real news, labelled by hand.

The bundled texts and their labels are ours (data/mentions.jsonl, one object a line: `id, part,
language, text`, `title` where there is one, `mentions` as pairs of company and surface in reading
order). They were labelled before any matcher ran on them. The matcher may be changed after a look
at the parts "development" and "second" to "seventh", never after one at a part "held-out".

The labels of real news (data/mentions_real.jsonl, one text a line) are offsets into the gold texts
of a corpus of pages and hold no text of a page: `set, page, language, site, part, sample, sha256`
of the text, `headline` (whether the gold title belongs to the article, which is not so where the
text repeats it), `in_title` and `in_text` as [start, end, company], `doubt` as ["title" or "text",
start, end, company, reason], `unregistered` companies at the time of labelling. Of a page without a
gold text, `paragraphs` [first, end] of its `<p>` elements are the text. The matcher may be changed
after a look at the part "development", never after one at "sealed". Scores are
over pairs of a text and a company, which is what an analyst counts. A company in doubt is neither
wanted nor wrong. Recall is over companies of the registry; pairs of others are counted separately.
"""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from newscrawl.extraction.html import decode, parse
from newscrawl.items import Mention
from newscrawl.mentions import Companies
from newscrawl.training.corpus import DEVELOPMENT, SEALED, Corpus, GoldPage
from newscrawl.training.metrics import Overlap

Pair = tuple[str, str]


class LabelsError(ValueError):
    """A fault in a file of labelled texts, in one line with its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledText:
    """A text and the (company, surface) pairs that a person found in it, title first."""

    id: str
    part: str
    language: str
    text: str
    mentions: tuple[Pair, ...]
    title: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A text whose mentions were not found exactly: those missed and those invented."""

    text: LabelledText
    missed: tuple[Pair, ...]
    invented: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class MentionScore:
    """Precision and recall over all mentions of a group of texts."""

    group: str
    texts: int
    mentions: int
    overlap: Overlap


def read_labelled(path: Path | None = None) -> list[LabelledText]:
    """Return the labelled texts of a JSON Lines file, by default of the bundled one.

    Raises LabelsError, naming the line, where the file or a line can't be read.
    """
    source = path or files("benchmarks.scores").joinpath("data/mentions.jsonl")
    try:
        lines = source.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise LabelsError(f"can't read the labelled texts of {source}: {error}") from None
    return [_parse_line(line, number, str(source)) for number, line in enumerate(lines, start=1)]


def _parse_line(line: str, number: int, file: str) -> LabelledText:
    try:
        row = json.loads(line)
        mentions = tuple((str(company), str(surface)) for company, surface in row.pop("mentions"))
        return LabelledText(mentions=mentions, **row)
    except (ValueError, KeyError, TypeError) as error:
        raise LabelsError(
            f"{file}, line {number}: not a labelled text ({error}); "
            "write id, part, language, text and mentions as [company, surface] pairs"
        ) from None


def score_mentions(companies: Companies, texts: Sequence[LabelledText]) -> list[MentionScore]:
    """Return one score for each language in the order of the texts, then one over all ("all")."""
    counts: dict[str, Counter[str]] = {}
    for text, pairs in ((text, _find_pairs(companies, text)) for text in texts):
        gold = Counter(text.mentions)
        count = Counter(
            texts=1,
            wanted=gold.total(),
            found=pairs.total(),
            common=(gold & pairs).total(),
        )
        counts.setdefault(text.language, Counter()).update(count)
    counts["all"] = sum(counts.values(), Counter())
    return [
        MentionScore(
            group,
            count["texts"],
            count["wanted"],
            Overlap.of(count["common"], count["found"], count["wanted"]),
        )
        for group, count in counts.items()
    ]


def mistakes(companies: Companies, texts: Iterable[LabelledText]) -> list[Mistake]:
    """Return the texts whose mentions were not found exactly."""
    wrong = []
    for text in texts:
        gold, pairs = Counter(text.mentions), _find_pairs(companies, text)
        missed, invented = tuple((gold - pairs).elements()), tuple((pairs - gold).elements())
        if missed or invented:
            wrong.append(Mistake(text, missed, invented))
    return wrong


def _find_pairs(companies: Companies, text: LabelledText) -> Counter[Pair]:
    mentions = companies.find(
        text.text, title=text.title, language=text.language or None, source=text.source or None
    )
    return Counter((mention.company, mention.surface) for mention in mentions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """A place in the headline ("title") or body ("text") of an article that names a company."""

    section: str
    start: int
    end: int
    company: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleLabels:
    """The companies that a person found in one gold text; in doubt: may be found or not."""

    set: str
    page: str
    language: str
    site: str
    part: str
    sha256: str
    headline: bool
    occurrences: tuple[Occurrence, ...]
    in_doubt: tuple[Occurrence, ...]
    paragraphs: tuple[int, int] | None = None

    @property
    def companies(self) -> frozenset[str]:
        return frozenset(occurrence.company for occurrence in self.occurrences)


@dataclass(frozen=True, slots=True, kw_only=True)
class RealText:
    """Labels with the article that they belong to."""

    labels: ArticleLabels
    title: str
    text: str
    source: str

    def surface(self, occurrence: Occurrence) -> str:
        section = self.title if occurrence.section == "title" else self.text
        return section[occurrence.start : occurrence.end]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairScore:
    """Pairs of text and company in a group of texts; `unregistered` are not among `pairs`."""

    group: str
    texts: int
    pairs: int
    unregistered: int
    overlap: Overlap


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleScore:
    """The pairs whose first mention was found by one rule, and the share that is right."""

    rule: str
    pairs: int
    precision: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PairMistakes:
    """The mistakes in one text: companies missed and found wrongly, each with the words at its
    place, the latter also with the rule."""

    text: RealText
    missed: tuple[tuple[str, str], ...]
    wrong: tuple[tuple[str, str, str], ...]

    def __len__(self) -> int:
        return len(self.missed) + len(self.wrong)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedText:
    """A labelled text and the first mention of each company that the matcher found in it."""

    text: RealText
    found: dict[str, Mention]
    registered: frozenset[str]

    @property
    def wanted(self) -> frozenset[str]:
        return self.text.labels.companies & self.registered

    @property
    def counted(self) -> frozenset[str]:
        """Return the companies found, without those in doubt: a place in doubt stays so when the
        registry has another entry for it than when it was labelled."""
        labels = self.text.labels
        doubtful = {doubt.company for doubt in labels.in_doubt}
        doubtful |= {
            company
            for company, mention in self.found.items()
            for doubt in labels.in_doubt
            if (doubt.section == "title") == (mention.section == "title")
            and mention.start < doubt.end
            and doubt.start < mention.end
        }
        return frozenset(self.found) - (doubtful - labels.companies)


def read_labels(path: Path | None = None) -> list[ArticleLabels]:
    """Return the labels of a JSON Lines file, or the bundled ones.

    Raise LabelsError, naming the line, for a line that can't be read or has an unknown part.
    """
    source = path or files("benchmarks.scores").joinpath("data/mentions_real.jsonl")
    lines = source.read_text(encoding="utf-8").splitlines()
    return [_labels(line, f"{source}, line {number}") for number, line in enumerate(lines, start=1)]


def _labels(line: str, place: str) -> ArticleLabels:
    try:
        row = json.loads(line)
        labels = ArticleLabels(
            **{key: row[key] for key in ("set", "page", "language", "site", "part", "sha256")},
            headline=row["headline"],
            occurrences=(*_occurrences("title", row), *_occurrences("text", row)),
            in_doubt=tuple(_occurrence(*doubt[:-1]) for doubt in row["doubt"]),
            paragraphs=_range(*row["paragraphs"]) if "paragraphs" in row else None,
        )
    except (ValueError, KeyError, TypeError) as error:
        raise LabelsError(f"{place}: not labels of a real text ({error!r})") from None
    if labels.part not in (DEVELOPMENT, SEALED):
        raise LabelsError(
            f"{place}: unknown part {labels.part!r}; write {DEVELOPMENT!r} or {SEALED!r}"
        )
    return labels


def _range(first: int, end: int) -> tuple[int, int]:
    return first, end


def _occurrences(section: str, row: dict[str, Any]) -> Iterator[Occurrence]:
    return (_occurrence(section, *place) for place in row[f"in_{section}"])


def _occurrence(section: str, start: int, end: int, company: str) -> Occurrence:
    return Occurrence(section=section, start=start, end=end, company=company)


def join_texts(
    labels: Iterable[ArticleLabels], corpus: Corpus
) -> tuple[list[RealText], dict[str, int]]:
    """Return the labelled texts that the corpus holds, and the number skipped for each reason."""
    pages = {(page.set, page.id): page for page in corpus}
    texts: list[RealText] = []
    skipped: Counter[str] = Counter()
    for article in labels:
        page = pages.get((article.set, article.page))
        text = text_of(page, article.paragraphs) if page else None
        if page is None or text is None:
            skipped[f"not in {corpus.name}"] += 1
        elif hashlib.sha256(text.encode()).hexdigest() != article.sha256:
            skipped["the gold text has changed since it was labelled"] += 1
        else:
            texts.append(_join_text(article, page, text))
    return texts, dict(skipped)


def text_of(page: GoldPage, paragraphs: Sequence[int] | None) -> str | None:
    """Return the gold text, or those paragraphs of the page, from a first to an end."""
    if paragraphs is None:
        return page.text
    nodes = parse(decode(page.html)).css("p")[slice(*paragraphs)]
    lines = (" ".join(node.text().split()) for node in nodes)
    return "\n\n".join(filter(None, lines))


def _join_text(labels: ArticleLabels, page: GoldPage, text: str) -> RealText:
    title = page.title or "" if labels.headline else ""
    return RealText(labels=labels, title=title, text=text, source=page.url or page.site)


def judge(companies: Companies, texts: Iterable[RealText]) -> list[JudgedText]:
    """Return the texts with the companies that the matcher finds in them."""
    registered = frozenset(company.name for company in companies)
    return [
        JudgedText(text=text, found=_find_first(companies, text), registered=registered)
        for text in texts
    ]


def _find_first(companies: Companies, text: RealText) -> dict[str, Mention]:
    first_mentions: dict[str, Mention] = {}
    for mention in companies.find(
        text.text, title=text.title, language=text.labels.language, source=text.source
    ):
        first_mentions.setdefault(mention.company, mention)
    return first_mentions


def score_languages(texts: Sequence[JudgedText]) -> list[PairScore]:
    """Return one score for each language, the one with most texts first, then one over all."""
    groups: dict[str, list[JudgedText]] = defaultdict(list)
    for text in texts:
        groups[text.text.labels.language].append(text)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return [_score(group, members) for group, members in (*ordered, ("all", list(texts)))]


def _score(group: str, texts: Sequence[JudgedText]) -> PairScore:
    pairs = sum(len(text.wanted) for text in texts)
    return PairScore(
        group=group,
        texts=len(texts),
        pairs=pairs,
        unregistered=sum(len(text.text.labels.companies) for text in texts) - pairs,
        overlap=Overlap.of(
            sum(len(text.counted & text.wanted) for text in texts),
            sum(len(text.counted) for text in texts),
            pairs,
        ),
    )


def score_rules(texts: Iterable[JudgedText]) -> list[RuleScore]:
    """Return the precision of each rule, the rule with most pairs first."""
    pairs_by_rule: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for text in texts:
        for company in text.counted:
            rule = text.found[company].rule
            pairs_by_rule[rule] += 1
            right[rule] += company in text.wanted
    return [
        RuleScore(rule=rule, pairs=count, precision=right[rule] / count)
        for rule, count in pairs_by_rule.most_common()
    ]


def pair_mistakes(texts: Iterable[JudgedText]) -> list[PairMistakes]:
    """Return the texts in which pairs are missed or wrong, the one with most of them first."""
    mistakes_by_text = [mistakes for text in texts if len(mistakes := _mistakes(text))]
    return sorted(mistakes_by_text, key=len, reverse=True)


def renamed(texts: Iterable[JudgedText]) -> list[tuple[str, str]]:
    """Return the [label, registry] names of each wrong pair that has the very span of a label with
    another name: the registry was changed, and the label was not."""
    names = []
    for text in texts:
        spans = {(o.section, o.start, o.end): o.company for o in text.text.labels.occurrences}
        for company in sorted(text.counted - text.wanted):
            mention = text.found[company]
            section = "title" if mention.section == "title" else "text"
            label = spans.get((section, mention.start, mention.end))
            if label is not None:
                names.append((label, company))
    return names


def _mistakes(text: JudgedText) -> PairMistakes:
    first: dict[str, Occurrence] = {}
    for occurrence in text.text.labels.occurrences:
        first.setdefault(occurrence.company, occurrence)
    missed = sorted(text.wanted - text.counted)
    wrong = sorted(text.counted - text.wanted)
    return PairMistakes(
        text=text.text,
        missed=tuple((company, text.text.surface(first[company])) for company in missed),
        wrong=tuple(
            (company, text.found[company].surface, text.found[company].rule) for company in wrong
        ),
    )
