"""Forms: how a company's name may be spelled and inflected in a text.

The registry writes each form once; this module adds the spellings that newspapers use (capitals,
a hyphen for a blank, no accents) and knows the case endings of languages.
"""

import re
import unicodedata
from bisect import bisect
from typing import NamedTuple

# Letters that Unicode does not decompose into a base letter and a mark.
_BASE_LETTERS = str.maketrans("łŁøØđĐıё", "lLoOdDiе")
_UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"}

# Languages in which a name takes -s without an apostrophe in the genitive.
_GENITIVE_S = frozenset({"de", "nl", "sv", "da", "no", "nb"})
_DECLINE_O = frozenset({"cs", "sk", "hu"})
_SLAVIC = frozenset({"pl", "cs", "sk", "hr", "sl", "sr", "bs"})

# Case endings of nouns and adjectives, as the languages' school grammars list them.
_ENDINGS = {
    "latin": """a u owi em iem ie zie ze y i e ę ą o ów om ach ami ego emu ym im ej iego iemu ii ią
        ię ia ovi ě ů ou em e ím ích ech ám ami ům""",
    "fi": """n ssa ssä sta stä lla llä lle lta ltä a ä ta tä t an en in on issa issä ista istä
        illa illä ille ilta iltä iin ia iä ien na nä ksi iksi""",
    "hu": """t ot et at öt nak nek ban ben ba be ból ből n on en ön ra re ról ről hoz hez höz nál
        nél tól től val vel tal tel lal lel sal sel kal kel gal gel nal nel ral rel ig ért ként ja
        je a é éi k ok ek át ának ával ába ában án ához ánál ától ából áról ára ája""",
    "ro": "ul ului l lui ulu a ei e ii",
    "et": """i is isse ist ile il ilt iga iks ini ina ita it t s sse st le l lt ga ks ni na ta d de
        id ide""",
    "lv": "s a am u ā os i ai as ei ē ēm ās ām us ja jas jai ju jā jām",
    "lt": """as is us o ui ą u e io iui iu į yje ai ams uose ų a os ai oje iai ių iams jos jai ją
        joje""",
    "is": "s i ar u um a inn ins inu na",
    # Adjectives that Slavic languages derive from a name: "Siemensův šéf", "Siemensova uprava".
    "adjective": "ov ův ova ovo ove ovi ovy ovu ovou ovej ovú ovih ovim ovog ovem",
    # A name without its last letter that ends in "i" takes a "j" in Croatian: "Nokije".
    "behind i": "ja je ji ju jo jom",
    # The article of Bulgarian and Macedonian: "Тойотата".
    "article": "та ът ят то те",
    "cyrillic": """а у ом ем ём е ы и ов ев ам ям ами ями ах ях я ю ью ией ей ой ою ий ый ая яя
        ое ее ые ие ого его ому ему ую юю ым им ых их ь й ии ию ия о і ї ові еві єю""",
    "greek": """ς ο ου ον ος α ας η ης ην ες ων οι ους ε εις εως ι ια ιας ή ής ήν ά άς ός ού ό όν
        ών ές οί ούς ία ίας ιου ίου ιο ιος ιον ιων ίων""",
}
# Characters of names in simplified and in traditional Chinese: news of Taiwan and Hong Kong writes
# 美團, that of the mainland 美团.
_SIMPLIFIED = (
    "农业银国险际团宝猫网云钢蚂蚁体华硕电脑达车宁济驰现哔东纳亚节动头条时铝长设广发寿证矿邮铁润"
    "筑峡总联庆资粮飞远运园托储讯当创风产标龙线传荣轿红丰众鹤复医药鸿兰赣锋锂极机尔调绿捞岛视终"
    "为术谊记兴爱艺软铜剑阳贵乐泸点评来咏欧气财马汤赛顺维递苏购晖圣湾腾齐师携积统树诚万连学潍温"
    "双汇纬厦门书鹏鱼辉优圆韵谱麦制贷莱乌诺历罗劳萨珐凯儿侬爷货开鳄悦轩诗奥狮导环兹汉玛贝杰费睐"
    "乔测试输梦宫铃会装卫库销胶报势显烟关龟铠侠户讲谈炉浓无画计属话组场馆损鲁丽织叶卢镍谢韦钾贸"
    "毕飒谋顿宾黄迈伦洁壳逊进苹应缤礼闻异强领锡脸伟准仪胜韩庞务内项实础"
    "鸡鸭鹅鸟鲜鲍饭饮饰饺饿馒饼钱锅镜锦铺链锁间阁闽阅顶顾颜颐买贡赞赢轮载辅选邻遥卖妆妈娱孙层岭张扬"
    "抚数晓晋杨构档桥楼樱欢泽浆满滨炼烧猎珑疗盐种稳窝简粤级纪绝脉莲虾语课读跃辽郑陆阶驱鹰厅区厂乡仓"
    "养凤劲厨变图坚坛坝声宠屿帮恒恺戏挚旷检烫畅码络综缘许谁谐锐单"
)
_TRADITIONAL = (
    "農業銀國險際團寶貓網雲鋼螞蟻體華碩電腦達車寧濟馳現嗶東納亞節動頭條時鋁長設廣發壽證礦郵鐵潤"
    "築峽總聯慶資糧飛遠運園託儲訊當創風產標龍線傳榮轎紅豐眾鶴復醫藥鴻蘭贛鋒鋰極機爾調綠撈島視終"
    "為術誼記興愛藝軟銅劍陽貴樂瀘點評來詠歐氣財馬湯賽順維遞蘇購暉聖灣騰齊師攜積統樹誠萬連學濰溫"
    "雙匯緯廈門書鵬魚輝優圓韻譜麥製貸萊烏諾歷羅勞薩琺凱兒儂爺貨開鱷悅軒詩奧獅導環茲漢瑪貝傑費睞"
    "喬測試輸夢宮鈴會裝衛庫銷膠報勢顯菸關龜鎧俠戶講談爐濃無畫計屬話組場館損魯麗織葉盧鎳謝韋鉀貿"
    "畢颯謀頓賓黃邁倫潔殼遜進蘋應繽禮聞異強領錫臉偉準儀勝韓龐務內項實礎"
    "雞鴨鵝鳥鮮鮑飯飲飾餃餓饅餅錢鍋鏡錦鋪鏈鎖間閣閩閱頂顧顏頤買貢贊贏輪載輔選鄰遙賣妝媽娛孫層嶺張揚"
    "撫數曉晉楊構檔橋樓櫻歡澤漿滿濱煉燒獵瓏療鹽種穩窩簡粵級紀絕脈蓮蝦語課讀躍遼鄭陸階驅鷹廳區廠鄉倉"
    "養鳳勁廚變圖堅壇壩聲寵嶼幫恆愷戲摯曠檢燙暢碼絡綜緣許誰諧銳單"
)
_TO_TRADITIONAL = str.maketrans(_SIMPLIFIED, _TRADITIONAL)
_TO_SIMPLIFIED = str.maketrans(_TRADITIONAL, _SIMPLIFIED)
# "die Deutsche Bank", but "der Deutschen Bank".
_ADJECTIVE = re.compile(r"(\w+sche)( .+)")
_AMPERSAND = re.compile("(?<=[^ ])&(?=[^ ])")
# "Moser & Söhne" is "Moser und Söhne", too; text that was encoded twice has "&amp;".
_ANDS = (" and ", " und ", " et ", " y ", " och ", " og ", " &amp; ")
# "e-Harbour", "3-D": also without the hyphen.
_ONE_AND_HYPHEN = re.compile(r"\b([^\W_])-(?=[^\W_])")
# "S.E.T.": also without points.
_INITIALS = re.compile(r"\b(?:[A-Z]\.){3,}")
# Words that registers shorten and newspapers write out, or the other way round.
_SHORTENED = (
    ("Gebr.", "Gebrüder"),
    ("Bros.", "Brothers"),
    ("Bros", "Brothers"),
    ("Hnos.", "Hermanos"),
    ("F.lli", "Fratelli"),
    ("Sankt", "St."),
    ("Saint", "St."),
    ("Saint", "St"),
)
# "Den Stadtwerken Kiel": the dative of German words in the plural.
_PLURAL = re.compile(r"\b([^\W\d_]*(?:[Ww]erke|[Bb]etriebe|[Dd]ienste|[Hh]äuser|[Mm]ärkte))\b")
# The last word of Korean names, before which a blank may stand: 한빛전자, 한빛 전자.
_KOREAN_LAST = re.compile(
    r"(?<=[\uac00-\ud7a3]{2}) ?(전자|건설|화학|조선|중공업|물산|증권|은행|생명|화재|제약|식품"
    r"|통신|항공|해운|산업|상사|금융|카드|그룹|홀딩스|에너지|자동차|반도체|바이오|엔지니어링|코리아|테크|시스템|솔루션|로지스틱스|물류|유통)$"
)
# Names of websites, which many write in small letters: "salesforce.com".
_DOMAIN = re.compile(r"[\w-]+\.(?:com|net|org|io|de|at|ch|fr|es|it|pl|ru|cn|co\.uk)", re.ASCII)
# Headlines in capitals keep the small letter of Scottish names: "McDONALD'S".
_MC = re.compile(r"\bMC(?=[A-Z]{3})")
# Acronyms that can't be spoken are written like names in Italian: "Bmw", "Kkr".
_CONSONANTS = re.compile(r"[B-DF-HJ-NP-TV-XZ]{3,5}")
# Languages with endings of their own, and the letters that a declined name needs.
_OWN_ENDINGS = frozenset({"fi", "hu", "ro", "et", "lv", "lt", "is"})
_SHORTEST_DECLINED = 4
# Ours: shorter names with the ending of a possessive are surnames, "Popov".
_SHORTEST_POSSESSIVE = 6
# Particles of Korean, which follow a name without a blank, and what names of firms go on with.
_PARTICLE_WORDS = """은 는 이 가 을 를 의 에 에서 에게 에는 에도 에만 에선 에서는 에서도
    와 과 와의 과의 와는 과는 로 으로 로는 으로는 로부터 으로부터 도 만 까지 부터 측 측은
    측이 측의 사 사의 사가 사는 등 등이 등은 등의 등을 보다 처럼 라는 이라는 라고 이라고 인
    이다 였다 이나 나 하고 이며 며 마저 조차 들 란 이란 엔 에겐 한테 께서 이었다 입니다
    이었던 답게 같은 및 씨"""
_PARTICLES = frozenset(_PARTICLE_WORDS.split())
_KOREAN_TAILS = ("전자", "코리아", "그룹", "자동차", "반도체", "뱅크", "케미칼", "페이", "에너지")
_CASES = {name: frozenset(endings.split()) for name, endings in _ENDINGS.items()}
# Hungarian lengthens the last vowel of a name before an ending: Tesla, Teslában; Tesco, Tescóban.
_LENGTHENED = tuple(ending for ending in _CASES["hu"] if ending.startswith("á"))
_CASES["hu"] |= {f"ó{ending[1:]}" for ending in _LENGTHENED}

# Where the Unicode blocks of scripts begin, as needed for word boundaries.
_BLOCKS = (
    (0x0000, "latin"),
    (0x0370, "greek"),
    (0x0400, "cyrillic"),
    (0x0530, "other"),
    (0x0590, "hebrew"),
    (0x0600, "arabic"),
    (0x0700, "other"),
    (0x0E00, "thai"),
    (0x0E80, "other"),
    (0x1F00, "greek"),
    (0x2000, "other"),
    (0x3005, "han"),
    (0x30A0, "katakana"),
    (0x3100, "han"),
    (0xA000, "other"),
    (0xAC00, "hangul"),
    (0xD7A4, "other"),
    (0xF900, "han"),
    (0xFB00, "other"),
    (0x20000, "han"),
)
_BLOCK_STARTS = [start for start, _ in _BLOCKS]


class Form(NamedTuple):
    """A form of a company's name.

    A form is in doubt in the languages of `ambiguous`: "*" is any, none is never. One of
    `languages` is searched only in articles of those, one of none in all. A `stem` needs an ending;
    `rest` matches what follows the first "*" of one with several words, and `source` is the stem
    with its stars.
    """

    company: int
    text: str
    ambiguous: frozenset[str] = frozenset()
    stem: bool = False
    languages: frozenset[str] = frozenset()
    tail: re.Pattern[str] | None = None
    source: str = ""

    def is_doubtful(self, language: str | None) -> bool:
        """Return whether the form needs support in an article of this language."""
        if not self.ambiguous:
            return False
        return language is None or "*" in self.ambiguous or language in self.ambiguous


def script(letter: str) -> str:
    """Return the script of a letter for word boundaries; hiragana counts as han."""
    return _BLOCKS[bisect(_BLOCK_STARTS, ord(letter)) - 1][1]


def without_accents(form: str) -> str:
    """Remove the marks of Latin and Greek letters; other scripts stay (й is not и)."""
    if form.isascii():
        return form
    letters = []
    for letter in form.translate(_BASE_LETTERS):
        if letter.isascii() or script(letter) not in {"latin", "greek"}:
            letters.append(letter)
        else:
            letters.append(unicodedata.normalize("NFD", letter)[0])
    return "".join(letters)


def spellings(form: str) -> set[str]:
    """Return every spelling of a form, the form itself included.

    Capitals of the form are required; a form in small letters is found in any case. A blank may
    be a hyphen and the other way round, "&" may be "and" or have no blanks around it, accents may
    be missing, a website's name may be in small letters. Chinese may be simplified or
    traditional.
    """
    form = unicodedata.normalize("NFC", form).replace("’", "'").replace("İ", "I")
    joined = {form, form.replace(" ", "-"), form.replace("-", " ")}
    joined |= _written_otherwise(form)
    if "&" in form:
        joined |= {form.replace(" & ", word) for word in _ANDS}
        # "Johnson&Johnson", "AT & T"
        joined |= {form.replace(" & ", "&"), _AMPERSAND.sub(" & ", form)}
    if "'s " in form:
        # "Godfathers Pizza"
        joined.add(form.replace("'s ", "s "))
    if " " in form and form.endswith("'s"):
        # "Jack Daniels"; with one word it would often be a surname.
        joined.add(form[:-2] + "s")
    declined = _ADJECTIVE.match(form)
    if declined:
        joined |= {
            declined[1] + "n" + declined[2],
            (declined[1] + "n" + declined[2]).replace(" ", "-"),
        }
    if not form.isascii() and any(script(letter) == "han" for letter in form):
        joined |= {form.translate(_TO_TRADITIONAL), form.translate(_TO_SIMPLIFIED)}
    accented = joined | {without_accents(spelling) for spelling in joined}
    accented |= {_transcribe(spelling) for spelling in joined}
    cased = set()
    for spelling in accented:
        cased |= _cases(spelling)
    return cased


def _written_otherwise(form: str) -> set[str]:
    """Return the form with words shortened or written out, initials without points, a single letter
    or digit without its hyphen, and the endings and blanks of its language."""
    forms = {
        _ONE_AND_HYPHEN.sub(r"\1", form),
        _INITIALS.sub(lambda match: match[0].replace(".", ""), form),
        _PLURAL.sub(r"\1n", form),
        _KOREAN_LAST.sub(r" \1", form),
        _KOREAN_LAST.sub(r"\1", form),
    }
    words = form.split(" ")
    if len(words) > 1:
        for pair in _SHORTENED:
            for word, spelling in (pair, pair[::-1]):
                if word in words:
                    forms.add(" ".join(spelling if each == word else each for each in words))
    return forms


def _transcribe(form: str) -> str:
    if form.isascii():
        return form
    for umlaut, letters in _UMLAUTS.items():
        form = form.replace(umlaut, letters)
    return form


def _cases(spelling: str) -> set[str]:
    words = spelling.split(" ")
    capitalised = [word[:1].upper() + word[1:] for word in words]
    plain = " ".join(_without_inner_capitals(word) for word in words)
    cases = {spelling, spelling.upper(), plain}
    if "Mc" in spelling:
        cases.add(_MC.sub("Mc", spelling.upper()))
    if _CONSONANTS.fullmatch(spelling):
        cases.add(spelling.capitalize())
    if _DOMAIN.fullmatch(spelling):
        cases.add(spelling.lower())
    if spelling.islower():
        cases |= {" ".join(capitalised), capitalised[0] + spelling[len(words[0]) :]}
    elif spelling[0].islower():
        cases.add(capitalised[0] + spelling[len(words[0]) :])
    return cases


def _without_inner_capitals(word: str) -> str:
    """Return "Biontech" for "BioNTech", "Nvidia" for "NVIDIA"; acronyms, being short, stay."""
    if word[:1].islower() or sum(letter.isalpha() for letter in word) < 5:
        return word
    return "-".join(part[:1] + part[1:].lower() for part in word.split("-"))


def stem_forms(form: str) -> tuple[str, ...]:
    """Return the stem of a form whose last letter is a case ending, if its script shows that."""
    last = form[-1]
    if script(last) == "cyrillic" and last in "аяьй" and len(form) >= 5:
        return (form[:-1] + "*",)
    if script(last) == "latin" and last in "ao" and len(form) >= 5 and " " not in form:
        return (form[:-1] + "*",)
    return ()


def stem_languages(form: str) -> frozenset[str]:
    """Return the languages that decline a name by replacing its last vowel, if few do: Tesco is
    Tescu in Czech, Tescóban in Hungarian, and Serco's "Serca" is the heart in Polish."""
    return _DECLINE_O if form.endswith("o") else frozenset()


def accepts_ending(form: Form, ending: str, language: str | None) -> bool:
    """Return whether these letters are a case ending that the form may take."""
    low = ending.lower()
    if ending != low and not (ending.isupper() and not form.text.isupper()):
        return False
    kind = script(form.text[-1])
    if kind == "cyrillic":
        if language in {"bg", "mk"} and not form.stem and low in _CASES["article"]:
            return len(form.text) >= _SHORTEST_DECLINED
        return low in _CASES["cyrillic"] and (form.stem or len(form.text) >= 4)
    if kind == "greek":
        return form.stem and low in _CASES["greek"]
    return kind == "latin" and _accepts_latin_ending(form, low, language)


def _accepts_latin_ending(form: Form, low: str, language: str | None) -> bool:
    if low == "s" and not form.stem and language not in {"et", "lv", "is"}:
        allowed = language in _GENITIVE_S or (language is None and not form.ambiguous)
        return allowed and form.text[-1].lower() not in "sxz"
    # "Akcie ČEZu": small letters behind an abbreviation are an ending.
    shortest = _SHORTEST_DECLINED - (language in _SLAVIC and form.text.isupper())
    if len(form.text) < shortest:
        return False
    if language in _OWN_ENDINGS:
        # What begins with a lengthened vowel follows a stem only.
        return low in _CASES[language] and (form.stem or not low.startswith(("á", "ó")))
    if language in _SLAVIC - {"pl"}:
        if low in _CASES["adjective"] and len(form.text) >= _SHORTEST_POSSESSIVE:
            return True
        if form.stem and form.text.endswith("i") and low in _CASES["behind i"]:
            return True
    declining = language in _SLAVIC or (form.stem and language is None)
    return declining and low in _CASES["latin"]


def is_korean_tail(tail: str) -> bool:
    """Return whether these syllables are a particle, or what continues a Korean company's name."""
    return tail in _PARTICLES or tail.startswith(_KOREAN_TAILS)
