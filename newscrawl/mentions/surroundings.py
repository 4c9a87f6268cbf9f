"""What stands beside a name: a legal form, a cue, a given name, an arena."""

import re
from dataclasses import dataclass

from newscrawl.mentions.candidates import Candidate
from newscrawl.mentions.vocabulary import Vocabulary

# How many characters of a neighbourhood hold two long words.
_REACH = 60
# And how many hold the name that an acronym stands for.
_EXPANSION = 100
_WORD_START = re.compile(r"\b[^\W\d_]")
_POSSESSIVE = re.compile(r"(?:'s|'S|'|s')(?= )")
_WORDS_AFTER = re.compile(r"([ -])([\w.&/]+(?:'[\w]+)?)(?: ([\w.]+))?")
_LEGAL_TAIL = re.compile(r",? [^\s,;()]+(?: [^\s,;()]+)?(?: [^\s,;()]+)?")
_PARTICLES = frozenset({"von", "de", "van", "di", "del", "du", "da"})
# What may stand before a hyphen and a company's name.
_PREFIXES = frozenset(
    ["ex", "anti", "nicht", "non", "pro", "post", "us", "alt", "neu", "mit", "und", "pre", "über"]
)
_ELIDED = re.compile(r"^(?:[dl]|qu)'", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Judges the words next to a candidate."""

    words: Vocabulary

    def has_legal_form(self, text: str, candidate: Candidate) -> bool:
        """ "Shell plc", "Apple, Inc."."""
        found = _LEGAL_TAIL.match(text, candidate.end, candidate.end + _REACH)
        if not found:
            return False
        parts = found.group().lstrip(",").split()
        tails = (" ".join(parts[:count]) for count in (1, 2, 3))
        return any(
            tail in self.words.legal_forms or tail.rstrip(".") in self.words.legal_forms
            for tail in tails
        )

    def has_cue(self, text: str, candidate: Candidate) -> bool:
        """A word that only companies have beside them: "retailer Target", "Apple's shares"."""
        return self._cue_before(text, candidate.start) or self._cue_after(text, candidate)

    def _cue_before(self, text: str, start: int) -> bool:
        words = [word.lower() for word in _words_before(text, start, 3)]
        if not words:
            return False
        joined = {" ".join(words[-count:]) for count in (1, 2, 3)}
        # "l'opérateur Orange": the article is elided onto the cue.
        joined.add(_ELIDED.sub("", words[-1]))
        return bool(joined & self.words.before)

    def _cue_after(self, text: str, candidate: Candidate) -> bool:
        possessive = _POSSESSIVE.match(text, candidate.end)
        end = possessive.end() if possessive else candidate.end
        found = _WORDS_AFTER.match(text, end, end + _REACH)
        if not found:
            return False
        first = found[2].lower().rstrip(".")
        phrase = f"{first} {found[3].lower()}" if found[3] else first
        # "Lindes Konkurrent": a genitive without an article is a name's.
        if (
            candidate.inflected
            and found[2][0].isupper()
            and not self._behind_article(text, candidate)
        ):
            return True
        firm = possessive is not None or found[1] == "-" or candidate.inflected
        head = first.split("-")[0]
        if {first, phrase, head} & self.words.after:
            return firm or candidate.form.text.lower() not in self.words.modifiers
        if firm or not {first, phrase} & self.words.verbs:
            return False
        return not self._behind_article(text, candidate)

    def _behind_article(self, text: str, candidate: Candidate) -> bool:
        before = _words_before(text, candidate.start, 1)
        return bool(before) and before[-1].lower() in self.words.articles

    def is_person(self, text: str, candidate: Candidate) -> bool:
        """ "Harrison Ford", "Henry J. Ford", "Werner von Siemens", "Herr Merck"."""
        words = _words_before(text, candidate.start, 3)
        if not words or " " in candidate.form.text:
            return False
        while len(words) > 1 and (words[-1] in _PARTICLES or _is_initial(words[-1])):
            words.pop()
        last = words[-1].lstrip("\"'«“„([")
        return (
            last in self.words.given_names
            or (last.capitalize() in self.words.given_names and last.isupper())
            or last.lower() in self.words.titles
        )

    def is_part_of_name(self, text: str, candidate: Candidate) -> bool:
        """Is the form only part of another name: "Howell-Chase", "Polish Spirit"?"""
        if _is_hyphenated(text, candidate.start):
            return True
        if candidate.form.text.lower() not in self.words.modifiers:
            return False
        before = _words_before(text, candidate.start, 1)
        usual = self.words.before | self.words.function_words
        if before and before[-1][:1].isupper() and before[-1].lower() not in usual:
            return True
        after = _WORDS_AFTER.match(text, candidate.end, candidate.end + _REACH)
        if after is None or after[1] == "-" or not after[2][0].isupper():
            return False
        return after[2].lower() not in self.words.after and not self.has_legal_form(text, candidate)

    def is_namesake(self, text: str, candidate: Candidate) -> bool:
        """ "Allianz Arena", "Ford Foundation", "LaLiga Santander"."""
        found = _WORDS_AFTER.match(text, candidate.end, candidate.end + _REACH)
        if found and found[2].split("-")[0] in self.words.namesakes_after:
            return True
        before = _words_before(text, candidate.start, 1)
        return bool(before) and before[-1] in self.words.namesakes_before


def _is_hyphenated(text: str, start: int) -> bool:
    """Does another name and a hyphen lead to this place?"""
    if not start or text[start - 1] != "-":
        return False
    other = re.search(r"[\w.]+$", text[max(0, start - _REACH) : start - 1])
    return other is not None and other[0].istitle() and other[0].lower() not in _PREFIXES


def spells_out(text: str, candidate: Candidate) -> bool:
    """Do the words before "(EDF)" begin with its letters? They say what it stands for here."""
    form = candidate.form.text
    lead = text[max(0, candidate.start - len("kurz ")) : candidate.start]
    if not (lead.endswith(("(", "kurz ")) and form.isupper() and form.isalpha()):
        return False
    words = _WORD_START.findall(text, max(0, candidate.start - _EXPANSION), candidate.start - 1)
    initials = "".join(letter for letter in words if letter.isupper())
    return initials.endswith(form)


def _is_initial(word: str) -> bool:
    return len(word) == 2 and word[0].isupper() and word[1] == "."


def _words_before(text: str, start: int, count: int) -> list[str]:
    """Up to `count` words that lead to `start` with nothing but a blank or a hyphen between."""
    head = text[max(0, start - _REACH) : start]
    if head.endswith("'"):
        # French d'Orange, l'Apple: the elided word stands in for "de".
        return [*head.split()[-count:]]
    if not head.endswith((" ", "-", '"', "«", "„", "“")):
        return []
    return head.rstrip(' -"«„“').replace("\n", " \n ").split(" ")[-count:]
