"""Names in bylines."""

import pytest
from hypothesis import given, strategies as st

from newscrawl.extraction.metadata import names


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
    ],
)  # fmt: skip
def test_names_are_read_from_a_byline(byline: str, wanted: list[str]) -> None:
    assert names.split(byline) == wanted


@pytest.mark.parametrize(
    "text",
    ["admin", "Written by", "https://x.example/author/jane", "5 min read", "Staff Writer", "",
     "{{author}}", "jane@x.example", "Share", "12345678",
     "The quick brown fox jumps over a lazy dog again"],
)  # fmt: skip
def test_text_without_a_name_has_none(text: str) -> None:
    assert names.split(text) == []


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        (["Jane Doe", "Dec 19"], ("Jane Doe",)),
        (["By Jane Doe", "Mehr"], ("Jane Doe",)),
        (["by printing one of our examples"], ()),
        (["Doe", "Jane Doe"], ("Jane Doe",)),
        (["August Weber"], ("August Weber",)),
        (["李四"], ("李四",)),
        (["Espectáculos", "Juan Muñoz"], ("Juan Muñoz",)),
    ],
)
def test_persons_are_found_among_texts_of_the_markup(
    texts: list[str], wanted: tuple[str, ...]
) -> None:
    assert names.persons(texts) == wanted


def test_desk_is_the_author_if_no_person_is_named() -> None:
    assert names.clean(["Sports Editors"]) == ()
    assert names.desks(["Sports Editors"]) == ("Sports Editors",)


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
def test_account_or_desk_is_the_author_of_a_byline_without_persons(
    bylines: list[str], wanted: tuple[str, ...]
) -> None:
    assert names.accounts(bylines) == wanted


def test_desks_of_bylines_are_found() -> None:
    assert names.marked_desks(["Night Editor\nMay 3, 2026"]) == ("Night Editor",)
    assert names.marked_desks(["von Redaktion"]) == ("Redaktion",)
    assert names.marked_desks(["Jane Doe"]) == ()


@given(st.lists(st.text(max_size=120), max_size=5))
def test_number_and_length_of_names_are_limited(texts: list[str]) -> None:
    found = names.clean(texts)
    assert len(found) <= names.MAX_AUTHORS
    assert len({name.casefold() for name in found}) == len(found)
    assert all(0 < len(name) <= names.MAX_NAME for name in found)
