"""Months, day periods and eras of the world's languages, for dates that `dates.py` doesn't read
by its patterns. The words are in calendars.json, which is read when the first such date comes."""

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final

MAX_WRITTEN: Final = 120
"""Ours: characters of a line whose words may be a date; longer ones are prose."""
_NUMBERS: Final = 2  # day and year
MAX_WORDS_OF_MONTH: Final = 3
MAX_WORDS_BETWEEN: Final = 3
"""Ours: words of a month ("tháng mười một"), and between parts of a date ("de", "წლის")."""
_LEAST_OF_ABBREVIATION: Final = 3
_LEAST_OF_STEM: Final = 4
_MOST_OF_ENDING: Final = 4
"""Ours: letters of a month from which it is known, and of the endings of its cases."""

# The zeros of Arabic, Persian, N'Ko, Devanagari, Bengali, Gurmukhi, Gujarati, Odia, Tamil, Telugu,
# Kannada, Malayalam, Sinhala, Thai, Lao, Tibetan, Burmese, Khmer, Mongolian and of full width.
_ZEROS: Final = (
    "\u0660\u06f0\u07c0\u0966\u09e6\u0a66\u0ae6\u0b66\u0be6\u0c66\u0ce6\u0d66\u0de6\u0e50\u0ed0"
    "\u0f20\u1040\u17e0\u1810\uff10"
)
_FIGURES: Final = {ord(zero) + digit: str(digit) for zero in _ZEROS for digit in range(10)}
_SIGNS: Final = {ord("／"): "/", ord("．"): ".", ord("－"): "-", ord("："): ":", ord("\u200f"): "",
                 ord("\u200e"): "", ord("\u200d"): "", ord("\u3000"): " "}  # fmt: skip
_OTHER_FIGURES: Final = re.compile(f"[{''.join(map(chr, (*_FIGURES, *_SIGNS)))}]")
_HAN_FIGURES: Final = str.maketrans("〇零○一二三四五六七八九", "000123456789", "百")
_HAN_NUMBER: Final = re.compile("[〇零○一二三四五六七八九十百]+(?=[年月日號号時时點点分])")
_HAN_TENS: Final = re.compile(r"(\d*)十(\d?)")
# Years of reigns: the year before the first.
_ERAS: Final = {"令和": 2018, "平成": 1988, "昭和": 1925, "民國": 1911, "民国": 1911}
_ERA: Final = re.compile(rf"(?:中華)?({'|'.join(_ERAS)})\s?(元|\d{{1,3}})(?=\s?[年./-])")
# The year of the other calendar, in brackets: 2026年（令和8年）11月, 令和8年(2026)11月.
_YEAR_TWICE: Final = re.compile(r"[(（](?:(?:令和|平成|昭和)(?:元|\d{1,2})|(?:19|20)\d\d)年?[)）]")
_MINGUO: Final = re.compile(r"(?<![\d./-])(1[01]\d)(?=\s?年|[./-]\d\d?[./-]\d\d?(?!\d))")
_YEAR_AHEAD: Final = re.compile(r"(?<![\d./:-])(\d\d)([./-])\s?(\d\d?)\2\s?(\d\d?)(?![\d/:-])")
_THAI: Final = re.compile("[\u0e01-\u0e4e]")
_THAI_MONTH: Final = re.compile("([\u0e01-\u0e4e]{1,3})\\.([คพย])\\.")
_THAI_SHORT: Final = re.compile("(?<=[\u0e01-\u0e4e]) ([67]\\d)(?![\\d:.])")
# A year of the Buddhist era, 543 years before that of Christ, with or without its name.
_BUDDHIST: Final = re.compile(r"(?:พ\.?ศ\.?\s*)?(?<!\d)(2[45]\d\d)(?!\d)")
_SOLAR: Final = re.compile(r"(?<!\d)1[34]\d\d(?!\d)")
_SOLAR_NUMBERS: Final = re.compile(r"(?<!\d)(1[34]\d\d)\s?[-/.]\s?(\d\d?)\s?[-/.]\s?(\d\d?)(?!\d)")
_SOLAR_LANGUAGES: Final = frozenset({"fa", "ps", "prs", "ckb", "ku", "uz", "tg", "az"})
_YEAR_FIRST_LANGUAGES: Final = frozenset({"ko", "ja", "zh", "hu", "mn"})
_LAST_OF_CENTURY: Final = 40  # ours: a year of two figures below it is one of this century
# The Persian months of Iran, in Dari, Pashto and Kurdish, of 12 months each.
_SOLAR_MONTHS: Final = (
    "فروردین اردیبهشت خرداد تیر مرداد شهریور مهر آبان آذر دی بهمن اسفند",
    "حمل ثور جوزا سرطان اسد سنبله میزان عقرب قوس جدی دلو حوت",
    "وری غویی غبرگولی چنگاښ زمری وږی تله لړم لیندۍ مرغومی سلواغه کب",
    (
        "خاکەلێوە گوڵان جۆزەردان پووشپەڕ گەلاوێژ خەرمانان "
        "ڕەزبەر گەڵاڕێزان سەرماوەز بەفرانبار ڕێبەندان رەشەمە"
    ),
)
_ETHIOPIAN_MONTHS: Final = (
    "መስከረም ጥቅምት ኅዳር ታኅሣሥ ጥር የካቲት መጋቢት ሚያዝያ ግንቦት ሰኔ ሐምሌ ነሐሴ ጳጉሜን",
    "መስከረም ጥቅምት ህዳር ታህሳስ ጥር የካቲት መጋቢት ሚያዚያ ግንቦት ሰኔ ሀምሌ ነሀሴ ጳጉሜ",
)
_BEFORE_YEAR_ONE: Final = 226_894
"""The ordinal of the day before the first of the Persian calendar."""
_WORD: Final = re.compile(
    r"\d+|[^\s\d!-@\[-`{-¿\u055a-\u055f\u05be\u060c\u061b\u0964\u2000-\u206f\u3000-\u303f]+"
)
_YEAR: Final = re.compile(r"(?:18|19|20)\d\d")
# Accents, vowel signs of Arabic and its long dash, the dot of India.
_MARKS: Final = re.compile(
    "[\u200c-\u200f\u0300-\u036f\u0640\u064b-\u065f\u093c\u09bc\u0a3c.'’״\"]+"
)
_SAME_LETTERS: Final = str.maketrans("يىكﮐﯾıёґ", "ییککیiег")
# "दिसम्बर" is "दिसंबर".
_INDIAN_NASAL: Final = re.compile("[ङञणनम]\u094d(?=[क-ह])")
_LATIN: Final = "\u0370"  # the scripts of later letters have fewer words that are others' months
# Words that may be written together with the month behind them.
_BEFORE_MONTH: Final = ("เดือน", "ខែ", "ເດືອນ", "ב", "ו")


@dataclass(frozen=True, slots=True)
class WrittenDay:
    """A day of the common era that a text names, with its place in the text."""

    start: int
    end: int
    day: date


@dataclass(frozen=True, slots=True)
class Month:
    """The number of a month in each calendar that has its name."""

    gregorian: int | None
    solar: int | None
    ethiopian: int | None

    def day(self, day: int, year: str) -> date | None:
        """Return a day of this month; its year tells the calendar."""
        if self.solar and _SOLAR.fullmatch(year):
            return solar(int(year), self.solar, day)
        if not _YEAR.fullmatch(year):
            return None
        if self.ethiopian and day <= 30:
            # Its months have 30 days; its year begins in September, seven years later than ours.
            first = date(int(year) + 7, 9, 12 if int(year) % 4 == 0 else 11)
            return first + timedelta(days=30 * (self.ethiopian - 1) + day - 1)
        try:
            return date(int(year), self.gregorian, day) if self.gregorian else None
        except ValueError:
            return None


def fold(text: str) -> str:
    """Return a word in lower case without accents, full stops and other ways to spell it."""
    if text.isascii():
        return text.lower().replace(".", "")
    letters = unicodedata.normalize("NFKD", text).lower()
    folded = _MARKS.sub("", letters).translate(_SAME_LETTERS)
    return " ".join(_INDIAN_NASAL.sub("\u0902", unicodedata.normalize("NFC", folded)).split())


def joined(text: str) -> str:
    """Return a folded text without its blanks."""
    return "".join(fold(text).split())


def in_common_era(text: str, language: str | None) -> str:
    """Return a text with the digits 0 to 9 and with years of the common era."""
    if not text.isascii() and _OTHER_FIGURES.search(text):
        text = text.translate(_FIGURES).translate(_SIGNS)
    if language == "th" or (not text.isascii() and _THAI.search(text)):
        text = _THAI_SHORT.sub(r" 25\1", _THAI_MONTH.sub(r"\1\2", text))
        text = _BUDDHIST.sub(lambda year: str(int(year[1]) - 543), text)
    elif language == "zh" or "年" in text or "民國" in text:
        text = _YEAR_TWICE.sub("", text)
        text = _HAN_NUMBER.sub(lambda number: number[0].translate(_HAN_FIGURES), text)
        text = _HAN_TENS.sub(lambda tens: str(10 * int(tens[1] or 1) + int(tens[2] or 0)), text)
        text = _ERA.sub(
            lambda era: str(_ERAS[era[1]] + (1 if era[2] == "元" else int(era[2]))), text
        )
        text = _MINGUO.sub(lambda year: str(int(year[1]) + 1911), text)
    elif language in _SOLAR_LANGUAGES and _SOLAR.search(text):
        text = _SOLAR_NUMBERS.sub(
            lambda numbers: str(solar(*map(int, numbers.groups())) or numbers[0]), text
        )
    if language in _YEAR_FIRST_LANGUAGES and (short := _YEAR_AHEAD.search(text)):
        century = "20" if int(short[1]) < _LAST_OF_CENTURY else "19"
        text = f"{text[: short.start()]}{century}{text[short.start() :]}"
    return text


def solar(year: int, month: int, day: int) -> date | None:
    """Return a day of the Persian and Afghan calendar (the arithmetic of 33 years, which holds
    for 1178 to 1633)."""
    if not (1200 <= year < 1500 and 1 <= month <= 12 and 1 <= day <= (31 if month <= 6 else 30)):
        return None
    before = 365 * (year - 1) + (8 * year + 21) // 33 + 31 * (month - 1) - max(0, month - 7)
    return date.fromordinal(_BEFORE_YEAR_ONE + before + day)


_Word = tuple[str, int, int]
"""A word or number of a text, where it begins and ends."""


def days_in_words(text: str, language: str | None) -> Iterator[WrittenDay]:
    """Yield the days of a text whose month is a word of any language, in any order of its parts."""
    words = [(word[0], *word.span()) for word in _WORD.finditer(text[:MAX_WRITTEN])]
    if len(text) > MAX_WRITTEN or sum(word.isdigit() for word, _, _ in words) < _NUMBERS:
        return
    longest = 1 if text.isascii() else MAX_WORDS_OF_MONTH
    for first, (word, start, _) in enumerate(words):
        is_ending = len(word) <= _LEAST_OF_ABBREVIATION and first and words[first - 1][2] == start
        if word.isdigit() or is_ending:
            continue
        for last in range(min(first + longest, len(words)), first, -1):
            run = word if last == first + 1 else " ".join(part[0] for part in words[first:last])
            if any(map(str.isdigit, run)):
                continue
            month = month_named(run, language)
            if month and (day := _day_around(month, words[:first][::-1], words[last:])):
                yield day
                break


def _day_around(
    month: Month, words_before: Iterable[_Word], words_after: Iterable[_Word]
) -> WrittenDay | None:
    """Return the day that the numbers before and behind a month make with it."""
    before, after = _numbers(words_before), _numbers(words_after)
    pairs = (
        (before[:1], after[:1]), (after[:1], after[1:2]), (after[:1], before[:1]),
        (before[:1], before[1:2]),
    )  # fmt: skip
    for (day,), (year,) in (pair for pair in pairs if all(pair)):
        if len(day[0]) <= 2 and (moment := month.day(int(day[0]), year[0])):
            return WrittenDay(min(day[1], year[1]), max(day[2], year[2]), moment)
    return None


def _numbers(words: Iterable[_Word]) -> list[_Word]:
    """Return the next two numbers, with few words between them."""
    numbers: list[_Word] = []
    between = 0
    for word in words:
        if word[0].isdigit():
            numbers.append(word)
            between = 0
        elif (between := between + 1) > MAX_WORDS_BETWEEN:
            break
    return numbers[:2]


@cache
def _calendar(lists: tuple[str, ...]) -> Mapping[str, int]:
    return {fold(name): number for names in lists for number, name in enumerate(names.split(), 1)}


@cache
def _tables() -> Any:
    return json.loads(files(__package__).joinpath("calendars.json").read_text("utf-8"))


@cache
def _months(language: str | None) -> Mapping[str, int]:
    """Return the months of a language by name; for none, those that are the same in all that have
    them."""
    table = _tables()["months"]
    numbers: dict[str, set[int]] = defaultdict(set)
    for months in [table.get(language, [])] if language else table.values():
        for number, names in enumerate(months, 1):
            for name in names.split("|"):
                numbers[name].add(number)
    return {
        name: min(each)
        for name, each in numbers.items()
        if language or (len(each) == 1 and (len(name) > _LEAST_OF_ABBREVIATION or name > _LATIN))
    }


@lru_cache(maxsize=2048)
def month_named(words: str, language: str | None) -> Month | None:
    """Return what a word, or a few, is as a month in the calendars."""
    name = fold(words)
    month = Month(
        month_of(name, language),
        _calendar(_SOLAR_MONTHS).get(name),
        _calendar(_ETHIOPIAN_MONTHS).get(name),
    )
    return month if any((month.gregorian, month.solar, month.ethiopian)) else None


def month_of(name: str, language: str | None) -> int | None:
    """Return the number of a month by its folded name, in the page's language or any."""
    names = _months(language) if language else {}
    if month := names.get(name) or _months(None).get(name):
        return month
    for prefix in _BEFORE_MONTH:
        if name.startswith(prefix) and len(name) > len(prefix) + 1:
            return month_of(name.removeprefix(prefix), language)
    return _month_by_beginning(name, names) if language != "en" else None


def _month_by_beginning(name: str, names: Mapping[str, int]) -> int | None:
    """Return the month that an abbreviation or a case is of, if it is one alone."""
    for length in range(len(name), max(0, len(name) - _MOST_OF_ENDING) - 1, -1):
        is_whole = length == len(name)
        if length < (_LEAST_OF_ABBREVIATION if is_whole else _LEAST_OF_STEM):
            return None
        numbers = {
            number
            for month, number in names.items()
            if month.startswith(name[:length])
            and (is_whole or len(month) - length < _LEAST_OF_STEM)
        }
        if numbers:
            return next(iter(numbers)) if len(numbers) == 1 else None
    return None


@cache
def _periods(language: str | None) -> Mapping[str, str]:
    """Return the day periods of a language, and those of all that don't write in Latin letters."""
    table: dict[str, str] = {}
    for code, groups in _tables()["periods"].items():
        for period, names in groups.items():
            for name in names.split("|"):
                if code == language:
                    table[name] = period
                elif name > _LATIN and len(name) > 1:
                    table.setdefault(name, period)
    return {name: period for name, period in table.items() if len(name) > 1 or name > _LATIN}


def hour_of(hour: int, before: str, after: str, language: str | None) -> int:
    """Return an hour of the clock by the day period before or behind it, as in "오후 3시"."""
    if hour > 12:
        return hour
    period = _period_in(after, language, behind=True) or _period_in(before, language, behind=False)
    if period == "am" or (period == "night" and (hour < 6 or hour == 12)):
        return hour % 12
    if period in ("pm", "night") or (period == "noon" and hour not in (10, 11)):
        return hour % 12 + 12
    return hour


def _period_in(text: str, language: str | None, *, behind: bool) -> str | None:
    periods = _periods(language)
    words = text.split()[:4] if behind else text.split()[-4:]
    for length in range(len(words), 0, -1):
        run = words[:length] if behind else words[-length:]
        if period := periods.get(joined("".join(run).strip(",;:()[]·|-–—،"))):
            return period
    if words and not behind and words[-1][-1:] > "\u0e00":
        last = joined(words[-1])
        return next((periods[last[-n:]] for n in range(5, 0, -1) if last[-n:] in periods), None)
    return None
