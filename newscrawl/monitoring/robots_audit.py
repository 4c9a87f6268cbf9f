"""Find stored articles that robots.txt forbids now, and reduce them to headline and standfirst."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from newscrawl.items import Document, Page, RobotsPolicy
from newscrawl.mentions import Companies, with_mentions
from newscrawl.reading import article_of_hints
from newscrawl.sources.robots import RobotsRules, origin_of
from newscrawl.sources.visits import Fetcher, FetchError
from newscrawl.storage import Database
from newscrawl.storage.erasure import erase_deleted
from newscrawl.storage.retention import (
    REDUCED_AT_ONCE,
    ReadArticle,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules of the hosts of stored articles; `unknown` has the reason for each host without."""

    rulebooks: Mapping[str, RobotsRules] = field(default_factory=dict)
    policies: Mapping[str, RobotsPolicy] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The result of an audit; `unknown` counts the articles whose rules are not known."""

    forbidden: tuple[ForbiddenArticle, ...]
    articles: int
    unknown: int


def hosts_of_articles(
    database: Database, sources: Collection[str] | None, on_progress: Progress
) -> list[str]:
    """Return the hosts, as in "https://www.ft.com", that have stored articles."""
    hosts: dict[str, None] = {}
    for articles in read_articles(database, sources):
        for article in articles:
            hosts.update(dict.fromkeys(filter(None, map(_host, article.addresses))))
        on_progress(len(articles))
    return list(hosts)


def rules_of(
    database: Database,
    hosts: Sequence[str],
    agent: str,
    fetcher: Fetcher | None,
    on_progress: Progress,
) -> Rules:
    """Return the rules of hosts: by robots.txt, which is fetched and stored, or by its last copy
    where it can't be read or there is no fetcher."""
    policies: dict[str, RobotsPolicy] = {}
    unknown: dict[str, str] = {}
    if fetcher is not None:
        with ThreadPoolExecutor(_WORKERS, "robots") as pool:
            requests = {pool.submit(fetcher.robots_policy, f"{host}/"): host for host in hosts}
            for done in as_completed(requests):
                try:
                    policies[requests[done]] = done.result()
                except FetchError as error:
                    unknown[requests[done]] = str(error)
                on_progress(1)
        for policy in policies.values():
            keep_robots_policy(database, policy)
    missing = [host for host in hosts if host not in policies]
    policies |= robots_policies(database, missing)
    return Rules(
        rulebooks={host: RobotsRules(policy, agent) for host, policy in policies.items()},
        policies=policies,
        unknown={
            host: unknown.get(host, "no copy of its robots.txt is stored")
            for host in missing
            if host not in policies
        },
    )


def audit(
    database: Database, sources: Collection[str] | None, rules: Rules, on_progress: Progress
) -> Audit:
    """Return the stored articles that the rules forbid."""
    forbidden: list[ForbiddenArticle] = []
    number = unknown = 0
    for articles in read_articles(database, sources):
        for article in articles:
            verdict = _judge(article, rules)
            if isinstance(verdict, ForbiddenArticle):
                forbidden.append(verdict)
            unknown += verdict is None
        number += len(articles)
        on_progress(len(articles))
    return Audit(forbidden=tuple(forbidden), articles=number, unknown=unknown)


def _judge(article: ReadArticle, rules: Rules) -> ForbiddenArticle | bool | None:
    """Return the rule against an article, True if one of its addresses is allowed, or None if
    no rules are known."""
    against: ForbiddenArticle | None = None
    for url in article.addresses:
        host = _host(url)
        rulebook = rules.rulebooks.get(host) if host else None
        if host is None or rulebook is None:
            continue
        if rulebook.allows(url):
            return True
        against = against or ForbiddenArticle(
            article=article.number,
            source=article.source,
            url=article.url,
            day=article.day,
            host=host,
            rule=rulebook.line_against(url) or "",
            read_at=rules.policies[host].fetched_at,
        )
    return against


def purge(
    database: Database,
    forbidden: Sequence[ForbiddenArticle],
    companies: Companies,
    on_progress: Progress,
) -> None:
    """Reduce articles to what their feeds contained; REDUCED_AT_ONCE in one transaction."""
    numbers = [one.article for one in forbidden]
    for start in range(0, len(numbers), REDUCED_AT_ONCE):
        chosen = numbers[start : start + REDUCED_AT_ONCE]
        reduce_articles(database, dict(_reduce_documents(database, chosen, companies)))
        on_progress(len(chosen))
    erase_deleted(database)


def _reduce_documents(
    database: Database, numbers: Sequence[int], companies: Companies
) -> Iterator[tuple[int, Document]]:
    now = datetime.now(UTC)
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
        yield number, with_mentions(Document(page=page, article=article_of_hints(page)), companies)


def _host(url: str) -> str | None:
    try:
        return origin_of(url)
    except ValueError:
        return None  # no crawl has stored it
