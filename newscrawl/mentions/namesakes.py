"""Namesakes: arenas, foundations, streets, clubs and cups that bear a company's name."""

import re
from collections.abc import Sequence

from newscrawl.mentions.candidates import Candidate
from newscrawl.mentions.forms import is_korean_tail, script
from newscrawl.mentions.vocabulary import Vocabulary

# How many characters of a neighbourhood hold two long words.
_REACH = 60
# Ours: different sports words in an article from which on a team's name does not count as a
# company.
TEAM_WORDS = 3
# The next word; the vowel signs of Indian scripts are not word characters for `re`.
_WORD_AFTER = re.compile(r"[ -]([\w.&/\u0900-\u0dff]+)")
_NAMED_AFTER = re.compile(r"([^\W\d_]+)-(?:von-|de-)?$")
# Venues, funds and teams that bear a company's name with another word between.
_VENUE = re.compile(
    r" (?:[^\W\d_a-zß-öø-ÿ][\w'&]* ){1,2}"
    r"(?:Foundation|Pavilion|Amphithea(?:ter|tre)|Arena|Stadium|Cup|Hospital|Museum|Thea(?:ter|tre)"
    r"|University|College|School|Speedway|Raceway|Trophy|Championship"
    r"|League|Liga|Lig|Race|Masters|Marathon|Prize|Awards?|Rally|Invitational"
    r"|Medical Cent(?:er|re)|Medical Group|Music Hall|Scholars|Scholarship)\b"
)
# The same in scripts without blanks: "京セラドーム", "百岁山杯".
_VENUE_UNSPACED = re.compile(
    r"(?:杯|盃|大学|大學|体育场|體育場|体育馆|體育館|球场|球場|体育中心"
    r"|基金会|基金會|公益基金|大剧院|博物馆|美术馆"
    r"|スタジアム|アリーナ|ドーム|カップ|財団|美術館|博物館|記念館|記念病院|病院|球団)"
)

# Leagues that a sponsor's name follows: "Ligue 1 McDonald's", "V-League LPBank".
_LEAGUE_BEFORE = re.compile(r"(?:\b(?:Ligue|Liga|Serie|Division|Bundesliga) [A-D1-4]|-League) $")


def is_namesake(text: str, candidate: Candidate, before: Sequence[str], words: Vocabulary) -> bool:
    """Return whether the words beside the name make the whole something else: "Allianz Arena",
    "Ford Foundation", "LaLiga Santander", "Robert-Bosch-Straße"."""
    match = _WORD_AFTER.match(text, candidate.end, candidate.end + _REACH)
    if match and _is_namesake_noun(match[1], words):
        return True
    if _LEAGUE_BEFORE.search(text, max(0, candidate.start - _REACH), candidate.start):
        return True
    if _VENUE.match(text, candidate.end) or _VENUE_UNSPACED.match(text, candidate.end):
        return True
    if _is_honoured(text, candidate, words):
        return True
    return bool(before) and before[-1] in words.namesakes_before


def is_team(text: str, candidate: Candidate, language: str | None, words: Vocabulary) -> bool:
    """Return whether a report about sports means a team by a company's bare name: "ヤクルト"."""
    if candidate.form.text not in words.teams.get(language or "", ()):
        return False
    return sum(word in text for word in words.sports[language or ""]) >= TEAM_WORDS


def _is_namesake_noun(word: str, words: Vocabulary) -> bool:
    """Return whether a word is such a noun: "Arena's", "Park-Stadion", Korean with a particle."""
    nouns = words.namesakes_after
    if word.rstrip(".").split("'")[0].split("-")[0] in nouns:
        return True
    if script(word[0]) != "hangul":
        return False
    return any(word[:end] in nouns and is_korean_tail(word[end:]) for end in range(1, len(word)))


def _is_honoured(text: str, candidate: Candidate, words: Vocabulary) -> bool:
    """Return whether a given name is joined to it: "Robert-Bosch-Straße"."""
    start = candidate.start
    if not start or text[start - 1] != "-":
        return False
    match = _NAMED_AFTER.search(text, max(0, start - _REACH), start)
    return match is not None and match[1] in words.given_names
