"""Namesakes: arenas, foundations, streets, clubs and cups that bear a company's name."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain

from ahocorasick_rs import AhoCorasick

from newscrawl.mentions.abbreviations import REACH, search_before, words_before
from newscrawl.mentions.candidates import Candidate
from newscrawl.mentions.forms import is_korean_tail, is_spaced, script
from newscrawl.mentions.vocabulary import ANY, Vocabulary

# Ours: different sports words in an article from which on a team's name does not count as a
# company.
TEAM_WORDS = 3
# Ours: characters of a report for which one word less is enough, such as of a result alone.
SHORT_REPORT = 300
# A score, "3-1", "84:79", "3対1"; times and dates have two digits on both sides of a colon.
_SCORE = re.compile(
    r"(?<![\d.,:/-])(?:\d{1,3} ?[-–—―対对比] ?\d{1,3}|\d{1,2} ?: ?\d|\d{3}:\d{2,3})(?![\d.,:/-]*\d)"
)
_DIGIT = re.compile(r"\d")
_SCORE_BEFORE = re.compile(rf"{_SCORE.pattern}(?: [^\W\d_]+){{0,2}} $")
# A newspaper's section of sports, by address.
SPORTS_SECTION = re.compile(
    r"//[^/]+(?:/[^/]+)?/(?:sports?|deportes|esportes?|desporto|sportul|spor|urheilu|sporto|football"
    r"|soccer|baseball|basketball|rugby|cricket|fussball|futbol|calcio|voetbal|tiyu)(?:/|$)"
    r"|//(?:sports?|deportes|esportes?)\."
)
# The next word; the vowel signs of Indian scripts are not word characters for `re`.
_WORD_AFTER = re.compile(r"(?: - |[ -])([\w.&/\u0900-\u0dff]+)")
_NAMED_AFTER = re.compile(r"([^\W\d_]+)-(?:von-|de-)?$")
# Venues, funds and teams that bear a company's name with another word between.
_VENUE = re.compile(
    r" (?:[^\W\d_a-zß-öø-ÿ][\w'&]* ){1,2}"
    r"(?:Foundation|Pavilion|Amphithea(?:ter|tre)|Arena|Stadium|Cup|Hospital|Museum|Thea(?:ter|tre)"
    r"|University|College|School|Speedway|Raceway|Trophy|Championship"
    r"|League|Liga|Lig|Race|Masters|Marathon|Prize|Awards?|Rally|Invitational"
    r"|Medical Cent(?:er|re)|Medical Group|Music Hall|Scholars|Scholarship|Apollo"
    r"|Lisesi|Okulu|Okulları|Üniversitesi|Hastanesi|Müzesi|Vakfı|Kupası)\b| Grand Prix\b"
    r"| (?:Tennis|Golf|Ladies|Junior|Chess|Cycling) (?:Classic|Open|Challenge|Tour|Series)\b"
    r"| [A-ZÇĞİÖŞÜ][^\W\d_]+spor\b|(?: [^\W\d_]+){0,3} [Öö]dül(?:ü|leri)(?![^\W\d_]*ye)"
    r"|(?: [^\W\d_a-zçğıöşü]\w*){0,2} (?:adlı|adında|isimli)(?: bir)?"
    r" (?:albüm|şarkı|film|dizi|roman|grup|oyun|single|şehir|kasaba|köy)"
    r"| (?:albümü|şarkısı)|(?: [^\W\d_a-zçğıöşü]\w*)? [Kk]upası"
    r"|(?: Sport?)? [Ss]alonu| takım[ıl]|(?: (?:Kadın|Erkek|Genç))? (?:Voleybol|Basketbol)\b"
)
# The same in scripts without blanks: "京セラドーム", "百岁山杯".
_VENUE_UNSPACED = re.compile(
    r"(?:杯|盃|[战戰][队隊]|(?:职业|職業|超级|超級)[联聯][赛賽]|(?:[线線](?![上下索程缆])|站(?![上下在队隊稳穩出到起台点點群长長]))|[纵縱][贯貫]|.{0,2}(?:乐园|樂園|王国|王國)|大学|大學"
    r"|影城|大道|大街|大[桥橋]|路(?![线線由径徑演透边邊上人过過况況标標试試测測虎飞飛费費灯燈程障基权權网網局])"
    r"|体育场|體育場|体育馆|體育館|球场|球場|体育中心"
    r"|基金会|基金會|公益基金|大剧院|博物馆|美术馆|天文台|彗星|半岛|半島|群岛|流域|盆地|雨林|山脉"
    r"|镇(?!江)|河(?![北南内池源])"
    r"|(?:硬式|軟式)?野球部|ラグビー部|サッカー部|バレー(?:ボール)?部|陸上(?:競技)?部|卓球部|柔道部"
    r"|[ァ-ヺー]{0,8}(?:バファローズ|ライオンズ|ロケッツ|ツインズ|イーグルス|ホークス|ブレーブス|フライヤーズ"
    r"|ファイターズ|スワローズ|ベイスターズ|マリーンズ|ジャイアンツ|オリオンズ|ブレイザーズ|アローズ|スピアーズ"
    r"|ヴェルブリッツ|スティーラーズ|ワイルドナイツ|サンゴリアス|ルーパス|ラムズ|ダイナボアーズ|ジュビロ|シャトルズ)"
    r"|ズ(?![ァ-ヺー])|・(?:センター|アリーナ|スタジアム|パーク|フィールド|ドーム|ラグビー)"
    r"|(?<=[ァ-ヺー])号|協会|協議会|学会|連盟|スタジアム|アリーナ|ドーム|カップ|財団|美術館|博物館|記念館|記念病院|病院|球団)"
)

# "Sargsian (Arm)": a player's country.
_COUNTRY_CODE = re.compile(r"\([A-Z][a-z]{2}\)")
# Leagues and clubs that a sponsor's name follows: "Ligue 1 McDonald's", "V-League LPBank",
# "Fenerbahçe Opet".
_LEAGUE_BEFORE = re.compile(
    r"(?:\b(?:Ligue|Liga|Serie|Division|Bundesliga) [A-D1-4]"
    r"|-League|\b(?:Fenerbahçe|Galatasaray|Beşiktaş)) $"
)
# Their last words, cheaper than the search.
_LAST_OF_LEAGUE = frozenset([*"ABCD1234", "Fenerbahçe", "Galatasaray", "Beşiktaş"])
# "Châteauneuf-de-Randon"
_OF = re.compile(r"\w-(?:de|du|des|la|le|les|sur|sous|en|lès|et|saint|sainte)-$")
# Where a quotation begins and ends, and its longest part beside a name. Ours.
_QUOTES = '"“„«»”'
_LONGEST_TITLE = 40
_OPENING = re.compile(r" (?:«|[“„»”\"](?! ))")
# "MOL-Pick Szeged": a sponsor of two.
_BEHIND_SPONSOR = re.compile(r"(?: ?- ?[A-Z][\w-]{0,40})? ([^\W\d_a-zß-öø-ÿ]\w{1,40})")


def is_namesake(
    text: str, candidate: Candidate, before: Sequence[str], language: str | None, words: Vocabulary
) -> bool:
    """Return whether the words beside the name make the whole something else: "Allianz Arena",
    "Ford Foundation", "LaLiga Santander", "Robert-Bosch-Straße"."""
    match = _WORD_AFTER.match(text, candidate.end, candidate.end + REACH)
    if match and _is_namesake_noun(match[1], words):
        return True
    last = before[-1] if before else ""
    if _COUNTRY_CODE.match(text, candidate.start - 1) or (
        (last in _LAST_OF_LEAGUE or last.endswith("-League"))
        and search_before(_LEAGUE_BEFORE, text, candidate.start)
    ):
        return True
    if _VENUE.match(text, candidate.end) or _VENUE_UNSPACED.match(text, candidate.end):
        return True
    if (
        _is_honoured(text, candidate, words)
        or _is_title_of_work(text, candidate, language, words)
        or (text.startswith("-", candidate.start - 1) and search_before(_OF, text, candidate.start))
    ):
        return True
    # "Rue Orange", "provincia de Santander"
    return any(" ".join(before[-count:]) in words.namesakes_before for count in (1, 2))


def is_place(text: str, candidate: Candidate, language: str | None, words: Vocabulary) -> bool:
    """Return whether a form that is a place, too, stands as one: "uit Mol", "Quilmesbe", "in den
    Abbey Road Studios"."""
    form = candidate.form.text
    is_venue = form in words.venues
    # "Blackrock" is BlackRock, too.
    if not is_venue and words.places_too.isdisjoint({form, text[candidate.start : candidate.end]}):
        return False
    ending = text[candidate.start : candidate.end].removeprefix(form).lstrip("'-")
    if candidate.inflected and ending in words.place_endings.get(language or "", ()):
        return True
    before = " ".join(words_before(text, candidate.start, 2)).lower()
    phrases = {before, before.rpartition(" ")[2]}
    prepositions = words.place_prepositions.get(language or "", frozenset())
    if is_venue:
        prepositions |= words.venue_prepositions.get(language or "", frozenset())
    return not phrases.isdisjoint(prepositions)


def is_team(
    text: str, candidate: Candidate, language: str | None, words: Vocabulary, *, in_section: bool
) -> bool:
    """Return whether a report about sports, as its words or its section say, means a team by a
    company's bare name: "ヤクルト", or another by one beside a score: "Viettel thắng 2-0"."""
    low = candidate.form.text.casefold()
    languages = words.sports if language is None else (language, ANY)
    if not any(low in words.teams.get(key, ()) for key in languages):
        town = _BEHIND_SPONSOR.match(text, candidate.end)
        in_town = town is not None and town[1].startswith(words.club_towns)
        if not in_town and not _is_beside_score(text, candidate):
            return False
    elif in_section:
        return True
    sports = (words.sports.get(key, frozenset()) for key in languages)
    needed = TEAM_WORDS if len(text) > SHORT_REPORT else TEAM_WORDS - 1
    return _weight_of_sports(text, frozenset(chain.from_iterable(sports))) >= needed


def _is_beside_score(text: str, candidate: Candidate) -> bool:
    """Return whether a score stands in the sentence behind the name, or right before it."""
    # Cheaper than the search for a score, which few places have.
    if _DIGIT.search(text, max(0, candidate.start - REACH), candidate.end + REACH) is None:
        return False
    score = _SCORE.search(text, candidate.end, candidate.end + REACH)
    if score is None:
        return search_before(_SCORE_BEFORE, text, candidate.start) is not None
    return not any(mark in text[candidate.end : score.start()] for mark in (". ", ", "))


@lru_cache(maxsize=1)
def _weight_of_sports(text: str, sports: frozenset[str]) -> int:
    """Return how many different words of sports a text has; a score counts as one."""
    low = text.lower()
    places = _automaton(sports).find_matches_as_indexes(low, overlapping=True)
    different = {
        number
        for number, start, end in places
        if not any(
            len(pair) > 1 and all(map(is_spaced, pair))
            for pair in (low[start - 1 : start + 1], low[end - 1 : end + 1])
        )
    }
    return len(different) + (_SCORE.search(text) is not None)


@lru_cache
def _automaton(sports: frozenset[str]) -> AhoCorasick:
    return AhoCorasick(sorted(word.lower() for word in sports), store_patterns=False)


def _is_namesake_noun(word: str, words: Vocabulary) -> bool:
    """Return whether a word is such a noun: "Arena's", "Park-Stadion", Korean with a particle."""
    nouns = words.namesakes_after
    if word.rstrip(".").split("'")[0].split("-")[0] in nouns:
        return True
    if script(word[0]) != "hangul":
        return False
    return any(word[:end] in nouns and is_korean_tail(word[end:]) for end in range(1, len(word)))


def _is_title_of_work(
    text: str, candidate: Candidate, language: str | None, words: Vocabulary
) -> bool:
    """Return whether the form is in a quoted title of a song or film: the album "Apple Venus"."""
    begin = max(0, candidate.start - _LONGEST_TITLE)
    opening = max(text.rfind(mark, begin, candidate.start) for mark in _QUOTES)
    # A mark that ends a quotation has no blank before it, or one behind it, too.
    if opening < 0 or not _OPENING.match(text, max(0, opening - 1)):
        return False
    last = candidate.end + _LONGEST_TITLE
    if min((text.find(mark, candidate.end, last) for mark in _QUOTES), key=lambda at: at < 0) < 0:
        return False
    kind = words_before(text, opening, 1)
    return bool(kind) and words.is_work(kind[-1], language)


def _is_honoured(text: str, candidate: Candidate, words: Vocabulary) -> bool:
    """Return whether a given name is joined to it: "Robert-Bosch-Straße"."""
    start = candidate.start
    if not start or text[start - 1] != "-":
        return False
    match = search_before(_NAMED_AFTER, text, start)
    return match is not None and match[1] in words.given_names
