"""The matcher: from candidates to mentions, the certain ones first, then the doubtful ones."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

from newscrawl.items import Mention
from newscrawl.mentions.abbreviations import ACRONYM_LENGTH, is_acronym, spells_out
from newscrawl.mentions.candidates import Candidate, Exclusions, Finder
from newscrawl.mentions.company import HOME_LANGUAGES
from newscrawl.mentions.context import ContextFinder, MentionContext
from newscrawl.mentions.credits import Credits
from newscrawl.mentions.disambiguation import Disambiguator
from newscrawl.mentions.namesakes import SPORTS_SECTION
from newscrawl.mentions.neighbours import NeighbourWords, begins_sentence
from newscrawl.mentions.normalized_text import NormalizedText, normalize
from newscrawl.mentions.persons import Persons
from newscrawl.mentions.registry_cache import CompiledRegistry
from newscrawl.mentions.score import Evidence, FoundName, evidence_of, load_model
from newscrawl.mentions.tickers import TickerHit, Tickers
from newscrawl.mentions.vocabulary import Vocabulary

# A name supported in one pass supports the names in a list with it in the next.
PASSES = 3

# A person named in full once may be named by surname alone this often; a name that occurs
# more often is the company's, though one product is named after a sportsman.
BARE_SURNAMES = 10

# A supported place may support this many bare ones of its form; everyday words and abbreviations
# fewer, since one wrong support would be multiplied.
INHERITED = 20
INHERITED_IN_DOUBT = 4

# Ours: the maximum number of examined places, the first of an article; no article of the
# development corpus has 300. Each takes about a hundredth of a millisecond if every line has names.
MAX_CANDIDATES = 2_000

# Letters of a name in which missing accents make no other abbreviation. Ours.
MIN_WITHOUT_ACCENTS = 5

Place = list[Candidate]
Found = TypeVar("Found", Candidate, TickerHit)


class Matcher:
    """Finds the mentions of a registry's companies; has no state between articles."""

    def __init__(self, registry: CompiledRegistry, words: Vocabulary) -> None:
        self._registry = registry
        self._companies = registry.companies
        self._words = words
        self._finder = Finder(registry.beginnings, registry.spelled, registry.forms, words)
        self._tickers = Tickers(registry.tickers)
        self._neighbours = NeighbourWords(words)
        self._persons = Persons(words, self._neighbours)
        self._disambiguator = Disambiguator(self._neighbours, self._companies)
        self._credits = Credits(registry.outlets, words)
        self._exclusions: dict[int, Exclusions] = {}

    @cached_property
    def _context_finder(self) -> ContextFinder:
        return ContextFinder(self._companies, self._registry.contexts)

    @cached_property
    def _related(self) -> dict[int, list[int]]:
        """Return for each company the numbers of its owner and of the companies that it owns."""
        related: dict[int, list[int]] = defaultdict(list)
        for number, owner in self._registry.owners:
            related[owner].append(number)
            related[number].append(owner)
        return related

    def prepare(self) -> None:
        """Build all that is otherwise built when it is first needed."""
        _ = self._context_finder, self._related, load_model()

    def is_registered(self, name: str) -> bool:
        """Return whether a company has this very form."""
        return bool(self._finder.forms_spelled(name))

    def find(
        self, text: str, title: str, language: str | None, source: str | None = None
    ) -> list[Mention]:
        """Return all mentions, those of the title first, each section in reading order."""
        return [mention for mention, _ in self.find_with_evidence(text, title, language, source)]

    def find_with_evidence(
        self, text: str, title: str, language: str | None, source: str | None = None
    ) -> list[tuple[Mention, Evidence]]:
        """Return all mentions with the data for their scores."""
        article = normalize(text, title)
        content = article.text
        candidates = _first(self._finder.find(content, language))
        tickers = _first(self._tickers.find(content))
        if not candidates and not tickers:
            return []
        publisher = self._credits.publishers_of(source)
        places, persons = self._filter(
            content,
            candidates,
            publisher,
            language,
            in_sports=SPORTS_SECTION.search(source or "") is not None,
        )
        certain, doubtful = self._split_by_certainty(content, places, persons, language)
        by_rule = [(c, "inflection" if c.inflected else "name") for c in certain]
        if doubtful:
            context = self._article_context(content, certain, tickers, doubtful, language)
            context = replace(context, persons=frozenset(persons))
            by_rule += self._find_supported(content, doubtful, context)
        names = [FoundName(c.form.company, c.start, c.end, rule, c) for c, rule in by_rule]
        names += [FoundName(hit.company, hit.start, hit.end, "ticker") for hit in tickers]
        evidence = evidence_of(article, names, self._companies, language, source, self._words)
        scored = [
            (self._mention(article, name, load_model().score(evidence_of_name)), evidence_of_name)
            for name, evidence_of_name in zip(names, evidence, strict=True)
        ]
        return sorted(scored, key=lambda pair: _reading_order(pair[0]))

    def _filter(
        self,
        text: str,
        candidates: Iterable[Candidate],
        publisher: frozenset[int],
        language: str | None,
        *,
        in_sports: bool,
    ) -> tuple[list[Place], dict[str, int]]:
        """Return the places to keep, and the forms that name a person with their first place.

        An excluded name still covers its place: "Deutsche Bank Park" contains no "Deutsche Bank".
        An acronym that the article spells out as something else counts nowhere in it, unless it is
        a certain one of four letters and more ("Banco Bilbao Vizcaya (BBVA)").
        """
        places: list[Place] = []
        persons: dict[str, list[int]] = defaultdict(list)
        foreign = set()
        for rivals in _longest(candidates):
            first = rivals[0]
            surface = text[first.start : first.end]
            clear = surface == first.form.text and not first.form.is_doubtful(language)
            if (
                not (clear and len(surface) > ACRONYM_LENGTH)
                and spells_out(text, first)
                and not _is_apposition(places, rivals)
            ):
                foreign.add(surface)
            elif not (
                bool(places)
                and places[-1][0].end == first.start - 1
                and not places[-1][0].form.is_doubtful(language)
            ) and self._persons.names(text, first, language):
                persons[first.form.text].append(first.start)
            elif not self._neighbours.is_other(text, first, language, in_sports=in_sports):
                remaining_rivals = [
                    rival
                    for rival in rivals
                    if not (
                        self._is_excluded(text, rival)
                        or self._credits.is_of_notice(text, rival)
                        or self._credits.is_credit(text, rival, publisher)
                    )
                ]
                if remaining_rivals:
                    places.append(remaining_rivals)
        remaining_places = [p for p in places if text[p[0].start : p[0].end] not in foreign]
        times = Counter(place[0].form.text for place in remaining_places)
        return remaining_places, {
            form: starts[0]
            for form, starts in persons.items()
            if len(starts) * BARE_SURNAMES >= times[form]
        }

    def _split_by_certainty(
        self,
        text: str,
        places: Iterable[Place],
        persons: Mapping[str, int],
        language: str | None,
    ) -> tuple[list[Candidate], list[Place]]:
        """Return the certain places and those that need support.

        A form that names a person in this article is doubtful from there on, an everyday word of
        its language always, and a word that many things share behind an article ("ein Vogel") or,
        if it is a name of the user's own, at the beginning of a sentence without a cue of a company
        ("Vogel flog davon", not "Ford reported a profit"); so
        is a form of two companies, even if it is so for one of them only.
        """
        certain = []
        doubtful = []
        end = 0
        for rivals in places:
            behind_name, end = rivals[0].start == end + 1, rivals[0].end
            sure = [rival for rival in rivals if not rival.form.is_doubtful(language)]
            form = sure[0].form.text if sure else ""
            person = persons.get(form)
            everyday = bool(sure) and self._neighbours.is_everyday_in(sure[0], language)
            before = person is None or rivals[0].start < person
            if sure and self._may_be_a_word(text, sure[0], everyday, language, behind_name):
                doubtful.append([rival.in_doubt() for rival in rivals])
            elif sure and len(rivals) == 1 and before and not everyday:
                certain.append(sure[0])
            else:
                doubtful.append(rivals)
        return certain, doubtful

    def _may_be_a_word(
        self, text: str, sure: Candidate, everyday: bool, language: str | None, behind_name: bool
    ) -> bool:
        """Return whether a certain form stands here like a word that many names have."""
        form, surface = sure.form.text, text[sure.start : sure.end]
        if self._neighbours.is_model_or_title(text, sure, language, behind_name=behind_name):
            return True
        # "Solen" is Şölen and the sun, "Dupont" DuPont and a person.
        if surface != form and (
            self._words.is_everyday_in(surface, language)
            or (surface in self._words.surnames and surface == form.capitalize())
        ):
            return True
        if form in self._words.venues:
            return True
        # "Lafayette Square" is a place in Italian texts, too, though "square" is no Italian word,
        # and "The Annoying Orange" a film.
        if (
            not everyday
            and (
                self._words.is_everyday(form, language)
                or (
                    language not in {None, "en"}
                    and form.lower() in self._words.common_words
                    and not (behind_name or sure.inflected or text.startswith("'", sure.end))
                    and text[sure.start - 2 : sure.start].isascii()
                )
            )
            and self._neighbours.has_name_before(text, sure, language)
        ):
            return True
        if self._persons.may_be_given_name(text, sure):
            return True
        company = self._companies[sure.form.company]
        home = HOME_LANGUAGES.get(company.facts.get("country", ""), ())
        # "VUB" is VÚB and a university.
        if len(surface) < MIN_WITHOUT_ACCENTS and surface.isascii() and not form.isascii():
            return language is not None and language not in home
        # "A puma was seen. Puma attacks are rare."
        is_own = company.origin == "own"
        if not is_own and begins_sentence(text, sure) and _is_written_small(text, surface):
            return True
        if form.lower() not in self._words.shared_names:
            return False
        return self._neighbours.is_behind_article(text, sure, language) or (
            is_own
            and begins_sentence(text, sure)
            and not self._neighbours.has_cue(text, sure, language, in_context=True)
        )

    def _is_excluded(self, text: str, candidate: Candidate) -> bool:
        company = self._companies[candidate.form.company]
        if not company.exclude:
            return False
        exclusions = self._exclusions.get(candidate.form.company)
        if exclusions is None:
            exclusions = Exclusions(company.exclude)
            self._exclusions[candidate.form.company] = exclusions
        return exclusions.cover(text, candidate.start, candidate.end)

    def _article_context(
        self,
        text: str,
        certain: Sequence[Candidate],
        tickers: Sequence[TickerHit],
        doubtful: list[Place],
        language: str | None,
    ) -> MentionContext:
        companies_named = frozenset(candidate.form.company for candidate in certain)
        context = MentionContext(
            companies_named=companies_named,
            related=frozenset(
                relative for number in companies_named for relative in self._related.get(number, ())
            ),
            tickers=frozenset(hit.company for hit in tickers),
            words={},
            starts={candidate.start for candidate in certain},
            ends={candidate.end for candidate in certain},
            language=language,
        )
        undecided = [
            rivals for rivals in doubtful if not self._disambiguator.is_named(rivals, context)
        ]
        companies = frozenset(rival.form.company for rivals in undecided for rival in rivals)
        starts = (place[0].start for place in undecided)
        words = self._context_finder.find(text, companies, starts, language) if companies else {}
        return replace(context, words=words)

    def _find_supported(
        self, text: str, doubtful: list[Place], context: MentionContext
    ) -> list[tuple[Candidate, str]]:
        supported: list[tuple[Candidate, str]] = []
        waiting = doubtful
        for _ in range(PASSES):
            still = []
            for rivals in waiting:
                resolved = self._disambiguator.resolve(text, rivals, context)
                if resolved:
                    supported.append(resolved)
                    context.note(resolved[0])
                else:
                    still.append(rivals)
            waiting = still
        # One sense per article: a form once supported means the same further on.
        times = Counter(candidate.form for candidate, _ in supported)
        forms_waiting = Counter(rival.form for rivals in waiting for rival in rivals)
        repeated = [
            (rival, "repetition")
            for rivals in waiting
            for rival in rivals
            if rival.form.text not in context.persons
            and len(rival.form.text) > 1
            and times[rival.form] * self._count_inherited(rival, context)
            >= forms_waiting[rival.form]
            and times[rival.form]
            and not self._neighbours.is_part_of_name(text, rival, context.language)
            and not (
                self._disambiguator.is_everyday(rival, context)
                and self._neighbours.is_behind_article(text, rival, context.language)
            )
        ]
        return supported + repeated

    def _count_inherited(self, rival: Candidate, context: MentionContext) -> int:
        """Return the number of bare places that one supported place of a form may support."""
        doubtful = is_acronym(rival.form.text) or self._disambiguator.is_everyday(rival, context)
        return INHERITED_IN_DOUBT if doubtful else INHERITED

    def _mention(self, article: NormalizedText, name: FoundName, score: float) -> Mention:
        section, start, end = article.origin(name.start, name.end)
        return Mention(
            company=self._companies[name.company].name,
            surface=article.surface(section, start, end),
            start=start,
            end=end,
            section=section,
            rule=name.rule,
            score=score,
        )


def _is_written_small(text: str, name: str) -> bool:
    """Return whether the article has the name in small letters, as a word."""
    low = name.lower()
    if name != name.capitalize() or name == low or f" {low}" not in text:
        return False
    return any(f" {low}{mark}" in text for mark in (" ", ", ", ". ", ".\n"))


def _reading_order(mention: Mention) -> tuple[bool, int, str]:
    return mention.section != "title", mention.start, mention.company


def _first(names: list[Found]) -> list[Found]:
    if len(names) <= MAX_CANDIDATES:
        return names
    return sorted(names, key=lambda each: each.start)[:MAX_CANDIDATES]


def _longest(candidates: Iterable[Candidate]) -> list[Place]:
    """Return candidates by place: of overlapping ones the longest, of equal spans all, of a company
    its whole name before a stem ("KANEKA" is not KANEK-A)."""
    spans: dict[tuple[int, int], Place] = defaultdict(list)
    for candidate in candidates:
        rivals = spans[candidate.start, candidate.end]
        for number, rival in enumerate(rivals):
            if rival.form.company == candidate.form.company:
                # "Biedronce" is an alias, and the case of an everyday word.
                is_surer = rival.form.text == candidate.form.text and rival.form.ambiguous
                if rival.form.stem > candidate.form.stem or (
                    is_surer and not (candidate.form.ambiguous or candidate.form.stem)
                ):
                    rivals[number] = candidate
                break
        else:
            rivals.append(candidate)
    longest: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if not longest or start >= longest[-1][1]:
            longest.append((start, end))
        elif end - start > longest[-1][1] - longest[-1][0]:
            longest[-1] = start, end
    return [_without_cases(spans[span]) for span in longest]


def _without_cases(rivals: Place) -> Place:
    """Return a place without cases of names if a certain name stands there: "Sanyo" is not Sany."""
    names = [rival for rival in rivals if not rival.inflected]
    return names if any(not rival.form.ambiguous for rival in names) else rivals


def _is_apposition(places: Sequence[Place], rivals: Place) -> bool:
    """Return whether the same company's full name comes right before: "Royal Bank of Canada
    (RBC)"."""
    companies = {rival.form.company for rival in rivals}
    return any(
        rivals[0].start - candidate.end == len(" (") and candidate.form.company in companies
        for candidate in (places[-1] if places else ())
    )
