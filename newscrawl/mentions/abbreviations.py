"""Abbreviations: recognise them, and find their meaning in an article."""

import re
from functools import lru_cache

from newscrawl.mentions.candidates import Candidate

# Abbreviations of up to three letters ("GM", "HP") have many meanings. Ours, set by hand.
ACRONYM_LENGTH = 3
# Ours: characters that contain two long words.
REACH = 60
# Ours: characters that contain the long form of an acronym.
_EXPANSION = 100
_WORD_START = re.compile(r"\b[^\W\d_]")
_MEANT = re.compile(r" \(((?:[^\W\d_A-Z][^\W\d_]*[ -]?){2,5})\)")
# Words around a single letter that is a network's name.
_NETWORK_BEFORE = re.compile(
    r"(?:platform|[Pp]lattform|plateforme|plataforma|piattaforma|platformie|platformen"
    r"|[Nn]etzwerk|network|[Oo]nlinedienst|Kurznachrichtendienst|[Nn]achrichtendienst"
    r"|réseau(?: social)?|red social|rede social|social|соцсети|социальной сети"
    r"|(?:Facebook|Instagram|TikTok|YouTube|Threads|Bluesky|LinkedIn|WhatsApp|Telegram|Google|Meta|Snapchat|Reddit),?"
    r"(?: (?:and|or|und|oder|sowie|et|y|e|i|и))?) [\"“„'«]?$"
)
_ON = re.compile(r"\b(?:on|auf|bei|sur|en|su|na|no|op|på|в|via|per|über) [\"“„'«]?$")
_NETWORK_AFTER = re.compile(r"[ -](?:[Aa]ccount|[Pp]ost|[Pp]rofile?|[Tt]hread)s?\b")
_AFTER_LETTER = re.compile(r"[\"”“'»]?(?:$|[.,;:!?)\n]| [^\W\d_A-ZÀ-Þ]| \(|[\"”“»])")


def stems(name: str) -> tuple[str, ...]:
    """Return how the capitalised words of a name begin, which no case ending changes."""
    return tuple(word[:3] for word in name.split() if word[0].isupper())


def is_acronym(form: str) -> bool:
    """Return whether this is an abbreviation so short that it has many meanings."""
    return len(form) <= ACRONYM_LENGTH and form.isupper() and form.isascii()


def spells_out(text: str, candidate: Candidate) -> bool:
    """Return whether the words before "(EDF)" begin with its letters, so that they give its meaning
    here."""
    form = text[candidate.start : candidate.end]
    if form.isupper() and form.isascii() and text[candidate.end : candidate.end + 2] == " (":
        # What a bracket says of it: hire purchase behind HP.
        meant = _MEANT.match(text, candidate.end, candidate.end + _EXPANSION)
        if meant and "".join(word[0] for word in meant[1].split()).upper() == form:
            return True
    lead = text[max(0, candidate.start - len("kurz ")) : candidate.start]
    if not (lead.endswith(("(", "kurz ")) and form.isupper() and form.isalpha()):
        return False
    words = _WORD_START.findall(text, max(0, candidate.start - _EXPANSION), candidate.start - 1)
    initials = "".join(letter for letter in words if letter.isupper())
    # "Hire purchase (HP)": small letters, all of them.
    if initials.endswith(form) or "".join(words).upper().endswith(form):
        return True
    return form != candidate.form.text and _is_blend(text, candidate.start, form.lower())


def _is_blend(text: str, start: int, form: str) -> bool:
    """Return whether the beginnings of several words before a bracket make up the form: "capsule
    communicator (CAPCOM)"."""
    remainder = form
    for word in reversed(words_before(text, start - 1, 4)):
        shared = next(
            (n for n in range(len(remainder), 1, -1) if word.lower().startswith(remainder[-n:])), 0
        )
        if not shared or shared == len(form):
            return False
        remainder = remainder[:-shared]
        if not remainder:
            return True
    return False


def search_before(pattern: re.Pattern[str], text: str, place: int) -> re.Match[str] | None:
    """Return the match of a pattern in the characters before a place."""
    return pattern.search(text, max(0, place - REACH), place)


def words_before(text: str, start: int, count: int) -> list[str]:
    """Return up to `count` words before `start`, separated only by a blank or a hyphen."""
    head = text[max(0, start - REACH) : start]
    if head.endswith("'"):
        # French d'Orange, l'Apple: the elided word stands in for "de".
        return [*head.split()[-count:]]
    if not head.endswith((" ", "-", '"', "«", "„", "“")):
        return []
    return head.rstrip(' -"«„“').replace("\n", " \n ").split(" ")[-count:]


# An article may name an abbreviation a thousand times: its text is searched once for each.
@lru_cache(maxsize=32)
def spelled_out(acronym: str, text: str) -> str | None:
    """Return the first words of a text with the initials of an abbreviation."""
    words = r"(?: (?:of|and|for|the|de|la|du|des|der|und|für|di|del|y|et))? ".join(
        rf"{letter}[^\W\d_A-Z]+" for letter in acronym
    )
    match = re.search(rf"\b{words}\b", text)
    return match[0] if match else None


def is_network(text: str, candidate: Candidate, *, in_context: bool) -> bool:
    """Return whether one letter names a network: "Facebook, X and Google", "an X post"; "Schrieb er
    auf X" only in its context."""
    if _NETWORK_AFTER.match(text, candidate.end):
        return True
    if not _AFTER_LETTER.match(text, candidate.end):
        return False
    if search_before(_NETWORK_BEFORE, text, candidate.start):
        return True
    return in_context and search_before(_ON, text, candidate.start) is not None
