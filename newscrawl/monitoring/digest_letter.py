"""A digest as Markdown, as HTML, and as a notice that is sent."""

from collections.abc import Callable, Sequence

from lxml import etree
from lxml.builder import E

from newscrawl.monitoring import markup
from newscrawl.monitoring.digest import CompanyDigest, Digest
from newscrawl.monitoring.notify import Notice
from newscrawl.storage.company_alerts import StoredAlert

_HEADINGS = ("company", "articles", "change", "in headlines", "stories", "two weeks")


def digest_letter(digest: Digest) -> Notice:
    """The digest as a notice: Markdown for those who read plain text, and HTML."""
    return Notice(
        subject=title(digest),
        text=markdown_digest(digest),
        html=html_digest(digest),
        cause=digest.cause,
        facts={
            "kind": "digest",
            "span": digest.span,
            "first": digest.first,
            "last": digest.last,
            "companies": {one.company: one.articles for one in digest.companies},
        },
    )


def title(digest: Digest) -> str:
    """What stands over it."""
    if digest.span == "daily":
        return f"Companies in the news on {digest.last}"
    return f"Companies in the news, {digest.first} to {digest.last}"


def markdown_digest(digest: Digest) -> str:
    """The digest as Markdown, tables and links in it."""
    lines = [f"# {title(digest)}", "", coverage(digest), ""]
    if digest.alerts:
        lines += ["## Alerts", "", *(f"- {markup.markdown(_alert(a))}" for a in digest.alerts), ""]
    if digest.companies:
        lines += [f"| {' | '.join(_HEADINGS)} |", "|---|--:|--:|--:|--:|---|"]
        lines += [f"| {' | '.join(_cells(one, markup.markdown))} |" for one in digest.companies]
        lines.append("")
    else:
        lines += ["None of the companies was named.", ""]
    if digest.quiet:
        lines += [f"Not named: {', '.join(map(markup.markdown, digest.quiet))}.", ""]
    for one in digest.companies:
        lines += [f"## {markup.markdown(one.company)}", ""]
        lines += [*markup.markdown_articles(one.newest), ""]
    if digest.stories:
        lines += ["## Told most often", ""]
        lines += [
            f"- {markup.markdown_link(story.title or story.url, story.url)}: "
            f"{_told(story.articles, story.sources)}"
            for story in digest.stories
        ]
    return "\n".join(lines).rstrip() + "\n"


def html_digest(digest: Digest) -> str:
    """The digest as an HTML page that asks nothing of any other host."""
    parts: list[etree._Element] = [E.h1(title(digest), style="font-size:20px;")]
    parts.append(markup.note(coverage(digest)))
    if digest.alerts:
        parts += [_heading("Alerts"), E.ul(*(E.li(_alert(alert)) for alert in digest.alerts))]
    if digest.companies:
        rows = [_cells(one, str) for one in digest.companies]
        parts.append(markup.table(_HEADINGS, rows))
    else:
        parts.append(E.p("None of the companies was named."))
    if digest.quiet:
        parts.append(markup.note(f"Not named: {', '.join(digest.quiet)}."))
    for one in digest.companies:
        parts += [_heading(one.company), markup.articles(one.newest)]
    if digest.stories:
        items = [
            E.li(
                markup.link(story.title or story.url, story.url),
                f": {_told(story.articles, story.sources)}",
            )
            for story in digest.stories
        ]
        parts += [_heading("Told most often"), E.ul(*items, style="padding-left:18px;")]
    return markup.page(title(digest), *parts)


def coverage(digest: Digest) -> str:
    """How far the numbers can be trusted, in a sentence."""
    reach = digest.reach
    read = f"{reach.read:,} article{' was' if reach.read == 1 else 's were'} read"
    if reach.level == "full":
        return f"{read}; every source was looked at on every day."
    if reach.level == "none":
        return "Nobody looked: there are no numbers for these days."
    if reach.covered < reach.expected:
        missing = reach.expected - reach.covered
        return (
            f"{read}. On {missing:,} of {reach.expected:,} source-days (one source on one day) "
            "nothing was read: the numbers may be too low."
        )
    return f"{read}. Some of these days lie before the first crawl: the numbers may be too low."


def _cells(one: CompanyDigest, plain: Callable[[str], str]) -> Sequence[str]:
    return (
        plain(one.company),
        str(one.articles),
        _change(one),
        str(one.in_title),
        str(one.stories),
        markup.spark(one.spark),
    )


def _change(one: CompanyDigest) -> str:
    """Against the same days a week before."""
    if one.before is None:
        return "?"
    if not one.before:
        return "new"
    return f"{one.articles / one.before - 1:+.0%}"


def _alert(kept: StoredAlert) -> str:
    one = kept.alert
    if one.kind == "spike":
        return (
            f"{one.company}: {one.facts['articles']} articles on {one.day}, "
            f"{one.facts['expected']:.0f} expected"
        )
    names = f"{one.company} and {one.other}" if one.other else one.company
    return f"{names}: first article on {one.day}"


def _told(articles: int, sources: int) -> str:
    return f"{articles} articles in {sources} source{'s' if sources != 1 else ''}"


def _heading(text: str) -> etree._Element:
    return E.h2(text, style="font-size:16px;")
