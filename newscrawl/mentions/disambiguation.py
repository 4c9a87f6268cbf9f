"""Disambiguation: decide by the words around doubtful places whether they name a company."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from newscrawl.mentions.abbreviations import (
    ACRONYM_LENGTH,
    is_acronym,
    is_network,
    spelled_out,
    stems,
    words_before,
)
from newscrawl.mentions.candidates import Candidate
from newscrawl.mentions.company import HOME_LANGUAGES, Company
from newscrawl.mentions.context import MentionContext, context_weight, rivals_at_home
from newscrawl.mentions.east_asian import (
    has_predicate,
    names_person,
    names_trade_place_or_crop,
)
from newscrawl.mentions.lists import CONJUNCTION, JOINT, count_beside, joined_after, joined_before
from newscrawl.mentions.namesakes import is_namesake, is_place, is_team
from newscrawl.mentions.tickers import has_code_behind
from newscrawl.mentions.vocabulary import ANY, Vocabulary, of_language

# An everyday word ("Next", "Free") needs more context. Ours, set by hand.
EVERYDAY_CONTEXT = 2
# So does an abbreviation ("GM", "HP"), and still more a form that names a
# person in the article, or an abbreviation behind an article ("the GM responds"). Ours, by hand.
ACRONYM_CONTEXT = 2
PERSON_CONTEXT = 4
# The last letters that endings replace.
_VOWELS = "aoаяα"
# How many characters of a neighbourhood hold two long words.
_REACH = 60
_POSSESSIVE = re.compile(r"(?:'s|'S|'|s')(?= )")
_WORDS_AFTER = re.compile(r"([ -])([\w.&/\u0900-\u0dff]+(?:'[\w]+)?)(?: ([\w.]+))?")
_LEGAL_TAIL = re.compile(r"[»\"”“]?,? [^\s,;()]+(?: [^\s,;()]+)?(?: [^\s,;()]+)?")
_TRADEMARK = re.compile(r"[®™]| ?\((?:R|TM|r|tm)\)")
_PARTICLES = frozenset({"von", "de", "van", "di", "del", "du", "da"})
# Words before a hyphen and a company's name.
_PREFIXES = frozenset(
    ["ex", "anti", "nicht", "non", "pro", "post", "us", "alt", "neu", "mit", "und", "pre", "über"]
)
# Languages whose adjectives and genitives follow a noun.
_NOUN_FIRST = frozenset({"fr", "es", "it", "pt", "ca", "ro", "ar", "fa", "he", "id", "vi"})
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
_LATIN_BEFORE = re.compile(r"[A-Za-z][\w.']*[ -]$")
_LATIN_AFTER = re.compile(r"[ -][A-Za-z]")
# Substitutes in a line of players: "Spies (73. Weichert), Babbel, Bode (52. Eck)".
_SUBSTITUTES = re.compile(r"\(\d{1,2}(?:\.|[΄'’]) ?[^\W\d_a-zß-öø-ÿ][^\W\d_]+\)")
# Genitives: the word before them isn't a form of address.
_GENITIVES = frozenset({"de", "del", "du", "di", "da"})
# Verbs in headlines that are nouns as well: "Grab posts from the past week".
_NOUNS_TOO = frozenset({"posts", "reports", "plans", "launches", "orders", "offers", "runs"})
# Phrases used only for persons.
_LIFE = re.compile(
    r" (?:himself|herself|was born|died|\(\d{4}[-–]\d{4}\)|wurde \d{4} geboren|starb|né en|née en"
    r"|est mort|naquit|nació en|murió|nacque|morì|morreu|faleceu|zmarła?|urodziła? się"
    r"|werd geboren|overleed|zemřela?|zomrela?|meghalt|kuoli|öldü|умерл?а?|скончал(?:ся|ась)"
    r"|помер(?:ла)?|πέθανε|umro|umrla|a murit|evlendi|emekli oldu|casou"
    r"|estudou em|se casó|estudió en|si sposò|emigrated)\b"
)
# Words after which a form is a given name: "Rafael del Pino", "Wanda S."
_SURNAME = re.compile(
    r" (?:(?:de|del|de la|van|von|di|da) [^\W\d_a-zß-öø-ÿ]|[A-Z][.'](?:[A-Z]|(?<=\.))"
    r"|([^\W\d_a-zß-öø-ÿ][^\W\d_]+))"
)
# What Japanese writes behind a person's name.
_HONORIFICS = ("さん", "氏", "ちゃん", "くん", "容疑者", "被告")
# "A boy called Maruti", "who went by the handle J.P. Morgan".
_CALLED = re.compile(
    r"\b(?:boy|girl|man|woman|son|daughter|baby|child|kid|friend|brother|sister|dog|cat|Junge|Mann"
    r"|Frau|Sohn|Tochter|Hund|garçon|homme|femme|fille|fils|niño|niña|hombre|mujer|hijo|hija"
    r"|ragazzo|ragazza|uomo|donna|figlio|figlia),? "
    r"(?:called|named|namens|genannt|nommée?|appelée?|llamad[oa]|de nombre|chiamat[oa]|di nome) $"
    r"|\b(?:handle|nickname|pseudonym|alias|screen name|user ?name|Pseudonym|Spitznamen?|pseudonyme"
    r"|seudónimo|pseudonimo|псевдонимом|pseudonimem) [\"“„«'‘]?$"
)
# Their last words, and a quotation mark: cheaper than the search.
_LAST_WORDS = """called named namens genannt nommé nommée appelé appelée llamado llamada nombre nome
chiamato chiamata handle nickname pseudonym alias name username Pseudonym Spitzname Spitznamen
pseudonyme seudónimo pseudonimo псевдонимом pseudonimem '"""
_LAST_OF_CALLED = frozenset(_LAST_WORDS.split())
# "Bosch, Laura 1992": a line of a list of persons.
_GIVEN_BEHIND = re.compile(r", ([^\W\d_]+)(?=$|\n|;|\)| \d| \()")
_OTHER_PERSON = re.compile(r" to ([^\W\d_]+) [^\W\d_a-zß-öø-ÿ]\w+")
# Years of founders' lives, not of news.
_LONG_AGO = re.compile(r"\b1(?:[5-8]\d\d|9[0-3]\d)\b")
# Prices of shares, and jobs that are cut or created; a total or a gap has such figures, too.
_COUNTED = frozenset(
    ["total", "diesel", "gap", "gas natural", "target", "general", "free", "best", "dow"]
)
_FIGURES = re.compile(
    r" (?:[^\W\d_]+ ){1,4}(?:\d[\d.,]* ?(?:%|percent\b|per cent\b|pc\b|Prozent\b|pour cent\b"
    r"|por ciento\b|per cento\b|punkt)"
    r"|\d[\d.,]* (?:jobs|staff|workers|posts|employees|stores|Stellen|Arbeitsplätze|Jobs|Filialen"
    r"|emplois|postes|salariés|empleos|trabajadores|puestos|posti|lavoratori|dipendenti|esuberi))"
)
# What candidates for an office have, too: "Dole at 39 percent".
_OF_PERSONS = re.compile(r" (?:[^\W\d_]+ ){0,2}(?:at|com|said) \d[\d.,]* ?(?:%|p)")
_FEMININE = ("a", "as", "à")
_CAPITAL_AFTER = re.compile(r" (?:[^\W_a-zß-öø-ÿ]|of )")
_DEFINITE = frozenset({"la", "il", "l", "el"})
_APPOSITION = re.compile(r", ([^\W\d_]+)[ ']((?:[\w-]+ ?){1,4})")
_SMALL_BEFORE = re.compile(r"(?:^|[\s(\"'«“„])[^\W\d_A-ZÀ-ÖØ-Þ][^\W\d_A-ZÀ-ÖØ-Þ]*,? [\"«“„]?$")
_SMALL_AFTER = re.compile(r"(?:$|[\"»”]?[,.;:!?)\n]|[\"»”]? [^\W\d_A-ZÀ-ÖØ-Þ]| \d)")
_SENTENCE_START = re.compile(r"(?:^|[\n.!?:•|–—-] ?)[\"“«„(]?$")
_NEXT_WORD = re.compile(r" ([^\W\d_]+)")
_NEXT_SMALL = re.compile(r" ([a-zß-öø-ÿ]+)\b")
_NOUN_BEFORE_COMMA = re.compile(r"(?:'s|’s|est|of) (?:[\w-]+ ){0,4}([a-z-]+), $")
# "Companies like Bain", "Firmen wie Otto", and whom somebody works for: "an analyst at IDC".
_EXAMPLE = re.compile(
    r"([^\W\d_][\w-]+),? (?:like|such as|including|wie|etwa|comme|tels? que|telles que|como|come"
    r"|quali|jak|takich jak|takie jak|zoals|som|kuten|такие,? как|таких,? как|вроде|όπως) $"
)
_POST = re.compile(
    r"(?:\b(?:[Oo]fficer|C[EFTIMO]O|[Pp]resident|VP|[Dd]irector|[Mm]anager|[Ee]ngineer|[Aa]nalyst"
    r"|[Ee]conomist|[Ee]xecutive|[Ss]trategist|[Pp]artner|[Dd]eveloper|[Dd]esigner|[Ll]awyer"
    r"|[Ss]pokes(?:man|woman|person)|[Rr]esearcher|[Ii]ntern)s?(?: of(?: \w+){1,3})?,? (?:at|with)"
    r"|\bC[EFTIMO]O of) $"
)
# A model's name behind its maker's: "JBL Tune 710BT", "HP Spectre x360".
_MODEL = re.compile(
    r" (?:[A-Z][\w']+ ){0,2}(?=[\w-]*[A-Za-z])(?=[\w-]*\d)(?!\d+(?:st|nd|rd|th|s|m|k|bn)\b)"
    r"[A-Za-z0-9][\w-]{2,}\b(?! ?%)"
)
# "Acer's 615 GE", "200 HP": a unit, or part of a model's name; "in 2012 GE" is neither.
_NUMBER_BEFORE = re.compile(r"(?<![\d.,])(?!(?:19|20)\d\d )\d+(?:[.,]\d+)*[ -]$")
# Flemish surnames have a capital article within a sentence, too: "minister De Block".
_FLEMISH = re.compile(r"(?:\w\w|,) (?:De|Van(?: [Dd]en?)?|Vanden|Vander) $")
# A capitalised word within a sentence, directly before a name.
_NAME_BEFORE = re.compile(r"(?<=[^\W_][ ,] |\w\w )\(?([^\W\d_a-zß-öø-ÿ][^\W\d_]+) $")
# "E.Honda": an initial without a blank.
_INITIAL_BEFORE = re.compile(r"(?<![^\s(])[A-Z]\.$")
_LINE_WORD = re.compile(r"[^\W\d_]{4,}")
# A headline whose words of four letters and more have capitals, but for a few.
_TITLE_CASE_SHARE = 0.7
# "The Porsche family", "Ford clan": the owners.
_FAMILY = re.compile(
    r" (?:(?:family|families|clan|dynasty|heirs?|siblings|brothers|sisters|ailesi|suku|suvun)\b"
    r"|ailesi|család)"
)
_ELIDED = re.compile(r"^(?:[dl]|qu)'", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NeighbourWords:
    """The evidence of the words next to a candidate."""

    words: Vocabulary

    def has_legal_form(self, text: str, candidate: Candidate) -> bool:
        """Return whether a legal form follows: "Shell plc", "Apple, Inc."."""
        match = _LEGAL_TAIL.match(text, candidate.end, candidate.end + _REACH)
        if not match:
            return False
        parts = match.group().lstrip('»"”“,').split()
        tails = [" ".join(parts[:count]).rstrip(".") for count in (1, 2, 3)]
        # "ADP INC": what is in capitals altogether.
        tails += [tail.capitalize() for tail in tails if tail.isupper()]
        forms = self.words.legal_forms
        return any(tail in forms or f"{tail}." in forms for tail in tails)

    def has_cue(
        self, text: str, candidate: Candidate, language: str | None, *, in_context: bool = False
    ) -> bool:
        """Return whether a word that only companies have is next to them: "retailer Target",
        "Apple's shares"; `in_context` also a verb behind a surname."""
        if candidate.compound or self.cue_before(text, candidate.start, language):
            return True
        is_person = candidate.form.text in self.words.surnames and not in_context
        if self._is_explained(text, candidate, language):
            return True
        if self._has_figures(text, candidate, language) and not (
            is_person and _OF_PERSONS.match(text, candidate.end, candidate.end + _REACH)
        ):
            return True
        place = candidate.start, candidate.end
        if has_predicate(text, *place, language, candidate.form.text, self.words):
            return True
        possessive = _POSSESSIVE.match(text, candidate.end)
        end = possessive.end() if possessive else candidate.end
        match = _WORDS_AFTER.match(text, end, end + _REACH)
        if not match:
            return False
        first = match[2].lower().rstrip(".")
        phrase = f"{first} {match[3].lower().rstrip('.')}" if match[3] else first
        # "Lindes Konkurrent": a genitive without an article is a name's.
        if (
            candidate.inflected
            and language in {None, "de"}
            and match[2][0].isupper()
            and not begins_sentence(text, candidate)
            and not self.is_behind_article(text, candidate, language)
        ):
            return True
        everyday = self.words.is_everyday(candidate.form.text, language)
        firm = possessive is not None or match[1] == "-" or candidate.inflected
        head = first.split("-")[0]
        if {first, phrase, head} & of_language(self.words.after, language):
            # "Best Buy employees": two capitals make everyday words a name.
            return firm or not everyday or " " in candidate.form.text
        if firm or not self._is_verb(first, phrase, language) or (everyday and first in _NOUNS_TOO):
            return False
        # "Coach told me": a title at the beginning of a sentence stands for a person.
        if candidate.form.text.lower() in self.words.titles and begins_sentence(text, candidate):
            return False
        # "Abbott said": persons speak, too.
        return not is_person and not self.is_behind_article(text, candidate, language)

    def _has_figures(self, text: str, candidate: Candidate, language: str | None) -> bool:
        """Return whether figures follow that companies have: "Orange fell 2 percent", "Sky to axe
        1,000 jobs"."""
        if candidate.form.text.lower() in _COUNTED:
            return False
        # "Eles", a pronoun, "ask for 105%" in Portuguese.
        if self.is_everyday_in(candidate, language) and language != "en":
            return False
        return _FIGURES.match(text, candidate.end, candidate.end + _REACH) is not None

    def _is_explained(self, text: str, candidate: Candidate, language: str | None) -> bool:
        """Return whether what it is follows a comma: "Mango, la firma catalana"."""
        match = _APPOSITION.match(text, candidate.end, candidate.end + _REACH)
        if not match:
            return False
        if not self.words.is_article(match[1], language) and match[1] not in _DEFINITE:
            return False
        for word in match[2].lower().split():
            if word in of_language(self.words.before, language):
                return True
            if word in self.words.function_words:
                return False
        return False

    def cue_before(
        self, text: str, start: int, language: str | None, *, of_person: bool = False
    ) -> bool:
        """Return whether a cue precedes the name; `of_person`: one that no person has."""
        # "The largest mobile operator, O2"
        noun = _NOUN_BEFORE_COMMA.search(text, max(0, start - _REACH), start)
        if noun is not None:
            return noun[1] in of_language(self.words.before, language)
        begin = max(0, start - _REACH)
        if text.endswith((" at ", " with ", " of "), begin, start):
            if _POST.search(text, begin, start):
                return True
        elif text.endswith(" ", begin, start):
            example = _EXAMPLE.search(text, begin, start)
            if example is not None and example[1].lower() in self.words.examples:
                return True
        words = [word.lower() for word in words_before(text, start, 3)]
        if not words:
            return False
        joined = {" ".join(words[-count:]) for count in (1, 2, 3)}
        # "Dax-Konzern Continental", "US-Autobauer Ford"
        joined.add(words[-1].rpartition("-")[2])
        if (
            language in _NOUN_FIRST
            and len(words) > 1
            and words[-1] not in self.words.function_words
        ):
            # An adjective between: "le groupe français Orange", "el gigante tecnológico Apple"
            joined.add(words[-2] if words_before(text, start, 1)[0] == words[-1] else "")
        if words[-1].endswith(self.words.before_endings):
            return True
        # "l'opérateur Orange": the article is elided onto the cue.
        joined.add(_ELIDED.sub("", words[-1]))
        cues = joined & of_language(self.words.before, language)
        return bool(cues - self.words.before_persons if of_person else cues)

    def _is_verb(self, first: str, phrase: str, language: str | None) -> bool:
        """Return whether it is a deed of companies: "announced", "hat angekündigt", "va fermer"."""
        verbs = of_language(self.words.verbs, language)
        if {first, phrase} & verbs:
            return True
        return first in self.words.auxiliaries and phrase.partition(" ")[2] in verbs

    def is_everyday_in(self, candidate: Candidate, language: str | None) -> bool:
        """Return whether a form, or the name whose case it is ("Stravou" of Strava), is an everyday
        word of this very language."""
        form = candidate.form.text
        names = [form + vowel for vowel in _VOWELS] if candidate.form.stem else [form]
        return any(self.words.is_everyday_in(name, language) for name in names)

    def has_model(self, text: str, candidate: Candidate, language: str | None) -> bool:
        """Return whether a model's name follows its maker's: "JBL Tune 710BT"."""
        if self.words.is_everyday(candidate.form.text, language):
            return False
        return _MODEL.match(text, candidate.end, candidate.end + _REACH) is not None

    def is_behind_article(self, text: str, candidate: Candidate, language: str | None) -> bool:
        """Return whether an article or a possessive is right before the form: "Der Boss", "the
        target"."""
        before = words_before(text, candidate.start, 1)
        if not before:
            return False
        # "The team's GM": a possessive stands for an article.
        possessive = language in {None, "en"} and before[-1].endswith("'s")
        return possessive or self.words.is_article(before[-1], language)

    def is_person(self, text: str, candidate: Candidate, language: str | None) -> bool:
        """Return whether the name is a person's: "Harrison Ford", "Henry J. Ford", "Werner von
        Siemens", "Herr Merck"."""
        if candidate.form.text in self.words.surnames and self.has_name_before(
            text, candidate, language
        ):
            return not self.has_legal_form(text, candidate)
        begin = max(0, candidate.start - _REACH)
        place = candidate.start, candidate.end
        words = words_before(text, candidate.start, 3)
        if (
            _LIFE.match(text, candidate.end)
            or len(_SUBSTITUTES.findall(text, begin, candidate.end + _REACH)) > 1
            or (
                words
                and words[-1] in _LAST_OF_CALLED
                and _CALLED.search(text, begin, candidate.start)
            )
            or self._is_founder(text, candidate)
            or text.startswith(_HONORIFICS, candidate.end)
            or (language == "nl" and _FLEMISH.search(text, begin, candidate.start))
            or (language in {"zh", "ja"} and names_person(text, *place, self.words.given_names))
            or (
                text.startswith(".", candidate.start - 1)
                and _INITIAL_BEFORE.search(text, begin, candidate.start)
            )
        ):
            return True
        if self._is_given_name(text, candidate) or self._has_given_name_behind(
            text, candidate, language
        ):
            return True
        if not words:
            return False
        first_name, *surnames = candidate.form.text.split(" ")
        if surnames:
            # "El diseñador Alexander McQueen"
            return first_name in self.words.given_names and words[-1].lower() in self.words.titles
        if len(words) > 1 and _is_initial(words[-1]) and words[-2][:1].isupper():
            return True
        particle = ""
        while len(words) > 1 and (words[-1] in _PARTICLES or _is_initial(words[-1])):
            particle = words.pop()
        last = words[-1].lstrip("\"'«“„([")
        return (
            last in self.words.given_names
            or (last.capitalize() in self.words.given_names and last.isupper())
            # "el presidente de Ferrovial" heads the company, "Frau von Siemens" is a person.
            or (last.lower() in self.words.titles and particle not in _GENITIVES)
        )

    def _is_founder(self, text: str, candidate: Candidate) -> bool:
        """Return whether the name is a person's: in a sentence with a year of long ago ("Philip
        Morris opened his shop in 1847") or next to another person's full name ("from Walt Disney
        to Leonardo DiCaprio")."""
        if candidate.form.text.partition(" ")[0] not in self.words.given_names:
            return False
        if " " not in candidate.form.text:
            return False
        other_person = _OTHER_PERSON.match(text, candidate.end, candidate.end + _REACH)
        if other_person is not None and other_person[1] in self.words.given_names:
            return True
        first = max(0, candidate.start - _REACH - 1)
        begin = max(0, candidate.start - _REACH, text.rfind(". ", first, candidate.start) + 1)
        last = candidate.end + 2 * _REACH
        stop = text.find(". ", candidate.end, last + 2)
        right = min(len(text) if stop < 0 else stop, last)
        return _LONG_AGO.search(text, begin, right) is not None

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
        if surname is None:
            return False
        if surname[1] is None:
            return True
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
        surname = _SURNAME.match(text, candidate.end)
        return (
            surname is not None
            and surname[1] is not None
            and surname[1].istitle()
            and surname[1] not in self.words.places
            and not _is_in_title_case(text, candidate.start)
        )

    def _has_given_name_behind(self, text: str, candidate: Candidate, language: str | None) -> bool:
        """Return whether it is a surname in a list: "Bosch, Laura 1992"."""
        if language == "hu":
            # Hungarian puts the surname first: "Bosch Béla".
            name = _NEXT_WORD.match(text, candidate.end)
            if name is not None and name[1] in self.words.given_names:
                return True
        if candidate.form.text not in self.words.surnames:
            return False
        match = _GIVEN_BEHIND.match(text, candidate.end)
        return match is not None and match[1] in self.words.given_names

    def is_capital_amid_small(self, text: str, candidate: Candidate, language: str | None) -> bool:
        """Return whether the capital is one that only a name can have: "chez Orange, dit-il",
        "alquilado a Meta"."""
        if not self.words.is_name_if_capitalised(candidate.form.text, language):
            return False
        if not _SMALL_AFTER.match(text, candidate.end):
            return False
        begin = max(0, candidate.start - _REACH)
        amid = _SMALL_BEFORE.search(text, begin, candidate.start) is not None
        begins = _SENTENCE_START.search(text, begin, candidate.start) is not None
        if candidate.form.text.isupper():
            return amid or begins
        everyday = self.words.is_everyday(candidate.form.text, language)
        if language == "de" and begins and not everyday:
            # "Uber darf", "Continental trennt sich": German puts an article before a noun.
            verb = _NEXT_SMALL.match(text, candidate.end)
            return verb is not None and (verb[1] in self.words.auxiliaries or _acts(verb[1]))
        if not amid:
            return False
        # "Das Target" is not a German noun, so that an article is not evidence.
        return language == "de" or not self.is_behind_article(text, candidate, language)

    def is_feminine(self, text: str, candidate: Candidate, language: str | None) -> bool:
        """Return whether a feminine article is before the form, which neither a man nor a masculine
        noun has: "da Oi", "alla Ford"; "Pinto da Costa" is a name."""
        articles = self.words.feminine_articles.get(language or "", ())
        form = candidate.form.text
        is_person = form in self.words.surnames
        if not articles or form.endswith(_FEMININE) or form in self.words.places_too:
            return False
        if form.lower() in self.words.shared_names and not is_person:
            return False
        if text[candidate.start - 1] != " " or _CAPITAL_AFTER.match(text, candidate.end):
            return False
        before = words_before(text, candidate.start, 3)
        joined = " ".join(before[-2:]).lower() in articles
        article = before[-1] if before else ""
        ahead = before[: -2 if joined else -1]
        if (ahead and ahead[-1][:1].isupper()) or not (joined or article.lower() in articles):
            return False
        # "Perguntou a Ford", "a Oi": a preposition, a greeting.
        sure = not is_person and len(form) > 2 and not self.words.is_everyday(form, language)
        return joined or article != "a" or sure

    def is_noun_behind_article(self, text: str, candidate: Candidate, language: str | None) -> bool:
        """Return whether it is a noun of its own, with no word of a company after it: "The GM
        responds", "a PC"."""
        if language not in {None, "en"} or not self.is_behind_article(text, candidate, language):
            return False
        match = _WORDS_AFTER.match(text, candidate.end, candidate.end + _REACH)
        return match is None or (
            match[2].islower() and match[2] not in of_language(self.words.after, language)
        )

    def leads_a_noun(self, text: str, candidate: Candidate, language: str | None) -> bool:
        """Return whether an English word begins a sentence and a noun follows it: "Next chunk uses
        it"."""
        if language not in {None, "en"}:
            return False
        if not _SENTENCE_START.search(text, max(0, candidate.start - _REACH), candidate.start):
            return False
        match = _NEXT_SMALL.match(text, candidate.end)
        if not match or match[1].endswith(("ed", "s")):
            return False
        words = self.words
        lists = (words.verbs["en"], words.auxiliaries, words.function_words)
        return not any(match[1] in word_list for word_list in lists)

    def is_part_of_name(self, text: str, candidate: Candidate, language: str | None) -> bool:
        """Return whether the form is only part of another name: "Howell-Chase", "Polish Spirit"."""
        if _is_hyphenated(text, candidate.start):
            return True
        if not self.words.is_everyday(candidate.form.text, language):
            return self.has_name_before(text, candidate, language)
        # German writes every noun with a capital: only a cue decides what the word before is.
        if language == "de":
            return False
        before = words_before(text, candidate.start, 1)
        word = before[-1] if before else ""
        joined = word[:1].isupper() and not word.endswith(",")
        if joined and not self._is_usual(word.lower(), language):
            return True
        after = _WORDS_AFTER.match(text, candidate.end, candidate.end + _REACH)
        if after is None or after[1] == "-" or not after[2][0].isupper():
            return False
        return after[2].lower() not in of_language(
            self.words.after, language
        ) and not self.has_legal_form(text, candidate)

    def has_name_before(self, text: str, candidate: Candidate, language: str | None) -> bool:
        """Return whether an unknown name within a sentence precedes the form: "Jalin Hyatt".

        German writes every noun with a capital, and some headlines every word.
        """
        if language == "de" or " " in candidate.form.text or not candidate.form.text[0].isupper():
            return False
        match = _NAME_BEFORE.search(text, max(0, candidate.start - _REACH), candidate.start)
        if match is None:
            return False
        word = match[1]
        if (
            not word[0].isupper()
            or word in self.words.usual_before
            or self._is_usual(word.lower(), language)
        ):
            return False
        if (
            word.lower() in of_language(self.words.after, language)
            or word.rstrip(".") in self.words.legal_forms
        ):
            return False
        return not _is_in_title_case(text, candidate.start)

    def _is_usual(self, word: str, language: str | None) -> bool:
        """Return whether the word may precede any name, so that it is not part of it."""
        return word in of_language(self.words.before, language) or word in self.words.function_words

    def is_other(
        self, text: str, candidate: Candidate, language: str | None, *, in_sports: bool = False
    ) -> bool:
        """Return whether the name means something else here: an arena, a family, a team, which all
        are `in_sports`, a section of the newspaper."""
        if is_team(text, candidate, language, self.words, in_section=in_sports):
            return True
        if names_trade_place_or_crop(text, candidate.start, candidate.end, language):
            return True
        before = words_before(text, candidate.start, 2)
        if bool(before) and before[-1].lower() in self.words.families:
            return True
        if is_place(text, candidate, language, self.words) and not self.cue_before(
            text, candidate.start, language
        ):
            return True
        # "In via Armani" is a street in Italian only.
        street = before[-1:] != ["via"] or language in {None, "it"}
        if is_namesake(text, candidate, before if street else (), self.words):
            return True
        surname = candidate.form.text in self.words.surnames
        return surname and _FAMILY.match(text, candidate.end) is not None


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
        form, begin = rivals[0].form.text, max(0, rivals[0].start - _REACH)
        if is_acronym(form) and _NUMBER_BEFORE.search(text, begin, rivals[0].start):
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
        if (home or not is_acronym(surface)) and self.neighbours.is_feminine(
            text, candidate, context.language
        ):
            return "cue"
        if (
            home
            and _OF_A_COUNTRY.fullmatch(context.language or "")
            and self._is_abbreviation(surface)
            and not _CAPITAL_AFTER.match(text, candidate.end)
        ):
            return "capital"
        if self._is_name_by_capital(text, candidate, context.language):
            return "capital"
        other_forms = context.supported.get(candidate.form.company, set()) - {candidate.form.text}
        return "other name" if other_forms else None

    def _is_abbreviation(self, surface: str) -> bool:
        """Return whether it is one that means nothing else to everybody, as DNA does."""
        words = self.neighbours.words
        return is_acronym(surface) and len(surface) > 2 and surface not in words.abbreviations

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
            begin = max(0, candidate.start - _REACH)
            if _LATIN_BEFORE.search(text, begin, candidate.start):
                return False
            return _LATIN_AFTER.match(text, candidate.end) is None
        return self.neighbours.is_capital_amid_small(text, candidate, language)

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


def _is_in_title_case(text: str, place: int) -> bool:
    begin = max(text.rfind("\n", 0, place) + 1, place - 2 * _REACH)
    stop = text.find("\n", place, place + 2 * _REACH)
    right = stop if stop >= 0 else place + 2 * _REACH
    words: list[str] = _LINE_WORD.findall(text, begin, right)
    capitals = sum(word[0].isupper() for word in words)
    return capitals >= _TITLE_CASE_SHARE * len(words)


def begins_sentence(text: str, candidate: Candidate) -> bool:
    """Return whether the name is the first word of a sentence or line."""
    begin = max(0, candidate.start - _REACH)
    return _SENTENCE_START.search(text, begin, candidate.start) is not None


def _acts(word: str) -> bool:
    """Return whether a German word has the ending of a verb in the third person; "ist" is not
    evidence."""
    return word.endswith("t") and len(word) > 3


def _is_hyphenated(text: str, start: int) -> bool:
    """Return whether another name and a hyphen precede this place."""
    if not start or text[start - 1] != "-":
        return False
    word_before = re.search(r"[\w.]+$", text[max(0, start - _REACH) : start - 1])
    return (
        word_before is not None
        and word_before[0].istitle()
        and word_before[0].lower() not in _PREFIXES
    )


def _is_initial(word: str) -> bool:
    return len(word) == 2 and word[0].isupper() and word[1] == "."
