"""The registry row for a site, from what was found on it and what a person says."""

import re
import unicodedata
from collections.abc import Callable, Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from newscrawl.sources.finding import Found
from newscrawl.sources.home import parse
from newscrawl.sources.links import judge_page
from newscrawl.sources.listings import read_apart
from newscrawl.sources.registry import Source, SourceError
from newscrawl.sources.urls import site_name

# Ours: characters of text that are needed to tell its language.
_ENOUGH = 200
# Who tells the language of a text, or None.
Linguist = Callable[[str], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What a person says of a site; what is None is taken from the site."""

    slug: str | None = None
    name: str | None = None
    country: str | None = None
    languages: tuple[str, ...] = ()


def propose(
    found: Found, stated: Stated, registry: Collection[Source], *, linguist: Linguist
) -> Source:
    """Return the source's row; SourceError where something is missing or the site is known.

    `linguist` is asked where neither the person nor the site tells a language.
    """
    home = found.home.url
    _refuse_known(home, stated, registry)
    sections: tuple[str, ...] = ()
    if not found.listings:
        page = found.page
        judged = read_apart(judge_page, page.body, page.url, page.content_type)
        sections = judged.sections or (home,)
    name = stated.name or found.home.name or (site_name(home) or _host(home)).title()
    return Source(
        slug=stated.slug or _free_slug(home, name, {source.slug for source in registry}),
        name=name,
        country=stated.country or found.home.country or _missing("country", "--country gb"),
        languages=stated.languages or (_language(found, linguist),),
        home=home,
        feeds=found.urls("feed"),
        sitemaps=found.urls("sitemap"),
        news_sitemaps=found.urls("news sitemap"),
        sections=sections,
    )


def _refuse_known(home: str, stated: Stated, registry: Collection[Source]) -> None:
    for source in registry:
        if _host(source.home) == _host(home) and _path(source.home) == _path(home):
            raise SourceError(
                f"{home} is in the registry already, as {source.slug!r}: "
                f"newscrawl sources show {source.slug}"
            )
        if source.slug == stated.slug:
            raise SourceError(f"--slug {stated.slug} is taken by {source.name!r}; choose another")


def _language(found: Found, linguist: Linguist) -> str:
    if found.home.language:
        return found.home.language
    body = parse(found.page.body, found.page.content_type).body
    text = " ".join((body.text(separator=" ") if body else "").split())
    told = linguist(text) if len(text) >= _ENOUGH else None
    return told or _missing("language", "--language en")


def _missing(what: str, option: str) -> str:
    raise SourceError(f"the site doesn't tell its {what}: give it, as in {option}")


def _free_slug(home: str, name: str, taken: Collection[str]) -> str:
    wanted = _slug(site_name(home) or "") or _slug(name) or _slug(_host(home))
    slug, number = wanted, 2
    while slug in taken:
        slug, number = f"{wanted}-{number}", number + 1
    return slug


def _slug(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def _host(url: str) -> str:
    parts = urlsplit(url)
    return parts.netloc.lower().removeprefix("www.")


def _path(url: str) -> str:
    return urlsplit(url).path.rstrip("/")
