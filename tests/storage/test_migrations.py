"""The migrations lead to the tables of the models, on both databases."""

import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, select, text

from newscrawl.storage import (
    StorageError,
    engine,
    migrations,
    models,
    open_database,
    queries,
    upgrade_database,
)
from newscrawl.storage.company_alerts import list_alerts, watch_company
from newscrawl.storage.rollups import MAX_PAIRED
from newscrawl.storage.source_stats import articles_so_far, last_checkups
from newscrawl.storage.status import Incident, claim_unreported, record_incidents
from tests.site.crawling import clean_environment

SCRIPTS = Path(migrations.__file__).parent


@pytest.fixture
def scripts() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    return ScriptDirectory.from_config(config)


def test_head_is_the_newest_migration(scripts: ScriptDirectory) -> None:
    assert scripts.get_current_head() == migrations.HEAD


def test_versions_sort_in_the_order_of_their_migrations(scripts: ScriptDirectory) -> None:
    newest_first = [script.revision for script in scripts.walk_revisions()]
    assert newest_first == sorted(newest_first, reverse=True)


def is_modelled(name: str | None, kind: str, _parents: object) -> bool:
    """The index of the full text is another table on each of the two databases."""
    return kind != "table" or not str(name).startswith("article_search")


def differences(url: str) -> list[object]:
    """Return what differs between the tables of a database and those of the models."""
    opened = engine.make_engine(engine.parse_url(url))
    with opened.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": is_modelled})
        found = compare_metadata(context, models.Base.metadata)
    opened.dispose()
    return list(found)


def test_migrated_tables_are_those_of_the_models(database_url: str) -> None:
    upgrade_database(database_url)
    assert differences(database_url) == []


def test_upgrade_reports_both_versions(database_url: str) -> None:
    assert upgrade_database(database_url) == (None, migrations.HEAD)
    assert upgrade_database(database_url) == (migrations.HEAD, migrations.HEAD)


def test_upgraded_database_can_be_opened(database_url: str) -> None:
    upgrade_database(database_url)
    with open_database(database_url) as database:
        database.register_source("ft", "FT", "gb", "en", "https://ft.example/")
        assert database.start_run("ft") == 1


def test_tables_of_another_program_are_left_alone(database_url: str) -> None:
    opened = engine.make_engine(engine.parse_url(database_url))
    with opened.execution_options(writes=True).begin() as connection:
        connection.execute(text("CREATE TABLE articles (title TEXT)"))
    for change in (open_database, upgrade_database):
        with pytest.raises(StorageError, match=r"(of another program \(articles\)|no tables)"):
            change(database_url)
    with opened.connect() as connection:
        assert inspect(connection).get_table_names() == ["articles"]
    opened.dispose()


def test_only_a_database_in_postgresql_is_shared(database_url: str) -> None:
    opened = engine.make_engine(engine.parse_url(database_url))
    with opened.execution_options(writes=True).begin() as connection:
        connection.execute(text("CREATE TABLE bookmarks (title TEXT)"))
    opened.dispose()
    if database_url.startswith("postgresql"):
        assert upgrade_database(database_url) == (None, migrations.HEAD)
        return
    with pytest.raises(StorageError, match=r"news\.sqlite has tables of another .*\(bookmarks\)"):
        upgrade_database(database_url)


def test_search_index_of_sqlite_merges_rarely(tmp_path: Path) -> None:
    with (
        open_database(f"sqlite:///{tmp_path / 'news.sqlite'}") as database,
        database.reading() as session,
    ):
        found = session.execute(text("SELECT v FROM article_search_config WHERE k = 'automerge'"))
        assert found.scalars().all() == [8]


@pytest.fixture
def unreleased(database_url: str) -> str:
    """The URL of a database of schema 0014, with a row in each table that 0015 changes."""
    opened = engine.make_engine(engine.parse_url(database_url))
    with opened.execution_options(writes=True).begin() as connection:
        for name in (f"schema_0014_{opened.dialect.name}.sql", "rows_0014.sql"):
            script = Path(__file__).with_name(name).read_text(encoding="utf-8")
            for statement in filter(str.strip, script.split(";\n")):
                connection.exec_driver_sql(statement)
    opened.dispose()
    return database_url


def test_unreleased_schema_becomes_the_tables_of_the_models(unreleased: str) -> None:
    assert upgrade_database(unreleased) == ("0014", migrations.HEAD)
    assert differences(unreleased) == []


def test_upgrades_at_once_are_one_upgrade(unreleased: str) -> None:
    command = [sys.executable, "-m", "newscrawl.cli", "db", "upgrade"]
    environment = clean_environment() | {"NEWSCRAWL_DATABASE_URL": unreleased}
    runs = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for _ in range(3)
    ]
    outputs = [run.communicate(timeout=300)[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0], outputs
    assert differences(unreleased) == []
    with open_database(unreleased) as database:
        assert articles_so_far(database) == {"ft": 7}


def test_unreleased_database_keeps_its_rows(unreleased: str) -> None:
    upgrade_database(unreleased)
    with open_database(unreleased) as database:
        outside = queries.boilerplate(database, company="Siemens")
        assert (outside.mentions, outside.pages) == (4, 1)
        (alert,) = list_alerts(database)
        assert (alert.alert.cause, alert.delivered_by) == ("spike", ("log",))
        assert watch_company(database, "Bosch")
        assert not watch_company(database, "Siemens")
        assert articles_so_far(database) == {"ft": 7}
        opened, recovered = claim_unreported(database)
        assert ([one.cause for one in opened], recovered) == (["ft/stale"], [])
        with database.reading() as session:
            (page,) = session.scalars(select(models.FrontierUrl))
            assert (page.crash_count, page.reason) == (2, "headline known")
            (run,) = session.scalars(select(models.Run))
            assert run.counts == {
                "newscrawl/extraction/articles": 7,
                "newscrawl/extraction/median_confidence": 900,
                "newscrawl/found": 7,
            }
            (held,) = session.scalars(select(models.QuarantinedRevision))
            assert held.boilerplate == {"Siemens": 4}
            assert session.scalars(select(models.Boilerplate.number)).all() == [4]
        # Numbers go on from those of the rows that were copied.
        record_incidents(database, [Incident(kind="blocked", source="ft", note="")], ())


def upgrade_to(url: str, revision: str, rows: str) -> None:
    """Give an empty database the tables of an earlier schema, and rows."""
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    opened = engine.make_engine(engine.parse_url(url))
    with opened.execution_options(writes=True).begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        for statement in rows.split(";"):
            connection.exec_driver_sql(statement)
    opened.dispose()


MOMENT = datetime(2026, 11, 20, 8, 30, tzinfo=UTC)
EARLIER_ROWS = """
INSERT INTO sources (id, slug, name, country, language, home, registered_at)
VALUES (3, 'ft', 'FT', 'gb', 'en', 'https://ft.example/', '2026-11-20 08:30:00+00:00');
INSERT INTO listings (id, source_id, url, cutoff, offered, newest_at, quiet, failures)
VALUES (5, 3, 'https://ft.example/feed', '2026-11-20 08:30:00+00:00', 40, NULL, 6, 2);
INSERT INTO source_health (source_id, checked_at, state, note, listings, working, last_ok)
VALUES (3, '2026-11-20 08:30:00+00:00', 'moved', 'to b', 4, 2, NULL)
"""


@pytest.mark.parametrize("revision", ["0015", "0016"])
def test_database_of_an_earlier_schema_keeps_its_rows(database_url: str, revision: str) -> None:
    upgrade_to(database_url, revision, EARLIER_ROWS)
    assert upgrade_database(database_url) == (revision, migrations.HEAD)
    assert differences(database_url) == []
    with open_database(database_url) as database:
        with database.reading() as session:
            (listing,) = session.scalars(select(models.Listing))
            assert (listing.id, listing.entry_count, listing.polls_since_new) == (5, 40, 6)
            assert (listing.skipped_before, listing.newest_at) == (MOMENT, None)
        last = last_checkups(database)["ft"]
        assert (last.checked_at, last.last_ok) == (MOMENT, None)
        assert (last.state, last.note, last.listings, last.working) == ("moved", "to b", 4, 2)


DECIDED_ROWS = """
INSERT INTO sources (id, slug, name, country, language, home, registered_at)
VALUES (3, 'ft', 'FT', 'gb', 'en', 'https://ft.example/', '2026-11-20 08:30:00+00:00');
INSERT INTO runs (id, source_id, started_at) VALUES (4, 3, '2026-11-20 08:30:00+00:00');
INSERT INTO articles (id, source_id, run_id, url, title, text, authors, day, access, kind, method,
    confidence, content_hash, revision, first_seen_at, last_seen_at)
VALUES (5, 3, 4, 'https://ft.example/a', 'A', 'B', '[]', '2026-11-20', 'open', 'article', 'fe',
    0.9, 'x', 1, '2026-11-20 08:30:00+00:00', '2026-11-20 08:30:00+00:00');
INSERT INTO quarantine (id, article_id, run_id, state, reason, note, first_seen_at, seen_at,
    closed_at, times, text, characters, facts, mentions, boilerplate, content_hash)
VALUES (6, 5, 4, 'discarded', 'text_shrank', '', '2026-11-20 08:30:00+00:00',
    '2026-11-20 08:30:00+00:00', '2026-11-20 08:30:00+00:00', 1, '', 0, '{}', '[]', '{}', 'y')
"""


def test_decisions_of_an_earlier_schema_keep_their_rows_without_a_name(database_url: str) -> None:
    upgrade_to(database_url, "0021", DECIDED_ROWS)
    assert upgrade_database(database_url) == ("0021", migrations.HEAD)
    assert differences(database_url) == []
    with open_database(database_url) as database:
        (one,) = queries.quarantine_decisions(database)
    assert (one.url, one.decision) == ("https://ft.example/a", "discarded")
    assert (one.decided_at, one.decided_by) == (MOMENT, "")


APPEARING_ROWS = """
INSERT INTO companies (id, name) VALUES (7, 'Siemens'), (8, 'Bosch');
INSERT INTO appearances (company_id, minute, article_id, source_id, language, section, limited,
    in_title, in_body, story_id)
VALUES (7, 1065513600, 5, 3, 'en', '', 0, 1, 0, 9), (8, 1065513600, 5, 3, 'en', '', 0, 0, 1, 9);
INSERT INTO counted_articles (minute, article_id, source_id, language, section, limited, in_title,
    in_body, story_id)
VALUES (1065513600, 5, 3, 'en', '', 0, 1, 1, 9)
"""


def test_companies_of_an_earlier_schema_are_still_beside_each_other(database_url: str) -> None:
    day = """INSERT INTO daily_companies (company_id, day, articles, limited, in_title, in_body,
        boilerplate, boilerplate_articles) VALUES (7, '2026-11-20', 1, 0, 1, 0, 0, 0)"""
    upgrade_to(database_url, "0024", f"{DECIDED_ROWS};{APPEARING_ROWS};{day}")
    assert upgrade_database(database_url) == ("0024", migrations.HEAD)
    assert differences(database_url) == []
    with open_database(database_url) as database:
        (beside,) = queries.co_mentions(database, "Siemens", stories=True)
        assert (beside.company, beside.articles, beside.share) == ("Bosch", 1, 1)
        assert beside.stories == 1
        with database.reading() as session:
            (counted,) = session.execute(select(models.DailySection.__table__)).mappings()
            assert (counted["day"], counted["source_id"]) == (date(2026, 11, 21), 3)
            assert (counted["language"], counted["section"]) == ("en", "")
            numbers = ("read", "articles", "limited", "in_title", "in_body")
            assert [counted[name] for name in numbers] == [1, 1, 0, 1, 1]


@pytest.mark.parametrize(
    ("table", "all_but"),
    [
        (models.Appearance, set()),
        (models.DailyCompanySource, {"boilerplate", "boilerplate_articles"}),
    ],
)
def test_keys_in_postgresql_have_what_is_counted(
    postgres_tables: str, table: type[models.Base], all_but: set[str]
) -> None:
    opened = engine.make_engine(engine.parse_url(postgres_tables))
    with opened.connect() as connection:
        key = f"""SELECT attname FROM pg_attribute
            WHERE attrelid = CAST('pk_{table.__tablename__}' AS regclass)"""  # noqa: S608 - our own
        names = set(connection.scalars(text(key)))
    opened.dispose()
    assert names == {column.name for column in table.__table__.columns} - all_but


def test_companies_of_an_earlier_schema_are_paired_as_new_ones(database_url: str) -> None:
    crowd = "".join(
        f"""INSERT INTO companies (id, name) VALUES ({number}, 'Company {number}');
        INSERT INTO appearances (company_id, minute, article_id, source_id, language, section,
            limited, in_title, in_body, story_id)
        VALUES ({number}, 1065513600, 5, 3, 'en', '', 0, 1, 0, 9);"""  # noqa: S608 - our own numbers
        for number in range(100, 100 + MAX_PAIRED)
    )
    other = APPEARING_ROWS.replace("1065513600, 5,", "1065513601, 6,")
    article = DECIDED_ROWS.partition("INSERT INTO quarantine")[0].partition("INSERT INTO articles")
    second = f"{article[1]}{article[2]}".replace("(5, 3,", "(6, 3,").replace("/a'", "/b'")
    days = """INSERT INTO daily_company_sources (company_id, source_id, day, language, articles,
        limited, in_title, in_body, boilerplate, boilerplate_articles)
        VALUES (7, 3, '2026-11-18', 'en', 0, 0, 0, 0, 4, 1),
            (7, 3, '2026-11-19', 'en', 1, 0, 1, 0, 0, 0),
            (7, 3, '2026-11-21', 'de', 1, 0, 1, 0, 0, 0)
    """
    names, _, appearing = APPEARING_ROWS.partition(";")
    rows = (names, DECIDED_ROWS, second.rstrip().rstrip(";"), appearing, other.partition(";")[2])
    upgrade_to(database_url, "0025", f"{';'.join(rows)};{crowd}{days}")
    upgrade_database(database_url)
    assert differences(database_url) == []
    with open_database(database_url) as database, database.reading() as session:
        pairs = session.execute(select(models.CompanyPair.__table__)).all()
        assert (7, 8, 1065513601, 6, 0, 9) in pairs
        assert sorted(row[0] for row in pairs if row[1] == 0) == [
            *(7, 8),
            *range(100, 100 + MAX_PAIRED),
        ]
        (known,) = session.scalars(select(models.CompanySource))
        assert (known.company_id, known.source_id) == (7, 3)
        assert (known.first_day, known.last_day) == (date(2026, 11, 19), date(2026, 11, 21))


def test_development_schema_is_refused_with_advice(unreleased: str) -> None:
    opened = engine.make_engine(engine.parse_url(unreleased))
    with opened.execution_options(writes=True).begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0013'"))
    opened.dispose()
    with pytest.raises(StorageError, match="schema 0013, made by a development version"):
        upgrade_database(unreleased)
