"""Bylines and dates in the markup: around the headline first, else anywhere on the page."""

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property, lru_cache
from itertools import islice, pairwise, takewhile
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from newscrawl.extraction.blocks import LAST_NO_ELEMENT, TEXT, tag_id, tag_ids
from newscrawl.extraction.html import squeeze
from newscrawl.extraction.metadata import byline_lines, dates, names
from newscrawl.extraction.metadata.dates import Dialect, Stamp
from newscrawl.extraction.metadata.meanings import meaning_of
from newscrawl.extraction.metadata.vocabulary import any_of, contains_any, tables, words

NODES_BEFORE: Final = 20
NODES_AFTER: Final = 50
MAX_MARKED: Final = 30
MAX_FOUND: Final = 12
MAX_TEXT: Final = 200
MAX_OPENING: Final = 100
MAX_HINTS: Final = 500
MAX_INNER: Final = 30
MAX_SCANNED: Final = 50_000
MAX_CLIMB: Final = 5
MAX_YEARS: Final = 40
MAX_DATE_LINE: Final = 70
MAX_DATES: Final = 300
MAX_FOREIGN_CLIMB: Final = 12
MIN_TEASER: Final = 3
MAX_DOUBT: Final = 1_000
MORE_DOUBT: Final = 45
MAX_WORDS_OF_DATE_LINE: Final = 14
LABEL_REACH: Final = 50
NODES_OF_BYLINE: Final = 8
LEAST_PROSE: Final = 60
MAX_INTRODUCTION: Final = 240
MOST_BESIDE_DAY: Final = 3
"""Ours, fitted on the open sites by benchmarks.metadata: how far from the
headline bylines and date lines stand, in nodes of the tree, and how long they are."""

# Parts of class names and ids.
_AUTHOR_HINTS: Final = (
    "author", "byline", "by-line", "autor", "auteur", "verfasser", "redakteur", "writer",
    "journalist", "reporter", " firma ", "posted-by", "redactor", "szerzo",
)  # fmt: skip
_NO_AUTHOR_HINT: Final = re.compile(
    r"author[-_]*s?[-_]*(?:bio|box|image|img|avatar|photo|pic|social|desc|links?|email|title|"
    r"role|job|thumb|icon|about|position)|avatar|comment|related|sidebar|promo|newsletter|share|"
    r"authori|biograph|teaser|recommend"
)
_DATE_HINTS: Final = (
    "date", "datum", "fecha", "publish", "posted", " data ", "zeit", "time", "byline", "tarih",
    "kalend", " day ",
)  # fmt: skip
NAMING: Final = frozenset({"property", "name", "itemprop", "http-equiv"})  # METAs
WANTED_METAS: Final = frozenset(name for names in tables("metas").values() for name in names)
_UPDATED: Final = words("bylines", "updated")
_DATED: Final = words("bylines", "dated")
_DATED_WORDS: Final = frozenset(_DATED)
# Of several words, or of scripts without blanks.
_DATED_PHRASES: Final = tuple(label for label in _DATED if " " in label or label > "\u3000")
_WORD: Final = re.compile(r"\w+")
_NO_NUMBER: Final = re.compile(r"\b[^\W\d]\w*")
_DIGIT: Final = re.compile("[0-9]")
# What a full stop follows that ends no sentence: "10.", "2026 г.", "15:18 น."
_SHORT_END: Final = re.compile(r"(?:\d|(?<!\w)\w)\.$")
_MADE: Final = words("bylines", "made")
_DATE_LABEL: Final = re.compile(any_of((*_UPDATED, *_DATED)))
_BY: Final = any_of(
    (*words("bylines", "by"), *words("bylines", "by_or_particle"), *words("bylines", "labels_cjk"))
)
_LABELS: Final = any_of(words("bylines", "labels"))
_BYLINE: Final = re.compile(rf"(?:{_BY})\s*[:：]?\s+\S|(?:{_BY}|{_LABELS})\s*[:：]", re.IGNORECASE)
_BY_ALONE: Final = re.compile(rf"(?:{_BY}|{_LABELS})\s*[:：]?", re.IGNORECASE)
_LABEL_OF_DAY: Final = re.compile(r"\D{0,60}[^\W\d]\s?[:：]\s*(?:[^\W\d]{1,20}[ ,.]+)?\d")
_CODE: Final = re.compile(r"//|/\*|[={};©]|\bcopyright\b", re.IGNORECASE)
# Each part costs time on every page without byline or date; these are the ones that pay.
_MARKS: Final = ("author", "byline", "autor", "date")  # parts of classes
_ANYWHERE: Final = (
    "time,[rel=author],[itemprop=author],a[href*='/author'],"
    f"{','.join(f'[class*={mark}]' for mark in _MARKS)}"
)
# Tags are compared by the parser's numbers: their names would be made anew for each node.
_TIME: Final = tag_id("time")
_LINK: Final = tag_id("a")
_CHANGES: Final = tag_ids("ins del")
_STATING: Final = frozenset({"itemprop", "property", "rel", "datetime"})  # attributes
_SKIPPED: Final = tag_ids("script style noscript svg select template iframe")
_BLOCKS: Final = tag_ids("p div li header section address td h5 h6")
_TITLE_MARKS: Final = ("title", "headline")  # parts of classes
LESSER_HEADINGS: Final = f"h2,h3,h4,{','.join(f'[class*={mark}]' for mark in _TITLE_MARKS)}"
"""What may show a title without being a main heading."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """A byline or date with how surely it is one (0 is surest) and its distance in nodes."""

    rank: int
    distance: int

    @property
    def doubt(self) -> int:
        return 30 * self.rank + self.distance


@dataclass(slots=True)
class Sightings:
    """Bylines and dates seen on a page."""

    bylines: list[tuple[Sighting, str]] = field(default_factory=list)
    published: list[tuple[Sighting, Stamp]] = field(default_factory=list)
    modified: list[Stamp] = field(default_factory=list)

    def best_bylines(self, max_gap: int) -> list[str]:
        """Return the first byline of the surest sort, and those that follow it closely."""
        surest = min((sighting.rank for sighting, _ in self.bylines), default=0)
        return _run([each for each in self.bylines if each[0].rank == surest], max_gap)

    def best_date(self) -> Stamp | None:
        best = min(self.published, key=lambda each: each[0].doubt, default=None)
        return best[1] if best else None


def _run(bylines: Sequence[tuple[Sighting, str]], max_gap: int) -> list[str]:
    """Return the first byline, and those that follow it closely."""
    distances = [sighting.distance for sighting, _ in bylines]
    close = (abs(after - before) <= max_gap for before, after in pairwise(distances))
    return [byline for _, byline in bylines[: 1 + sum(takewhile(bool, close))]]


@dataclass(frozen=True)
class Surroundings:
    """The nodes around a headline, the nearest first, and the elements that hold it; none without
    a headline. Where fields state author and date, only texts are read."""

    dialect: Dialect
    before: Sequence[LexborNode] = ()
    after: Sequence[LexborNode] = ()
    ancestors: Set[int] = frozenset()

    @classmethod
    def of(cls, heading: LexborNode | None, dialect: Dialect) -> "Surroundings":
        """Return the surroundings of a headline."""
        if heading is None:
            return cls(dialect)
        ancestors, parent = {heading.mem_id}, heading.parent
        while parent is not None:
            ancestors.add(parent.mem_id)
            parent = parent.parent
        return cls(dialect, tuple(_before(heading)), tuple(_after(heading)), ancestors)

    @cached_property
    def opening_byline(self) -> str:
        """Return the first byline after the headline that opens with a word such as "By"; a second
        author has a line of the same kind."""
        bylines: list[tuple[Sighting, str]] = []
        for distance, node in enumerate(self.after):
            content = (node.text_content or "") if node.tag_id == TEXT else ""
            text = squeeze(content) if len(content) <= MAX_TEXT else ""
            if text and (byline := _opening(node, text, self.ancestors)):
                bylines.append((Sighting(2, distance), byline))
        return "\n".join(_run(bylines, NODES_OF_BYLINE))

    @property
    def first_line(self) -> str:
        """Return the first text after the headline, if it is near and short."""
        near = (node for node in self.after[:NODES_OF_BYLINE] if node.tag_id == TEXT)
        line = next(filter(None, (squeeze(node.text_content) for node in near)), "")
        return line if len(line) <= MAX_OPENING else ""

    def may_show_other_day(self, day: date) -> bool:
        """Return whether a short text or a TIME around the headline holds a day other than this."""
        for node in (*self.after, *self.before):
            tag, stamp = node.tag_id, None
            content = (node.text_content or "") if tag == TEXT else ""
            if tag == _TIME:
                stamp = dates.read(node.attributes.get("datetime"), self.dialect)
            elif ("20" in content or "19" in content) and len(content) <= 2 * MAX_TEXT:
                stamp = dates.find(content, self.dialect)
            if stamp and stamp.day != day:
                return True
        return False

    @cached_property
    def sightings(self) -> Sightings:
        """Return the bylines and dates around the headline."""
        above = _Reader(self.dialect, self.ancestors).read(self.before)
        below = _Reader(self.dialect, self.ancestors).read(self.after)
        nearest_above, nearest_below = (
            min((sighting.doubt for sighting, _ in sightings.published), default=MAX_DOUBT)
            for sightings in (above, below)
        )
        # A date below the headline is preferred, unless it is much less sure.
        if nearest_below > min(nearest_above + MORE_DOUBT, MAX_DOUBT - 1):
            below.published = above.published + below.published
        below.bylines = above.bylines + below.bylines
        below.modified = above.modified + below.modified
        return below


_FOREIGN: Final = re.compile(
    r"(?<![a-z])(?:comments?(?:list|-list|s|-area|-body|-item)?|kom+ent\w*|talkbacks?|commentaires?|coment\w+|"
    r"commenti|reactions?|reacties|respond|repl(?:y|ies)|reviews|yorum\w*|hozzasz\w+|disqus\w*|"
    r"opiniones|avis|user-?reviews?|feedback|letters|testimonials?|responses|leserbriefe?|discussions?|"
    r"post-?nav(?:igation)?|prev-?next|pagination|carousel[\w-]*|slick[\w-]*|swiper[\w-]*|events|"
    r"schema\.org/(?:book|movie|product|event|musicalbum|videogame|review|comment)|newsletter-?(?:box|signup|form)|"
    r"related[\w-]*|recommend\w*|teasers?(?!-?text)|trending|popular[\w-]*|most-?read|breaking|"
    r"columnists|video-?cards?|podcast-?(?:box|promo)|upcoming[\w-]*|weather|"
    r"(?:more|next|other|recent)[_-]?(?:news|stories|story|articles?|posts?|entries)|"
    r"latest-?(?:news|stories|articles))(?![a-z])"
)
_FOREIGN_MARKS: Final = ("class", "id", "itemtype")
_FOREIGN_ITEMS: Final = frozenset({"comment", "review"})
_FOREIGN_QUERY: Final = (
    "[class*=omment],[id*=omment],[class*=elated],[class*=easer],[class*=ecommend],aside,"
    "[class*=oment],[id*=oment],[id*=disqus],[id=respond],[class*=eaction],[class*=yorum],"
    "[class*=reviews],[class*=most-],[class*=more-],[class*=next-],[class*=opular],"
    "[class*=atest],[class*=ecent],[class*=pcoming],[class*=eather],"
    "[class=avis],[class=opiniones],[class*=eedback],[class*=esponses],[class*=eserbrief],"
    "[class*=iscussion],[class*=prev],[class*=ewsletter],[class*=carousel],[class=events]"
)
# Lines in these aren't for the day of the page, where nothing says so.
_BESIDE_TEXT: Final = "figcaption,blockquote,dl,ul,ol"
MAX_BESIDE_TEXT: Final = 200
_ASIDE: Final = tag_ids("aside nav")
_ITEM: Final = tag_id("li")
_CELLS: Final = tag_ids("dd td")
_QUOTES: Final = tag_ids("blockquote figcaption")
_CARD: Final = tag_id("article")
_FOOTER, _BODY = map(tag_id, ("footer", "body"))
MAX_CARD: Final = 500
"""Ours: letters of another story's card."""


def is_foreign(node: LexborNode, own_ancestors: Set[int], *, has_item: bool = True) -> bool:
    """Return whether an element is within comments, teasers or another box that isn't the
    article's; `own_ancestors` are the elements around the headline."""
    for _ in range(MAX_FOREIGN_CLIMB):
        parent = node.parent
        if parent is None or parent.mem_id in own_ancestors:
            return False
        node, tag = parent, parent.tag_id
        if _is_marked_foreign(node.attributes):
            return True
        if tag in _QUOTES or (tag in _ASIDE and _holds_teaser(node)):
            return True
        if has_item and tag == _ITEM and _is_of_headlines(node):
            return True
        if has_item and tag == _LINK and _names_other_day(node.text()[:MAX_TEXT]):
            return True  # the headline of another article beside its day
        if tag == _CARD and _holds_teaser(node) and len(node.text()) < MAX_CARD:
            return True
        if tag == _FOOTER and (around := node.parent) is not None and around.tag_id == _BODY:
            return True
    return False


def _is_of_headlines(item: LexborNode) -> bool:
    """Return whether an item of a list has the headline of another article, of which some are
    short; a list of headlines with days has several days."""
    if _holds_teaser(item):
        return True
    if item.css_first("a") is None or (around := item.parent) is None:
        return False
    return _holds_teaser(around) and len(dates.YEAR.findall(around.text(separator=" "))) > 1


def _is_marked_foreign(attributes: dict[str, str | None]) -> bool:
    if attributes.get("itemprop") in _FOREIGN_ITEMS:
        return True
    marks = [attributes[name] or "" for name in _FOREIGN_MARKS if name in attributes]
    return bool(marks) and _names_foreign(" ".join(marks)[: 2 * MAX_HINTS])


@lru_cache(maxsize=2048)  # of the elements around the texts of a page, which repeat
def _names_foreign(marks: str) -> bool:
    return _FOREIGN.search(marks.lower()) is not None


def _holds_teaser(node: LexborNode) -> bool:
    # The link to the comments leads to the page itself.
    links = (a for a in node.css("a")[:MIN_TEASER] if "#" not in (a.attributes.get("href") or ""))
    return any(len(link.text().split()) >= MIN_TEASER for link in links)


def anywhere(
    tree: LexborHTMLParser, dialect: Dialect, ancestors: Set[int] = frozenset()
) -> Sightings:
    """Read what a page marks as byline or date, anywhere in it; `ancestors` are the elements around
    the headline."""
    return _Reader(dialect, ancestors).read(_first_of_each(select(tree, _ANYWHERE)))


def select(tree: LexborHTMLParser, query: str) -> list[LexborNode]:
    """Return the nodes that match a query, once each; the parser repeats one for each part."""
    return list({node.mem_id: node for node in tree.css(query)}.values())


def _first_of_each(nodes: Iterable[LexborNode]) -> Iterator[LexborNode]:
    """Yield the first of these nodes that are dates, and the first that are not."""
    counts = {True: 0, False: 0}
    for node in nodes:
        is_date = node.tag_id == _TIME or "date" in (node.attributes.get("class") or "")
        counts[is_date] += 1
        if counts[is_date] <= MAX_MARKED:
            yield node
        elif min(counts.values()) >= MAX_MARKED:
            return


def is_date_line(text: str) -> bool:
    """Return whether a line with a date is one for it, not a sentence that names a day."""
    ends = text.rstrip("\"'”’»)」 ")
    # Of a page without line breaks only as much as decides.
    words = _NO_NUMBER.findall(text[: dates.MAX_LENGTH])
    if len(words) > MAX_WORDS_OF_DATE_LINE or (len(ends) > 1 and ends[-1] in "。！？।"):
        return False
    if ends[-1:] not in tuple(".!?"):
        return True
    if not _SHORT_END.search(ends):
        return len(words) <= 1
    # "10. studenoga 2026.", not "Silta avattiin 12. toukokuuta 2004."
    long_words = [word for word in words if len(word) > len("г.")]
    return len(long_words) <= (4 if _DATE_LABEL.match(text.lower()) else 2)


def _names_other_day(line: str, most: int = MOST_BESIDE_DAY) -> bool:
    """Return whether a line with a date says what happens, or happened, on that day: "Deadline:
    15 January 2026", "Company registered 12 May 2004 in Eastmoor"."""
    if _DATE_LABEL.search(line.lower()) or contains_any(line.lower(), _MADE):
        return False
    words = [word for word in _NO_NUMBER.findall(line.lower()) if len(word) > 2]  # not "12 de mayo"
    beside = len(words) - sum(map(dates.MONTHS_AND_DAYS.__contains__, words))
    return beside > most or _LABEL_OF_DAY.match(line) is not None


def labelled_date(text: str, dialect: Dialect) -> Stamp | None:
    """Find a date that follows a word for publishing or changing, anywhere in a text."""
    for end in islice(_ends_of_years(text), MAX_YEARS):
        start = max(0, end - LABEL_REACH)
        before = text[start:end].lower()
        labels = list(_DATE_LABEL.finditer(before))
        if (
            labels
            and is_date_line(text[slice(*_line_at(text, end))])
            and (stamp := dates.find(text[start + labels[-1].end() : end + 16], dialect))
        ):
            return stamp
    return None


def only_day(text: str, dialect: Dialect) -> Stamp | None:
    """Return the day in the short lines of a text, if they name no other one."""
    only = None
    for stamp in days_in(text, dialect):
        if only and only.day != stamp.day:
            return None
        only = only or stamp
    return only


def days_in(text: str, dialect: Dialect) -> Iterator[Stamp]:
    """Yield the days that short lines of a text give."""
    end = 0
    for year_end in islice(_ends_of_years(text[:MAX_SCANNED]), MAX_DATES):
        if year_end < end:
            continue
        start, end = _line_at(text, year_end, end)
        line = text[start:end]
        above = text[max(0, start - LABEL_REACH) : start].rstrip()
        label = above.rpartition("\n")[2] if above.endswith(":") else ""
        if (
            len(line) > MAX_DATE_LINE
            or not is_date_line(line)
            or len(dates.YEAR.findall(line)) != 1
            or _CODE.search(line)
            or _names_other_day(f"{label} {line}", MAX_DATE_LINE)
        ):
            continue
        if stamp := dates.find(line, dialect):
            yield stamp


def _line_at(text: str, at: int, floor: int = 0) -> tuple[int, int]:
    """Return start and end of the line at a place of a text; it is searched from `floor` on."""
    end = text.find("\n", at)
    return text.rfind("\n", floor, at) + 1, end if end >= 0 else len(text)


def _ends_of_years(text: str) -> Iterator[int]:
    """Yield where years since 2000 end; to search for two characters is fast in a long text."""
    at = text.find("20")
    while at >= 0:
        if text[at + 2 : at + 4].isdecimal():
            yield at + 4
        at = text.find("20", at + 2)


def without_lists(tree: LexborHTMLParser, text: str) -> str:
    """Return the text of a page without its lists, captions and quotations."""
    return _without(text, tree.css(_BESIDE_TEXT)[:MAX_BESIDE_TEXT])


def without_foreign(tree: LexborHTMLParser, text: str) -> str:
    """Return the text of a page without its comments and boxes of teasers."""
    boxes = (
        node
        for node in tree.css(_FOREIGN_QUERY)[:MAX_MARKED]
        if _is_marked_foreign(node.attributes)
        or (
            node.tag_id in _ASIDE
            and "meta" not in (node.attributes.get("class") or "")  # facts about the article
            and _holds_teaser(node)
        )
    )
    return _without(text, boxes)


def _without(text: str, nodes: Iterable[LexborNode]) -> str:
    for node in nodes:
        part = node.text(separator="\n")
        if 2 * len(part) < len(text):
            # The last of equal ones: a name in a comment may be that of the byline.
            start = text.rfind(part)
            text = f"{text[:start]}\n{text[start + len(part) :]}" if start >= 0 else text
    return text


def _after(start: LexborNode) -> Iterator[LexborNode]:
    """Yield the nodes after an element in page order, without its own."""
    node = start
    inside = False
    for _ in range(NODES_AFTER):
        child = node.first_child if inside and node.tag_id not in _SKIPPED else None
        while child is None:
            child = node.next
            if child is None:
                if (parent := node.parent) is None:
                    return
                node = parent
        node = child
        inside = True
        yield node


def _before(start: LexborNode) -> Iterator[LexborNode]:
    """Yield the nodes before an element, nearest first, parents after their last child."""
    node = start
    for _ in range(NODES_BEFORE):
        previous = node.prev
        if previous is None:
            if (parent := node.parent) is None:
                return
            node = parent
            continue
        node = previous
        while node.tag_id not in _SKIPPED and (last := node.last_child) is not None:
            yield node
            node = last
        yield node


@lru_cache(maxsize=2048)  # of at most MAX_HINTS characters each
def _hints_of(hints: str) -> tuple[bool, bool]:
    """Return whether class and id of an element hint at an author, and at a date."""
    author = contains_any(hints, _AUTHOR_HINTS) and not _NO_AUTHOR_HINT.search(hints)
    return author, contains_any(hints, _DATE_HINTS)


def _date_of_publication(text: str, dialect: Dialect) -> Stamp | None:
    """Return the date after a word for publishing in a date line that also names the change."""
    labels = list(_DATE_LABEL.finditer(text.lower()))
    ends = (*(label.start() for label in labels[1:]), len(text))
    parts = (
        text[label.end() : end]
        for label, end in zip(labels, ends, strict=False)
        if label[0] in _DATED_WORDS
    )
    return next(filter(None, (dates.find(part, dialect) for part in parts)), None)


def _lines(node: LexborNode) -> list[str]:
    """Return the texts within an element; none if it holds more than a byline or date line."""
    texts = _texts(node)
    return [line for text in texts if (line := squeeze(text))]


def _texts(node: LexborNode) -> list[str]:
    texts: list[str] = []
    length = 0
    for number, inner in enumerate(node.traverse(include_text=True)):
        if number > MAX_INNER:
            return []
        if inner.tag_id == TEXT and (content := inner.text_content):
            length += len(content)
            if length > 2 * MAX_TEXT:
                return []
            texts.append(content)
    return texts


_DATE_DATA: Final = (
    "data-date", "data-time", "data-publi", "data-utime", "data-pub", "data-epoch", "data-seconds",
    "data-created", "data-posted", "data-unix", "data-iso",
)  # fmt: skip


def _titled_date(node: LexborNode) -> str | None:
    """Return the date in the `title` of an element or one in it, as hAtom has it, or in an
    attribute for scripts."""
    is_titled = "title" in node.attributes
    element = node if is_titled else node.css_first("time,.value-title,abbr[title]")
    title = element.attributes.get("title") if element is not None else None
    data = (
        text for name, text in node.attributes.items() if name.startswith((*_DATE_DATA, "value"))
    )
    stamps = ((text, dates.read(text)) for text in (title, *data) if text)
    text, stamp = next((pair for pair in stamps if pair[1]), ("", None))
    return stamp.moment.isoformat() if stamp and text.isdigit() else text or None


def _opening(node: LexborNode, text: str, ancestors: Set[int]) -> str | None:
    """Return the byline that a short text is or opens, unless it is foreign."""
    byline = _byline_in(node, text) if len(text) <= MAX_OPENING else None
    return byline if byline and not is_foreign(node, ancestors, has_item=False) else None


def _byline_in(node: LexborNode, text: str) -> str | None:
    """Return a text that opens as bylines do; for "By" alone, the lines of the block around it."""
    if (authors := byline_lines.authors_in(text)) is not None:
        return "\n".join(authors) or None
    if not names.opens_byline(text):
        return None
    if not _BY_ALONE.fullmatch(text):
        return text if _BYLINE.match(text) else None
    parent = node.parent
    for _ in range(MAX_CLIMB):
        if parent is None:
            return None
        lines = _lines(parent) if parent.tag_id in _BLOCKS else []
        # Those between "By" and a date or the like.
        names_after = lines[lines.index(text) + 1 :] if text in lines else []
        names_after = [*takewhile(lambda line: not any(map(str.isdigit, line)), names_after)]
        if names_after:
            return "\n".join((text, *names_after))
        parent = parent.parent
    return None


class _Reader:
    def __init__(self, dialect: Dialect, ancestors: Set[int] = frozenset()) -> None:
        self.sightings = Sightings()
        self._ancestors = ancestors
        self._dialect = dialect
        self._label = ""
        self._prose = 0  # letters

    def read(self, nodes: Iterable[LexborNode]) -> Sightings:
        """Return what these nodes show, the nearest first."""
        for distance, node in enumerate(nodes):
            tag = node.tag_id
            if tag == TEXT:
                content = node.text_content
                if content and not content.isspace():
                    self._text(node, content, distance)
            elif tag > LAST_NO_ELEMENT and tag not in _SKIPPED:
                attributes = node.attributes
                if attributes or tag == _TIME:
                    self._element(node, tag, attributes, distance)
        return self.sightings

    def _element(
        self, node: LexborNode, tag: int, attributes: dict[str, str | None], distance: int
    ) -> None:
        hints = f" {attributes.get('class') or ''} {attributes.get('id') or ''} ".lower()
        fields: tuple[str, ...] = ()
        if tag == _TIME or not _STATING.isdisjoint(attributes):
            properties = f"{attributes.get('itemprop') or ''} {attributes.get('property') or ''}"
            meanings = map(meaning_of, properties[: 2 * MAX_HINTS].split())
            fields = tuple(meaning[0] for meaning in meanings if meaning)
            if "author" in (attributes.get("rel") or "").lower():
                fields = (*fields, "author")
            has_time = tag == _TIME or ("datetime" in attributes and tag not in _CHANGES)
            if has_time or "published" in fields or "modified" in fields:
                self._time(node, attributes, f"{' '.join(fields)} {hints}", distance)
                return
        hints_at_author, hints_at_date = _hints_of(hints[:MAX_HINTS])
        if not hints_at_date and "data-" in " ".join(attributes):
            hints_at_date = any(name.startswith(_DATE_DATA) for name in attributes)
        if not hints_at_author and tag == _LINK:
            hints_at_author = bool(
                names.AUTHOR_LINK.search((attributes.get("href") or "")[:MAX_HINTS])
            )
        is_author = "author" in fields
        if is_author or hints_at_author or hints_at_date:
            lines = _lines(node)
            if is_author or hints_at_author:
                self._byline(node, lines, Sighting(0 if is_author else 1, distance))
            text = (_titled_date(node) if hints_at_date else None) or " ".join(lines)
            self._date(node, text, hints, Sighting(1 if hints_at_date else 2, distance))

    def _time(
        self, node: LexborNode, attributes: dict[str, str | None], hints: str, distance: int
    ) -> None:
        text = " ".join(_lines(node))
        value = attributes.get("datetime") or attributes.get("content")
        stamp = dates.read(value, self._dialect) or dates.read(text, self._dialect)
        if stamp is None or is_foreign(node, self._ancestors):
            return
        if contains_any(f"{hints} {self._label} {text}".lower(), _UPDATED):
            self.sightings.modified.append(stamp)
        else:
            rank = 0 if "publi" in hints or "pubdate" in attributes else 1
            self.sightings.published.append((Sighting(rank, distance), stamp))

    def _date(self, node: LexborNode, text: str, hints: str, sighting: Sighting) -> None:
        if not 6 <= len(text) < MAX_TEXT or "©" in text:
            return
        stamp = dates.find(text, self._dialect)
        if stamp is None or is_foreign(node, self._ancestors):
            return
        lowered = f"{hints} {self._label} {text}".lower()
        if contains_any(lowered, _UPDATED):
            self.sightings.modified.append(stamp)
            if published := _date_of_publication(text, self._dialect):
                self.sightings.published.append((Sighting(0, sighting.distance), published))
        elif len(self.sightings.published) < MAX_FOUND:
            line = lowered[len(hints) :]
            is_labelled = not _DATED_WORDS.isdisjoint(_WORD.findall(line))
            if is_labelled or contains_any(line, _DATED_PHRASES):
                sighting = Sighting(0, sighting.distance)
            self.sightings.published.append((sighting, stamp))

    def _text(self, node: LexborNode, content: str, distance: int) -> None:
        if len(content) > LEAST_PROSE:
            self._prose += len(content)
        if len(content) > 2 * MAX_TEXT:
            return
        text = squeeze(content)
        dated = not text.isascii() or _DIGIT.search(text) is not None
        if dated and not contains_any(text, ("20", ".", "19")):
            dated = dates.holds_other_day(text)
        if dated and is_date_line(text):
            in_cell = (parent := node.parent) is not None and parent.tag_id in _CELLS
            line = f"{self._label}{':' if in_cell and self._label else ''} {text}"
            if self._prose <= MAX_INTRODUCTION or not _names_other_day(line):
                self._date(node, text, "", Sighting(2 + len(text) // 40, distance))
        if byline := _opening(node, text, self._ancestors):
            self._add(Sighting(2, distance), byline)
        self._label = text if len(text) < 30 and not dated else ""

    def _byline(self, node: LexborNode, lines: list[str], sighting: Sighting) -> None:
        if names.secondary_in(self._label) or is_foreign(node, self._ancestors, has_item=False):
            return
        name = node.css_first("[itemprop~=name],[property$=name],[rel~=author]")
        if name is not None:
            full_name = squeeze(name.attributes.get("content"))
            lines = _lines(name) or ([full_name] if " " in full_name else [])
        self._add(sighting, "\n".join(lines) or squeeze(node.attributes.get("content")))

    def _add(self, sighting: Sighting, text: str) -> None:
        if text and len(text) < MAX_TEXT and len(self.sightings.bylines) < MAX_FOUND:
            self.sightings.bylines.append((sighting, text))
