"""Recognise credits and teasers: places that name a company, though the article is not about it.

Credits name a newspaper or agency for its work: "(Reuters) -", "told Sky News", and a newspaper's
own footer: if the caller names the source, its publisher does not count in sentences of
boilerplate. Teasers are the headlines of other articles: "Read more: Yahoo falls".
"""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from ahocorasick_rs import AhoCorasick

from newscrawl.mentions.candidates import Candidate, caseless
from newscrawl.mentions.vocabulary import Vocabulary
from newscrawl.notices import LONGEST_NOTICE, is_notice

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
# With what all of them end, which is cheaper than the search.
_LAST_OF_PICTURE = (":", "/", " by", " courtesy of")
# The same in Chinese, Japanese and Korean.
_PICTURE_BY = re.compile(
    r"(?:(?:写真|画像|[图圖照]片)(?:提供|[来來]源)?|[(【\[]提供|사진(?: ?제공)?|자료|供[图圖])"
    r" ?[:=]\s?$"
)
# A paper, a station or an agency as the medium: テレビ朝日の番組で, 接受凤凰网采访.
_MEDIUM = re.compile(
    r"新聞社?|新闻网?|テレビ(?:朝日|東京)?|放送|通信社|通讯社|日[报報]|晚[报報]"
    r"|(?:财经|新华|人民|凤凰|环球|观察者|中新|新浪|搜狐)网|일보|신문|방송|뉴스"
)
_ASKED_BY_MEDIUM = re.compile(r"(?:接受|告诉|告訴|援引|据|據|综合)$")
_MEDIUM_SAYS = re.compile(
    r"の(?:番組|取材|インタビュー|報道|記者|世論調査|社説|紙面)(?!が)|によると|によれば|[がは](?:報じ|伝え|報道)"
    r"|[报報][道導导]|[记記]者(?![会會])|[采採專专][访訪]|에 따르면|[은는이가] [^.\n]{0,30}보도"
    r"|[와과]의 인터뷰| (?:인터뷰|라디오|보도|취재)"
)
# "(Ann Lee / Flickr)".
_BEHIND_NAME = re.compile(r"\([^()/\n]{2,40} ?/ ?$")
# "Connect with Ann on LinkedIn", "Join the community on Facebook": asked of the reader, at the
# beginning of a sentence; "my YouTube channel"; "we post on Facebook".
_ASKED = re.compile(
    r"(?:^|[.!?:•|] |\n)(?:please |also |and |so |or |then |do )*"
    r"(?:follow|find|join|connect with|stay in touch|keep in touch|keep up with|tag|subscribe"
    r"|become|share this|share your|like (?:us|me|our|the page)|leave (?:us|me|a)|reach out to)\b"
    r"[^.!?\n]{0,70} (?:on|via|to|at|through|over on) (?:the )?$"
    # "For updates, follow The Gazette on Facebook, Twitter": the last of them
    r"|(?:^|[,;(–-] |\b(?:or|and|can|to|just) )"
    r"(?:follow|subscribe|like (?:us|me|them)|become (?:a|our))\b"
    r"[^.!?\n]{0,40} on (?:(?-i:[A-Z])\w+\+?(?:, and|,| and| or| &) )*$"
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
# "腾讯财经讯": the agency of a Chinese byline.
_BYLINE = re.compile(r"(?:网|財經|财经|科技|体育|娱乐|新闻|汽车|房产)?(?:讯|訊|消息)")
# "Siemens wins order - PR Newswire", "(Business Wire)", "| Google News": what a headline is from,
# behind its last mark.
_BEHIND_HEADLINE = re.compile(r"[^\n]{15} (?:[-–—|·•(\[]|//?) ?(?:via )?$")
_END_OF_HEADLINE = re.compile(r"( News)?[)\]/]{0,2}(?:\n|\Z)")
# Platforms whose names stand beside those of others in sentences, too: "Google YouTube chief".
_NO_BUTTONS = frozenset(("Apple", "ESPN", "Google", "LINE", "Max", "MAX", "Messenger"))
_STOP = re.compile(r"[.!?](?=\s)|\n|[。！？]")


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
        # "Facebook X WhatsApp": buttons in a row, which no sentence has.
        networks = (re.escape(form) for form in words.platforms - _NO_BUTTONS)
        button = f"(?:{'|'.join(sorted(networks, key=len, reverse=True))})"
        self._button_behind = re.compile(rf"[ \t\xa0|·•]+{button}(?!\w|['’-])")
        self._button_before = re.compile(rf"(?<!\w){button}[ \t\xa0|·•]+$")
        self._said_to = re.compile(
            rf"\b(?:{'|'.join(map(re.escape, sorted(words.said_to)))})"
            r" (?:the |der |dem |la |el |o |a |l'|agentury |agencji |телеканалу )?$"
        )
        verbs = "|".join(map(re.escape, sorted(words.says)))
        self._says = re.compile(rf"(?:'s)?,? (?:{verbs})\b")
        # A pattern of all of them takes twenty times as long as the rest of a candidate's checks.
        self._follow = AhoCorasick(sorted(map(caseless, words.follow_us)))
        self._boilerplate = re.compile(
            "|".join(rf"(?<!\w){re.escape(cue)}" for cue in sorted(words.boilerplate)),
            re.IGNORECASE,
        )

    def publishers_of(self, source: str | None) -> frozenset[int]:
        """Return the companies that publish a source, given by URL, host or name."""
        if not source:
            return frozenset()
        name = source.strip().casefold()
        host = host_of(name)
        labels = host.split(".")
        domains = (".".join(labels[start:]) for start in range(len(labels)))
        return frozenset().union(*(self._published.get(key, ()) for key in (name, *domains)))

    def is_of_notice(self, text: str, candidate: Candidate) -> bool:
        """Return whether the candidate's paragraph, or a network's sentence, only speaks of the
        paper or is the headline of another article behind a label such as "Read more:". The title
        of an article may begin so: "Watch: ..."."""
        start = text.rfind("\n", 0, candidate.start) + 1
        limit = start + LONGEST_NOTICE + 1
        end = text.find("\n", candidate.end, limit)
        if start and is_notice(text[start : end if end >= 0 else limit]):
            return True
        return candidate.form.text in self._platforms and is_notice(
            text[slice(*_sentence_of(text, candidate, _SENTENCE))]
        )

    def is_credit(self, text: str, candidate: Candidate, publisher: frozenset[int]) -> bool:
        """Return whether a publisher is named as author, medium or owner of the text, not as a
        company."""
        index = candidate.form.company
        lead = text[max(0, candidate.start - _LEAD) : candidate.start]
        form = candidate.form.text
        if form in self._platforms and (
            # A newspaper asks its readers to follow it: "Volg ons op X".
            self._follow.find_matches_as_indexes(
                caseless(text[slice(*_sentence_of(text, candidate, 2 * _LEAD))])
            )
            or _points_to(text, candidate, lead)
            or (
                form not in _NO_BUTTONS
                and (
                    self._button_behind.match(text, candidate.end)
                    or self._button_before.search(lead)
                )
            )
        ):
            return True
        byline = not form.isascii() and _BYLINE.match(text, candidate.end)
        bracket = text.startswith(")", candidate.end) and _BEHIND_NAME.search(lead)
        if (
            byline
            or bracket
            or (lead.rstrip().lower().endswith(_LAST_OF_PICTURE) and _PICTURE.search(lead))
        ):
            return True
        if lead.endswith((":", "=", ": ", "= ")) and _PICTURE_BY.search(lead):
            return True
        if (
            not form.isascii()
            and _MEDIUM.search(form)
            and (_MEDIUM_SAYS.match(text, candidate.end) or _ASKED_BY_MEDIUM.search(lead))
        ):
            return True
        outlets = self._publishers.get(index)
        ended = _END_OF_HEADLINE.match(text, candidate.end)
        if ended and (outlets or ended[1]) and _BEHIND_HEADLINE.search(lead):
            return "\n" not in text[: candidate.end]
        if outlets is None:
            return False
        dateline = lead.endswith("(") and _DATELINE.match(text, candidate.end)
        if dateline or _CREDIT.search(lead):
            return True
        if candidate.form.text.casefold() in outlets and (
            self._said_to.search(lead) or self._says.match(text, candidate.end)
        ):
            return True
        sentence = _sentence_of(text, candidate, _SENTENCE)
        return index in publisher and self._boilerplate.search(text, *sentence) is not None


def _sentence_of(text: str, candidate: Candidate, limit: int) -> tuple[int, int]:
    """Return the bounds of a candidate's sentence, `limit` characters to each side at most."""
    begin = max(0, candidate.start - limit)
    starts = [stop.end() for stop in _STOP.finditer(text, begin, candidate.start)]
    stop = _STOP.search(text, candidate.end, candidate.end + limit)
    return starts[-1] if starts else begin, stop.end() if stop else candidate.end + limit


def _points_to(text: str, candidate: Candidate, lead: str) -> bool:
    """Return whether a network's name is only the place of an author's or a newspaper's account."""
    if _POINTS.match(text, candidate.end) or _ASKED.search(lead):
        return True
    return _MY.search(lead) is not None and _MINE.match(text, candidate.end) is not None


def host_of(source: str) -> str:
    try:
        host = urlsplit(source if "//" in source else f"//{source}").hostname or ""
    except ValueError:
        return ""
    return host.removeprefix("www.")
