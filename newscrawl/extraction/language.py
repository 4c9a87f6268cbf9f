"""Which language a text is in: what the page declares, checked against its stop words."""

from functools import cache
from typing import Final

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from newscrawl.extraction.tokens import count, languages

# Ours: running text of the 27 languages has 0.15 (Korean) to 0.5 stop words; below, or with
# fewer words, the stop words' verdict is not trusted on its own.
SURE_SHARE: Final = 0.15
SURE_WORDS: Final = 40
# A declared language stands if it has at least this share of the winner's stop words: close
# relatives (Danish and Norwegian, Czech and Slovak) share most of theirs.
CLOSE: Final = 0.8
# Characters of the text that are read: some 150 words, which are plenty.
READ: Final = 1000


def settle_language(declared: str | None, text: str) -> str | None:
    """The text's language as ISO 639-1: `declared` where the text does not speak against it."""
    tokens = count((text[:READ],))
    words, stop_words = int(tokens.words[0]), tokens.stop_words[0]
    if not words:
        return declared
    winner = int(stop_words.argmax())
    sure = words >= SURE_WORDS and stop_words[winner] >= SURE_SHARE * words
    if declared in languages():
        own = stop_words[languages().index(declared)]
        if not sure or own >= CLOSE * stop_words[winner]:
            return declared
    if sure and declared is None:
        return languages()[winner]
    if words < SURE_WORDS and declared is not None:
        return declared
    return _identify(text)


@cache
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE)


def _identify(text: str) -> str:
    code, _ = _identifier().classify(text[:READ])
    return str(code)
