"""Lists: names that commas, conjunctions and relations join, so that one supports the next."""

import re

from newscrawl.mentions.context import MentionContext

_WORDS = """and|or|und|oder|sowie|et|ou|y|o|e|ed|i|oraz|lub|и|или|και|κι|och|eller|og|ja|sekä|tai|és
|illetve|și|iar|ve|ile|en|of|та|й|і|або|a|či|και|và|dan|và|और|व|तथा|एवं|&"""
# A definite article before the next name: "la BNP et la Société générale", "az OTP és a Mol".
_ARTICLES = """the|der|die|das|den|dem|le|la|les|el|los|las|il|lo|gli|i|o|a|os|as|az|de|het|ο|η|το
|οι|τα|τον|την|τη|του|της|στον|στην|στη|στο"""
_BLANK = re.compile(r"\s+")
_CONJUNCTIONS = (
    rf",? (?:{_BLANK.sub('', _WORDS)}) |和|与|與|及|以及|跟|と|や|[와과] "
    # Arabic and Hebrew write "and" with the next word.
    r"|،? و(?:ال|ب|ل)?|,? ו[בלהמ]?"
)
# Relations between companies: "from Dell to HP", "Apple vs. Samsung".
_RELATIONS = r" (?:to|from|vs\.?|versus) "
_FRAME = r"[\"»”“]?(?:{0})(?:(?:{1}) |l')?[\"«„“]?"
_NEXT = _BLANK.sub("", _ARTICLES)
CONJUNCTION = re.compile(_FRAME.format(_CONJUNCTIONS, _NEXT), re.IGNORECASE)
JOINT = re.compile(
    _FRAME.format(rf"{_CONJUNCTIONS}|{_RELATIONS}|[,;،] |/|、|・|·", _NEXT), re.IGNORECASE
)
_LONGEST_JOINT = len('", illetve der "')
# How many characters a name may have.
_REACH = 60


def joined_before(
    text: str, start: int, context: MentionContext, joint: re.Pattern[str]
) -> int | None:
    """Return where a name begins that is joined to a place from the left; None if none is."""
    for end in range(start - 1, max(0, start - _LONGEST_JOINT) - 1, -1):
        if end in context.ends and joint.fullmatch(text, end, start):
            begins = range(end - 1, max(0, end - _REACH) - 1, -1)
            return next((place for place in begins if place in context.starts), None)
    return None


def joined_after(
    text: str, end: int, context: MentionContext, joint: re.Pattern[str]
) -> int | None:
    """Return where a name ends that is joined to a place from the right; None if none is."""
    for start in range(end + 1, min(len(text), end + _LONGEST_JOINT) + 1):
        if start in context.starts and joint.fullmatch(text, end, start):
            stops = range(start + 1, min(len(text), start + _REACH) + 1)
            return next((place for place in stops if place in context.ends), None)
    return None


def count_beside(text: str, start: int, end: int, context: MentionContext) -> int:
    """Return how many names beyond doubt are in one list with a place; it counts to two on either
    side."""
    count = 0
    place = joined_before(text, start, context, JOINT)
    while place is not None and count < 2:
        count, place = count + 1, joined_before(text, place, context, JOINT)
    place = joined_after(text, end, context, JOINT)
    while place is not None and count < 2:
        count, place = count + 1, joined_after(text, place, context, JOINT)
    return count
