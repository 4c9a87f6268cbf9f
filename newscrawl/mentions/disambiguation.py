"""Disambiguation: decide by the words around doubtful places whether they name a company."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from newscrawl.mentions.abbreviations import (
    ACRONYM_LENGTH,
    is_acronym,
    is_network,
    search_before,
    spelled_out,
    stems,
)
from newscrawl.mentions.candidates import Candidate
from newscrawl.mentions.company import HOME_LANGUAGES, Company
from newscrawl.mentions.context import MentionContext, context_weight, rivals_at_home
from newscrawl.mentions.lists import CONJUNCTION, JOINT, count_beside, joined_after, joined_before
from newscrawl.mentions.neighbours import CAPITAL_AFTER, NeighbourWords, begins_sentence
from newscrawl.mentions.tickers import has_code_behind

# An everyday word ("Next", "Free") needs more context. Ours, set by hand.
EVERYDAY_CONTEXT = 2
# So does an abbreviation ("GM", "HP"), and still more a form that names a
# person in the article, or an abbreviation behind an article ("the GM responds"). Ours, by hand.
ACRONYM_CONTEXT = 2
PERSON_CONTEXT = 4
_TRADEMARK = re.compile(r"[®™]| ?\((?:R|TM|r|tm)\)")
# Languages of other scripts, in which a name in Latin letters is not a word.
_OTHER_SCRIPTS = frozenset(
    {"ru", "uk", "be", "bg", "mk", "el", "ar", "fa", "he", "hi", "zh", "ja", "ko", "th"}
)
# Of them those in whose news a Latin abbreviation is a company of the country: NEC, CGV.
_HOMES = frozenset({"zh", "ja", "ko"})
# Languages of a country or two, in whose news the abbreviation of a company of the country is it.
_OF_A_COUNTRY = re.compile(
    "bg|cs|da|el|et|fi|he|hr|hu|id|it|lt|lv|nb|nl|nn|no|pl|pt|ro|sk|sl|sr|sv|tr|uk"
)
# Of them those in which few persons and places have the names of the country's companies.
_CAPITALS = frozenset({"da", "fi", "nb", "nl", "nn", "no", "pl", "sv", "tr"})
_LATIN_BEFORE = re.compile(r"[A-Za-z][\w.']*[ -]$")
_LATIN_AFTER = re.compile(r"[ -][A-Za-z]")
# "Acer's 615 GE", "200 HP": a unit, or part of a model's name; "in 2012 GE" is neither.
_NUMBER_BEFORE = re.compile(r"(?<![\d.,])(?!(?:19|20)\d\d )\d+(?:[.,]\d+)*[ -]$")


@dataclass(frozen=True, slots=True)
class Disambiguator:
    """Decides which candidate at a doubtful place is meant, if any."""

    neighbours: NeighbourWords
    companies: Sequence[Company]

    def resolve(
        self, text: str, rivals: Sequence[Candidate], context: MentionContext
    ) -> tuple[Candidate, str] | None:
        """Return the company that is meant and the rule that found it; None without support."""
        if len(rivals[0].form.text) == 1 and rivals[0].form.text.isascii():
            has_context = context_weight(rivals[0], context) > 0
            return (
                (rivals[0], "cue") if is_network(text, rivals[0], in_context=has_context) else None
            )
        listed = [
            rival
            for rival in rivals
            if has_code_behind(text, rival, self.companies[rival.form.company])
        ]
        if len(listed) == 1:
            return listed[0], "ticker"
        rivals = rivals_at_home(rivals, self.companies, context)
        decided = self._decided_by_article(text, rivals, context)
        if decided:
            return decided
        # "Mediobanca-Generali": two companies, while "Howell-Chase" is a person.
        joint = rivals[0].start - 1
        if len(rivals) == 1 and joint in context.ends and text[joint] == "-":
            return rivals[0], "company beside"
        if self._is_something_else(text, rivals, context):
            return None
        near = self._nearest(text, rivals, context)
        if near:
            return near, "context"
        beside = self._beside(text, rivals[0], context) if len(rivals) == 1 else None
        return (rivals[0], beside) if beside else None

    def is_named(self, rivals: Sequence[Candidate], context: MentionContext) -> bool:
        """Return whether the article's certain names and tickers say which company is meant, so
        that no context is needed."""
        if len(rivals[0].form.text) == 1 and rivals[0].form.text.isascii():
            return False
        return _named(rivals_at_home(rivals, self.companies, context), context) is not None

    def _decided_by_article(
        self, text: str, rivals: Sequence[Candidate], context: MentionContext
    ) -> tuple[Candidate, str] | None:
        """Return the company that the article names in full or by ticker, or of which it names the
        owner or a subsidiary; of two with one name, the one of which the form is certain unless the
        context says the other."""
        by_name = _named(rivals, context)
        if by_name:
            return by_name
        sure = [rival for rival in rivals if not rival.form.is_doubtful(context.language)]
        if len(sure) != 1 or sure[0].form.text in context.persons:
            return None
        if self.neighbours.is_everyday_in(sure[0], context.language):
            return None
        near = self._nearest(text, rivals, context)
        clear = near is not None and context_weight(near, context) >= EVERYDAY_CONTEXT
        return (near, "context") if near and clear else (sure[0], "name")

    def _is_something_else(
        self, text: str, rivals: Sequence[Candidate], context: MentionContext
    ) -> bool:
        """Return whether the form is part of another name, or an abbreviation of something else."""
        if is_acronym(rivals[0].form.text) and search_before(_NUMBER_BEFORE, text, rivals[0].start):
            return True
        if self._is_spelled_out_elsewhere(text, rivals):
            return True
        return rivals[0].start - 1 not in context.ends and self.neighbours.is_part_of_name(
            text, rivals[0], context.language
        )

    def _is_spelled_out_elsewhere(self, text: str, rivals: Sequence[Candidate]) -> bool:
        """Return whether the article spells an abbreviation out as something other than the
        company's name."""
        form = rivals[0].form.text
        if len(form) < ACRONYM_LENGTH or not is_acronym(form):
            return False
        meaning = spelled_out(form, text)
        if meaning is None:
            return False
        rival_companies = (self.companies[rival.form.company] for rival in rivals)
        names = {
            stems(name) for company in rival_companies for name in (company.name, *company.aliases)
        }
        return stems(meaning) not in names

    def _context_needed(self, text: str, candidate: Candidate, context: MentionContext) -> int:
        form = candidate.form.text
        if form in context.persons:
            return PERSON_CONTEXT
        if is_acronym(form):
            job = self.neighbours.is_noun_behind_article(text, candidate, context.language)
            return PERSON_CONTEXT if job else ACRONYM_CONTEXT
        words = self.neighbours.words
        forename, _, surname = form.partition(" ")
        # "Tout comme Marc Jacobs, elle s'inspire du grunge."
        if surname and forename in words.given_names:
            return PERSON_CONTEXT
        return EVERYDAY_CONTEXT if self.is_everyday(candidate, context) else 1

    def _beside(self, text: str, candidate: Candidate, context: MentionContext) -> str | None:
        # "3M™"; "Fee Is Free™" is a slogan.
        trademark = _TRADEMARK.match(text, candidate.end) and not self.is_everyday(
            candidate, context
        )
        if trademark or self.neighbours.has_legal_form(text, candidate):
            return "legal form"
        if candidate.form.text in context.persons:
            before = text, candidate.start, context.language
            return "cue" if self.neighbours.cue_before(*before, of_person=True) else None
        in_context = context_weight(candidate, context) > 0
        has_context = not is_acronym(candidate.form.text) or in_context
        if self.neighbours.has_cue(text, candidate, context.language, in_context=in_context) or (
            has_context and self.neighbours.has_model(text, candidate, context.language)
        ):
            return "cue"
        if self._is_listed(text, candidate, context):
            return "company beside"
        surface = text[candidate.start : candidate.end]
        home = context.language in self._home(candidate)
        # Hungarian puts an article before everything; of companies it names its own mostly.
        abroad = context.language != "hu" and not is_acronym(surface)
        if (home or abroad) and self.neighbours.is_feminine(text, candidate, context.language):
            return "cue"
        if (
            home
            and _OF_A_COUNTRY.fullmatch(context.language or "")
            and is_acronym(surface)
            and len(surface) > 2
            # "DNA" means something else to everybody.
            and surface not in self.neighbours.words.abbreviations
            and not CAPITAL_AFTER.match(text, candidate.end)
        ):
            return "capital"
        if self._is_name_by_capital(text, candidate, context.language):
            return "capital"
        other_forms = context.supported.get(candidate.form.company, set()) - {candidate.form.text}
        return "other name" if other_forms else None

    def _is_name_by_capital(self, text: str, candidate: Candidate, language: str | None) -> bool:
        if language in _OTHER_SCRIPTS:
            # Whether a name in Latin letters is within another script: "компания Apple".
            form = candidate.form.text
            if not (form.isascii() and form[0].isupper()):
                return False
            home = language in self._home(candidate)
            if is_acronym(form) and not (home and language in _HOMES and len(form) > 2):
                return False
            # "ATM" does not name Atm Milano, nor "BOSS" Boss; "JUMBO" is Jumbo in Greece.
            surface = text[candidate.start : candidate.end]
            # "奥米加(Omega)" says how a word is spelled.
            around = text[candidate.start - 1 : candidate.start] + text[candidate.end :][:1]
            if around in {"()", "（）"} and self.neighbours.words.is_of_many(form):
                return False
            if not home and (
                is_acronym(surface)
                or self.neighbours.words.is_everyday(form)
                or surface.isupper() > form.isupper()
            ):
                return False
            # A person has capitals, too: "Walt Disney".
            given, _, surname = form.partition(" ")
            if surname and given in self.neighbours.words.given_names:
                return False
            if search_before(_LATIN_BEFORE, text, candidate.start):
                return False
            return _LATIN_AFTER.match(text, candidate.end) is None
        at_home = language in _CAPITALS and language in self._home(candidate)
        return self.neighbours.is_capital_amid_small(text, candidate, language, at_home=at_home)

    def _home(self, candidate: Candidate) -> frozenset[str]:
        country = self.companies[candidate.form.company].facts.get("country", "")
        return HOME_LANGUAGES.get(country, frozenset())

    def is_everyday(self, candidate: Candidate, context: MentionContext) -> bool:
        """Return whether the name is an everyday word in this article's language."""
        return self.neighbours.words.is_everyday(candidate.form.text, context.language)

    def _is_listed(self, text: str, candidate: Candidate, context: MentionContext) -> bool:
        """Return whether a name beyond doubt is joined to it: "Rossmann und Zalando".

        An everyday word needs a conjunction, or two such names in one list with it; one that
        begins a sentence ("Next, Apple and Google ...") needs a word of its context, too.
        """
        start, end = candidate.start, candidate.end
        joint = CONJUNCTION if self.is_everyday(candidate, context) else JOINT
        if (
            joined_before(text, start, context, joint) is not None
            or joined_after(text, end, context, joint) is not None
        ):
            return True
        if joint is JOINT or count_beside(text, start, end, context) < 2:
            return False
        return not begins_sentence(text, candidate) or context_weight(candidate, context) > 0

    def _nearest(
        self, text: str, rivals: Sequence[Candidate], context: MentionContext
    ) -> Candidate | None:
        """Return the one rival with the most context words nearby, if they are enough."""
        near = [context_weight(rival, context) for rival in rivals]
        most = max(near)
        everyday = self.is_everyday(rivals[0], context)
        if everyday and self.neighbours.leads_a_noun(text, rivals[0], context.language):
            return None
        if most < self._context_needed(text, rivals[0], context) or near.count(most) > 1:
            return None
        return rivals[near.index(most)]


def _named(rivals: Sequence[Candidate], context: MentionContext) -> tuple[Candidate, str] | None:
    """Return the company that certain names of an article or its tickers mean, with the rule."""
    for rule, companies in (
        ("full name", context.companies_named),
        ("ticker", context.tickers),
        ("full name", context.related),
    ):
        meant = [rival for rival in rivals if rival.form.company in companies]
        if len(meant) == 1:
            return meant[0], rule
    return None
