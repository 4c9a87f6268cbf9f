"""Print the words of each language that look like a case of a company's name, as the table
`words_like_cases` of vocabulary.toml; needs wordfreq: `uv run --with wordfreq python -m
benchmarks.recipes.words_like_cases`."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from textwrap import fill
from typing import Final

from newscrawl.mentions import Companies, Company, load_companies
from newscrawl.mentions.candidates import Candidate, Finder
from newscrawl.mentions.registry_cache import CompiledRegistry, compile_registry
from newscrawl.mentions.vocabulary import ANY, load_vocabulary

_SAME: Final = "bg bn cs da de el fi hu is lt lv mk nl pl ro ru sk sl sv uk"
# The list of words for each of our languages; wordfreq has one for the languages of Serbo-Croatian.
LISTS: Final = {code: code for code in _SAME.split()} | {
    **dict.fromkeys(("hr", "sr", "bs"), "sh"),
    **dict.fromkeys(("no", "nb"), "nb"),
}
_WORDS: Final = 60_000
# On wordfreq's scale (a word of a million is 3). A case is rarely as frequent as the name itself;
# ours, by reading what they gave.
_LEAST, _MARGIN = 2.5, 0.7


def words_like_cases(companies: Companies) -> Iterator[tuple[str, list[str]]]:
    """Yield each language with its words that are more frequent than the name, and "any" with the
    English words that stand in texts of all of them."""
    wordfreq = import_module("wordfreq")
    words = replace(load_vocabulary(), words_like_cases={ANY: frozenset()})
    registry = CompiledRegistry(compile_registry(companies, {}, words))
    finder = Finder(registry.beginnings, registry.spelled, registry.forms, words)
    english: set[str] = set()
    pairs = [(language, "en") for language in LISTS]
    for language, listed in [*LISTS.items(), *pairs]:
        frequent_words = wordfreq.top_n_list(listed, _WORDS, wordlist="best")
        lines = [word.capitalize() for word in frequent_words if word.isalpha() and len(word) > 3]
        text = "\n".join(["", *lines, ""])
        limits = defaultdict(list)
        for candidate in finder.find(text, language):
            whole = text[candidate.start - 1] == text[candidate.end] == "\n"
            if whole and (candidate.inflected or candidate.form.languages):
                names = _names(companies[candidate.form.company], candidate)
                frequencies = [wordfreq.zipf_frequency(name, listed) for name in names]
                # Without a name to compare, the word stays a case.
                limits[text[candidate.start : candidate.end].lower()].append(
                    max(frequencies, default=9) + _MARGIN
                )
        frequent = sorted(
            word
            for word, least in limits.items()
            if wordfreq.zipf_frequency(word, listed) >= max(_LEAST, *least)
        )
        if listed == "en":
            english.update(frequent)
        else:
            yield language, frequent
    yield ANY, sorted(english)


def _names(company: Company, candidate: Candidate) -> list[str]:
    """Return the names of which a place may be a case, in small letters."""
    stem = candidate.form.text.lower()
    forms = (form.lower() for form in (company.name, *company.aliases, *company.ambiguous))
    return [form for form in forms if form.startswith(stem[:-1]) and len(form) <= len(stem) + 3]


if __name__ == "__main__":
    for language, words in words_like_cases(load_companies()):
        if words:
            print(f'{language} = """{fill(", ".join(words), width=160)}"""')
