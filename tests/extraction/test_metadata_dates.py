"""Dates as pages write them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, strategies as st

from newscrawl.extraction.metadata import dates
from newscrawl.extraction.metadata.dates import Dialect

NOW = datetime(2026, 11, 10, 12, 0, tzinfo=UTC)
DAY = datetime(2026, 3, 5)  # noqa: DTZ001 - dates without a zone are the subject


def zoned(hours: float, *moment: int) -> datetime:
    return datetime(*moment, tzinfo=timezone(timedelta(hours=hours)))  # type: ignore[arg-type,misc]


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2026-03-05T10:30:00+01:00", zoned(1, 2026, 3, 5, 10, 30)),
        ("2026-03-05T10:30:00.123Z", zoned(0, 2026, 3, 5, 10, 30, 0, 123_000)),
        ("2026-03-05T10:30:00+0100", zoned(1, 2026, 3, 5, 10, 30)),
        ("2026-03-05 10:30:00 +0100", zoned(1, 2026, 3, 5, 10, 30)),
        ("Thu, 05 Mar 2026 10:30:00 GMT", zoned(0, 2026, 3, 5, 10, 30)),
        ("Thu Mar 05 2026 10:30:00 GMT+0200 (EET)", zoned(2, 2026, 3, 5, 10, 30)),
        ("March 5, 2026 at 10:30 pm EST", zoned(-5, 2026, 3, 5, 22, 30)),
        ("1772706600", zoned(0, 2026, 3, 5, 10, 30)),
        ("1772706600000", zoned(0, 2026, 3, 5, 10, 30)),
        ("Thu Mar 05 10:30:00 EST 2026", zoned(-5, 2026, 3, 5, 10, 30)),
        ("20260305103000", datetime(2026, 3, 5, 10, 30)),  # noqa: DTZ001
        ("2026-03-05", DAY),
        ("20260305", DAY),
        ("2026/3/5", DAY),
        ("1923-03-05", datetime(1923, 3, 5)),  # noqa: DTZ001
    ],
)
def test_date_values_are_parsed(written, moment):
    stamp = dates.read(written)
    assert stamp.moment == moment


@pytest.mark.parametrize(
    ("language", "written"),
    [
        ("en", "Published March 5, 2026"),
        ("en", "5th March 2026"),
        ("en", "Mar. 5, 2026"),
        ("en", "5 Mar'26"),
        ("da", "05/03 2026"),
        ("pl", "5 III 2026"),
        ("de", "Veröffentlicht am 5. März 2026"),
        ("de", "Stand: 05.03.2026"),
        ("de", "5.3.26"),
        ("fr", "Publié le 5 mars 2026"),
        ("es", "5 de marzo de 2026"),
        ("pt", "5 de março de 2026"),
        ("it", "5 marzo 2026"),
        ("nl", "5 maart 2026"),
        ("pl", "5 marca 2026"),
        ("ru", "5 марта 2026 года"),
        ("uk", "5 березня 2026"),
        ("el", "5 Μαρτίου 2026"),
        ("cs", "5. března 2026"),
        ("sv", "5 mars 2026"),
        ("tr", "5 Mart 2026"),
        ("fi", "5. maaliskuuta 2026"),
        ("zh", "2026年3月5日"),
        ("ja", "2026年3月5日（木）"),
        ("ko", "2026년 3월 5일"),
        ("hu", "2026. március 5., csütörtök"),
        ("lt", "2026 m. kovo 5 d."),
        ("lv", "2026. gada 5. marts"),
        ("eu", "2026(e)ko martxoaren 5(a)"),
        ("vi", "Thứ Năm, 5 tháng 3, 2026"),
        ("vi", "ngày 5 tháng 3 năm 2026"),
        ("he", "5 במרץ 2026"),
        ("hi", "5 मार्च 2026"),
        ("is", "5. mars 2026"),
        ("sw", "5 Machi 2026"),
        ("en", "© 2025 March 5, 2026"),
        ("hi", "५ मार्च २०२६"),
        ("bn", "৫ মার্চ ২০২৬"),
        ("ar", "٥ مارس ٢٠٢٦"),
        ("ar", "٠٥/٠٣/٢٠٢٦"),
        ("fa", "۵ مارس ۲۰۲۶"),
        ("th", "5 มีนาคม 2569"),
        ("th", "5 มีนาคม พ.ศ. 2569"),
        ("th", "5 มี.ค. 2569"),
        ("th", "05/03/2569"),
        ("th", "5 มีนาคม 2026"),
        ("th", "๕ มี.ค. ๖๙"),
        ("fa", "پنجشنبه ۱۴ اسفند ۱۴۰۴"),
        ("fa", "۱۴۰۴/۱۲/۱۴"),
        ("fa", "۱۴ حوت ۱۴۰۴"),
        ("ja", "令和8年3月5日"),
        ("ja", "令和8年(2026)3月5日"),
        ("ja", "2026年（令和8年）3月5日"),
        ("zh", "中華民國115年3月5日"),
        ("zh", "二〇二六年三月五日"),
        ("zh", "115/03/05"),
        ("ko", "26.03.05"),
        ("am", "የካቲት 26 ቀን 2018 ዓ.ም"),
        ("ar", "5 آذار 2026"),
        ("vi", "ngày 5 tháng ba năm 2026"),
        ("ka", "2026 წლის 5 მარტი"),
        ("mn", "2026 оны 3 сарын 5"),
        ("uz", "2026-yil 5-mart"),
        ("kk", "2026 жылғы 5 наурыз"),
        ("hy", "5 մարտի 2026"),
        ("ta", "மார்ச் 5, 2026"),
        ("lv", "2026. gada 5. martā"),
        ("uk", "5 бер 2026"),
        ("tr", "5.MART.2026"),
        ("bn", "৫ই মার্চ ২০২৬"),
        ("fil", "ika-5 ng Marso 2026"),
        ("cy", "5ed o Fawrth 2026"),
        ("en", "5 Mar '26"),
        ("en", "5-Mar-26"),
        ("en", "5/3/26"),
    ],
)
def test_days_are_found_in_texts(language, written):
    stamp = dates.find(written, Dialect(language))
    assert stamp.moment == DAY


@pytest.mark.parametrize(
    ("text", "hour", "minute"),
    [
        ("5 March 2026, 10:30", 10, 30),
        ("05.03.2026 - 10.30 Uhr", 10, 30),
        ("5 mars 2026 à 10h30", 10, 30),
        ("March 5, 2026 | 9:15 PM", 21, 15),
        ("12:05 a.m., March 5, 2026", 0, 5),
        ("2026年3月5日 10:30", 10, 30),
        ("৫ মার্চ ২০২৬, ১০:৩০", 10, 30),
        ("5 มี.ค. 2569 เวลา 10:30 น.", 10, 30),
        ("2026. 3. 5. 오후 3:05", 15, 5),
        ("2026년 3월 5일 오전 12시 5분", 0, 5),
        ("2026年3月5日 午後3時", 15, 0),
        ("2026年3月5日下午3点半", 15, 30),
        ("२०२६ मार्च ५, शाम ५:३० बजे", 17, 30),
        ("5 مارس 2026 - 03:18 مساء", 15, 18),
        ("5 Mar 2026 1518hrs", 15, 18),
        ("5 March 2026, 3 p.m.", 15, 0),
        ("le 5 mars 2026 à 18h", 18, 0),
        ("5 March 2026, 16:05 in the morning", 16, 5),
    ],
)
def test_time_of_day_is_read_beside_the_day(text, hour, minute):
    stamp = dates.find(text)
    assert stamp.moment == DAY.replace(hour=hour, minute=minute)
    assert stamp.timed


@pytest.mark.parametrize(
    ("language", "text", "hour"),
    [("vi", "05/03/2026 03:18 CH", 15), ("vi", "05/03/2026 03:18 SA", 3),
     (None, "05/03/2026 03:18 CH", 3),
     ("hu", "2026. március 5. du. 3:18", 15),
     ("es", "5 de marzo de 2026, 3:18 de Madrid", 3)],
)  # fmt: skip
def test_day_periods_in_latin_letters_are_those_of_the_language(language, text, hour):
    stamp = dates.find(text, Dialect(language))
    assert stamp.moment == DAY.replace(hour=hour, minute=18)


@pytest.mark.parametrize(
    ("dialect", "written", "day"),
    [
        (Dialect("en", month_first=True), "03/05/2026", DAY),
        (Dialect("en"), "05/03/2026", DAY),
        (Dialect("en", month_first=True), "05.03.2026", DAY),
        (Dialect("en", month_first=True), "25/03/2026", DAY.replace(day=25)),
        (Dialect("hr"), "5. listopada 2026", DAY.replace(month=10)),
        (Dialect("pl"), "5 listopada 2026", DAY.replace(month=11)),
    ],
)
def test_order_of_day_and_month_follows_the_dialect(dialect, written, day):
    stamp = dates.find(written, dialect)
    assert stamp.moment == day


@pytest.mark.parametrize(
    "text",
    ["", "Windows 2000", "room 20260", "in March 2026", "31.02.2026", "0001-01-01", "1970-01-01",
     "1970-01-01T00:00:00Z", "0", "Call 030 2026 1234", "99999999999999999999",
     "12 to 2026", "Apr 15 - May 13", "24/7", "2026 12 34", "۳۵ آبان ۱۴۰۵", "5 of 12 in 2026"],
)  # fmt: skip
def test_text_without_a_date_has_none(text):
    assert dates.read(text) is None


@pytest.mark.parametrize(
    ("url", "day"),
    [
        ("https://a.example/2026/03/05/rates-rise", DAY),
        ("https://a.example/news/2026-03-05-rates", DAY),
        ("https://a.example/news/2026/mar/05/rates", DAY),
        ("https://a.example/rates-20260305.html", DAY),
        ("https://a.example/2026/12/19/rates", DAY.replace(month=12, day=19)),
        ("https://a.example/2026/12/rates", None),
        ("https://a.example/1912/04/15/titanic", None),
        ("https://a.example/id/920260305999", None),
        (None, None),
    ],
)
def test_days_are_found_in_urls(url, day):
    stamp = dates.from_url(url)
    assert (stamp and stamp.moment) == day


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("202603/05/c_1234.htm", DAY),
        ("2026/0305/c1001-123.html", DAY),
        ("politik/05.03.2026/rates", DAY),
        ("05-mar-2026/rates", DAY),
        ("view/AKR20260305001234", DAY),
        ("202603050830/rates", DAY),
        ("k10020260305001000.html", DAY),
        ("articles/2004121488", None),
        ("articles/2019345678", None),
        ("1731398400000/rates", None),
    ],
)
def test_numbers_in_addresses_may_be_days(path, day):
    url = f"https://web.archive.example/web/20160218174457/https://a.example/{path}"
    assert dates.from_url(url) is None
    stamp = dates.from_url(url, maybe=True)
    assert (stamp and stamp.moment) == day


def test_date_without_zone_takes_the_other_zone_of_the_page():
    berlin = timezone(timedelta(hours=1))
    assert dates.resolve(dates.read("2026-03-05T10:30"), berlin, NOW) == zoned(
        1, 2026, 3, 5, 10, 30
    )
    assert dates.resolve(dates.read("2026-03-05T10:30"), None, NOW) == zoned(0, 2026, 3, 5, 10, 30)


def test_local_time_ahead_of_now_has_a_zone_east_of_utc():
    moment = dates.resolve(dates.read("2026-11-10T19:30"), None, NOW)
    assert moment == zoned(8, 2026, 11, 10, 19, 30)
    assert moment <= NOW


@given(st.text(max_size=60) | st.datetimes().map(str) | st.from_regex(r"\d{1,4}[-/. ]\d\d?.*"))
def test_random_text_gives_no_future_date_and_no_error(text):
    for stamp in (dates.read(text), dates.find(text), dates.from_url(text)):
        moment = dates.resolve(stamp, None, NOW)
        assert moment is None or moment <= NOW
