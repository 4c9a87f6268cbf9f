"""Names in bylines."""

import pytest
from hypothesis import given, strategies as st

from newscrawl.extraction.metadata import byline_lines, names, text_bylines


@pytest.mark.parametrize(
    ("byline", "wanted"),
    [
        ("Jane Doe", ["Jane Doe"]),
        ("By Jane Doe", ["Jane Doe"]),
        ("BY JANE DOE", ["JANE DOE"]),
        ("By Jane Doe and Tom Ray", ["Jane Doe", "Tom Ray"]),
        ("Jane Doe, Tom Ray & Ann Lee", ["Jane Doe", "Tom Ray", "Ann Lee"]),
        ("By Jane Doe, Senior Editor", ["Jane Doe"]),
        ("By Jane Doe in Berlin", ["Jane Doe"]),
        ("Jane Doe, Berlin", ["Jane Doe"]),
        ("By Jane Doe | March 5, 2026", ["Jane Doe"]),
        ("Jane Doe Sep 4", ["Jane Doe"]),
        ("Written by: Jane Doe (Reuters)", ["Jane Doe"]),
        ("Jane Doe https://x.example/jane", ["Jane Doe"]),
        ("Jane Doe @janedoe", ["Jane Doe"]),
        ("Von Max Weber und Eva Klein", ["Max Weber", "Eva Klein"]),
        ("Ein Gastbeitrag von Max Weber", ["Max Weber"]),
        ("Von Max Weber, Hamburg", ["Max Weber"]),
        ("Max von der Heide", ["Max von der Heide"]),
        ("Text: Max Weber", ["Max Weber"]),
        ("Par Anne Petit et Luc Roy", ["Anne Petit", "Luc Roy"]),
        ("Por Ana Ruiz y Juan Gil", ["Ana Ruiz", "Juan Gil"]),
        ("Di Mario Rossi", ["Mario Rossi"]),
        ("De Niro", ["De Niro"]),
        ("Door Jan de Vries", ["Jan de Vries"]),
        ("Autor: Jan Kowalski", ["Jan Kowalski"]),
        ("Автор: Иван Петров", ["Иван Петров"]),
        ("Συντάκτης: Νίκος Παππάς", ["Νίκος Παππάς"]),
        ("作者:张三", ["张三"]),
        ("记者 李四", ["李四"]),
        ("山田太郎 記者", ["山田太郎"]),
        ("det/dpa", ["det", "dpa"]),
        ("Reuters", ["Reuters"]),
        ("By Jane Doe, The Harbour Press", ["Jane Doe"]),
        ("By Jane Doe The Associated Press", ["Jane Doe"]),
        ("Written by Jane Doe. Edited by Tom Ray", ["Jane Doe"]),
        ("By Jane Doe\nReviewed by\nTom Ray", ["Jane Doe"]),
        ("Posted on September 21, 2026 by Jane Doe", ["Jane Doe"]),
        ("By Jane Doe on behalf of the harbour team", ["Jane Doe"]),
        ("Jane Doe ⋅ Founder ⋅ May 2, 2026", ["Jane Doe"]),
        ("Human in the Loop", ["Human in the Loop"]),
        ("Pier.example.com Staff", ["Pier.example.com Staff"]),
        ("Von DPA", ["DPA"]),
        ("Von Miller", ["Von Miller"]),
        ("著者：後藤大地", ["後藤大地"]),
        ("Por Ana Ruiz | Madrid | 5 de marzo de 2026", ["Ana Ruiz"]),
        ("5 de marzo de 2026 por Ana Ruiz", ["Ana Ruiz"]),
        ("By Jane Doe 5 March 2026", ["Jane Doe"]),
        ('<a href="/jane">Jane Doe</a>', ["Jane Doe"]),
        ("بقلم أحمد منصور", ["أحمد منصور"]),
        ("מאת דנה לוי", ["דנה לוי"]),
        ("लेखक: राजेश कुमार", ["राजेश कुमार"]),
        ("dpa/Jane Doe", ["Jane Doe"]),
        ("Reuters, AFP", ["Reuters", "AFP"]),
        ("By Jane Doe with additional reporting by Tom Ray", ["Jane Doe"]),
        ("Un reportaje de Ana Ruiz", ["Ana Ruiz"]),
    ],
)  # fmt: skip
def test_names_are_read_from_a_byline(byline, wanted):
    assert list(names.split(byline)) == wanted


@pytest.mark.parametrize(
    "text",
    ["admin", "Written by", "https://x.example/author/jane", "5 min read", "Staff Writer", "",
     "{{author}}", "jane@x.example", "Share", "12345678",
     "The quick brown fox jumps over a lazy dog again"],
)  # fmt: skip
def test_text_without_a_name_has_none(text):
    assert names.split(text) == ()


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        (["Jane Doe", "Dec 19"], ("Jane Doe",)),
        (["By Jane Doe", "Mehr"], ("Jane Doe",)),
        (["by printing one of our examples"], ()),
        (["Doe", "Jane Doe"], ("Jane Doe",)),
        (["Jane Doe", "Tom Ray", "Jane Doe Tom Ray"], ("Jane Doe", "Tom Ray")),
        (["August Weber"], ("August Weber",)),
        (["李四"], ("李四",)),
        (["Espectáculos", "Juan Muñoz"], ("Juan Muñoz",)),
    ],
)
def test_persons_are_found_among_texts_of_the_markup(texts, wanted):
    assert names.persons(texts) == wanted


@pytest.mark.parametrize(
    ("bylines", "wanted"),
    [
        (["by gizmo on August 3, 2026"], ("gizmo",)),
        (["Posted by gizmo under"], ("gizmo",)),
        (["5 min read", "May 3", "gizmo"], ("gizmo",)),
        (["by the Acme team"], ("the Acme team",)),
        (["by printing one of our examples"], ()),
    ],
)
def test_account_or_desk_is_the_author_of_a_byline_without_persons(bylines, wanted):
    assert names.accounts(bylines) == wanted


def test_desks_of_bylines_are_found():
    assert names.marked_desks(["Night Editor\nMay 3, 2026"]) == ("Night Editor",)
    assert names.marked_desks(["von Redaktion"]) == ("Redaktion",)
    assert names.marked_desks(["Jane Doe"]) == ()


@given(st.lists(st.text(max_size=120), max_size=5))
def test_number_and_length_of_names_are_limited(texts):
    found = names.clean(texts)
    assert len(found) <= names.MAX_AUTHORS
    assert len({name.casefold() for name in found}) == len(found)
    assert all(0 < len(name) <= names.MAX_NAME for name in found)


@pytest.mark.parametrize(
    ("bylines", "authors"),
    [
        (["jane@acme.example (Jane Doe)"], ("Jane Doe",)),
        (["mailto:jane@acme.example"], ()),
        (["Jane Doe <jane@acme.example>"], ("Jane Doe",)),
        (["jane@acme.example"], ()),
        (["Doe, Jane; Ray, Tom"], ("Jane Doe", "Tom Ray")),
    ],
)
def test_fields_are_cleaned_to_names(bylines, authors):
    assert names.clean(bylines) == authors


@pytest.mark.parametrize(
    ("line", "authors"),
    [
        ("김민수 기자 minsu@news.example", ("김민수",)),
        ("[서울=뉴시스] 김민수·이영희 기자", ("김민수", "이영희")),
        ("글 김민수 사진 이영희", ("김민수",)),
        ("Készítette: Jane Doe", ("Jane Doe",)),
        ("Escrit per Jane Doe", ("Jane Doe",)),
        ("Ditulis oleh Jane Doe", ("Jane Doe",)),
        ("입력 2026.11.12 08:30 김민수 특파원", ("김민수",)),
        ("新华社记者王芳、李明", ("王芳", "李明")),
        ("【記者王芳／台北報導】", ("王芳",)),
        ("王小明＝台北報導", ("王小明",)),
        ("Bericht aus Wien von Jana Müller", ("Jana Müller",)),
        ("（中央社記者王小芳台北12日電）", ("王小芳",)),
        ("來源：新華社 作者：王芳", ("王芳",)),
        ("责任编辑：李明", ()),
        ("文：山田花子　写真：田中太郎", ("山田花子",)),
        ("取材・文　山田 花子", ("山田 花子",)),
        ("山田花子（編集部）", ("山田花子",)),
        ("筆者：山田花子（経済ジャーナリスト）", ("山田花子",)),
        ("【ワシントン=山田花子】", ("山田花子",)),
        ("김민수 문화부 기자", ("김민수",)),
        ("이데일리 김민수 기자", ("김민수",)),
        ("[항구경제=김민수 기자]", ("김민수",)),
        ("베이징/김민수 특파원", ("김민수",)),
        ("De notre envoyée spéciale Jeanne Dupont", ("Jeanne Dupont",)),
        ("撰稿人：王芳", ("王芳",)),
        ("Πηγή: Άννα Νίκου", ()),
        ("財經中心／王芳報導", ("王芳",)),
        ("By Jane Doe in Berlin and Tom Ray in Paris", ("Jane Doe", "Tom Ray")),
        ("Aus Berlin von Jane Doe", ("Jane Doe",)),
        ("Edited by Tom Ray", ()),
        ("【経済】", None),
        ("停電通知を送った", None),
        ("Piše: Ana Novak", ("Ana Novak",)),
        ("Par Jeanne Dupont avec AFP", ("Jeanne Dupont",)),
        ("Door onze redacteur Jan Smit", ("Jan Smit",)),
        ("Publicerad av Eva Berg", ("Eva Berg",)),
        ("Words: Jane Doe. Pictures: Tom Ray", ("Jane Doe",)),
        ("Jane Doe (Text) und Tom Ray (Fotos)", ("Jane Doe",)),
        ("Texte et photos : Jeanne Dupont, Paris", ("Jeanne Dupont",)),
        ("Фото: Иван Иванов", ()),
        ("रिपोर्ट: अनीता शर्मा", ("अनीता शर्मा",)),
        ("Բառ՝ Աննա", None),
        ("Text of the treaty", None),
        ("By Ann Lee/Pier Images", None),
        ("Per capita income rises", None),
    ],
)
def test_words_of_authorship_make_a_line_a_byline(line, authors):
    assert byline_lines.authors_in(line) == authors


@pytest.mark.parametrize(
    ("line", "authors"),
    [
        ("Jane Doe, dpa", ("Jane Doe",)),
        ("Jane Doe | Barcelona", ("Jane Doe",)),
        ("Jane Doe and Tom Ray, Senior Reporters", ("Jane Doe", "Tom Ray")),
        ("Jane Doe in Paris", ("Jane Doe",)),
        ("Jane Doe for the Gazette", ("Jane Doe",)),
        ("Harbour Street, Pierton", ()),
        ("Jane Doe Political editor", ("Jane Doe",)),
        ("Jane Doe, envoyée spéciale à Rome", ("Jane Doe",)),
        ("Jane Doe, New York", ("Jane Doe",)),
        ("Jane Doe, da redação", ("Jane Doe",)),
        ("Анна Петрова, РИА Новости", ("Анна Петрова",)),
        ("יעל כהן, כתבת לענייני כלכלה", ("יעל כהן",)),
        ("By Our Correspondent", ()),
        ("Jane Doe", ()),
        ("Easy Online Ordering | Tailored Career Support", ()),
        ("Rates rise, says bank", ()),
    ],
)
def test_a_name_and_a_role_or_place_may_be_a_byline(line, authors):
    assert byline_lines.author_and_place(line) == authors


@pytest.mark.parametrize(
    ("text", "authors"),
    [
        ("港口重新开放。（记者 王芳） \n责任编辑：李明", ("王芳",)),
        ("港口重新開放。（記者陳大明／台北報導）", ("陳大明",)),
        ("港が再び開いた。（田中太郎記者）", ("田中太郎",)),
        ("항구가 다시 열렸다.\n김민수 기자 minsu@pier.example", ("김민수",)),
        ("港口重新开放。\n记者 刘涛\n版权所有", ("刘涛",)),
        ("港口重新开放。（记者张三 摄）", ()),
        ("据记者张三报道，港口重新开放。", ()),
        ("记者：您好", ()),
        ("記者會 陸媒接到噤聲令", ()),
        ("港口重新开放。（记者 王芳）\n船只起航。（记者 李明）", ()),
    ],
)
def test_reporter_signs_below_the_text(text, authors):
    assert text_bylines.signed_below(text) == authors
