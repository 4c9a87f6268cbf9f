"""Write calendars.json of newscrawl.extraction.metadata, the months and day periods of all
languages of Unicode CLDR; needs Babel: `uv run --with babel python -m
benchmarks.recipes.calendars`."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Final

from newscrawl.extraction.metadata import calendars

# What newspapers write beside CLDR's names: months by number.
PRESS: Final[dict[str, dict[int, str]]] = {
    "am": {9: "ሴፕቴምበር", 11: "ኖቨምበር"},
    "ar": {1: "جانفي|كانون ثاني",
           2: "فيفري|فبراير", 4: "أفريل|ابريل", 5: "ماي", 6: "جوان", 7: "جويلية",
           8: "أوت|غشت|اغسطس", 9: "شتنبر", 10: "اكتوبر|تشرين أول",
           11: "نونبر|تشرين ثاني", 12: "دجنبر|كانون أول"},
    "bn": {1: "জানুয়ারী", 2: "ফেব্রুয়ারী", 9: "সেপ্টেমবর", 10: "অক্টোবার", 11: "নভেমবর", 12: "ডিসেমবর"},
    "cs": {6: "čer", 7: "čec"},
    "cy": {1: "ionor", 2: "chwefror", 3: "fawrth", 5: "fai", 6: "fehefin", 7: "orffennaf",
           8: "awst", 9: "fedi", 10: "hydref", 11: "dachwedd|thachwedd", 12: "ragfyr"},
    "el": {2: "φλεβάρη", 3: "μάρτη", 5: "μάη", 6: "ιούνη", 7: "ιούλη", 9: "σεπτέμβρη",
           10: "οκτώβρη", 11: "νοέμβρη", 12: "δεκέμβρη"},
    "fil": {9: "setyembre", 11: "nobiyembre", 12: "disyembre"},
    "ga": {11: "samhna|mí na samhna", 12: "mí na nollag"},
    "gu": {8: "ઓગસ્ટ", 10: "ઓક્ટોબર"},
    "hi": {9: "सितम्बर", 10: "अक्तूबर", 11: "नवम्बर", 12: "दिसम्बर"},
    "hy": {9: "սեպտեմբեր", 11: "նոյեմբեր"},
    "id": {2: "pebruari", 11: "nopember"},
    "mr": {9: "सप्टेंबर", 12: "डिसेंबर"},
    "ne": {1: "जनवरी", 2: "फेब्रुअरी", 9: "सेप्टेम्बर", 10: "अक्टोबर", 11: "नोभेम्बर", 12: "डिसेम्बर"},
    "pl": {2: "ii", 3: "iii", 4: "iv", 6: "vi", 7: "vii", 8: "viii", 9: "ix", 11: "xi", 12: "xii"},
    "ru": {5: "май", 11: "ноя", 9: "сен"},
    "si": {1: "ජනවාරි", 2: "පෙබරවාරි", 3: "මාර්තු", 4: "අප්‍රේල්", 5: "මැයි", 6: "ජූනි", 7: "ජූලි",
           8: "අගෝස්තු", 9: "සැප්තැම්බර්", 10: "ඔක්තෝබර්", 11: "නොවැම්බර්", 12: "දෙසැම්බර්"},
    "so": {11: "noofembar|nofembar"},
    "sq": {11: "nëntor", 12: "dhjetor"},
    "ur": {1: "جنوری", 8: "اگست", 10: "اکتوبر"},
    "vi": {1: "tháng giêng|tháng một", 2: "tháng hai", 3: "tháng ba", 4: "tháng tư|tháng bốn",
           5: "tháng năm", 6: "tháng sáu", 7: "tháng bảy", 8: "tháng tám", 9: "tháng chín",
           10: "tháng mười", 11: "tháng mười một", 12: "tháng mười hai|tháng chạp"},
}  # fmt: skip

# Day periods that CLDR doesn't have: before noon, after noon, at night.
PRESS_PERIODS: Final[dict[str, tuple[str, str, str]]] = {
    "ar": ("ق.ظ|فجرا|صباح", "ب.ظ|مساءا|عصرا|عصر|ظهر", "ليلا"),
    "bg": ("преди обяд|сутринта", "следобед|вечерта", "през нощта"),
    "bn": ("এএম|এ এম|পূর্বাহ্ণ|পূর্বাহ্ন|সকাল", "পিএম|পি এম|অপরাহ্ণ|অপরাহ্ন|বিকেল|সন্ধ্যা", "রাত"),
    "cs": ("dopoledne|ráno", "odpoledne|večer", "v noci"),
    "de": ("vormittags|morgens|vorm", "nachmittags|abends|nachm", "nachts"),
    "el": ("το πρωί|προ μεσημβρίας", "το απόγευμα|το βράδυ|μετά μεσημβρίαν", ""),
    "en": ("in the morning", "in the afternoon|in the evening", "at night"),
    "fa": ("ق.ظ|قبل از ظهر|صبح|بامداد", "ب.ظ|بعد از ظهر|عصر|غروب", "شب"),
    "fil": ("n.u|ng umaga|umaga", "n.h|n.g|ng hapon|hapon|ng gabi|gabi", ""),
    "gu": ("સવારે|એએમ|એ એમ", "બપોરે|સાંજે|પીએમ|પી એમ", "રાત્રે"),
    "he": ("לפנה״צ|לפנה\"צ|בבוקר", "אחה״צ|אחה\"צ|בערב|בצהריים", "בלילה"),
    "hi": ("पूर्वाह्न|एएम|ए एम|सुबह|प्रातः", "अपराह्न|पीएम|पी एम|शाम|दोपहर", "रात"),
    "hu": ("délelőtt|reggel", "délután|este", "éjjel"),
    "id": ("pagi|dini hari", "siang|sore|petang", "malam"),
    "kn": ("ಬೆಳಿಗ್ಗೆ|ಪೂರ್ವಾಹ್ನ|ಎಎಂ", "ಸಂಜೆ|ಮಧ್ಯಾಹ್ನ|ಅಪರಾಹ್ನ|ಪಿಎಂ", "ರಾತ್ರಿ"),
    "ko": ("오전|새벽|아침", "오후|저녁", "밤"),
    "ml": ("രാവിലെ|എഎം", "വൈകിട്ട്|വൈകുന്നേരം|ഉച്ചയ്ക്ക്|പിഎം", "രാത്രി"),
    "mr": ("सकाळी|म.पू|एएम", "दुपारी|सायंकाळी|संध्याकाळी|म.उ|पीएम", "रात्री"),
    "ms": ("ptg pagi|pagi", "ptg|petang|tengah hari", "malam"),
    "my": ("နံနက်|မနက်", "ညနေ|နေ့လယ်|မွန်းလွဲ", "ည"),
    "ne": ("बिहान|पूर्वाह्न", "दिउँसो|बेलुका|साँझ|अपराह्न", "राति"),
    "pa": ("ਸਵੇਰੇ|ਪੂ.ਦੁ", "ਦੁਪਹਿਰ|ਸ਼ਾਮ|ਬਾ.ਦੁ", "ਰਾਤ"),
    "pl": ("rano|przed południem", "po południu|wieczorem", "w nocy"),
    "pt": ("da manhã|da madrugada", "da tarde", "da noite"),
    "ro": ("dimineața", "după-amiaza|seara", "noaptea"),
    "ru": ("утра|до полудня", "дня|вечера|пополудни", "ночи"),
    "sw": ("asubuhi|alfajiri", "mchana|jioni|alasiri", "usiku"),
    "ta": ("காலை|முற்பகல்|மு.ப", "மாலை|பிற்பகல்|மதியம்|பி.ப", "இரவு"),
    "te": ("ఉదయం|ఎ.ఎం|ఏఎం", "సాయంత్రం|మధ్యాహ్నం|పి.ఎం|పీఎం", "రాత్రి"),
    "th": ("ก่อนเที่ยง|เช้า", "หลังเที่ยง|บ่าย|เย็น", ""),
    "tr": ("öö|sabah", "ös|akşam|öğleden sonra", "gece"),
    "uk": ("ранку|до полудня", "дня|вечора|пополудні", "ночі"),
    "ur": ("قبل دوپہر|صبح|اے ایم", "بعد دوپہر|شام|سہ پہر|دوپہر|پی ایم", "رات"),
    "vi": ("sáng", "chiều|tối|trưa", "đêm"),
    "zh": ("早上|清晨|早晨|凌晨|上午", "下午|傍晚|晚上|晚間|晚间|午後|午后", "深夜|夜间|夜間"),
}  # fmt: skip
_PERIODS: Final = {
    "am": "am", "morning1": "am", "morning2": "am", "midnight": "night", "night1": "night",
    "night2": "night", "pm": "pm", "noon": "noon", "afternoon1": "noon", "afternoon2": "pm",
    "evening1": "pm", "evening2": "pm",
}  # fmt: skip


def _names(value: object) -> Iterator[tuple[object, str]]:
    """Yield the keys and names in a table of tables, as Babel has them."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(inner, str):
                yield key, inner
            else:
                yield from _names(inner)


def tables() -> dict[str, object]:
    """Return months and day periods by language, each name as `calendars.fold` leaves it."""
    babel = import_module("babel")
    months: dict[str, dict[str, int]] = defaultdict(dict)
    periods: dict[str, dict[str, str]] = defaultdict(dict)
    for identifier in import_module("babel.localedata").locale_identifiers():
        locale, language = babel.Locale.parse(identifier), identifier.partition("_")[0]
        for key, period in _names(locale.day_periods):
            if str(key) in _PERIODS and (name := calendars.joined(period)) not in ("am", "pm"):
                periods[language].setdefault(name, _PERIODS[str(key)])
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                for number, month in locale.months[context][width].items():
                    name = calendars.fold(month)
                    if len(name) > 1 and not any(map(str.isdigit, name)):
                        months[language].setdefault(name, number)
    for language, press in PRESS.items():
        for number, text in press.items():
            for name in text.split("|"):
                months[language][calendars.fold(name)] = number
    for language, groups in PRESS_PERIODS.items():
        for period, group in zip(("am", "pm", "night"), groups, strict=True):
            for name in filter(None, group.split("|")):
                periods[language][calendars.joined(name)] = period
    months["tl"] = months["fil"]
    periods["tl"] = periods["fil"]
    return {
        "provenance": f"Unicode CLDR through Babel {babel.__version__}, months and day periods of "
        f"{len(months)} languages, and what newspapers write beside them; made by "
        "benchmarks/recipes/calendars.py",
        "months": {
            language: by_number(names) for language, names in sorted(months.items()) if names
        },
        "periods": {
            language: {
                period: "|".join(sorted(name for name in names if names[name] == period))
                for period in sorted(set(names.values()))
            }
            for language, names in sorted(periods.items())
            if names
        },
    }


def by_number(names: Mapping[str, int]) -> list[str]:
    """Return the names of the twelve months, those of one month parted by `|`."""
    return ["|".join(sorted(n for n in names if names[n] == number)) for number in range(1, 13)]


if __name__ == "__main__":
    file = Path(calendars.__file__).with_suffix(".json")
    file.write_text(json.dumps(tables(), ensure_ascii=False, indent=0) + "\n", "utf-8")
