"""Persons: whether a form names one, by what stands beside it."""

import re
from dataclasses import dataclass

from newscrawl.mentions.abbreviations import REACH, search_before, words_before
from newscrawl.mentions.candidates import Candidate
from newscrawl.mentions.east_asian import names_person
from newscrawl.mentions.neighbours import NeighbourWords, is_in_title_case
from newscrawl.mentions.vocabulary import ANY, Vocabulary
from newscrawl.text import stop_words_of

_PARTICLES = frozenset({"von", "de", "van", "di", "del", "du", "da"})
# Substitutes in a line of players: "Spies (73. Weichert), Babbel, Bode (52. Eck)".
_SUBSTITUTES = re.compile(r"\(\d{1,2}(?:\.|[΄'’]) ?[^\W\d_a-zß-öø-ÿ][^\W\d_]+\)")
# Genitives: the word before them isn't a form of address.
_GENITIVES = frozenset({"de", "del", "du", "di", "da"})
# Titles of companies' heads in Slavic languages, which decline names.
_HEADS = frozenset({"президент", "prezydent", "prezident"})
# Years of a person's life.
_LIFE = re.compile(r" (?:\(\d{4}[-–]\d{4}\)|wurde \d{4} geboren)")
# Words after which a form is a given name: "Rafael del Pino", "Wanda S."
_SURNAME = re.compile(
    r" (?:(?:de|del|de la|van|von|di|da) [^\W\d_a-zß-öø-ÿ]|[A-Z][.'](?:[A-Z]|(?<=\.))"
    r"|([^\W\d_a-zß-öø-ÿ][^\W\d_]+))"
)
# What Japanese writes behind a person's name.
_HONORIFICS = ("さん", "氏", "ちゃん", "くん", "容疑者", "被告")
# "Bosch, Laura 1992": a line of a list of persons.
_GIVEN_BEHIND = re.compile(r", ([^\W\d_]+)(?=$|\n|;|\)| \d| \()")
_OTHER_PERSON = re.compile(r" to ([^\W\d_]+) [^\W\d_a-zß-öø-ÿ]\w+")
# Years of founders' lives, not of news.
_LONG_AGO = re.compile(r"\b1(?:[5-8]\d\d|9[0-3]\d)\b")
_NEXT_WORD = re.compile(r" ([^\W\d_]+)")
# Flemish surnames have a capital article within a sentence, too: "minister De Block".
_FLEMISH = re.compile(r"(?:\w\w|,) (?:De|Van(?: [Dd]en?)?|Vanden|Vander) $")
# "Anthony Vanden Borre": what a surname of several words begins with.
_SURNAME_BEGINS = frozenset({"Van", "Vanden", "Von", "De", "Di", "Del", "Della", "Dal", "Le", "La"})
# Languages of which some words are given names elsewhere: Theo, Dan, Ben.
_OTHER_GIVEN_NAMES = frozenset({"vi", "id", "tr"})
# "Eleonora, Elia, Elisa e Linde": names in a list.
_COMMA = "(?:,| (?:e|ed|y|i|a|and|und|et|og|och|ve|și|dan))"
_LISTED_BEFORE = re.compile(rf"(?:([^\W\d_]+), )?([^\W\d_]+){_COMMA} $")
_LISTED_AFTER = re.compile(rf"{_COMMA} ([^\W\d_]+)(?:{_COMMA} ([^\W\d_]+))?")
# "E.Honda": an initial without a blank.
_INITIAL_BEFORE = re.compile(r"(?<![^\s(])[A-Z]\.$")


@dataclass(frozen=True, slots=True)
class Persons:
    """The evidence that a form names a person."""

    words: Vocabulary
    neighbours: NeighbourWords

    def names(self, text: str, candidate: Candidate, language: str | None) -> bool:
        """Return whether the name is a person's: "Harrison Ford", "Henry J. Ford", "Werner von
        Siemens", "Herr Merck"."""
        if candidate.form.text in self.words.surnames and self.neighbours.has_name_before(
            text, candidate, language
        ):
            return not self.neighbours.has_legal_form(text, candidate)
        begin = max(0, candidate.start - REACH)
        place = candidate.start, candidate.end
        words = words_before(text, candidate.start, 3)
        last = words[-1] if words else ""
        if (
            self._is_told_of_life(text, candidate.end + 1)
            or _LIFE.match(text, candidate.end)
            or len(_SUBSTITUTES.findall(text, begin, candidate.end + REACH)) > 1
            # "A boy called Maruti", "who went by the handle J.P. Morgan"
            or (
                last in self.words.naming
                and any(word.rstrip(",") in self.words.beings for word in words[-2:])
            )
            or self._is_founder(text, candidate)
            or self._is_given_name(text, candidate)
            or self._is_among_given_names(text, candidate)
            or self._has_given_name_behind(text, candidate, language)
            or text.startswith(_HONORIFICS, candidate.end)
            or (language == "nl" and search_before(_FLEMISH, text, candidate.start))
            or (language in {"zh", "ja"} and names_person(text, *place, self.words.given_names))
            or (
                text.endswith(".", 0, candidate.start)
                and search_before(_INITIAL_BEFORE, text, candidate.start)
            )
        ):
            return True
        if not words:
            return False
        first_name, *surnames = candidate.form.text.split(" ")
        given_names = self.words.given_names
        if surnames:
            # "El diseñador Alexander McQueen", "Anthony Vanden Borre"
            has_title = first_name in given_names and words[-1].lower() in self.words.titles
            return has_title or (first_name in _SURNAME_BEGINS and words[-1] in given_names)
        # "Malin Eggertz-Forsmark"
        if text.startswith("-", candidate.start - 1) and len(words) > 1 and words[-1].istitle():
            return words[-2] in given_names
        if len(words) > 1 and _is_initial(words[-1]) and words[-2][:1].isupper():
            return True
        particle = ""
        while len(words) > 1 and (words[-1] in _PARTICLES or _is_initial(words[-1])):
            particle = words.pop()
        last = words[-1].lstrip("\"'«“„([")
        is_given_name = last in given_names or (last.isupper() and last.capitalize() in given_names)
        # "Theo Tesla": what Vietnamese writes for "according to".
        if is_given_name and language in _OTHER_GIVEN_NAMES:
            return last.lower() not in stop_words_of(language)
        # "Президент Лукойла": in another case than the title, or in other letters.
        is_headed = last.lower() in _HEADS and (
            candidate.inflected or candidate.form.text.isascii() != last.isascii()
        )
        return (
            is_given_name
            # "el presidente de Ferrovial" heads the company, "Frau von Siemens" is a person.
            or (last.lower() in self.words.titles and particle not in _GENITIVES and not is_headed)
        )

    def _is_told_of_life(self, text: str, start: int) -> bool:
        """Return whether words that are used for persons alone begin here, as whole words:
        "died", not "meninggalkan"."""
        return text.startswith(self.words.lives, start) and any(
            text.startswith(life, start)
            and not text[start + len(life) : start + len(life) + 1].isalpha()
            for life in self.words.lives
        )

    def _is_founder(self, text: str, candidate: Candidate) -> bool:
        """Return whether the name is a person's: in a sentence with a year of long ago ("Philip
        Morris opened his shop in 1847") or next to another person's full name ("from Walt Disney
        to Leonardo DiCaprio")."""
        first_name, _, surname = candidate.form.text.partition(" ")
        if not surname or first_name not in self.words.given_names:
            return False
        other_person = _OTHER_PERSON.match(text, candidate.end, candidate.end + REACH)
        if other_person is not None and other_person[1] in self.words.given_names:
            return True
        first = max(0, candidate.start - REACH - 1)
        begin = max(0, candidate.start - REACH, text.rfind(". ", first, candidate.start) + 1)
        last = candidate.end + 2 * REACH
        stop = text.find(". ", candidate.end, last + 2)
        right = min(len(text) if stop < 0 else stop, last)
        return _LONG_AGO.search(text, begin, right) is not None

    def _is_among_given_names(self, text: str, candidate: Candidate) -> bool:
        """Return whether the form is in a list of given names: "Eleonora, Elia ed Elisa"."""
        given_names = self.words.given_names
        if candidate.form.text not in given_names:
            return False
        before = search_before(_LISTED_BEFORE, text, candidate.start)
        after = _LISTED_AFTER.match(text, candidate.end)
        names = (name for match in (before, after) if match for name in match.groups())
        return sum(name in given_names for name in names) > 1

    def _is_given_name(self, text: str, candidate: Candidate) -> bool:
        """Return whether a form is a given name before a surname: "Rafael del Pino", "Wandę
        Siemaszkową"."""
        form = candidate.form.text
        given_names = self.words.given_names
        certain = form in self.words.given_forms and not candidate.inflected
        if not (
            certain or form in given_names or (candidate.form.stem and f"{form}a" in given_names)
        ):
            return False
        surname = _SURNAME.match(text, candidate.end)
        if surname is None or surname[1] is None:
            return surname is not None
        # What else stands behind a company is a noun, a model or a place: "Varian Medical".
        if certain and surname[1] not in self.words.surnames:
            return False
        verb = surname[1].lower() in self.words.verbs[ANY]
        return (certain or bool(candidate.form.ambiguous)) and not verb

    def may_be_given_name(self, text: str, candidate: Candidate) -> bool:
        """Return whether a form that is a given name, too, has a name behind it: "Mercedes Jones",
        not "Mercedes Benz"."""
        if candidate.form.text not in self.words.given_forms or candidate.inflected:
            return False
        match = _SURNAME.match(text, candidate.end)
        surname = match[1] if match else None
        return (
            surname is not None
            and surname.istitle()
            and surname not in self.words.places
            and not is_in_title_case(text, candidate.start)
        )

    def _has_given_name_behind(self, text: str, candidate: Candidate, language: str | None) -> bool:
        """Return whether it is a surname in a list: "Bosch, Laura 1992"."""
        # Hungarian puts the surname first: "Bosch Béla".
        name = _NEXT_WORD.match(text, candidate.end) if language == "hu" else None
        if name is None and candidate.form.text in self.words.surnames:
            name = _GIVEN_BEHIND.match(text, candidate.end)
        return name is not None and name[1] in self.words.given_names


def _is_initial(word: str) -> bool:
    return len(word) == 2 and word[0].isupper() and word[1] == "."
