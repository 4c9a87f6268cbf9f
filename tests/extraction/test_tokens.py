"""Words and characters of blocks, in all scripts, in one pass."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from newscrawl.extraction.tokens import (
    LINK_END,
    LINK_START,
    Char,
    WordTable,
    count,
    languages,
    number_words,
)

LINK = (LINK_START, LINK_END)


def words_of(text: str) -> list[str]:
    tokens = count((text,))
    return tokens.words_at(range(len(tokens.numbers)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Half of the 3,000 cars", ["half", "of", "the", "3", "000", "cars"]),
        ("Öl für Łódź", ["öl", "für", "łódź"]),
        ("中国新闻", ["中", "国", "新", "闻"]),
        ("Apple在中国", ["apple", "在", "中", "国"]),
        ("東京タワー", ["東", "京", "タ", "ワ", "ー"]),
        ("ข่าว", list("ข่าว")),
        ("हिन्दी में समाचार", ["हिन्दी", "में", "समाचार"]),
        ("שָׁלוֹם עולם", ["שָׁלוֹם", "עולם"]),
        ("Новости дня", ["новости", "дня"]),
        ("뉴스 속보", ["뉴스", "속보"]),
        ("¿Qué? – ¡No!", ["qué", "no"]),
        ("...", []),
        ("", []),
    ],
    ids=[
        "English", "accents", "Chinese", "mixed", "Japanese", "Thai", "Hindi", "Hebrew points",
        "Russian", "Korean", "marks", "only marks", "empty",
    ],
)  # fmt: skip
def test_text_is_split_into_words(text, words):
    assert words_of(text) == words


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three?", 3),
        ("No end", 1),
        ("。。", 2),
        ("银行降息了。这是必要的吗？", 2),
        ("यह समाचार है।", 1),
        ("", 0),
    ],
)
def test_sentences_are_counted(text, sentences):
    assert count((text,)).sentences.tolist() == [sentences]


def test_words_inside_links_are_counted_apart():
    text = f"see {LINK_START}the whole report{LINK_END} of {LINK_START}Monday{LINK_END}"
    tokens = count((text,))
    assert tokens.words.tolist() == [6]
    assert tokens.linked.tolist() == [4]


def test_link_continues_over_blocks():
    tokens = count((f"a {LINK_START}b", "c d", f"e{LINK_END} f"))
    assert tokens.linked.tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    ("char", "kind"),
    [
        ("a", Char.LETTER),
        ("新", Char.LETTER),
        ("ि", Char.LETTER),
        ("Ä", Char.CAPITAL),
        ("7", Char.DIGIT),
        ("\u00a0", Char.BLANK),
        ("！", Char.SENTENCE_END),
        ("、", Char.COMMA),
        ("„", Char.QUOTE),
        ("|", Char.SEPARATOR),
        ("%", Char.OTHER),
        ("😀", Char.OTHER),
        (LINK_START, Char.MARK),
    ],
)
def test_characters_are_classified(char, kind):
    empty = count(("",)).chars[0]
    assert (count((char,)).chars[0] - empty).tolist() == [int(kind == each) for each in Char]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The bank said that it would not be the last of these cuts"),
        ("de", "Die Bank sagte, dass es nicht die letzte dieser Senkungen sein wird"),
        ("fr", "La banque a dit que ce ne serait pas la dernière de ces baisses"),
        ("es", "El banco dijo que no será la última de estas bajadas"),
        ("it", "La banca ha detto che non sarà l'ultima di queste riduzioni della serie"),
        ("el", "Η τράπεζα είπε ότι δεν θα είναι η τελευταία από αυτές τις μειώσεις"),
        ("ru", "Банк сообщил, что это не последнее из таких снижений и что он не будет ждать"),
        ("pl", "Bank powiedział, że to nie jest ostatnia z tych obniżek i że nie będzie czekać"),
        ("zh", "银行表示这不是最后一次降息，他们也不会再等了"),
    ],
)
def test_stop_words_are_counted_by_language(language, text):
    stop_words = count((text,)).stop_words[0]
    assert languages()[int(stop_words.argmax())] == language


def test_stop_words_cover_the_papers_fourteen_languages():
    assert len(languages()) >= 14
    assert len(languages()) <= 31, "the look-up has a bit for each"


def test_opening_words_are_those_of_each_block():
    tokens = count(("One two three", "", f"{LINK_START}Four{LINK_END}, five"))
    places, counts = tokens.openings(2)
    assert tokens.words_at(places) == ["one", "two", "four", "five"]
    assert counts.tolist() == [2, 0, 2]


def test_no_blocks_give_no_counts():
    tokens = count(())
    assert tokens.words.shape == (0,)
    assert tokens.stop_words.shape == (0, len(languages()))
    assert tokens.chars.shape == (0, len(Char))


def test_nul_character_does_not_end_a_block():
    assert count(("a\0b", "c")).words.tolist() == [2, 1]


@pytest.mark.parametrize("text", ["The Öl of Łódź", "中国新闻", "हिन्दी में", "ΟΔΟΣ οδός"])
def test_word_number_does_not_depend_on_the_page(text):
    tokens = count(("before", f"x {text}"))
    words = words_of(text)
    assert tokens.numbers[2:].tolist() == number_words(words).tolist()


def test_different_words_have_different_numbers():
    words = [f"{first}{second}" for first in "abcdefghij" for second in "abcdefghij"] + ["a", "b"]
    assert len(set(number_words(words).tolist())) == len(words)


def test_word_table_finds_only_its_own_words():
    table = WordTable(number_words(["bank", "und"]), np.array([7, 9]))
    found = table.look_up(number_words(["und", "strange", "bank"]))
    assert found.tolist() == [9, 0, 7]


def test_word_table_of_many_words_finds_each():
    words = [f"word{number}" for number in range(9_000)]
    table = WordTable(number_words(words), np.arange(1, 9_001))
    assert table.look_up(number_words(words)).tolist() == list(range(1, 9_001))
    assert not table.look_up(number_words([f"other{number}" for number in range(9_000)])).any()


def test_empty_word_table_finds_no_word():
    table = WordTable(number_words([]), np.array([], dtype=np.int64))
    assert table.look_up(number_words(["und"])).tolist() == [0]


def test_word_number_does_not_depend_on_the_length_of_the_page():
    long = count(("word " * 20_000,))
    assert set(long.numbers.tolist()) == set(number_words(["word"]).tolist())


@given(texts=st.lists(st.text(max_size=60), max_size=8))
def test_counts_of_a_block_do_not_depend_on_its_neighbours(texts):
    texts = [text.translate({2: None, 3: None}) for text in texts]
    together = count(tuple(texts))
    for number, text in enumerate(texts):
        alone = count((text,))
        assert together.chars[number].tolist() == alone.chars[0].tolist()
        assert together.sentences[number] == alone.sentences[0]
        assert together.words[number] == alone.words[0]


@given(texts=st.lists(st.text(max_size=60), max_size=8))
def test_counts_are_consistent(texts):
    tokens = count(tuple(texts))
    assert (tokens.linked <= tokens.words).all()
    assert (tokens.stop_words <= tokens.words[:, None]).all()
    assert (tokens.words <= tokens.letters_in_words).all()
    assert ((tokens.sentences > 0) | (tokens.words == 0)).all()
    assert tokens.word_from[-1] == len(tokens.numbers) == tokens.words.sum()
