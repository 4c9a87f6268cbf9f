"""Candidates: every place in an article where a form of a company is a word of its own."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from ahocorasick_rs import AhoCorasick

from newscrawl.mentions.east_asian import is_across_words
from newscrawl.mentions.forms import (
    Form,
    accepts_ending,
    is_korean_tail,
    script,
    without_accents,
)
from newscrawl.mentions.vocabulary import ANY, Vocabulary

_UNSPACED = frozenset({"han", "katakana", "thai"})
# Characters that an excluded phrase extends beyond the form it contains.
_EXCLUSION_REACH = 60
# Letters; no language that we decline has a longer case ending (Georgian "-ისთვის").
MAX_ENDING = 6
# Shorter names take a hyphen: "VW-Chef", but "Bahnchef".
MIN_IN_COMPOUND = 4
_UMLAUT = re.compile("[äöüÄÖÜ]")
_LETTERS = re.compile(r"[^\W\d_]+")
_HANGUL = re.compile(r"[\uac00-\ud7a3]+")
_FIRST_VOWEL_SIGN = "\u0900"
# Of Chinese, Japanese and Korean.
_FIRST_SIGN = "\u3005"
# Signs with which no word goes on, and the end of the text.
_NO_ENDING = frozenset(("", " ", ",", ".", "\n"))
# What is written with the next word: and, in, to, from, the, that.
_CLITIC_WORDS = {
    "arabic": "و ف ب ل ك ال وال بال لل فال وب ول فب كال ولل وبال",
    "hebrew": "ב ל מ ה ו ש כ וב ול ומ וה וש שב של שה מה כש בה לה",
}
_CLITICS = {name: frozenset(words.split()) for name, words in _CLITIC_WORDS.items()}
_LONGEST_CLITIC = 4
# Marks of an address, looked for in the whole token between blanks.
_ADDRESS = re.compile(r"://|@|\bwww\.|\.[a-z]{2,4}/", re.IGNORECASE)
_LONGEST_TOKEN = 200
# "Facebook.com/newscrawl", while "Amazon.com" is a name.
_PATH = re.compile(r"\.[a-z]{2,4}/\w")
# Words with another spelling than the registry's: "CheckPoint", "FaceBook", "Namco/Bandai",
# "e-Bay"; and where the parts of such a word meet.
_UNUSUAL = re.compile(
    r"(?<![\w./@#-])(?:[A-Z][A-Za-z]*[a-z][A-Z][A-Za-z]*|[A-Z]{2,}[a-z]+[A-Za-z]*"
    r"|[A-Za-z][a-z]*-[A-Z][a-z]+|[A-Z][A-Za-z]+/[A-Z][A-Za-z]+)(?![\w/@-]|\.\w)"
)
# Names beside initials.
_CAPITAL_BEHIND = re.compile(r" ?[A-ZÀ-Þ]")
_CAPITAL_BEFORE = re.compile(r"\b[A-ZÀ-Þ]\w*[,.]? $")
# A capital inside a word, which few words have.
_INSIDE = re.compile(r"[A-Z](?:(?<=[a-z/-][A-Z])|(?<=[A-Z][A-Z])(?=[a-z]))")
_LONGEST_UNUSUAL = 40
_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
# "Dell'Orto" is a surname: Italian has no possessives.
_ELISION = re.compile(r"'[^\W\d_]")
# Letters of such a word; shorter ones are too often other words.
MIN_UNUSUAL = 5
# Such a word amid signs of Chinese and Japanese, which borrow names as they are.
_CHINESE_SIGNS = frozenset({"zh", "ja"})
_SMALL_WORD = re.compile(r"(?<![^\u3001-\u9fff,;:(\n])[a-z]{4,}(?![^\u3001-\u9fff,;:)\n])")
# Katakana endings after which a name is still that of the company.
_KATAKANA_TAILS = (
    "グループ",
    "ホールディングス",
    "ジャパン",
    "モーター",
    "コーポレーション",
    "バンク",
    "ブランド",
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A form at normalized characters `start` to `end`; `end` includes a case ending.

    In a `compound` a word that only companies have follows without a hyphen ("Bahnchef").
    """

    start: int
    end: int
    form: Form
    inflected: bool = False
    compound: bool = False

    def in_doubt(self) -> "Candidate":
        """Return the same place with a form that needs support in any language."""
        return replace(self, form=self.form._replace(ambiguous=frozenset({"*"})))


class Finder:
    """Finds all spellings of a registry's forms with one automaton of their beginnings, which is
    built in a third of the time that one of whole spellings takes."""

    def __init__(
        self,
        beginnings: Sequence[str],
        spelled: Sequence[Sequence[tuple[str, Sequence[int]]]],
        forms: Sequence[Form],
        words: Vocabulary,
    ) -> None:
        self._common_words = words.common_words
        self._given_names = words.given_names
        self._words_like_cases = words.words_like_cases
        self._names_like_forms = words.names_like_forms
        self._compounds = words.compounds
        self._compound_nouns = words.compound_nouns
        self._longest_compound = max(
            map(len, chain(*words.compounds.values(), *words.compound_nouns.values())), default=0
        )
        self._spelled = spelled
        self._forms = forms
        self._automaton = AhoCorasick(beginnings, store_patterns=False)

    def find(self, text: str, language: str | None) -> list[Candidate]:
        """Return every occurrence as a whole word, overlapping ones too, in no particular order."""
        candidates = []
        words_like_cases = self._words_like_cases.get(language or "", frozenset())
        english = self._words_like_cases[ANY]
        names = self._names_like_forms.get(language or "", frozenset())
        for start, end, forms in self._places(text):
            if text[end - 1] >= _FIRST_SIGN and is_across_words(text, start, end):
                continue
            for form in forms:
                if form.languages and language not in form.languages:
                    continue
                if text[end : end + 1] in _NO_ENDING and len(form.source) <= len(form.text) + 1:
                    if form.stem:
                        continue
                    reach: int | None = end
                else:
                    reach = _reach(text, end, form, language)
                if reach is None and self._is_compound(text, end, form, language):
                    candidates.append(Candidate(start, end, form, compound=True))
                if reach is None or _in_address(text, start, end):
                    continue
                if text[end - 1] == "." and _is_initials(text, start, end, form):
                    continue
                if language == "it" and _ELISION.match(text, end):
                    continue
                if language == "de" and _lacks_umlaut(text[start:end], form.text):
                    continue
                low = text[start:reach].lower() if reach > end else ""
                if low in self._common_words or low in words_like_cases or low in english:
                    continue
                candidate = Candidate(start, reach, form, inflected=reach > end)
                # "Billy" may be the genitive of Billa or a person.
                is_name = (form.stem and text[start:reach] in self._given_names) or (
                    names and text[start:reach].lower() in names
                )
                candidates.append(candidate.in_doubt() if is_name else candidate)
        candidates += self._unusual(text, language)
        if language in _CHINESE_SIGNS:
            candidates += self._in_small_letters(text)
        return candidates

    def _in_small_letters(self, text: str) -> Iterator[Candidate]:
        """Yield certain Latin names in small letters amid Chinese signs: "赞助商有nike"."""
        for word in _SMALL_WORD.finditer(text):
            for spelling in (word[0].capitalize(), word[0].upper()):
                for form in self.forms_spelled(spelling):
                    if not (form.stem or form.languages or form.ambiguous):
                        yield Candidate(word.start(), word.end(), form)

    def _unusual(self, text: str, language: str | None) -> Iterator[Candidate]:
        """Yield words that are certain forms but for a blank, a hyphen or inner capitals.

        German joins any two nouns with a hyphen: "Ski-Star" is not SkiStar there, "e-Bay" is eBay.
        """
        for word in _unusual_words(text):
            if len(word[0]) < MIN_UNUSUAL or self.forms_spelled(word[0]):
                continue
            if language == "de" and word[0].find("-") > 1:
                continue
            for spelling in _usual_spellings(word[0]):
                for form in self.forms_spelled(spelling):
                    # "BestBuy" can only be the company, unlike "best buy"; "ThreeM" is not written.
                    if form.stem or form.languages or (form.ambiguous and " " not in spelling):
                        continue
                    certain = form._replace(ambiguous=frozenset())
                    yield Candidate(word.start(), word.end(), certain)

    def forms_spelled(self, spelling: str) -> Sequence[Form]:
        """Return the forms that this very spelling may mean."""
        for number, start, _ in self._automaton.find_matches_as_indexes(spelling, overlapping=True):
            for listed_spelling, meant in self._spelled[number] if start == 0 else ():
                if listed_spelling == spelling:
                    return [self._forms[form] for form in meant]
        return ()

    def _places(self, text: str) -> Iterator[tuple[int, int, Sequence[Form]]]:
        """Yield the places of spellings that begin a word, with the forms that they may mean."""
        for number, start, _ in self._automaton.find_matches_as_indexes(text, overlapping=True):
            if start and (
                (
                    text[start - 1] != " "
                    and _continues(text[start - 1], text[start])
                    and not _behind_clitic(text, start)
                )
                or (
                    start > 1
                    and text[start].isdigit()
                    and text[start - 1] in ".,"
                    and text[start - 2].isdigit()
                )
            ):
                continue
            for spelling, meant in self._spelled[number]:
                if text.startswith(spelling, start):
                    yield start, start + len(spelling), [self._forms[form] for form in meant]

    def _is_compound(self, text: str, end: int, form: Form, language: str | None) -> bool:
        """Return whether German, Dutch or Scandinavian joins the name to a word of companies:
        "Lufthansachef"; a certain name to a word of what they have, too: "Toyotahändler"."""
        nouns = self._compound_nouns.get(language or "de")
        if nouns is None or len(form.text) < MIN_IN_COMPOUND or form.stem:
            return False
        tail = _LETTERS.match(text, end, end + self._longest_compound + 1)
        if tail is None or not form.text[0].isupper():
            return False
        return tail[0] in self._compounds.get(language or "de", ()) or (
            tail[0] in nouns and not form.ambiguous
        )


def _is_initials(text: str, start: int, end: int, form: Form) -> bool:
    """Return whether an abbreviation of two letters with points may be a person's initials, or
    belongs to the name before it: "G.M. Smith", "Washington, D.C."; "I.B.M." is the company."""
    if len(form.text) > 2 or form.text.endswith("."):
        return False
    return (
        not form.ambiguous
        or _CAPITAL_BEHIND.match(text, end) is not None
        or _CAPITAL_BEFORE.search(text, max(0, start - _LONGEST_UNUSUAL), start) is not None
    )


def _unusual_words(text: str) -> Iterator[re.Match[str]]:
    """Yield the words with a capital inside."""
    end = 0
    for capital in _INSIDE.finditer(text):
        start = capital.start()
        if start < end:
            continue
        end = capital.end()
        first = max(0, start - _LONGEST_UNUSUAL)
        while start > first and (text[start - 1].isalpha() or text[start - 1] in "/-"):
            start -= 1
        # With these limits, since two runs of letters are tried in every combination.
        longest = start + _LONGEST_UNUSUAL
        word = _UNUSUAL.match(text, start, longest)
        if word is not None and word.end() < longest:
            end = word.end()
            yield word


def _usual_spellings(word: str) -> set[str]:
    """Return how a word would be written with a blank for its slash or inner capital, without its
    hyphen, or with one capital."""
    if "/" in word:
        return {word.replace("/", " ")}
    if "-" in word:
        return {word.replace("-", "")}
    return {word.capitalize(), _INNER_CAPITAL.sub(" ", word)}


def _lacks_umlaut(surface: str, form: str) -> bool:
    """Return whether German dropped an umlaut, which it never does: "Wurth" is not Würth, "Wuerth"
    is, and so is "Gebr. Stock" for Gebrüder Stock."""
    if surface == form or _UMLAUT.search(form) is None or _UMLAUT.search(surface) is not None:
        return False
    low = surface.lower()
    return any(
        without_accents(word).lower() in low for word in form.split() if _UMLAUT.search(word)
    )


# Chinese, Japanese and Korean signs around a phrase in other letters are no part of its words.
_EAST_ASIAN = r"\u3041-\u9fff\uac00-\ud7a3"
_EAST_ASIAN_SIGN = re.compile(f"[{_EAST_ASIAN}]")
# Python takes a hundred times as long to compile the second, which few texts need.
_LETTER = r"\w"
_LETTER_BUT_EAST_ASIAN = rf"(?-i:[^\W{_EAST_ASIAN}])"


class Exclusions:
    """Phrases that contain a company's name and mean something else: "Apple pie".

    They match in any case; "*" is any letters, a blank may be a hyphen. A phrase is searched only
    if its rarest word is near, which is much faster.
    """

    def __init__(self, phrases: Sequence[str]) -> None:
        built_phrases = [_Phrase(phrase.replace("’", "'")) for phrase in phrases]
        common = Counter(word for phrase in built_phrases for word in set(phrase.words))
        self._by_word: dict[str, list[_Phrase]] = {}
        for phrase in built_phrases:
            rarest = min(phrase.words, key=lambda word: (common[word], -len(word)), default="")
            self._by_word.setdefault(rarest, []).append(phrase)

    def cover(self, text: str, start: int, end: int) -> bool:
        """Return whether one of the phrases covers the name's first character, and more than the
        name: "Vale do" is none of "Vale do Rio Doce"."""
        begin = max(0, start - _EXCLUSION_REACH)
        exact = text[begin : end + _EXCLUSION_REACH]
        window = caseless(exact)
        is_aligned = len(window) == len(exact)
        for word, phrases in self._by_word.items():
            if word in window:
                for phrase in phrases:
                    if phrase.may_stand(window) and (
                        phrase.stands_at(window, exact, start - begin, end - begin)
                        if is_aligned and phrase.is_plain
                        else phrase.reaches(text, begin, begin + len(exact), start, end)
                    ):
                        return True
        return False


class _Phrase:
    """An excluded phrase; the pattern of one that is not `is_plain`, with a star or a hyphen, is
    compiled when a text has all of its words."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._caseless = caseless(text)
        self.words = self._caseless.replace("*", " ").split()
        self.is_plain = "*" not in text and "-" not in text
        # Chinese and Japanese don't separate words: a phrase is found between any two letters.
        self._open_left, self._open_right = (script(text[at]) in _UNSPACED for at in (0, -1))

    def may_stand(self, window: str) -> bool:
        """Return whether a caseless text has its words."""
        return all(word in window for word in self.words)

    def stands_at(self, window: str, exact: str, place: int, end: int) -> bool:
        """Return whether it covers a name of a caseless window, which `exact` holds with its
        capitals."""
        spoken = window.replace("-", " ")
        length = len(self._caseless)
        start = spoken.find(self._caseless, max(0, place - length + 1), place + length)
        while start >= 0:
            if (
                (start < place or start + length > end)
                and (self._open_left or _BEGINS_PHRASE.match(exact, start))
                and (self._open_right or _ENDS_PHRASE.match(exact, start + length))
            ):
                return True
            start = spoken.find(self._caseless, start + 1, place + length)
        return False

    def reaches(self, text: str, begin: int, right: int, place: int, end: int) -> bool:
        """Return whether it occurs between `begin` and `right` and covers the name."""
        amid_signs = _EAST_ASIAN_SIGN.search(text, max(0, begin - 1), right + 1) is not None
        pattern = self._pattern_amid_signs if amid_signs else self._pattern
        return any(
            match.start() <= place < match.end() and (match.start() < place or match.end() > end)
            for match in pattern.finditer(text, begin, right)
        )

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return self._between(_LETTER)

    @cached_property
    def _pattern_amid_signs(self) -> re.Pattern[str]:
        return self._between(_LETTER_BUT_EAST_ASIAN)

    def _between(self, letter: str) -> re.Pattern[str]:
        """Return the pattern of the phrase where no such letter stands beside it."""
        escaped = re.escape(self._text).replace(r"\*", r"\w*").replace(r"\ ", "[ -]")
        begin = "" if self._open_left else f"(?<!{letter})"
        stop = "" if self._open_right else _phrase_end(letter)
        return re.compile(f"{begin}{escaped}{stop}", re.IGNORECASE)


def _phrase_end(letter: str) -> str:
    """Return the pattern of a phrase's end: the Linde of "die Linde-Fusion" is no tree."""
    return rf"(?:s|es|n)?(?!{letter}|-(?-i:[A-ZÄÖÜ]))"


_ENDS_PHRASE = re.compile(_phrase_end(_LETTER_BUT_EAST_ASIAN), re.IGNORECASE)
_BEGINS_PHRASE = re.compile(f"(?<!{_LETTER_BUT_EAST_ASIAN})")


def caseless(text: str) -> str:
    """Return the text casefolded as `re.IGNORECASE` compares it: ı and İ equal i."""
    return text.replace("ı", "i").replace("İ", "i").casefold()


def _reach(text: str, end: int, form: Form, language: str | None) -> int | None:
    """Return where the name ends, including a case ending; None inside a longer word."""
    if len(form.source) > len(form.text) + 1:
        stop = form.end_of_tail(text, end)
        return None if stop is None or _goes_on(text, stop) else stop
    if not _goes_on(text, end):
        return None if form.stem else end
    if script(text[end - 1]) == "katakana":
        return end if text.startswith(_KATAKANA_TAILS, end) else None
    stop = end
    while stop < len(text) and stop - end <= MAX_ENDING and _is_of_word(text[stop]):
        stop += 1
    if stop == end or _goes_on(text, stop):
        return None
    return stop if accepts_ending(form, text[end:stop], language) else None


def _goes_on(text: str, end: int) -> bool:
    if end >= len(text):
        return False
    last, following = text[end - 1], text[end]
    if last.isalnum() and not following.isascii() and script(following) == "hangul":
        tail = _HANGUL.match(text, end)
        return tail is not None and not is_korean_tail(tail[0])
    return _continues(last, following)


def _behind_clitic(text: str, start: int) -> bool:
    """Return whether only prepositions and articles that Arabic and Hebrew write with the word
    precede it."""
    clitics = _CLITICS.get(script(text[start]))
    if clitics is None:
        return False
    begin = start
    while begin and start - begin <= _LONGEST_CLITIC and text[begin - 1].isalpha():
        begin -= 1
    return text[begin:start] in clitics


def _continues(before: str, right: str) -> bool:
    """Return whether two neighbouring letters belong to one word; Chinese and Japanese write no
    blanks."""
    if not _is_of_word(before) or not _is_of_word(right):
        return False
    if before.isascii() and right.isascii():
        return True
    scripts = {script(before), script(right)}
    if scripts & {"han", "thai"}:
        return False
    return len(scripts) == 1 or not scripts & _UNSPACED


def _is_of_word(letter: str) -> bool:
    """Return whether this is a letter, a digit or a vowel sign (which Devanagari writes after its
    letter)."""
    if letter.isalnum() or letter == "_":
        return True
    return letter > _FIRST_VOWEL_SIGN and unicodedata.category(letter).startswith("M")


def _in_address(text: str, start: int, end: int) -> bool:
    """Return whether this is part of a URL, an e-mail address or a handle."""
    if start and text[start - 1] in "@/_" and text[max(0, start - 2) : start] != " /":
        return text[start - 1] in "@_" or _address_around(text, start, start)
    if end < len(text) and (text[end] in "@/_" or _PATH.match(text, end)):
        return _address_around(text, start, end)
    return start > 1 and text[start - 1] in ".-" and _address_around(text, start, end)


def _address_around(text: str, start: int, end: int) -> bool:
    begin = text.rfind(" ", max(0, start - _LONGEST_TOKEN), start) + 1 or max(
        0, start - _LONGEST_TOKEN
    )
    right = text.find(" ", end, end + _LONGEST_TOKEN)
    return _ADDRESS.search(text[begin : right if right >= 0 else end + _LONGEST_TOKEN]) is not None
