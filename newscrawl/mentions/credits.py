"""Recognise credits and teasers: places that name a company, though the article is not about it.

Credits name a newspaper or agency for its work: "(Reuters) -", "told Sky News", and a newspaper's
own footer: if the caller names the source, its publisher does not count in sentences of
boilerplate. Teasers are the headlines of other articles: "Read more: Yahoo falls".
"""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from urllib.parse import urlsplit

from ahocorasick_rs import AhoCorasick

from newscrawl.mentions.candidates import Candidate, caseless
from newscrawl.mentions.forms import without_accents
from newscrawl.mentions.vocabulary import Vocabulary
from newscrawl.text import words_of_kind

# Characters before a name in which a credit may begin, and those of the longest sentence.
_LEAD = 90
_SENTENCE = 300
# "(Reuters) - The bank ...": a dateline.
_DATELINE = re.compile(r"\)\s*[-–—:]")
# "Photo: Carlos Barria/REUTERS", "© Sky News".
_CREDIT = re.compile(
    r"(?:\b(?:reporting|writing|editing|compiled|photo\w*|image|video|source|credit|picture|courtesy"
    r"|foto\w*|bild|bilder|quelle|crédits?|fuente|imagen|fonte|immagine|zdj|fot|фото|источник)\b"
    r"[^.\n]{0,30}?(?::| by | via | for |/)\s?|©\s?|\b(?:images|afp|ap|dpa|epa)/|\bvia )(?:the )?$",
    re.IGNORECASE,
)
# "Photo: Nintendo", "Image courtesy of Apple": who made a picture.
_PICTURE = re.compile(
    r"\b(?:photos?|images?|pictures?|photograph|video|fotos?|bild|bilder|imagen|immagine|zdj|фото)"
    r"(?: (?:credits?|source))?(?: ?:| courtesy(?: of|:)| by:?)\s?(?:[A-Z][\w']* ?/ ?)?$",
    re.IGNORECASE,
)
# "(Ann Lee / Flickr)".
_BEHIND_NAME = re.compile(r"\([^()/\n]{2,40} ?/ ?$")
# "told Fox News", "laut RTL", "selon TF1", "en declaraciones a Antena 3".
_SAID_TO = re.compile(
    r"\b(?:told|tells|telling|interview (?:with|on|to)|according to|(?:reported|cited|quoted) by"
    r"|(?:speaking|spoke|speaks) (?:to|on|with)|(?:said|says|appear\w*|aired|shown) on|seen on"
    r"|laut|gegenüber|interview mit|berichtete|sagte|selon|d'après|sur|micro de|invitée? de"
    r"|plateau de|según|(?:declaraciones|entrevista|dijo|explicó|declaró|informó) (?:a|en)"
    r"|secondo|(?:detto|intervista|dichiarato) (?:a|su)) (?:the |der |dem |la |el )?$"
)
_SAYS = re.compile(
    r"(?:'s)?,? (?:reports?|reported|reporting|first reported|said citing|zufolge|berichtete?"
    r"|meldete?|a rapporté|rapporte|a révélé|informó|informa|avanzó|riporta|riferisce)\b"
)
# "Follow us on Facebook, Twitter", "nuestro canal de YouTube": a newspaper's own channels.
_FOLLOW = re.compile(
    r"(?:(?:(?i:follow|find|join|watch|visit|like)(?i:ing)? (?:(?i:us|me|him|her|them)|@\w+)"
    # "Like People on Facebook" compares.
    r"|(?i:follow|find|join|watch|visit)(?i:ing)? [A-Z][\w']*(?: [A-Z][\w']*){0,3})"
    r"(?: (?:online|live|today|too|also|along|here|the conversation))* (?i:on)"
    r"|(?i:follow the conversation|share (?:this|it)|with (?:your )?friends)[^.!?\n]{0,40} on"
    r"|(?i:subscribe|stream|listen|read|watch) on|(?i:connect) with (?:us|me|him|her) on"
    r"|(?i:visit|visiting|see|check out|on|by|at|to) our|(?i:subscribe) to (?:our|his|her)"
    r"|(?i:folgen|folge|folgt|finden|besuchen|liken) (?:(?i:sie|du|ihr) )?uns(?: auch)? (?:auf|bei)"
    r"|(?i:suivez|retrouvez|rejoignez)[- ][^.!?\n]{0,30} sur"
    r"|(?i:síguenos|síganos|siga-nos|síguelo|suscríbete|encuéntranos)[^.!?\n]{0,30} (?:en|no|a)"
    r"|(?i:nuestr[ao]|noss[ao]) (?:canal|página|cuenta|perfil|conta)(?: oficial)? (?:de|en|do|no)"
    r"|(?i:seguici|iscriviti|trovaci)[^.!?\n]{0,30} (?:su|al)"
    r"|(?i:nostr[ao]) (?:canale|pagina|profilo)"
    r"|(?i:obserwuj|polub|znajdź|śledź) nas [^.!?\n]{0,20}(?:na|w)"
    r"|(?i:подписывайтесь|подпишитесь|читайте нас|следите за нами)[^.!?\n]{0,40} (?:в|на)"
    r"|(?i:наш[а-я]*) (?:канал|групп|страниц)[а-я]* (?:в|на)"
    r"|\b(?:Siga|Acompanhe|Curta|Sigam) [^!?\n]{0,40} (?:no|na)"
    r"|\b(?:Sigue|Siga) a [^.!?\n]{0,40} en|\bVolg [^!?\n]{0,40} op"
    r"|\bFølg [^.!?\n]{0,40} på|\bFölj [^.!?\n]{0,40} på"
    r"|(?i:ακολουθήστε μας)[^.!?\n]{0,30} (?:στο|στα)|关注|關注)\s?"
    r"(?:(?:[A-Z]\w+\+?|@\w+)(?:, | and | or | und | et | y | e | i | и |/|, and ))*$"
)
# "Connect with Ann on LinkedIn", "Join the community on Facebook": asked of the reader, at the
# beginning of a sentence; "my YouTube channel"; "we post on Facebook".
_ASKED = re.compile(
    r"(?:^|[.!?:•|] |\n)(?:please |also |and |so |or |then |do )*"
    r"(?:follow|find|join|connect with|stay in touch|keep in touch|keep up with|tag|subscribe"
    r"|become|share this|share your|like (?:us|me|our|the page)|leave (?:us|me|a)|reach out to)\b"
    r"[^.!?\n]{0,70} (?:on|via|to|at|through|over on) (?:the )?$"
    r"|\b(?:I|we)(?:'m| am|'re| are)?(?: also| often)? (?:post|share|tweet|blog) "
    r"[^.!?,\n]{0,30} on $"
    # "@newscrawl on Instagram", "Podcasts | Spotify | YouTube"
    r"|@\w[\w.]*(?:(?:,| and| &| or|, and) @\w[\w.]*)* on $|\| $",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r" \||(?: (?:as|at|under|with|als|unter))?:? ?\(?"
    r"(?:@\w|(?:facebook|twitter|instagram|youtube)\.com/)"
    r"|(?: (?:and|or) [A-Z]\w+)? (?:share )?buttons?\b"
    r"|(?: and [A-Z]\w+)?, (?:I|we) (?:post|share)\b",
    re.IGNORECASE,
)
_MY = re.compile(
    r"\b(?:on|via|at|to|from|of) (?:my|our)(?: (?:free|own|new|official|personal))? $",
    re.IGNORECASE,
)
_MINE = re.compile(r" (?:page|profile|channel|board|feed|group|community)\b", re.IGNORECASE)
_CHANNELS = "on op på our to his her auf bei sur en no a de do su al na w в на στο στα"
_CHANNEL_PREPOSITIONS = frozenset(_CHANNELS.split())
_JOINING = frozenset({"", "and", "or", "und", "oder", "et", "y", "e", "i", "и"})
# "腾讯财经讯": the agency of a Chinese byline.
_BYLINE = re.compile(r"(?:网|財經|财经|科技|体育|娱乐|新闻|汽车|房产)?(?:讯|訊|消息)")
# "Siemens wins order - PR Newswire": what a headline is from, behind its last mark.
_BEHIND_HEADLINE = re.compile(r"[^\n]{15} (?:[-–—|·•]|//?) ?(?:via )?$")
_STOP = re.compile(r"[.!?](?=\s)|\n|[。！？]")
# "Read more: ", "» ALSO READ | ": a label, and what separates it from the other article's headline.
_LABEL = re.compile(r"[^\w\n]*([^\n]{2,40}?) ?(?:[:|›»>→–—/\]】]|- )")
MAX_TEASER = 250  # characters of a paragraph that is only a teaser


class Credits:
    """Finds the credits of a registry's publishers."""

    def __init__(self, published: Iterable[tuple[int, Sequence[str]]], words: Vocabulary) -> None:
        self._publishers = {
            index: frozenset(outlet.casefold() for outlet in outlets)
            for index, outlets in published
        }
        self._published: dict[str, set[int]] = {}
        for index, outlets in self._publishers.items():
            for outlet in outlets:
                self._published.setdefault(outlet, set()).add(index)
        self._platforms = words.platforms
        # A pattern of all of them takes twenty times as long as the rest of a candidate's checks.
        self._follow = AhoCorasick(sorted(map(caseless, words.follow_us)))
        self._boilerplate = re.compile(
            "|".join(rf"(?<!\w){re.escape(cue)}" for cue in sorted(words.boilerplate)),
            re.IGNORECASE,
        )

    @cached_property
    def teasers(self) -> frozenset[str]:
        """Return the labels of other articles ("Read more"), without case and accents, which Greek
        capitals lack; they are read when the first label comes."""
        return frozenset(without_accents(caseless(label)) for label in words_of_kind("label"))

    def publishers_of(self, source: str | None) -> frozenset[int]:
        """Return the companies that publish a source, given by URL, host or name."""
        if not source:
            return frozenset()
        name = source.strip().casefold()
        host = _host(name)
        labels = host.split(".")
        domains = (".".join(labels[start:]) for start in range(len(labels)))
        return frozenset().union(*(self._published.get(key, ()) for key in (name, *domains)))

    def is_teaser(self, text: str, candidate: Candidate) -> bool:
        """Return whether the candidate's paragraph is only the headline of another article behind a
        label such as "Read more:". The title of an article may begin so: "Watch: ..."."""
        start = text.rfind("\n", 0, candidate.start) + 1
        label = _LABEL.match(text, start, candidate.start) if start else None
        if label is None or without_accents(caseless(label[1])) not in self.teasers:
            return False
        return text.find("\n", candidate.end, start + MAX_TEASER) >= 0 or (
            len(text) <= start + MAX_TEASER
        )

    def is_credit(self, text: str, candidate: Candidate, publisher: frozenset[int]) -> bool:
        """Return whether a publisher is named as author, medium or owner of the text, not as a
        company."""
        index = candidate.form.company
        lead = text[max(0, candidate.start - _LEAD) : candidate.start]
        form = candidate.form.text
        if form in self._platforms and (
            _is_own_channel(lead)
            or self._is_among_channels(text, candidate)
            or _points_to(text, candidate, lead)
        ):
            return True
        byline = not form.isascii() and _BYLINE.match(text, candidate.end)
        bracket = text.startswith(")", candidate.end) and _BEHIND_NAME.search(lead)
        if byline or bracket or _PICTURE.search(lead):
            return True
        outlets = self._publishers.get(index)
        if outlets is None:
            return False
        if candidate.end in {len(text), text.find("\n")} and _BEHIND_HEADLINE.search(lead):
            return "\n" not in text[: candidate.end]
        dateline = lead.endswith("(") and _DATELINE.match(text, candidate.end)
        if dateline or _CREDIT.search(lead):
            return True
        if candidate.form.text.casefold() in outlets and (
            _SAID_TO.search(lead) or _SAYS.match(text, candidate.end)
        ):
            return True
        return index in publisher and self._in_boilerplate(text, candidate)

    def _is_among_channels(self, text: str, candidate: Candidate) -> bool:
        """Return whether the newspaper asks its readers in this sentence to follow it: "Volg ons op
        X"."""
        begin = max(0, candidate.start - 2 * _LEAD)
        starts = [stop.end() for stop in _STOP.finditer(text, begin, candidate.start)]
        stop = _STOP.search(text, candidate.end, candidate.end + _LEAD)
        end = stop.end() if stop else candidate.end + _LEAD
        sentence = caseless(text[starts[-1] if starts else begin : end])
        return bool(self._follow.find_matches_as_indexes(sentence))

    def _in_boilerplate(self, text: str, candidate: Candidate) -> bool:
        """Return whether its sentence has a word of boilerplate (subscriptions, rights)."""
        begin = max(0, candidate.start - _SENTENCE)
        starts = [stop.end() for stop in _STOP.finditer(text, begin, candidate.start)]
        stop = _STOP.search(text, candidate.end, candidate.end + _SENTENCE)
        start = starts[-1] if starts else begin
        end = stop.end() if stop else candidate.end + _SENTENCE
        return self._boilerplate.search(text, start, end) is not None


def _points_to(text: str, candidate: Candidate, lead: str) -> bool:
    """Return whether a network's name is only the place of an author's or a newspaper's account."""
    if _POINTS.match(text, candidate.end) or _ASKED.search(lead):
        return True
    return _MY.search(lead) is not None and _MINE.match(text, candidate.end) is not None


def _is_own_channel(lead: str) -> bool:
    """Return whether the text before a network's name asks to follow the newspaper on it."""
    for word in reversed(lead.split()):
        bare = word.strip(",/")
        # Few texts before a name have the preposition, which is found faster than the whole phrase.
        if bare.lower() in _CHANNEL_PREPOSITIONS or bare.endswith(("关注", "關注")):
            return _FOLLOW.search(lead) is not None
        if not (bare[:1].isupper() or bare[:1] == "@" or bare in _JOINING):
            return False
    return False


def _host(source: str) -> str:
    try:
        host = urlsplit(source if "//" in source else f"//{source}").hostname or ""
    except ValueError:
        return ""
    return host.removeprefix("www.")
