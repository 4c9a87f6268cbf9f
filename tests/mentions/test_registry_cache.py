"""The compiled registry: kept in a file, never trusted further than its digest."""

import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree

import pytest

from newscrawl.cache import MAX_KEPT_FILES, cache_folder
from newscrawl.mentions import Companies, CompaniesError, load_companies
from newscrawl.mentions.company import Company
from newscrawl.mentions.registry_cache import (
    MIN_CACHED_BYTES,
    CompiledRegistry,
    compile_registry,
    content_digest,
)
from newscrawl.mentions.vocabulary import load_vocabulary

TEXT = (
    "Siemens, der Dax-Konzern Linde und Bahnchef Lutz; Prezes Orlenu; у Норильского никеля; "
    "Apple (AAPL.O) and Merck's Keytruda. トヨタ、微软. BERLIN (Sky News) - Boeing."
)


def entry(number: int) -> str:
    note = "of no use " * 500
    name = f'name = "Qu{number}ix Werke"'
    return f'[[company]]\n{name}\nstems = ["Qui{number} w* k*"]\nnote = "{note}"\n'


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    folder = tmp_path / "registry"
    folder.mkdir()
    for letter in "ab":
        base = 0 if letter == "a" else 10_000
        text = "".join(entry(base + number) for number in range(MIN_CACHED_BYTES // 5000))
        (folder / f"{letter}.toml").write_text(text, encoding="utf-8")
    return folder


@dataclass(frozen=True)
class First:
    """The bundled companies as they were loaded at first, and the cache that this filled."""

    companies: Companies
    cache: Path


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> First:
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("home")
        patch.setenv("XDG_CACHE_HOME", str(home))
        cache = cache_folder()
        assert cache == home / "newscrawl"
        return First(load_companies(), cache)


def files(cache: Path) -> list[Path]:
    return sorted(cache.glob("companies-*.json"))


def test_cached_registry_equals_the_loaded_one(first):
    fresh = first.companies
    assert len(files(first.cache)) == 1
    kept = load_companies(cache=first.cache)
    assert list(kept) == list(fresh)
    for language in (None, "de", "pl", "ru", "ja"):
        assert kept.find(TEXT, language=language) == fresh.find(TEXT, language=language) != []
    assert kept.by_name("VW") == fresh.by_name("VW") is not None


def test_changed_file_replaces_the_cached_registry(registry, tmp_path):
    assert not load_companies(registry, alone=True, cache=tmp_path).find("Acme Rockets")
    with (registry / "a.toml").open("a", encoding="utf-8") as file:
        file.write('[[company]]\nname = "Acme Rockets"\n')
    assert load_companies(registry, alone=True, cache=tmp_path).find("Acme Rockets")


def test_error_in_a_changed_file_is_named_despite_the_cache(registry, tmp_path):
    load_companies(registry, alone=True, cache=tmp_path)
    before = files(tmp_path)
    with (registry / "b.toml").open("a", encoding="utf-8") as file:
        file.write('[[company]]\nname = "You"\n')
    with pytest.raises(CompaniesError, match="everyday word"):
        load_companies(registry, alone=True, cache=tmp_path)
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda _: b"", id="empty"),
        pytest.param(lambda whole: whole[:-10], id="cut off"),
        pytest.param(lambda whole: whole.replace(b"Qu7ix", b"Qu7xx"), id="changed"),
        pytest.param(lambda _: b"\xff\xfe\n{}", id="not text"),
        pytest.param(lambda _: b'2283631125\n{"rows": [0, 1, 0]}\n\n', id="lines are missing"),
    ],
)
def test_damaged_cache_file_is_replaced(registry, tmp_path, damage):
    load_companies(registry, alone=True, cache=tmp_path)
    (kept,) = files(tmp_path)
    whole = kept.read_bytes()
    kept.write_bytes(damage(whole))
    assert load_companies(registry, alone=True, cache=tmp_path).find("Qu7ix Werke")
    assert kept.read_bytes() == whole


def test_unwritable_cache_folder_is_ignored(registry, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert load_companies(registry, alone=True, cache=blocked / "cache").find("Qu7ix Werke")


def test_small_registries_are_not_cached(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(entry(1), encoding="utf-8")
    load_companies(file, alone=True, cache=tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


@pytest.mark.thorough
def test_own_and_bundled_companies_are_kept_together(tmp_path):
    file = tmp_path / "mine.toml"
    for name in ("Quayside Works", "Harbour Works"):
        file.write_text(f'[[company]]\nname = "{name}"\n', encoding="utf-8")
        fresh = load_companies(file, cache=tmp_path / "cache")
        kept = load_companies(file, cache=tmp_path / "cache")
        assert list(kept) == list(fresh)
        assert kept[0].name == name
    assert len(files(tmp_path / "cache")) == 3  # with the bundled ones, from which they differ


def test_bundled_files_that_an_upgrade_changes_are_read_again(registry, tmp_path, monkeypatch):
    monkeypatch.setattr("newscrawl.mentions.registry.BUNDLED", registry)
    own = tmp_path / "mine.toml"
    own.write_text('[[company]]\nname = "Quayside Works"\n', encoding="utf-8")
    load_companies(own, cache=tmp_path / "cache")
    (registry / "c.toml").write_text('[[company]]\nname = "Harbour Works"\n', encoding="utf-8")
    upgraded = load_companies(own, cache=tmp_path / "cache")
    assert "Harbour Works" in [company.name for company in upgraded]


def test_only_the_newest_cache_files_are_kept(registry, tmp_path):
    for number in range(MAX_KEPT_FILES + 2):
        (registry / "c.toml").write_text(entry(90_000 + number), encoding="utf-8")
        load_companies(registry, alone=True, cache=tmp_path)
    assert len(files(tmp_path)) == MAX_KEPT_FILES


def test_cache_file_in_use_is_kept_beside_those_of_many_changes(registry, tmp_path):
    load_companies(registry, alone=True, cache=tmp_path)
    (used,) = files(tmp_path)
    edited = copytree(registry, registry.with_name("edited"))
    for number in range(MAX_KEPT_FILES):
        (edited / "c.toml").write_text(entry(90_000 + number), encoding="utf-8")
        load_companies(edited, alone=True, cache=tmp_path)
        load_companies(registry, alone=True, cache=tmp_path)
    assert used in files(tmp_path)


def test_files_of_a_clock_that_was_wrong_are_deleted_first(registry, tmp_path):
    tomorrow = time.time() + 86_400
    for number in range(MAX_KEPT_FILES + 1):
        (registry / "c.toml").write_text(entry(90_000 + number), encoding="utf-8")
        load_companies(registry, alone=True, cache=tmp_path)
        if number < MAX_KEPT_FILES:
            for file in files(tmp_path):
                os.utime(file, (tomorrow, tomorrow))
    newest = [file for file in files(tmp_path) if file.stat().st_mtime < tomorrow]
    assert len(files(tmp_path)) == MAX_KEPT_FILES
    assert len(newest) == 1
    written = newest[0].stat().st_ino
    load_companies(registry, alone=True, cache=tmp_path)
    assert newest[0].stat().st_ino == written  # it was read, not written again


def test_cache_folder_is_private_to_the_user(first):
    assert len(first.companies) >= 1000
    assert files(first.cache)


def test_registry_error_can_be_pickled(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('[[company]]\nname = "You"\n', encoding="utf-8")
    with ProcessPoolExecutor(1) as pool:
        error = pool.submit(load_companies, file).exception(timeout=60)
    assert isinstance(error, CompaniesError)
    assert (error.file, error.line) == (str(file), 2)
    assert str(error) == f"{file}, line 2: {error.fault}; {error.advice}"


def test_digest_follows_a_changed_file(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('[[company]]\nname = "Quayside"\n', encoding="utf-8")
    before = content_digest([file])
    assert content_digest([file]) == before
    file.write_text('[[company]]\nname = "Quayside Works"\n', encoding="utf-8")
    assert content_digest([file]) != before


BUNDLED = (
    Company(name="Siemens", aliases=("Siemens Energy",), context=("turbine",), tickers=("SIE",)),
    Company(name="Volkswagen", aliases=("VW",), facts={"country": "DE"}, stems=("Volkswag*",)),
    Company(name="Audi", ambiguous=("Audi",), facts={"parent": "Volkswagen", "country": "DE"}),
    Company(name="Газпром", aliases=("Gazprom",), facts={"country": "RU"}),
    Company(name="Toyota"),
)


def contents(content: bytes) -> tuple[object, ...]:
    registry = CompiledRegistry(content)
    companies = list(registry.companies)
    spelled = {
        text: [
            (companies[form.company].name, form._replace(company=0))
            for form in map(registry.forms.__getitem__, meant)
        ]
        for row in registry.spelled
        for text, meant in row
    }
    tables = registry.tickers, registry.outlets, registry.owners, registry.contexts
    return companies, spelled, *map(repr, tables)


@pytest.mark.parametrize(
    "companies",
    [
        BUNDLED,
        (Company(name="Moorbach"), *BUNDLED),
        # In place of a bundled one, with one of its forms, and one fewer.
        (Company(name="Siemens", aliases=("Audi",)), *BUNDLED[1:]),
        (Company(name="Wheels", aliases=("VW", "Тойота")), BUNDLED[0], *BUNDLED[2:]),
        BUNDLED[:3],
    ],
)
def test_only_the_difference_is_compiled_and_equals_the_whole(companies):
    words = load_vocabulary()
    base = compile_registry(BUNDLED, {}, words)
    whole = contents(compile_registry(companies, {}, words))
    assert contents(compile_registry(companies, {}, words, base)) == whole
