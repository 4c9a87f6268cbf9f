"""newscrawl rematch: mentions of stored articles, counted anew by another registry."""

import json
from pathlib import Path

import pytest

from newscrawl.archive.reread import CompanyChange, Rematch
from newscrawl.items import Mention, Versions
from newscrawl.mentions import load_companies
from newscrawl.reading import versions_of
from newscrawl.storage import Database, open_database, queries
from newscrawl.storage.mentions import stored_mentions, text_batches, write_mentions
from newscrawl.storage.queries import Scope
from newscrawl.storage.saved_state import Step
from tests.working import rematch_or_die
from tests.worlds import NOON, document, moment, register, save_document

SIEMENS = 'bundled = false\n[[company]]\nname = "Siemens"\n'
NOKIA = 'bundled = false\n[[company]]\nname = "Nokia"\naliases = ["Nokia Oyj"]\n'


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The registry with which the articles were stored."""
    path = tmp_path / "old.toml"
    path.write_text(SIEMENS, "utf-8")
    return path


@pytest.fixture
def new(tmp_path: Path) -> Path:
    """Today's: without Siemens, with Nokia."""
    path = tmp_path / "new.toml"
    path.write_text(NOKIA, "utf-8")
    return path


def fill(database: Database, registry: Path, number: int = 12) -> None:
    """Stores articles: the even ones name Siemens and Nokia, the odd ones nobody."""
    companies = load_companies(registry)
    for source in ("ft", "bbc"):
        run = register(database, source)
        for count in range(number):
            who = f"Siemens and Nokia met Siemens on quay {count}." if count % 2 == 0 else "Nobody."
            text = " ".join(f"{source} word{count}x{n}" for n in range(60)) + f". {who}"
            title = f"Nokia on quay {count}" if count == 4 else f"Report {count}"
            mentions = companies.find(text, title=title)
            page = document(
                f"a{count}",
                source=source,
                title=title,
                text=text,
                mentions=mentions,
                published=moment(-count),
                fetched_at=NOON,
            )
            save_document(database, page, run)


def counted(database: Database) -> dict[str, object]:
    """What questions are answered from."""
    ranking = queries.company_ranking(database, stories=True)
    return {
        "ranking": ranking,
        "days": queries.mention_counts(database, "day"),
        "of each": [
            queries.mention_counts(database, "source", company=row.company, stories=True)
            for row in ranking
        ],
    }


def test_mentions_follow_the_new_registry(database, old, new):
    fill(database, old)
    before = counted(database)
    expected = Rematch(database, new, Scope(), dry_run=True).run()
    assert counted(database) == before
    result = Rematch(database, new, Scope()).run()
    assert result == expected
    assert (result.articles, result.changed) == (24, 12)
    assert result.companies == (
        CompanyChange(company="Siemens", articles=-12, gained=0, lost=24),
        CompanyChange(company="Nokia", articles=12, gained=14, lost=0),
    )
    assert [row.company for row in queries.company_ranking(database)] == ["Nokia"]
    after = counted(database)
    database.rebuild()
    assert after == counted(database)
    Rematch(database, old, Scope()).run()
    assert counted(database) == before
    same = Rematch(database, old, Scope()).run()
    assert (same.articles, same.changed, same.companies) == (24, 0, ())


def test_articles_carry_the_versions_that_found_them(database, old, new):
    for source in ("ft", "bbc"):
        register(database, source)
        run = database.start_run(source, versions_of(old))
        page = document(
            "a", source=source, title=source, published=moment(-3000), fetched_at=moment(-3000)
        )
        save_document(database, page, run)
    urls = {row.source: row.url for row in queries.articles(database)}

    def found_with(source: str) -> Versions:
        page = queries.article_page(database, urls[source])
        return page.versions

    assert found_with("ft") == found_with("bbc") == versions_of(old) != versions_of(new)
    Rematch(database, new, Scope(source="ft"), dry_run=True).run()
    assert found_with("ft") == versions_of(old)
    Rematch(database, new, Scope(source="ft")).run()
    Rematch(database, new, Scope(since=moment(-2990).date())).run()
    assert found_with("ft") == versions_of(new)
    assert found_with("bbc") == versions_of(old)
    proven = queries.proof(database, versions_of(new), counted="read").article_versions
    assert proven == {versions_of(new): 1, versions_of(old): 1}


def test_articles_of_old_runs_have_no_versions(database, old):
    save_document(database, document("a", fetched_at=moment(-3000)), register(database))
    (row,) = queries.articles(database)
    page = queries.article_page(database, row.url)
    assert page.versions == Versions()


@pytest.mark.parametrize(
    ("scope", "articles"),
    [
        (Scope(source="ft"), 12),
        (Scope(since=moment(-3).date()), 8),
        (Scope(source="ft", since=moment(-3).date()), 4),
    ],
    ids=["source", "since", "both"],
)
def test_only_selected_articles_are_rematched(database, old, new, scope, articles):
    fill(database, old)
    assert Rematch(database, new, scope).run().articles == articles


class BrokenOffError(Exception):
    """The run ends here."""


def test_interrupted_rematching_resumes(database, old, new, monkeypatch):
    monkeypatch.setattr("newscrawl.storage.mentions.AT_ONCE", 5)
    fill(database, old)
    done = 0

    def stop(number: int) -> None:
        nonlocal done
        done += number
        if done >= 10:
            raise BrokenOffError

    with pytest.raises(BrokenOffError):
        Rematch(database, new, Scope()).run(stop)
    again = Rematch(database, new, Scope())
    assert again.done_before > 0
    looked_at = []
    result = again.run(looked_at.append)
    assert sum(looked_at) == 14
    assert (result.articles, result.changed) == (24, 12)
    assert Rematch(database, new, Scope()).done_before == 0
    assert [row.company for row in queries.company_ranking(database)] == ["Nokia"]


def test_article_revised_meanwhile_is_not_rematched(database, old, new):
    fill(database, old, number=1)
    (texts,) = text_batches(database, Scope())
    before = stored_mentions(database, [text.number for text in texts])
    changed = document("a0", source="ft", text="Another text. " * 30, published=moment(0))
    save_document(database, changed, register(database, "ft"))
    nokia = Mention(company="Nokia", surface="Nokia", start=0, end=5, section="body")
    mentions = {text.number: [nokia] for text in texts}
    write_mentions(database, texts, mentions, Step(task="t", position=1, counts={}))
    after = stored_mentions(database, [text.number for text in texts])
    ft, bbc = (text.number for text in texts)
    assert before[ft]
    assert ft not in after
    assert after[bbc] == {nokia}


# The command -------------------------------------------------------------------------------------


def test_command_reports_the_difference(newscrawl, old, new):
    with open_database("sqlite:///newscrawl.sqlite") as database:
        fill(database, old)
    dry = newscrawl("rematch", "--companies", new, "--dry-run", "--workers", 1)
    assert dry.code == 0, dry.err
    assert "12 of 24 articles would change, 2 companies" in dry.out
    assert dry.fits
    done = newscrawl("rematch", "--companies", new, "--workers", 1, "--format", "json")
    assert json.loads(done.out)[1] == {"company": "Nokia", "articles": 12, "gained": 14, "lost": 0}
    again = newscrawl("rematch", "--companies", new, "--workers", 1)
    assert "0 of 24 articles changed, 0 companies" in again.out


def test_preview_shows_changed_sentences(newscrawl, old, new):
    with open_database("sqlite:///newscrawl.sqlite") as database:
        fill(database, old)
    preview = ("rematch", "--companies", new, "--dry-run", "--examples", 2, "--workers", 1)
    assert "Siemens and Nokia met Siemens on quay" in " ".join(newscrawl(*preview).out.split())
    rows = json.loads(newscrawl(*preview, "--format", "json").out)
    assert [(row["company"], row["change"]) for row in rows] == [
        *[("Siemens", "lost")] * 2,
        *[("Nokia", "gained")] * 2,
    ]
    assert all("Siemens and Nokia met" in row["sentence"] for row in rows)
    assert len({row["url"] for row in rows}) == 2


def test_empty_selection_is_exit_code_1(newscrawl, old):
    open_database("sqlite:///newscrawl.sqlite").close()
    done = newscrawl("rematch", "--companies", old, "--workers", 1)
    assert (done.code, "There was no article to read" in done.err) == (1, True)


def test_text_that_crashes_the_search_costs_no_other_text(database, old, new, monkeypatch):
    fill(database, old)
    monkeypatch.setattr("newscrawl.archive.reread._find", rematch_or_die)
    result = Rematch(database, new, Scope(), workers=2).run()
    assert (result.articles, result.changed, result.crashed) == (24, 12, 1)
