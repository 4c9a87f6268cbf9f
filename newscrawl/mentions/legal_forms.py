"""Legal forms: what remains of a registered name without them, and what of it counts.

Newspapers write "Moser & Söhne" for "Moser & Söhne GmbH". The bundled registry lists such forms; to
a company of the user's own file they are added here.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from types import MappingProxyType
from typing import Any

from newscrawl.mentions.abbreviations import ACRONYM_LENGTH, is_acronym
from newscrawl.mentions.company import Company
from newscrawl.mentions.forms import script
from newscrawl.mentions.registry_file import LISTS, refusal
from newscrawl.mentions.vocabulary import ANY, Vocabulary

# Words of the longest legal form, "spółka z ograniczoną odpowiedzialnością spółka komandytowa".
_LONGEST = 6
# Words that are too long for abbreviations.
_LONG_WORD = re.compile(rf"[^\W\d_]{{{ACRONYM_LENGTH + 1},}}")
# Letters of a legal form that only counts as it is listed or in capitals: "SpA", not "Spa".
_SHORT = 3
_NO_LETTER = re.compile(r"[\W_]")
_QUOTED = re.compile(r"[\"'«„“”‚‘](.+)[\"'»“”‘’]")
_EDGES = " ,;&+-–—/"
# Legal forms of languages that write them without a blank, and the countries of each.
_UNSPACED = (
    (
        "(?:株式会社|有限会社|合同会社|合資会社|合名会社|[(]株[)]|[(]有[)])",
        frozenset({"JP"}),
    ),
    ("(?:주식회사|유한회사|유한책임회사|[(]주[)]|[(]유[)])", frozenset({"KR"})),
    ("(?:บริษัท|จำกัด(?: ?[(]มหาชน[)])?)", frozenset({"TH"})),
)
_AT_AN_END = tuple(
    (re.compile(f"^{forms} ?| ?{forms}$"), countries) for forms, countries in _UNSPACED
)
_CHINESE = re.compile("(?:股份有限公司|有限责任公司|有限責任公司|股份公司|有限公司|集团|集團)$")
_CHINESE_CITY = re.compile(r"^\w{2,3}市(?=\w{3})")
# Characters that are left of a Chinese name without its place. Ours.
_LEFT_OF_CHINESE = 4
# What stands behind a name: "Northgate Robotics (UK)".
_BRACKETS = re.compile(r" \([^()]+\)$")
_ITALIAN_OWNERS = re.compile(r"( S\.? ?(?:[AN]\.? ?[SC]|S)\.?) di .+$", re.IGNORECASE)
# Countries whose languages decline each word of a name, what their endings replace, and the letters
# that remain at least.
_DECLINING = frozenset(
    ["PL", "CZ", "SK", "HR", "SI", "RS", "BA", "ME", "MK", "LT", "LV", "RU", "BY", "UA", "KZ"]
)
_VOWELS_AT_END = re.compile(
    r"(?:as|is|ys|us|ai|[aáeéiíyýoóuėę]|[аяеэоёиіїуюыйьє]{1,2}|[αάεέηήιίοόυύωώ]ς?)$"
)
_SHORTEST_STEM = 3
_GREATER_CHINA = frozenset({"CN", "HK", "MO", "SG", "TW"})
# Characters; shorter Chinese and Korean forms arise by chance where two words meet.
_CHANCE = 2
_LISTS = tuple(key for key in LISTS if key != "ticker")
# What supports a form of these scripts, which write no blank before a cue.
DEFAULT_CONTEXT = "@markets"


@dataclass(frozen=True, slots=True)
class ShortName:
    """A name without a legal form, and the countries that have such a form; none: any."""

    text: str
    countries: frozenset[str]


class LegalForms:
    """Cuts the legal forms of all countries from names."""

    def __init__(self, words: Vocabulary) -> None:
        by_country = words.registered_forms
        in_countries = {_key(form) for form in chain.from_iterable(by_country.values())}
        everywhere = {form for form in words.legal_forms if _key(form) not in in_countries}
        self._behind = _FormTable({**by_country, "any": by_country["any"] | everywhere})
        self._before = _FormTable(words.registered_forms_before)
        # Few letters before a name are often its own: "SC Freiburg", but "SC Textile Prahova SA".
        self._before_if_cut = _FormTable(words.registered_forms_before_others)
        self._places = tuple(sorted(words.chinese_places, key=len, reverse=True))
        self._group_words = tuple(f" {word}" for word in words.group_words)

    def without(self, name: str) -> str:
        """Return the name without any legal form; itself if it has none."""
        return next((short.text for short in reversed(self.short_names(name))), name)

    def short_names(self, name: str, country: str = "") -> list[ShortName]:
        """Return what remains as one legal form after the other is cut: "Westhaven Brewing
        Company", "Westhaven Brewing" of "Westhaven Brewing Company, Inc."."""
        home = frozenset({country} if country else ())
        names: list[ShortName] = []
        remainder = " ".join(unicodedata.normalize("NFKC", name).split())
        countries: frozenset[str] = frozenset()
        while (cut := self._cut(remainder, home if not names else countries or home)) is not None:
            remainder = _tidy(cut.text)
            is_legal_form = self._behind.countries(remainder.split()) is not None
            if is_legal_form or not any(letter.isalpha() for letter in remainder):
                break
            countries = (
                (countries & cut.countries or countries)
                if cut.countries and countries
                else countries | cut.countries
            )
            names.append(ShortName(remainder, countries))
        names += [
            ShortName(text, countries)
            for text in self._without_frame(remainder, [name, *(short.text for short in names)])
        ]
        return [short for short in names if short.text != name]

    def _without_frame(self, name: str, longer: Sequence[str]) -> Iterator[str]:
        """Yield a name and the `longer` ones that it was cut from without "The"; where a legal form
        was cut, also without "Group", what is in brackets behind it, and the place that Chinese
        companies are registered in."""
        yield from (
            text.removeprefix("The ")
            for text in dict.fromkeys((name, *longer))
            if text.startswith("The ") and text.count(" ") > 1
        )
        if len(longer) == 1:
            return
        bare = _BRACKETS.sub("", name)
        ends = [word for word in self._group_words if bare.endswith(word)]
        bare = bare.removesuffix(max(ends, key=len, default=""))
        if bare != name and " " in bare:
            yield bare
        place = next((place for place in self._places if name.startswith(place)), "")
        if place and len(name) - len(place) >= _LEFT_OF_CHINESE:
            yield name.removeprefix(place)

    def _cut(self, name: str, home: Set[str]) -> ShortName | None:
        for pattern, countries in _AT_AN_END:
            remainder = pattern.sub("", name)
            if remainder != name:
                return ShortName(remainder, countries)
        remainder = _CHINESE.sub("", name)
        if remainder != name:
            # Registered names begin with their city.
            return ShortName(_CHINESE_CITY.sub("", remainder), _GREATER_CHINA)
        remainder = _ITALIAN_OWNERS.sub(r"\1", name)
        if remainder != name:
            return ShortName(remainder, frozenset({"IT"}))
        parts = name.split()
        for count in range(min(_LONGEST, len(parts) - 1), 0, -1):
            behind = self._behind.countries(parts[-count:])
            if behind is not None:
                return ShortName(" ".join(parts[:-count]), behind)
            # "Mlin Morava d.o.o. Beograd", "Bonomi Marmi S.a.s. di Luca Bonomi & C."
            behind = self._behind.countries(parts[-count - 1 : -1])
            if behind and parts[-1].istitle() and len(parts) - count > 1 and count < _LONGEST:
                return ShortName(" ".join(parts[: -count - 1]), behind)
            before = self._before.countries(parts[:count])
            remainder = " ".join(parts[count:])
            if before is None and _QUOTED.fullmatch(remainder):
                # 'AS "Latvijas Finieris"': before quotes any legal form is one.
                before = self._behind.countries(parts[:count])
            if before is None and count < len(parts) - 1:
                short = self._before_if_cut.countries(parts[:count])
                before = (short and short & home) or None
            if before is not None:
                return ShortName(remainder, before)
        return None


class _FormTable:
    """Legal forms with the countries that have them."""

    def __init__(self, phrases: Mapping[str, Iterable[str]]) -> None:
        self._countries: dict[str, set[str]] = {}
        self._written: set[str] = set()
        for country, forms in phrases.items():
            for form in forms:
                self._countries.setdefault(_key(form), set()).add(country)
                self._written |= {_bare(form), _bare(form.upper())}

    def countries(self, parts: Sequence[str]) -> frozenset[str] | None:
        """Return the countries that have this legal form, none for any; None if it is not one."""
        text = " ".join(parts)
        key = _key(text)
        if key not in self._countries:
            return None
        if key.isascii() and len(key) <= _SHORT and _bare(text) not in self._written:
            return None
        countries = self._countries[key]
        return frozenset() if "any" in countries else frozenset(countries)


def _key(form: str) -> str:
    """Return the letters of a legal form: "S. p. A." and "SpA" are one."""
    return _NO_LETTER.sub("", unicodedata.normalize("NFKC", form)).casefold()


def _bare(form: str) -> str:
    return form.replace(" ", "").strip("(),.")


def _tidy(name: str) -> str:
    """Return a name without the signs that were left beside a legal form."""
    name = name.strip(_EDGES)
    for word in (" und", " and", " et", " y", " e", " och", " og", " ve", " i"):
        name = name.removesuffix(word)
    quoted = _QUOTED.fullmatch(name)
    return quoted[1] if quoted else name


class ShortForms:
    """Gives the companies of a file the forms under which newspapers name them.

    `bundled` are the bundled companies beside them.
    """

    def __init__(self, words: Vocabulary, bundled: Sequence[Company]) -> None:
        self._words = words
        self._legal = LegalForms(words)
        self._bundled = {company.name.casefold(): company for company in bundled}
        self._certain = {form for company in bundled for form in company.certain}

    def add_to(self, companies: Sequence[Company]) -> dict[str, Company]:
        """Return the companies with their forms without legal forms, by the name of the bundled
        company whose place they take, or else by their own.

        A company whose short name is that of a bundled one of its country takes its place, with its
        forms and context ("Siemens AG" that of Siemens). Other short forms that are words, places,
        names of persons or forms of another company are ambiguous.
        """
        forms = {form for company in companies for form in forms_of(company)}
        short_names = [self._short_names(company) for company in companies]
        times = Counter(form for names in short_names for form in {short.text for short in names})
        shared = self._certain | {form for form, number in times.items() if number > 1}
        extended: dict[str, Company] = {}
        for company, names in zip(companies, short_names, strict=True):
            new = [short for short in _with_title_case(names) if short.text not in forms]
            twin = self._twin(company, names, forms)
            if twin is None or twin.name in extended:
                extended[company.name] = self._with_forms(company, new, shared)
            else:
                merged = _in_place_of(company, twin, forms)
                extended[twin.name] = self._with_forms(merged, new, frozenset())
        return extended

    def _short_names(self, company: Company) -> list[ShortName]:
        forms = company.name, *company.aliases
        return [
            short
            for form in forms
            for short in self._legal.short_names(form, company.facts.get("country", ""))
        ]

    def _twin(
        self, company: Company, names: Iterable[ShortName], forms: Set[str]
    ) -> Company | None:
        """Return the bundled company that this one is, by its registered name."""
        for short in names:
            bundled = self._bundled.get(short.text.casefold())
            if bundled is None or bundled.name in forms:
                continue
            country = bundled.facts.get("country", "")
            if "country" in company.facts:
                is_same = company.facts["country"] == country
            else:
                is_same = not short.countries or country in short.countries
            if is_same:
                return bundled
        return None

    def _with_forms(
        self, company: Company, shorts: Iterable[ShortName], shared: Set[str]
    ) -> Company:
        countries = {short.text: short.countries for short in shorts}
        new = [form for form in countries if form not in forms_of(company)]
        doubtful = [form for form in new if form in shared or is_doubtful(form, self._words)]
        certain = [form for form in new if form not in doubtful]
        stems = [stem for form in certain for stem in declined_stems(form, countries[form])]
        context = company.context
        if not context and any(script(form[0]) in {"han", "hangul"} for form in doubtful):
            context = (DEFAULT_CONTEXT,)
        return replace(
            company,
            aliases=(*company.aliases, *certain),
            stems=(*company.stems, *stems),
            ambiguous=(*company.ambiguous, *doubtful),
            context=context,
        )


def declined_stems(form: str, countries: Set[str]) -> tuple[str, ...]:
    """Return a form of several words with places for endings, if its country's language declines
    each word: "Browar* Zamkow*"."""
    kind = script(form[0])
    if not (countries & _DECLINING or (kind in {"cyrillic", "greek"} and "BG" not in countries)):
        return ()
    parts = form.split()
    bases = [_VOWELS_AT_END.sub("", part) for part in parts]
    stems = [
        f"{base}*" if part[0].isupper() and len(base) >= _SHORTEST_STEM else part
        for part, base in zip(parts, bases, strict=True)
    ]
    return (" ".join(stems),) if stems[0] != parts[0] and len(parts) > 1 else ()


def is_doubtful(form: str, words: Vocabulary) -> bool:
    """Return whether a form without a legal form may well be something else: a word, a place, a
    person's name, an abbreviation."""
    if script(form[0]) in {"han", "hangul", "katakana"}:
        return len(form) <= _CHANCE or refusal(form, words) is not None
    parts = form.split()
    telling = [
        part
        for part in parts
        if part.lower() not in words.function_words
        or part.lower() in words.before[ANY]
        or (part.isupper() and len(part) > 1)
    ]
    if len(parts) > 1 and len(telling) < 2:
        # "Das Haus", "Le Monde"
        return True
    if len(parts) == 2 and parts[0] in words.given_names and parts[1].isalpha():
        # "Hans Moser"; not "Logan Group".
        return parts[1].lower() not in words.before[ANY]
    low = form.lower()
    return (
        is_acronym(form)
        or len(form) <= ACRONYM_LENGTH
        or refusal(form, words) is not None
        or words.is_everyday(form)
        or low in words.common_words
        or low in words.titles
        or low in words.shared_names
        or form in words.surnames
    )


def _with_title_case(shorts: Iterable[ShortName]) -> Iterator[ShortName]:
    """Yield the short names; registers that write in capitals hide how newspapers do."""
    for short in shorts:
        yield short
        if re.search(r"[ -]", short.text):
            text = _LONG_WORD.sub(
                lambda word: word[0].capitalize() if word[0].isupper() else word[0], short.text
            )
            if text != short.text:
                yield ShortName(text, short.countries)


def forms_of(company: Company) -> tuple[str, ...]:
    """Return the forms that are not declined, certain and ambiguous ones."""
    return (company.name, *company.aliases, *company.ambiguous)


def _in_place_of(company: Company, bundled: Company, forms: Set[str]) -> Company:
    """Return a company with what the bundled one has in addition; forms that the file gives to
    another company stay with that one."""
    lists: dict[str, Any] = {
        key: (*getattr(company, key), *getattr(bundled, key)) for key in (*_LISTS, "tickers")
    }
    lists["aliases"] = (*company.aliases, bundled.name, *bundled.aliases)
    for key in ("aliases", "ambiguous", "local"):
        lists[key] = tuple(
            form
            for form in dict.fromkeys(lists[key])
            if form in forms_of(company) or form not in forms
        )
    facts = MappingProxyType({**bundled.facts, **company.facts})
    return replace(company, **lists, facts=facts, origin="override")
