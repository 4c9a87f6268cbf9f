"""A wrong setting or argument ends the crawl at once: one line, exit code 2, nothing fetched."""

import pytest

from tests.site.crawling import Crawl, crawl
from tests.site.server import SiteServer
from tests.thorough import first_is_quick


def refused(done: Crawl) -> str:
    """The one line with which a crawl was refused."""
    assert done.code == 2, done.output
    lines = [line for line in done.output.splitlines() if " INFO: " not in line]
    assert len(lines) == 1, done.output
    assert lines[0].startswith("newscrawl: ")
    return lines[0]


@pytest.mark.parametrize(
    ("setting", "message"),
    first_is_quick(
        [
            ("-a since=yesterday", "-a since=yesterday: not a date, such as 2026-11-01"),
            ("-s NEWSCRAWL_METHOD=magic", "NEWSCRAWL_METHOD=magic: use one of combined"),
            ("NEWSCRAWL_METHOD=magic", "NEWSCRAWL_METHOD=magic: use one of combined"),
            ("-s NEWSCRAWL_COMPANIES=/nowhere.toml", "/nowhere.toml"),
            ("-s NEWSCRAWL_SOURCES=/nowhere.csv", "/nowhere.csv: No such file"),
            ("-s NEWSCRAWL_LIMIT=many", "NEWSCRAWL_LIMIT=many: not a whole number"),
            ("-s NEWSCRAWL_REVISITS=hourly", "NEWSCRAWL_REVISITS=hourly: not times, as in"),
            ("NEWSCRAWL_RETRIES=1h 10m", "NEWSCRAWL_RETRIES=1h 10m: each time must be"),
            ("-s NEWSCRAWL_POLL_MIN=0m", "NEWSCRAWL_POLL_MIN=0m: not a time, as in"),
            ("-s NEWSCRAWL_POLL_MAX=1m", "NEWSCRAWL_POLL_MAX=1m: less than"),
            ("-s NEWSCRAWL_RECENT_DAYS=soon", "NEWSCRAWL_RECENT_DAYS=soon: not times"),
            ("-a polls=some", "-a polls=some: write all (every feed and sitemap) or due"),
            ("-s NEWSCRAWL_RETRY_PAUSE=soon", "NEWSCRAWL_RETRY_PAUSE=soon: not a time"),
            ("-s NEWSCRAWL_ALLOW_PRIVATE=10.0.0.0/99", "NEWSCRAWL_ALLOW_PRIVATE: '10.0."),
            ("NEWSCRAWL_DATABASE_URL=sqlite:////nowhere/n", "can't open the database /nowhere/n"),
        ],
        rows=True,
    ),
)
def test_invalid_setting_is_refused_in_one_line(forks, tmp_path, setting, message):
    """As an argument of the spider (-a), a setting (-s) or in the environment."""
    place, pair = setting[:3], setting.removeprefix("-a ").removeprefix("-s ")
    variables, database = dict([pair.split("=", 1)]), tmp_path / "news.sqlite"
    with SiteServer() as site:
        if place == "-a ":
            done = forks.crawl("ft", site.feeds, pair, database=database)
        elif place == "-s ":
            done = forks.crawl("ft", site.feeds, database=database, settings=variables)
        else:  # only a new process reads another environment
            done = crawl("ft", site.feeds, database=database, environment=variables)
        assert site.visits == []
    assert message in refused(done)


def test_unknown_source_is_answered_with_similar_names(forks, tmp_path):
    done = forks.crawl("bbc-new", database=tmp_path / "news.sqlite")
    assert refused(done).startswith("newscrawl: no source 'bbc-new'; did you mean bbc-news")


@pytest.mark.thorough
def test_error_of_an_unreachable_database_hides_its_password(tmp_path):
    url = "postgresql://me:secret@127.0.0.1:1/news"
    done = crawl("ft", database=tmp_path / "x.sqlite", environment={"NEWSCRAWL_DATABASE_URL": url})
    line = refused(done)
    assert "127.0.0.1:1" in line
    assert "secret" not in done.output
