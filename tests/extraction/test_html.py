"""Bytes of any charset become UTF-8, and UTF-8 a tree that hides nothing."""

import codecs
import time

import pytest
from hypothesis import example, given, strategies as st
from selectolax.lexbor import LexborHTMLParser

from newscrawl.extraction.html import MAX_REPAIRS, decode, parse

GREEK = "Η κυβέρνηση ανακοίνωσε σήμερα νέα μέτρα για την οικονομία της χώρας. "
RUSSIAN = "Правительство объявило сегодня о новых мерах поддержки экономики страны. "
POLISH = "Rząd ogłosił dziś nowe środki, które mają wesprzeć gospodarkę i żeglugę. "
CHINESE = "政府今天宣布了支持国家经济的新措施,企业表示欢迎。"
JAPANESE = "政府は本日、国の経済を支援するための新しい措置を発表した。"
GERMAN = "Die Regierung kündigte heute Maßnahmen an, die Österreichs Häfen stärken. "


def page(text: str, head: str = "") -> str:
    body = f"<p>{text}</p>\n" * 20
    return (
        f"<!DOCTYPE html><html><head>{head}<title>{text}</title></head><body>{body}</body></html>"
    )


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("iso-8859-1", "cp1252", GERMAN + "„Gut“ – 5 €"),
        ("gb2312", "gb18030", CHINESE + "镕"),
        ("windows-1251", "cp1251", RUSSIAN),
        ("koi8-r", "koi8-r", RUSSIAN),
        ("iso-8859-7", "iso8859-7", GREEK),
        ("iso-8859-2", "iso8859-2", POLISH),
        ("Shift_JIS", "cp932", JAPANESE + "①"),
        ("euc-jp", "euc_jp", JAPANESE),
        ("iso-2022-jp", "iso2022_jp", JAPANESE),
        ("big5", "big5hkscs", "政府今天宣布了支持國家經濟的新措施。"),
    ],
)
@pytest.mark.parametrize("place", ["header", "bare header", "meta", "http-equiv", "xml"])
def test_declared_charset(label, codec, text, place):
    head, declared, before = "", None, ""
    match place:
        case "header":
            declared = f"text/html; charset={label}"
        case "bare header":
            declared = label
        case "meta":
            head = f'<meta charset="{label}">'
        case "http-equiv":
            head = f'<meta http-equiv="Content-Type" content="text/html; charset={label}">'
        case "xml":
            before = f'<?xml version="1.0" encoding="{label}"?>'
    html = before + page(text, head)
    assert decode(html.encode(codec), declared).decode() == html


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        ("cp1251", RUSSIAN),
        ("iso8859-7", GREEK),
        ("gb18030", CHINESE),
        ("euc_jp", JAPANESE),
        ("cp1252", GERMAN),
    ],
)
def test_undeclared_charset_is_detected(codec, text):
    assert decode(page(text).encode(codec)).decode() == page(text)


@pytest.mark.parametrize("mark", [codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
def test_byte_order_mark_wins_over_declarations(mark):
    codec = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le"}.get(mark, "utf-16-be")
    html = page(GREEK, '<meta charset="windows-1251">')
    assert decode(mark + html.encode(codec), "text/html; charset=koi8-r").decode() == html


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_without_byte_order_mark_is_decoded(codec):
    assert decode(page(GREEK).encode(codec)).decode() == page(GREEK)


@pytest.mark.parametrize("label", ["iso-8859-1", "gb2312", "windows-1251", "iso-2022-jp"])
def test_valid_utf8_overrides_the_declared_charset(label):
    html = page(GREEK + CHINESE, f'<meta charset="{label}">').encode()
    assert decode(html, label) is html


@pytest.mark.parametrize("wrong", ["utf-8", "iso-8859-1"])
def test_charset_of_the_page_overrides_a_wrong_header(wrong):
    html = page(RUSSIAN, '<meta charset="windows-1251">')
    assert decode(html.encode("cp1251"), f"text/html; charset={wrong}").decode() == html


def test_utf8_truncated_within_a_character_is_utf8():
    html = page(GREEK, '<meta charset="iso-8859-1">').encode()
    cut = html[: html.rindex("ς".encode()) + 1]
    assert decode(cut).decode().startswith(page(GREEK, '<meta charset="iso-8859-1">')[:500])


@pytest.mark.parametrize("text", [POLISH, GREEK, CHINESE, "“It’s done” – 5 € 🙂"])
def test_text_that_was_encoded_twice_is_decoded_twice(text):
    twice = text.encode().decode("latin-1")
    assert decode(page(twice).encode()).decode() == page(text)
    assert decode(page(twice)).decode() == page(text)


def test_controls_are_read_as_windows_1252_has_them():
    html = page("It\x92s «LA BEAUTÉ» \x80 5\x81").encode()
    assert decode(html).decode() == page("It’s «LA BEAUTÉ» € 5")


@pytest.mark.parametrize("label", ["utf-7", "base64", "rot13", "idna", "undefined", "nonsense", ""])
def test_unknown_charset_labels_are_ignored(label):
    html = page(GERMAN, f'<meta charset="{label}">').encode("cp1252")
    assert decode(html, label).decode() == html.decode("cp1252")


def test_surrogate_pairs_become_one_character():
    assert decode("a\ud83d\ude00b\ud83d").decode() == "a😀b\ufffd"


@pytest.mark.parametrize("declared", [None, "gb2312", "shift_jis", "utf-8", "windows-1252"])
def test_ten_megabytes_of_noise_are_decoded_in_linear_time(declared):
    noise = bytes(range(255, 0, -1)) * 40_000
    started = time.process_time()
    decode(noise, declared)
    assert time.process_time() - started < 50


@given(st.binary(max_size=300), st.none() | st.text(max_size=30))
@example(b"", None)
@example(b"\x00", None)
@example(b"\xff\xfe", None)
@example(b"\xff\xfe\x00\xd8", None)
@example(b"\x00<\x00", "utf-16")
@example(b"\xe4" * 50, "\x00")
@example(b"\x1b$B", "iso-2022-jp")
def test_random_bytes_become_valid_utf8(html, declared):
    decode(html, declared).decode()


@given(st.text(alphabet=st.characters(), max_size=200))
@example("")
@example("\ud800")
@example("\ufeff")
def test_random_text_becomes_valid_utf8(html):
    decode(html).decode()


HIDDEN = b"<p>The ferry sails again.</p>" * 60


@pytest.mark.parametrize(
    "before",
    [
        b"<html><head><title>The ferry</head><body>",
        b"<html><head><title>The ferry<link rel=icon></head><body><svg><title>x</title></svg>",
        b"<html><head><TITLE>The ferry\n<meta name=a></head><body>",
        b"<html><head><style>p { color: red }</head><body>",
        b"<html><head><script>var page = '<p>';</head><body>",
        b"<html><body><textarea name=comment>",
        b"<html><body><noscript><iframe src=/counter></noscript>",
        b"<html><body><!-- the story",
    ],
)
def test_text_behind_an_unclosed_one_is_read(before):
    body = parse(before + HIDDEN + b"</body></html>").body
    assert body.text().count("The ferry sails again.") == 60


@pytest.mark.parametrize(
    "page",
    [
        b"<html><head><title>Why <b> is old</title></head><body>" + HIDDEN + b"</body></html>",
        b"<html><body><p>x</p><!-- " + HIDDEN + b" --></body></html>",
        b"<html><body><p>x</p><textarea>" + HIDDEN + b"</textarea></body></html>",
        b"<html><body><p>x</p><script>var page = '" + HIDDEN + b"'</script></body></html>",
        b"<html><body><p>x</p><script>var page = '" + HIDDEN,
    ],
)
def test_a_page_that_is_closed_or_cut_in_a_script_stays_as_it_is(page):
    assert parse(page).html == LexborHTMLParser(page).html


def test_only_the_first_unclosed_texts_are_closed():
    page = b"<!-- <p>" * 5_000
    tree = parse(page)
    assert tree.html.count("<p>") >= MAX_REPAIRS


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("Nestlé said that ".encode() + b"caf\xe9s open.", "Nestlé said that cafés open."),
        ("L’Oréal and ".encode() + b"Gr\xfc\xdfe.", "L’Oréal and Grüße."),
        ("Škoda sells ".encode() + b"\x93cars\x94.", "Škoda sells “cars”."),
        ("Škoda in ".encode() + b"\xd6sterreich.", "Škoda in Österreich."),
        ("Citroën in a description cut".encode() + b"\xc3", "Citroën in a description cut\ufffd"),
    ],
)
@pytest.mark.parametrize("header", ["text/html; charset=utf-8", None])
def test_pasted_or_cut_characters_leave_all_others_of_utf_8_right(body, text, header):
    html = b"<meta charset=utf-8><p>" + body + b"</p>" + b"<p>The quay opened on Friday.</p>" * 20
    assert f"<p>{text}</p>" in decode(html, header).decode()


@pytest.mark.parametrize("codec", ["cp1251", "koi8-r", "cp1253"])
def test_page_of_another_script_is_not_in_the_declared_latin_1(codec):
    html = page(GREEK if codec == "cp1253" else RUSSIAN, '<meta charset="iso-8859-1">')
    assert decode(html.encode(codec)).decode() == html
