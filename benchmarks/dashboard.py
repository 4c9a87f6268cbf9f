"""Open the pages of the dashboard over a database, and measure how long each takes.

`python -m benchmarks.dashboard sqlite:///year.sqlite`: over the database of `make bench-query`,
or any other. The period is the last month or year for which it has articles.
"""

import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import quote

from starlette.testclient import TestClient

from newscrawl.dashboard import Config, create_app
from newscrawl.storage import open_database, queries

ROUNDS = 3
SLOWEST = 1000.0  # milliseconds; the limit of our issue for a page


def paths(url: str) -> Iterator[str]:
    """Yield the pages, for the company with the most mentions."""
    with open_database(url, create=False) as database:
        facts = queries.facts(database)
        if facts.last_day is None:
            sys.exit(f"no article in {database.name}")
        until = facts.last_day
        month = queries.Scope(since=until - timedelta(days=29), until=until)
        top = queries.company_ranking(database, scope=month, limit=1)[0].company
        newest = queries.articles(database, limit=1)[0]
    name, word = quote(top, safe=""), quote((newest.title or "news").split()[0])
    for days in (30, 365):
        period = f"since={until - timedelta(days=days - 1)}&until={until}"
        yield f"/?{period}"
        yield f"/company/{name}?{period}"
        yield f"/company/{name}?{period}&split=source"
        yield f"/company/{name}?{period}&split=source&count=stories"
        yield f"/compare?{period}"
        yield f"/compare?{period}&count=stories"
        yield f"/sources?{period}"
        yield f"/search?{period}&q={word}"
    yield f"/article?url={quote(newest.url, safe='')}"


def main() -> int:
    """Print a line for each page; the exit code is 1 where one was slower than allowed."""
    if len(sys.argv) != 2:
        sys.exit("Usage: python -m benchmarks.dashboard DATABASE_URL")
    url = sys.argv[1]
    slow = 0
    with TestClient(create_app(Config(database_url=url)), base_url="http://localhost") as client:
        for path in paths(url):
            seconds, worked, size = [], [], 0
            for _ in range(ROUNDS):
                start, begun = time.perf_counter(), time.process_time()
                answer = client.get(path)
                seconds.append(time.perf_counter() - start)
                worked.append(time.process_time() - begun)
                answer.raise_for_status()
                size = len(answer.content)
            slow += min(seconds) * 1000 > SLOWEST
            print(
                f"{min(seconds) * 1000:7.0f} ms ({min(worked) * 1000:5.0f} of work) "
                f"{size / 1024:6.0f} KiB  {path[:70]}"
            )
    return int(slow > 0)


if __name__ == "__main__":
    sys.exit(main())
