"""The words beside a candidate: cues, articles, capitals, and names that it is part of."""

import re
from dataclasses import dataclass

from newscrawl.mentions.abbreviations import REACH, is_acronym, search_before, words_before
from newscrawl.mentions.candidates import Candidate
from newscrawl.mentions.east_asian import has_predicate, names_trade_place_or_crop
from newscrawl.mentions.namesakes import is_namesake, is_place, is_team
from newscrawl.mentions.vocabulary import Vocabulary, of_language
from newscrawl.text import stop_words_of

# The last letters that endings replace.
_VOWELS = "aoаяα"
_POSSESSIVE = re.compile(r"(?:'s|'S|'|s')(?= )")
_WORDS_AFTER = re.compile(r"([ -])([\w.&/\u0900-\u0dff]+(?:'[\w]+)?)(?: ([\w.\u0900-\u0dff]+))?")
_LEGAL_TAIL = re.compile(r"[»\"”“]?,? [^\s,;()]+(?: [^\s,;()]+)?(?: [^\s,;()]+)?")
# Words before a hyphen and a company's name.
_PREFIXES = frozenset(
    ["ex", "anti", "nicht", "non", "pro", "post", "us", "alt", "neu", "mit", "und", "pre", "über"]
)
# Languages whose adjectives and genitives follow a noun.
_NOUN_FIRST = frozenset({"fr", "es", "it", "pt", "ca", "ro", "ar", "fa", "he", "id", "vi"})
# Verbs in headlines that are nouns as well: "Grab posts from the past week".
_NOUNS_TOO = frozenset({"posts", "reports", "plans", "launches", "orders", "offers", "runs"})
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
CAPITAL_AFTER = re.compile(r" (?:[^\W_a-zß-öø-ÿ]|of )")
_DEFINITE = frozenset({"la", "il", "l", "el"})
_APPOSITION = re.compile(r", ([^\W\d_]+)[ ']((?:[\w-]+ ?){1,4})")
_SMALL_BEFORE = re.compile(r"(?:^|[\s(\"'«“„])[^\W\d_A-ZÀ-ÖØ-Þ][^\W\d_A-ZÀ-ÖØ-Þ]*,? [\"«“„]?$")
_SMALL_AFTER = re.compile(r"(?:$|[\"»”]?[,.;:!?)\n]|[\"»”]? [^\W\d_A-ZÀ-ÖØ-Þ]| \d)")
_SENTENCE_START = re.compile(r"(?:^|[\n.!?:•|–—-] ?)[\"“«„(]?$")
_NOBLE = re.compile(r"[A-Z][\w.]* van $")
_NEXT_SMALL = re.compile(r" ([a-zß-öø-ÿ]+)\b")
_NOUN_BEFORE_COMMA = re.compile(r"(?:'s|’s|est|of) (?:[\w-]+ ){0,4}([a-z-]+), $")
# "Companies like Bain", "Firmen wie Otto".
_EXAMPLE = re.compile(
    r"([^\W\d_][\w-]+),? (?:like|such as|including|wie|etwa|comme|tels? que|telles que|como|come"
    r"|quali|jak|takich jak|takie jak|zoals|som|kuten|такие,? как|таких,? как|вроде|όπως) $"
)
_SPEAKERS = frozenset({"spokesman", "spokeswoman", "spokesperson"})
# The words behind a name, up to the next mark.
_CLAUSE = re.compile(r" [^\W_A-ZÀ-ÖØ-Þ][\w'-]*(?: \w[\w'-]*){0,6}")
# A model's name behind its maker's: "JBL Tune 710BT", "HP Spectre x360".
_MODEL = re.compile(
    r" (?:[A-Z][\w']+ ){0,2}(?=[\w-]*[A-Za-z])(?=[\w-]*\d)(?!\d+(?:st|nd|rd|th|s|m|k|bn)\b)"
    r"[A-Za-z0-9][\w-]{2,}\b(?! ?%)"
)
# A capitalised word within a sentence, directly before a name.
_NAME_BEFORE = re.compile(r"(?<=[^\W_][ ,] |\w\w )\(?([^\W\d_a-zß-öø-ÿ][^\W\d_]+) $")
_CAPITAL_BEHIND = re.compile(r" [A-Z][a-z]")
_WORD_BEFORE = re.compile(r"[\w.]+$")
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
        match = _LEGAL_TAIL.match(text, candidate.end, candidate.end + REACH)
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
        place = candidate.start, candidate.end
        behind = candidate.end, candidate.end + REACH
        if self._is_explained(text, candidate, language) or self._is_in_business(
            text, candidate, language, is_person=is_person
        ):
            return True
        # "Orange fell 2 percent", "Sky to axe 1,000 jobs"; "Eles", a pronoun, "ask for 105%" in
        # Portuguese.
        if (
            _FIGURES.match(text, *behind)
            and candidate.form.text.lower() not in _COUNTED
            and (language == "en" or not self.is_everyday_in(candidate, language))
            and not (is_person and _OF_PERSONS.match(text, *behind))
        ):
            return True
        if has_predicate(text, *place, language, candidate.form.text, self.words):
            return True
        possessive = _POSSESSIVE.match(text, candidate.end)
        end = possessive.end() if possessive else candidate.end
        match = _WORDS_AFTER.match(text, end, end + REACH)
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
            # "Best Buy employees": two capitals make everyday words a name; and "a Delta spokesman"
            # speaks for no delta.
            person = (match[3] or "")[:1].isupper()  # "Delta spokesman John Smith"
            speaks = first in _SPEAKERS and (person or not begins_sentence(text, candidate))
            return firm or not everyday or " " in candidate.form.text or speaks
        if firm or not self._is_verb(first, phrase, language) or (everyday and first in _NOUNS_TOO):
            return False
        # "Coach told me": a title at the beginning of a sentence stands for a person.
        if candidate.form.text.lower() in self.words.titles and begins_sentence(text, candidate):
            return False
        # "Abbott said": persons speak, too.
        return not is_person and not self.is_behind_article(text, candidate, language)

    def _is_explained(self, text: str, candidate: Candidate, language: str | None) -> bool:
        """Return whether what it is follows a comma: "Mango, la firma catalana"."""
        match = _APPOSITION.match(text, candidate.end, candidate.end + REACH)
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
        noun = search_before(_NOUN_BEFORE_COMMA, text, start)
        if noun is not None:
            return noun[1] in of_language(self.words.before, language)
        if text.endswith(" ", 0, start):
            example = search_before(_EXAMPLE, text, start)
            if example is not None and example[1].lower() in self.words.examples:
                return True
        words = [word.lower() for word in words_before(text, start, 3)]
        if not words:
            return False
        joined = {" ".join(words[-count:]) for count in (1, 2, 3)}
        # "Dax-Konzern Continental", "US-Autobauer Ford"
        joined.add(words[-1].rpartition("-")[2])
        function_words = self.words.function_words
        if language in _NOUN_FIRST and len(words) > 1 and words[-1] not in function_words:
            # An adjective between: "le groupe français Orange", "el gigante tecnológico Apple"
            joined.add(words[-2] if words_before(text, start, 1)[0] == words[-1] else "")
        if words[-1].endswith(self.words.before_endings):
            return True
        # "l'opérateur Orange": the article is elided onto the cue.
        joined.add(_ELIDED.sub("", words[-1]))
        cues = joined & of_language(self.words.before, language)
        return bool(cues - self.words.before_persons if of_person else cues)

    def _is_in_business(
        self, text: str, candidate: Candidate, language: str | None, *, is_person: bool
    ) -> bool:
        """Return whether what only companies have or do is said of the name: "customers of
        Piaggio", "Piaggio raised its dividend"."""
        form = candidate.form.text
        # "Merz will Arbeitsplätze schaffen": persons speak of jobs and visit factories, too.
        of_persons = self.words.before_persons if is_person else frozenset()
        before = [word.lower() for word in words_before(text, candidate.start, 4)]
        # "A director of interiors at HOK"
        is_place_of_work = before[-1:] == ["at"]
        if (form in self.words.places_too or is_acronym(form)) and not is_place_of_work:
            return False
        # "Die Kunden der Metro"
        if language not in self.words.feminine_articles and self.is_behind_article(
            text, candidate, language
        ):
            return False
        # "Elisa tapasi työntekijät"
        may_be_word = begins_sentence(text, candidate) and (
            form in self.words.given_names or self.is_everyday_in(candidate, language)
        )
        clause = None if may_be_word else _CLAUSE.match(text, candidate.end)
        if clause and not (is_acronym(form) or self.words.is_of_many(form)):
            first, *more = clause[0].split()
            # "Camper mit Fahrzeugen"
            is_verb = first in self.words.auxiliaries or first not in stop_words_of(language)
            objects = tuple(self.words.objects.get(language or "", frozenset()) - of_persons)
            if is_verb and any(word.lower().startswith(objects) for word in (first, *more)):
                return True
        links = self.words.links.get(language or "", frozenset())
        if before and before[-1] in links:
            before.pop()
        elif is_person or "-" not in links:
            return False
        roles = set(before if is_place_of_work else before[-1:]) - of_persons
        return not roles.isdisjoint(self.words.roles.get(language or "", ()))

    def _is_verb(self, first: str, phrase: str, language: str | None) -> bool:
        """Return whether it is a deed of companies: "announced", "hat angekündigt", "va fermer"."""
        verbs = of_language(self.words.verbs, language)
        led = phrase.partition(" ")[2] if first in self.words.auxiliaries else first
        return not verbs.isdisjoint((first, phrase, led))

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
        return _MODEL.match(text, candidate.end, candidate.end + REACH) is not None

    def is_behind_article(self, text: str, candidate: Candidate, language: str | None) -> bool:
        """Return whether an article or a possessive is right before the form: "Der Boss", "the
        target"."""
        before = words_before(text, candidate.start, 1)
        if not before:
            return False
        # "The team's GM": a possessive stands for an article.
        possessive = language in {None, "en"} and before[-1].endswith("'s")
        return possessive or self.words.is_article(before[-1], language)

    def is_capital_amid_small(
        self, text: str, candidate: Candidate, language: str | None, *, at_home: bool
    ) -> bool:
        """Return whether the capital is one that only a name can have: "chez Orange, dit-il",
        "alquilado a Meta"; `at_home` of any that is no person's or place's: "handler i Netto"."""
        form, words = candidate.form.text, self.words
        names = words.surnames, words.given_names, words.places, words.places_too
        # "Wartę" is a river, "Reinoud II van Brederode" a person.
        may_be = words.is_name_if_capitalised(form, language) or (
            at_home
            and form[0].isupper()
            and not (language == "pl" and candidate.inflected)
            and not self.is_everyday_in(candidate, language)
            and not any(form in forms for forms in (*names, words.abbreviations))
            and not search_before(_NOBLE, text, candidate.start)
        )
        if not may_be or not _SMALL_AFTER.match(text, candidate.end):
            return False
        amid = search_before(_SMALL_BEFORE, text, candidate.start) is not None
        begins = begins_sentence(text, candidate)
        if candidate.form.text.isupper():
            return amid or begins
        everyday = self.words.is_everyday(candidate.form.text, language)
        if language == "de" and begins and not everyday:
            # "Uber darf", "Continental trennt sich": German puts an article before a noun.
            verb = _NEXT_SMALL.match(text, candidate.end)
            # The ending of a third person; "ist" is not evidence.
            acts = verb is not None and verb[1].endswith("t") and len(verb[1]) > 3
            return acts or (verb is not None and verb[1] in self.words.auxiliaries)
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
        if form.casefold() in self.words.teams.get(language or "", ()):
            return False
        if form.lower() in self.words.shared_names and not is_person:
            return False
        if text[candidate.start - 1] != " " or CAPITAL_AFTER.match(text, candidate.end):
            return False
        before = words_before(text, candidate.start, 3)
        joined = " ".join(before[-2:]).lower() in articles
        article = before[-1] if before else ""
        ahead = before[: -2 if joined else -1]
        if (ahead and ahead[-1][:1].isupper()) or not (joined or article.lower() in articles):
            return False
        # "Perguntou a Ford", "a Oi": a preposition, a greeting.
        sure = not is_person and len(form) > 2 and not self.words.is_everyday(form, language)
        return joined or article != "a" or language == "hu" or sure

    def is_noun_behind_article(self, text: str, candidate: Candidate, language: str | None) -> bool:
        """Return whether it is a noun of its own, with no word of a company after it: "The GM
        responds", "a PC"."""
        if language not in {None, "en"} or not self.is_behind_article(text, candidate, language):
            return False
        match = _WORDS_AFTER.match(text, candidate.end, candidate.end + REACH)
        return match is None or (
            match[2].islower() and match[2] not in of_language(self.words.after, language)
        )

    def leads_a_noun(self, text: str, candidate: Candidate, language: str | None) -> bool:
        """Return whether an English word begins a sentence and a noun follows it: "Next chunk uses
        it"."""
        if language not in {None, "en"} or not begins_sentence(text, candidate):
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
        word = "".join(words_before(text, candidate.start, 1))
        joined = word[:1].isupper() and not word.endswith(",")
        if joined and not self._is_usual(word.lower(), language):
            return True
        after = _WORDS_AFTER.match(text, candidate.end, candidate.end + REACH)
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
        match = search_before(_NAME_BEFORE, text, candidate.start)
        word = match[1] if match else ""
        return word[:1].isupper() and not (
            word in self.words.usual_before
            or self._is_usual(word.lower(), language)
            or word.lower() in of_language(self.words.after, language)
            or word.rstrip(".") in self.words.legal_forms
            or is_in_title_case(text, candidate.start)
        )

    def is_model_or_title(
        self, text: str, candidate: Candidate, language: str | None, *, behind_name: bool
    ) -> bool:
        """Return whether a word of many names is a model of the maker before it ("Opel Admiral"),
        or part of an English title in another language ("The Orange Box")."""
        is_model = behind_name and text[candidate.start - 1] == " "
        in_title = (
            language not in {None, "en"}
            and text.endswith("The ", 0, candidate.start)
            and _CAPITAL_BEHIND.match(text, candidate.end) is not None
        )
        may_be = (is_model or in_title) and not candidate.inflected
        return may_be and self.words.is_of_many(candidate.form.text)

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
        if is_namesake(text, candidate, before if street else (), language, self.words):
            return True
        surname = candidate.form.text in self.words.surnames
        return surname and _FAMILY.match(text, candidate.end) is not None


def is_in_title_case(text: str, place: int) -> bool:
    """Return whether the line around a place has a capital at most of its words."""
    begin = max(text.rfind("\n", 0, place) + 1, place - 2 * REACH)
    stop = text.find("\n", place, place + 2 * REACH)
    right = stop if stop >= 0 else place + 2 * REACH
    words: list[str] = _LINE_WORD.findall(text, begin, right)
    capitals = sum(word[0].isupper() for word in words)
    return capitals >= _TITLE_CASE_SHARE * len(words)


def begins_sentence(text: str, candidate: Candidate) -> bool:
    """Return whether the name is the first word of a sentence or line."""
    return search_before(_SENTENCE_START, text, candidate.start) is not None


def _is_hyphenated(text: str, start: int) -> bool:
    """Return whether another name and a hyphen precede this place."""
    if not start or text[start - 1] != "-":
        return False
    match = search_before(_WORD_BEFORE, text, start - 1)
    return match is not None and match[0].istitle() and match[0].lower() not in _PREFIXES
