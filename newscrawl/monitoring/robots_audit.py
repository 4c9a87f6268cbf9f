"""Find stored articles that robots.txt forbids now, and reduce them to headline and standfirst."""

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from newscrawl.items import Document, Page
from newscrawl.mentions import Companies, with_mentions
from newscrawl.reading import article_of_hints
from newscrawl.settings import ROBOTSTXT_USER_AGENT
from newscrawl.sources.robots import RobotsRules, origin_of
from newscrawl.sources.visits import Fetcher, FetchError
from newscrawl.storage import Database
from newscrawl.storage.deletion import (
    REDUCED_AT_ONCE,
    ReadArticle,
    erase_deleted,
    published_hints,
    read_articles,
    reduce_articles,
)
from newscrawl.storage.saved_state import keep_robots_policy, robots_policies

Progress = Callable[[int], None]
_WORKERS = 16  # ours: hosts whose robots.txt is fetched at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class ForbiddenArticle:
    """A stored article that robots.txt forbids at each of its addresses whose rules are known.

    `host` is the host of the robots.txt, `rule` its line, `read_at` when that was read.
    """

    article: int
    source: str
    url: str
    day: date
    host: str
    rule: str
    read_at: datetime


@dataclass(slots=True)
class Audit:
    """The articles that robots.txt forbids, of all `articles` that were read; the `unchecked` ones
    have no known rules, for the reason that is `unknown` of their host."""

    forbidden: list[ForbiddenArticle] = field(default_factory=list)
    articles: int = 0
    unchecked: int = 0
    unknown: dict[str, str] = field(default_factory=dict)


def audit(
    database: Database,
    sources: Collection[str] | None,
    fetcher: Fetcher | None,
    on_progress: Progress,
) -> Audit:
    """Return the stored articles that robots.txt forbids. Each host's file is fetched and stored;
    the last copy is used if it can't be read, or without a fetcher."""
    result, rules = Audit(), dict[str, tuple[RobotsRules, datetime]]()
    for articles in read_articles(database, sources):
        urls = [url for article in articles for url in article.addresses]
        hosts = dict.fromkeys(filter(None, map(_host, urls)))
        _learn(
            database, hosts.keys() - rules.keys() - result.unknown.keys(), fetcher, rules, result
        )
        for article in articles:
            result.unchecked += all(_host(url) not in rules for url in article.addresses)
            if (forbidden := _forbidden(article, rules)) is not None:
                result.forbidden.append(forbidden)
        result.articles += len(articles)
        on_progress(len(articles))
    return result


def _learn(
    database: Database,
    hosts: Collection[str],
    fetcher: Fetcher | None,
    rules: dict[str, tuple[RobotsRules, datetime]],
    result: Audit,
) -> None:
    """Add the rules of hosts, with the time at which they were read."""
    policies = {}
    if fetcher is not None:
        with ThreadPoolExecutor(_WORKERS, "robots") as pool:
            requests = {pool.submit(fetcher.robots_policy, f"{host}/"): host for host in hosts}
            for request in as_completed(requests):
                try:
                    policies[requests[request]] = request.result()
                except FetchError as error:
                    result.unknown[requests[request]] = str(error)
        for policy in policies.values():
            keep_robots_policy(database, policy)
    policies |= robots_policies(database, [host for host in hosts if host not in policies])
    for host in hosts:
        if host in policies:
            result.unknown.pop(host, None)
            read_at = policies[host].fetched_at
            rules[host] = RobotsRules(policies[host], ROBOTSTXT_USER_AGENT), read_at
        else:
            result.unknown.setdefault(host, "no copy of its robots.txt is stored")


def _forbidden(
    article: ReadArticle, rules: dict[str, tuple[RobotsRules, datetime]]
) -> ForbiddenArticle | None:
    """Return the first rule against an article, None if one of its addresses is allowed or no rules
    are known."""
    against: ForbiddenArticle | None = None
    for url in article.addresses:
        host = _host(url)
        if host is None or host not in rules:
            continue
        rulebook, read_at = rules[host]
        if rulebook.allows(url):
            return None
        against = against or ForbiddenArticle(
            article=article.number,
            source=article.source,
            url=article.url,
            day=article.day,
            host=host,
            rule=rulebook.line_against(url) or "",
            read_at=read_at,
        )
    return against


def purge(
    database: Database,
    forbidden: Sequence[ForbiddenArticle],
    companies: Companies,
    on_progress: Progress,
) -> bool:
    """Reduce articles to what their feeds contained, REDUCED_AT_ONCE in one transaction; return
    whether their words were also erased from the files of the database (`erase_deleted`)."""
    now = datetime.now(UTC)
    for start in range(0, len(forbidden), REDUCED_AT_ONCE):
        numbers = [row.article for row in forbidden[start : start + REDUCED_AT_ONCE]]
        documents = {}
        for number, hints in published_hints(database, numbers).items():
            page = Page(
                url=hints.url,
                source=hints.source,
                html=b"",
                fetched_at=now,
                language=hints.language,
                status=0,
                access="disallowed",
                hints=hints.hints,
            )
            document = Document(page=page, article=article_of_hints(page))
            documents[number] = with_mentions(document, companies)
        reduce_articles(database, documents)
        on_progress(len(numbers))
    return erase_deleted(database)


def _host(url: str) -> str | None:
    try:
        return origin_of(url)
    except ValueError:
        return None  # no crawl has stored it
