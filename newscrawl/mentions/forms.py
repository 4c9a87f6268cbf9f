"""Forms: how a company's name may be spelled and inflected in a text.

The registry writes each form once; this module adds the spellings that newspapers use (capitals,
a hyphen for a blank, no accents) and knows the case endings of languages.
"""

import re
import tomllib
import unicodedata
from bisect import bisect
from collections.abc import Iterator, Mapping, Set
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

# Letters that Unicode does not decompose into a base letter and a mark.
_BASE_LETTERS = str.maketrans("łŁøØđĐıё", "lLoOdDiе")
_UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"}


def _by_language(table: Mapping[str, str], separator: str | None = None) -> dict[str, list[str]]:
    """Return the words of each language of a table whose keys name several."""
    words: dict[str, list[str]] = {}
    for languages, text in table.items():
        for language in languages.split():
            words.setdefault(language, []).extend(part.strip() for part in text.split(separator))
    return words


_DATA: Mapping[str, Any] = tomllib.loads(
    files(__package__).joinpath("forms.toml").read_text(encoding="utf-8")
)
_SETS = ("endings", "endings_by_script", "endings_behind", "possessives", "behind_i")
_ENDINGS, _OF_SCRIPT, _BEHIND, _POSSESSIVES, _BEHIND_I = (
    {language: frozenset(words) for language, words in _by_language(_DATA[name]).items()}
    for name in _SETS
)
# Languages in which a name takes -s without an apostrophe in the genitive.
_GENITIVE_S = frozenset({"de", "nl", "sv", "da", "no", "nb"})
_DECLINE_O = frozenset({"cs", "sk", "hu"})
_NEIGHBOURS = (frozenset({"cs", "sk"}), frozenset({"hr", "sr", "bs", "sl"}))
_DECLINED_ABROAD = frozenset(_by_language(_DATA["declined_abroad"], ",")["any"])
_VOWEL_BEFORE_N = frozenset({"hu", "fi"})
_SLAVIC = frozenset({"pl", "cs", "sk", "hr", "sl", "sr", "bs"})
# Letters that a declined name, and one with the ending of a possessive needs: shorter ones are
# surnames, "Popov". Ours.
_SHORTEST_DECLINED = 4
_SHORTEST_POSSESSIVE = 6
# Letters of the case ending of a word within a name. Ours.
_LONGEST_CASE = 4
# The last letters that endings of these scripts replace.
_STEM_VOWELS = {"cyrillic": "аяьй", "latin": "ao", "georgian": "იაო"}
_ALTERNATIONS = {
    language: [tuple(pair.split("=")) for pair in pairs]
    for language, pairs in _by_language(_DATA["alternations"]).items()
}
_VARIANTS = {
    kind: [tuple(pair.split("=")) for pair in pairs]
    for kind, pairs in _by_language(_DATA["variants"]).items()
}
_FROM_RUSSIAN = {
    language: [tuple(pair.split("=")) for pair in pairs]
    for language, pairs in _by_language(_DATA["from_russian"]).items()
}
_TO_TRADITIONAL = str.maketrans(_DATA["chinese"]["simplified"], _DATA["chinese"]["traditional"])
_TO_SIMPLIFIED = str.maketrans(_DATA["chinese"]["traditional"], _DATA["chinese"]["simplified"])
# "die Deutsche Bank", but "der Deutschen Bank".
_ADJECTIVE_ENDINGS, _ADJECTIVES = (
    "|".join(re.escape(word[:-1]) for word in _DATA["adjectives"][key].split(", "))
    for key in ("endings", "words")
)
_ADJECTIVE = re.compile(rf"(\w{{3,}}(?:{_ADJECTIVE_ENDINGS})|{_ADJECTIVES})(e|er|es)( .+)")
_AMPERSAND = re.compile("(?<=[^ ])[&+](?=[^ ])")
_AND_WORDS = _by_language(_DATA["ands"], ",")["any"]
# "Moser & Söhne" is "Moser und Söhne", too; text that was encoded twice has "&amp;".
_ANDS = (*(f" {word} " for word in _AND_WORDS), " + ", " &amp; ")
_AND = re.compile(rf" (?:\+|{'|'.join(_AND_WORDS)}) ")
_KIN = re.compile(rf"(?<=[ &])(?:{'|'.join(_by_language(_DATA['kin'], ',')['any'])})(?!\w)")
# "e-Harbour", "3-D": also without the hyphen; "3D": also with one.
_ONE_AND_HYPHEN = re.compile(r"\b([^\W_])-(?=[^\W_])")
_DIGIT_AND_LETTER = re.compile(r"\b(\d)(?=[A-Z]\b)")
# "S.E.T.", "J. K. Brauer": also without points, or without blanks, and the other way round.
_INITIALS = re.compile(r"\b[A-Z]\.(?: ?[A-Z]\.)+(?= |$)")
_CAPITALS = re.compile(r"[A-Z]{2,4}(?= [A-ZÄÖÜ][a-zäöüß]{2})")
# "IBM", "AT&T": also "I.B.M.", "A.T.&T.".
_ACRONYM = re.compile("[A-Z](?:&?[A-Z]){1,4}")
_CAPITAL = re.compile("[A-Z]")
# Words that registers shorten and newspapers write out, or the other way round.
_SHORTENED = [
    group.split(" = ")
    for groups in _by_language(_DATA["shortened"], ";").values()
    for group in groups
]
# "Den Stadtwerken Kiel": the dative of German words in the plural.
_PLURAL = re.compile(r"\b([^\W\d_]*(?:[Ww]erke|[Bb]etriebe|[Dd]ienste|[Hh]äuser|[Mm]ärkte))\b")
_KOREAN_LAST = re.compile(
    rf"(?<=[\uac00-\ud7a3]{{2}}) ?({'|'.join(_by_language(_DATA['korean'], ',')['last'])})$"
)
# Names of websites, which many write in small letters: "salesforce.com".
_DOMAIN = re.compile(r"[\w-]+\.(?:com|net|org|io|de|at|ch|fr|es|it|pl|ru|cn|co\.uk)", re.ASCII)
# Headlines in capitals keep the small letter of Scottish names: "McDONALD'S".
_MC = re.compile(r"\bMC(?=[A-Z]{3})")
# Acronyms that can't be spoken are written like names in Italian: "Bmw", "Kkr".
_CONSONANTS = re.compile(r"[B-DF-HJ-NP-TV-XZ]{3,5}")
_PARTICLES = frozenset(_DATA["korean"]["particles"].split())
_KOREAN_TAILS = tuple(_DATA["korean"]["tails"].split())

# Where the Unicode blocks of scripts begin, as needed for word boundaries.
_BLOCKS = (
    (0x0000, "latin"),
    (0x0370, "greek"),
    (0x0400, "cyrillic"),
    (0x0530, "other"),
    (0x0590, "hebrew"),
    (0x0600, "arabic"),
    (0x0700, "other"),
    (0x0900, "devanagari"),
    (0x0980, "bengali"),
    (0x0A00, "other"),
    (0x0E00, "thai"),
    (0x0E80, "other"),
    (0x10A0, "georgian"),
    (0x1100, "other"),
    (0x1F00, "greek"),
    (0x2000, "other"),
    (0x3005, "han"),
    (0x30A0, "katakana"),
    (0x3100, "han"),
    (0xA000, "other"),
    (0xAC00, "hangul"),
    (0xD7A4, "other"),
    (0xF900, "han"),
    (0xFB00, "other"),
    (0x20000, "han"),
)
_BLOCK_STARTS = [start for start, _ in _BLOCKS]


class Form(NamedTuple):
    """A form of a company's name.

    A form is in doubt in the languages of `ambiguous`: "*" is any, none is never. One of
    `languages` is searched only in articles of those, one of none in all. A `stem` needs an ending;
    `source` is the stem with its stars, of which one with several words has several.
    """

    company: int
    text: str
    ambiguous: frozenset[str] = frozenset()
    stem: bool = False
    languages: frozenset[str] = frozenset()
    source: str = ""

    def is_doubtful(self, language: str | None) -> bool:
        """Return whether the form needs support in an article of this language."""
        if not self.ambiguous:
            return False
        return language is None or "*" in self.ambiguous or language in self.ambiguous

    def end_of_tail(self, text: str, end: int) -> int | None:
        """Return where what follows the first star of a stem ends that is found up to `end`; None
        if it isn't there."""
        tail = self.source[len(self.text) + 1 :]
        first = tail.partition("*")[0].lower()
        # Cheaper than compiling the pattern, which few places need.
        if first not in text[end : end + _LONGEST_CASE + len(first)].lower():
            return None
        match = _tail_pattern(tail).match(text, end)
        return match.end() if match else None


@lru_cache(maxsize=512)
def _tail_pattern(tail: str) -> re.Pattern[str]:
    pattern = rf"[^\W\d_]{{0,{_LONGEST_CASE}}}".join(map(re.escape, ("", *tail.split("*"))))
    return re.compile(pattern, re.IGNORECASE)


def script(letter: str) -> str:
    """Return the script of a letter for word boundaries; hiragana counts as han."""
    return _BLOCKS[bisect(_BLOCK_STARTS, ord(letter)) - 1][1]


def is_spaced(letter: str) -> bool:
    """Return whether this is a letter of a script that writes blanks between words."""
    return letter.isalnum() and ord(letter) < 0x2E80


def without_accents(form: str) -> str:
    """Remove the marks of Latin and Greek letters; other scripts stay (й is not и)."""
    if form.isascii():
        return form
    letters = []
    for letter in form.translate(_BASE_LETTERS):
        if letter.isascii() or script(letter) not in {"latin", "greek"}:
            letters.append(letter)
        else:
            letters.append(unicodedata.normalize("NFD", letter)[0])
    return "".join(letters)


def spellings(form: str) -> set[str]:
    """Return every spelling of a form, the form itself included.

    Capitals of the form are required; a form in small letters is found in any case. A blank may
    be a hyphen and the other way round, "&" may be "and" or have no blanks around it, accents may
    be missing, a website's name may be in small letters. Chinese may be simplified or
    traditional.
    """
    form = unicodedata.normalize("NFC", form).replace("’", "'").replace("İ", "I")
    form = form.replace("\u200c", "").replace("׳", "'")
    joined = {form, form.replace(" ", "-"), form.replace("-", " ")}
    joined |= _written_otherwise(form)
    joined.update(_declined_in_german(form))
    if "'s " in form:
        # "Godfathers Pizza"
        joined.add(form.replace("'s ", "s "))
    joined.add(form.replace("s' ", "s "))
    if " " in form and form.endswith("'s"):
        # "Jack Daniels"; with one word it would often be a surname.
        joined.add(form[:-2] + "s")
    # "Johnson & Johnson", "Johnson&Johnson", "AT & T"; "Marks and Spencer" is "Marks & Spencer".
    with_sign = _AND.sub(" & ", form)
    joined |= {with_sign, with_sign.replace(" & ", "&"), _AMPERSAND.sub(r" \g<0> ", form)}
    if " & " in form or " + " in form:
        joined |= {with_sign.replace(" & ", word) for word in _ANDS}
    joined |= {_KIN.sub(lambda kin: kin[0].lower(), spelling) for spelling in joined}
    if not form.isascii() and any(script(letter) == "han" for letter in form):
        joined |= {form.translate(_TO_TRADITIONAL), form.translate(_TO_SIMPLIFIED)}
    joined |= _variants(joined)
    accented = joined | {without_accents(spelling) for spelling in joined}
    accented |= {_transcribe(spelling) for spelling in joined}
    cased = set()
    for spelling in accented:
        cased |= _cases(spelling)
    return cased


def _written_otherwise(form: str) -> set[str]:
    """Return the form with words shortened or written out, initials with and without points and
    blanks, a single letter or digit with and without its hyphen, and the endings and blanks of its
    language."""
    forms = {
        _ONE_AND_HYPHEN.sub(r"\1", form),
        _DIGIT_AND_LETTER.sub(r"\1-", form),
        _PLURAL.sub(r"\1n", form),
        _KOREAN_LAST.sub(r" \1", form),
        _KOREAN_LAST.sub(r"\1", form),
        form.replace("・", ""),
    }
    if len(form) > len("U.S."):
        initials = _INITIALS.search(form) or _CAPITALS.match(form)
        if initials:
            letters = [letter for letter in initials[0] if letter.isalpha()]
            for written in ("".join(letters), ".".join([*letters, ""]), ". ".join(letters) + "."):
                forms.add(f"{form[: initials.start()]}{written}{form[initials.end() :]}")
    if _ACRONYM.fullmatch(form):
        forms.add(_CAPITAL.sub(r"\g<0>.", form))
    words = form.split(" ")
    if len(words) > 1:
        for group in _SHORTENED:
            for word in set(group).intersection(words):
                forms |= {
                    " ".join(spelling if each == word else each for each in words)
                    for spelling in group
                }
    return forms


def _declined_in_german(form: str) -> Iterator[str]:
    """Yield the form with the endings of a German adjective at its beginning."""
    adjective = _ADJECTIVE.match(form)
    if adjective:
        for ending in ("en",) if adjective[2] == "e" else ("e", "en", "er", "es", "em"):
            declined = f"{adjective[1]}{ending}{adjective[3]}"
            yield from (declined, declined.replace(" ", "-"))


def _variants(forms: Set[str]) -> set[str]:
    """Return the forms with letters that their script exchanges."""
    variants: set[str] = set()
    for form in forms:
        altogether = form
        for letters, replaced in _VARIANTS.get(script(form[0]), ()):
            variants.add(form.replace(letters, replaced))
            altogether = altogether.replace(letters, replaced)
        variants.add(altogether)
    return variants


def cyrillic_forms(form: str) -> dict[str, frozenset[str]]:
    """Return how other languages write a Russian form: "Тојота" in Serbian, with the languages."""
    spelled: dict[str, frozenset[str]] = {}
    if script(form[0]) == "cyrillic":
        for language, pairs in _FROM_RUSSIAN.items():
            text = form
            for letters, replaced in pairs:
                text = text.replace(letters, replaced)
            if text != form:
                spelled[text] = spelled.get(text, frozenset()) | {language}
    return spelled


def _transcribe(form: str) -> str:
    if form.isascii():
        return form
    for umlaut, letters in _UMLAUTS.items():
        form = form.replace(umlaut, letters)
    return form


def _cases(spelling: str) -> set[str]:
    words = spelling.split(" ")
    capitalised = [word[:1].upper() + word[1:] for word in words]
    plain = " ".join(_without_inner_capitals(word) for word in words)
    cases = {spelling, spelling.upper(), plain}
    if "Mc" in spelling:
        cases.add(_MC.sub("Mc", spelling.upper()))
    if _CONSONANTS.fullmatch(spelling):
        cases.add(spelling.capitalize())
    if _DOMAIN.fullmatch(spelling):
        cases.add(spelling.lower())
    if spelling.islower():
        cases |= {" ".join(capitalised), capitalised[0] + spelling[len(words[0]) :]}
    elif spelling[0].islower():
        cases.add(capitalised[0] + spelling[len(words[0]) :])
    return cases


def _without_inner_capitals(word: str) -> str:
    """Return "Biontech" for "BioNTech", "Nvidia" for "NVIDIA"; acronyms, being short, stay."""
    if word[:1].islower() or sum(letter.isalpha() for letter in word) < 5:
        return word
    return "-".join(part[:1] + part[1:].lower() for part in word.split("-"))


def stem_forms(form: str) -> tuple[str, ...]:
    """Return the stem of a form whose last letter is a case ending, if its script shows that."""
    kind = script(form[-1])
    if form[-1] not in _STEM_VOWELS.get(kind, "") or len(form) < _SHORTEST_DECLINED + (
        form not in _DECLINED_ABROAD
    ):
        return ()
    return () if kind == "latin" and " " in form else (form[:-1] + "*",)


def stem_languages(form: str) -> frozenset[str]:
    """Return the languages that decline a name by replacing its last vowel, if few do: Tesco is
    Tescu in Czech, Tescóban in Hungarian, and Serco's "Serca" is the heart in Polish."""
    return _DECLINE_O if form.endswith("o") else frozenset()


def stem_doubt(form: str, home: Set[str]) -> frozenset[str]:
    """Return the languages in which a case of a foreign name that replaces its last vowel may be
    another word: "Nauru" of Naura."""
    if script(form[-1]) != "latin" or form in _DECLINED_ABROAD:
        return frozenset()
    near = (languages for languages in _NEIGHBOURS if languages & home)
    return frozenset(_ENDINGS).difference(home, *near)


def altered_forms(form: str) -> dict[str, frozenset[str]]:
    """Return the cases and stems of a form whose last letters change, with the languages in which
    they do: "Toyocie" of Toyota in Polish, "Volkswagn*" of Volkswagen in Slovene."""
    altered: dict[str, frozenset[str]] = {}
    if len(form) > _SHORTEST_DECLINED and " " not in form and not form.isupper():
        for language, pairs in _ALTERNATIONS.items():
            for last, ending in pairs:
                if form.endswith(last):
                    case = form.removesuffix(last) + ending
                    altered[case] = altered.get(case, frozenset()) | {language}
    return altered


def accepts_ending(form: Form, ending: str, language: str | None) -> bool:
    """Return whether these letters are a case ending that the form may take."""
    low = ending.lower()
    if ending != low and not (ending.isupper() and not form.text.isupper()):
        return False
    kind = script(form.text[-1])
    if kind == "latin":
        return _accepts_latin_ending(form, low, language)
    long_enough = form.stem or len(form.text) >= _SHORTEST_DECLINED
    if long_enough and not form.stem and low in _BEHIND.get(language or "", ()):
        return True
    # Greek has an ending of its own in the nominative.
    return (form.stem or (long_enough and kind != "greek")) and low in _OF_SCRIPT.get(kind, ())


def _accepts_latin_ending(form: Form, low: str, language: str | None) -> bool:
    if low == "s" and not form.stem and language not in {"et", "lv", "is"}:
        allowed = language in _GENITIVE_S or (language is None and not form.ambiguous)
        return allowed and form.text[-1].lower() not in "sxz"
    # "Akcie ČEZu": small letters behind an abbreviation are an ending.
    shortest = _SHORTEST_DECLINED - (language in _SLAVIC and form.text.isupper())
    if len(form.text) + form.stem < shortest:
        return False
    if low in _POSSESSIVES.get(language or "", ()) and form.stem >= low.startswith("i"):
        # "Googlov", "Appleov", "Teslin"; "Siemensin" is of no name.
        is_foreign = form.text.endswith("e")
        return len(form.text) + 2 * form.stem + is_foreign >= _SHORTEST_POSSESSIVE
    if form.stem and form.text.endswith("i") and low in _BEHIND_I.get(language or "", ()):
        return True
    if language is None:
        return form.stem and low in _ENDINGS["pl"]
    # What begins with a lengthened vowel follows a stem only, in Hungarian nothing else does; a
    # bare "n" follows a vowel: "Bayern" is no case of Bayer.
    if language in _SLAVIC:
        follows = True
    elif language == "hu" and form.stem:
        follows = low.startswith(("á", "ó")) or form.text.endswith("é")
    else:
        follows = form.stem or not low.startswith(("á", "ó"))
    if low == "n" and not form.stem and language in _VOWEL_BEFORE_N:
        follows = form.text[-1].lower() in "aeiouyäöüáéíóőúű"
    return follows and low in _ENDINGS.get(language, ())


def is_korean_tail(tail: str) -> bool:
    """Return whether these syllables are a particle, or what continues a Korean company's name."""
    return tail in _PARTICLES or tail.startswith(_KOREAN_TAILS)
