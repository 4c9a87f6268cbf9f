"""Chinese, Japanese and Korean: whether a short name only arises across two words, and whether what
follows a name says that it is a company's."""

import re
from collections.abc import Set
from functools import lru_cache

from icu4py.breakers import WordBreaker

from newscrawl.mentions.vocabulary import Vocabulary

# Signs; longer names hardly ever arise by chance.
_LONGEST = 3
# Signs around a name that are divided into words. Ours: few words of the dictionary are longer.
_WINDOW = 12
_SHORT_NAME = re.compile(rf"[\u3041-\u309f\u3400-\u9fff々]{{2,{_LONGEST}}}")
_NEIGHBOUR = re.compile(r"[\u3041-\u309f\u3400-\u9fff々]")
# What stands behind companies though it makes a word with their last sign (西门|子公司), and what
# is mostly a word of its own (农|行为).
_BEHIND_COMPANIES = re.compile(r"公司|集[团團]|方面|股份|[为為也和将將是的在与與向及]")
# Endings of verbs: 全日|空いている. Behind a noun other signs stand.
_VERB_ENDING = re.compile(
    r"(?<=[\u3400-\u9fff])[いうくぐけげきぎすせつてちっぬねびぶべむめみりるれろ]"
)
# Signs that write the sounds of foreign names, with which few words end or begin: 莫雷诺, 弗林德斯.
_GOES_ON = re.compile(r"(?<=[莫弗赫蒂穆娜兹茨雅妮埃洛厄勒])")
_FOLLOWS = re.compile(r"[尔爾姆兹茲茨娅婭莎蒂]|斯(?![洛里德坦图圖])")
# "一百度", "三千万达": a number, and what is counted.
_NUMERAL = re.compile(
    r"(?<![之前][一二三四五六七八九十])(?<=[一二三四五六七八九几幾两兩数數千百])[百千万萬亿億]"
)
# A point joins the parts of a foreign person's name; an office stands before or behind a name.
_PERSON_BEFORE = re.compile(
    r"(?:[\u3400-\u9fff]·|[A-Z]・|记者|記者|副行长|副行長|队长|隊長|选手|選手|教授|博士|主席|总理"
    r"|总统|總統|部长|部長|市长|市長|将军|將軍|导演|導演|演员|演員|歌手|教练|教練|球员|球員|前锋"
    r"|后卫|门将|中场|人皇|(?<=[\u30a1-\u30fa\u30fc])[公伯侯卿王])$"
)
_PERSON_BEHIND = re.compile(
    r"·[\u3400-\u9fff]|(?:将军|將軍|先生|女士|小姐|教授|博士|同学|同志|记者|記者)(?![节会會])"
)
# "Hermes(黄远康)": whose name in a game it is; "ティム・ボッシュ": whose parts are joined.
_NICKNAME = re.compile(r" ?\([\u3400-\u9fff]{2,3}\)")
_JOINED_BEFORE = re.compile(r"(?:[\u30a1-\u30fa\u30fc]+・)+$")
_LONGEST_JOINED = 30
# A place of an address: 飛騨市河合町角川の.
_ADDRESS_BEFORE = re.compile(r"[\u3400-\u9fff][市郡町村]$")
_ADDRESS_BEHIND = re.compile(r"[のにで、。,]")
# Frequent surnames that are hardly words of one sign.
_SURNAMES = frozenset(
    "王李黄黃张張刘劉陈陳杨楊赵趙吴吳周徐孙孫朱胡郭罗羅郑鄭谢謝宋唐冯馮邓鄧曹彭曾肖萧田董潘袁蔡蒋蔣杜叶葉魏吕呂丁沈"
    "姚卢盧姜崔钟鍾谭譚汪范廖贾賈韦韋邹鄒孟秦邱尹薛闫閻段侯龚龔邵钱錢严嚴"
)
_TRADE_BEFORE = re.compile(
    r"(?:(?:大手|メーカー|チェーン)の?|[傘伞][下]の|子会社の|巨[头頭]|[龙龍][头頭]|[厂廠]商|[车車房药藥]企|券商|运营商|[开開]发商|制造商|零售商|[电電]商)$"
)
# Signs between an everyday word and its predicate that tell of a field, a kitchen or a doctrine,
# and those behind it: 苹果收购价, 小米订单农业.
_OF_FIELDS = "种種植养養殖斤亩畝吨噸箱颗顆棵株粒园園树樹粥杂雜粮糧农農加批义義"
_FIRM_JOINT = rf"(?: ?\([^()\n]{{1,12}}\))?[^，。！？；：、,;:!?()\n{_OF_FIELDS}]{{0,4}}?"
_NO_FIELD = "(?!.{0,3}[种種]|[价價商站点點农農军軍])"
# What is said of a crop: 苹果收购价, 三斤小米.
_CROPS = frozenset({"苹果", "蘋果", "小米", "黑莓"})
_CROP_BEHIND = re.compile(
    rf".?[{_OF_FIELDS}]|收购[价站点商]|新品[种種]|[产產][区區地量]|[丰豐]收|采摘|成熟|[减減][产產]|滞销"
)
_CROP_BEFORE = re.compile(r"[斤吨噸箱筐颗顆棵株粒亩畝袋碗碟](?:[的红紅黄黃青])?$")
# A country's name in front of a word for a trade, and what is said of all of that trade there:
# 中国电信事业, 荷兰银行之首.
_OF_COUNTRY = re.compile(
    r"(?:[中美英法德日韩韓印俄]国|[中美英法德韓]國|日本|印度|荷兰|荷蘭|俄罗斯|俄羅斯|瑞士|瑞典|加拿大|巴西|新加坡|台湾|台灣|香港)"
    r"[\u3400-\u9fff]{2,5}"
)
_OF_TRADE = re.compile(
    r"业(?![绩务主])|業(?![績務主])|界(?!面)|(?:事业|事業|行业|行業|产业|產業)(?![链鏈部群])|企业(?![客用部级])|企業(?![客用部級])|之[首一]|的(?:腾飞|騰飛|崛起|振兴|振興)"
)
# Railways and bus companies, and their lines and stations: 京王相模原線, 阪急梅田駅.
_RAILWAY = re.compile(r"(?:(?<!電)鉄|[铁鐵急王武阪]|京成|JR.{0,3}|メトロ|巴士)$")
_LINES = {
    language: re.compile(
        rf"[\u30a1-\u30fa\u30fc\u3400-\u9fff々ヶ]{{0,{longest}}}?"
        r"(?:(?<![回電电光無无有路視视产產干])[线線](?![上下索程缆路])|駅(?![ビ弁]))"
        r"|\d{1,3}[A-Z]{0,2}(?:[线線路]|号线|號線)"
    )
    for language, longest in {"ja": 7, "zh": 3}.items()
}
# What joins a name to the predicate of its clause, by language: a particle and other words.
_JOINTS = {
    "zh": r"(?: ?\([^()\n]{1,12}\))?[^，。！？；：、,;:!?()\n]{0,6}?",
    "ja": "(?:[社側]?[がはもと、][^。\n]{0,25}?|の)?",
    "ko": "(?:(?:[이가은는도와과]|측[은이]?|에서)[ ,][^.\n]{0,25}?|의 |(?: [^ .\n]{1,6})?,? )",
}


def is_across_words(text: str, start: int, end: int) -> bool:
    """Return whether a word crosses an end of a short name: 金融创新 holds no 融创."""
    if end - start > _LONGEST or not _SHORT_NAME.fullmatch(text, start, end):
        return False
    if not _NEIGHBOUR.match(text, end) and not (start and _NEIGHBOUR.match(text, start - 1)):
        return False
    # "弗林德斯湾" holds no 林德.
    rules = ((_VERB_ENDING, end), (_GOES_ON, start), (_FOLLOWS, end), (_NUMERAL, start))
    if any(rule.match(text, place) for rule, place in rules):
        return True
    begin = max(0, start - _WINDOW)
    firm_end = _BEHIND_COMPANIES.match(text, end) is not None
    return any(
        first < start - begin < last or (first < end - begin < last and not firm_end)
        for first, last in WordBreaker(text[begin : end + _WINDOW], "zh").segments()
    )


def names_person(text: str, start: int, end: int, given_names: Set[str]) -> bool:
    """Return whether an office or another name makes it a person's: 记者苏宁, 希尔顿将军,
    ジョン・B・マクドナルド, Hermes(黄远康)."""
    if text[start - 1 : start] == "・":
        joined = _JOINED_BEFORE.search(text, max(0, start - _LONGEST_JOINED), start)
        if joined is not None and not given_names.isdisjoint(joined[0].split("・")):
            return True
    nickname = text[start:end].isascii() and _NICKNAME.match(text, end)
    return bool(
        (nickname and nickname[0].lstrip(" (")[0] in _SURNAMES)
        or _PERSON_BEFORE.search(text, max(0, start - 4), start)
        or _PERSON_BEHIND.match(text, end)
        or _follows_surname(text, start, end)
    )


def names_trade_place_or_crop(text: str, start: int, end: int, language: str | None) -> bool:
    """Return whether the whole is a trade of a country (中国电信事业), a railway's line or station
    (京王相模原線), a place of an address (河合町角川) or a crop (苹果收购价)."""
    if language not in _LINES:
        return False
    if text[start:end] in _CROPS and (
        _CROP_BEHIND.match(text, end) or _CROP_BEFORE.search(text, max(0, start - 2), start)
    ):
        return True
    if _OF_COUNTRY.fullmatch(text, start, end) and _OF_TRADE.match(text, end):
        return True
    if _RAILWAY.search(text, start, end) and _LINES[language].match(text, end):
        return True
    return (
        end - start == 2
        and _ADDRESS_BEFORE.search(text, max(0, start - 2), start) is not None
        and _ADDRESS_BEHIND.match(text, end) is not None
    )


def _follows_surname(text: str, start: int, end: int) -> bool:
    """Return whether a word that is a Chinese surname stands before a name of two signs: 罗隆基."""
    if end - start != 2 or not start or text[start - 1] not in _SURNAMES:
        return False
    if _BEHIND_COMPANIES.match(text, end):
        return False
    begin = max(0, start - _WINDOW)
    segments = WordBreaker(text[begin : end + _WINDOW], "zh").segments()
    return any(first == start - 1 - begin for first, _ in segments)


def has_predicate(
    text: str, start: int, end: int, language: str | None, form: str, words: Vocabulary
) -> bool:
    """Return whether the clause behind a name has one of the words of its language (工行利润,
    コマツが増益), or a word for its trade stands before it (流通大手のイオン)."""
    if language not in _JOINTS:
        return False
    if _TRADE_BEFORE.search(text, max(0, start - 5), start):
        return True
    is_word = form in words.wordlike.get(language, ())
    predicates = words.firm_predicates if is_word else words.predicates
    return _behind(language, predicates[language], is_word).match(text, end) is not None


@lru_cache
def _behind(language: str, words: frozenset[str], is_word: bool) -> re.Pattern[str]:
    joint, behind = _JOINTS[language], ""
    if is_word and language == "zh":
        joint, behind = _FIRM_JOINT, _NO_FIELD
    anywhere = "|".join(sorted(re.escape(word) for word in words if word[0] != "="))
    beside = "|".join(sorted(re.escape(word[1:]) for word in words if word[0] == "="))
    return re.compile(f"(?:{joint}(?:{anywhere})| ?(?:{beside or '(?!)'})){behind}")
