"""Interpret responses to requests for robots.txt (RFC 9309), for crawls and for single fetches."""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import quote, urlsplit

from protego import Protego

from newscrawl.items import RobotsPolicy
from newscrawl.sources.urls import UrlError, web_url

# RFC 9309, 2.5: crawlers must parse at least 500 KiB. The rest is ignored.
MAX_RULES_BYTES: Final = 500 * 1024
# Ours: a response of ten times this size is an endless stream and not a robots.txt.
MAX_ANSWER_BYTES: Final = 10 * MAX_RULES_BYTES
# RFC 9309, 2.3.1.2: at least five redirects are followed, to other hosts too.
MAX_REDIRECTS: Final = 5
# RFC 9309, 2.4: a copy is not used for longer.
MAX_COPY_AGE: Final = timedelta(hours=24)

# 203 is a 200 from a proxy, 204 an empty file. Other 2xx are not a whole file: some firewalls send
# 202 with a challenge for browsers.
_SUCCESSFUL: Final = frozenset({200, 203, 204})
# A 4xx means that there is no robots.txt, except for temporary ones: 408 (RFC 9110, 15.5.9), 425
# (RFC 8470, 5.2) and 429 (RFC 6585, 4). They count as a server error.
_TEMPORARY: Final = frozenset({408, 425, 429})
_AGENT_LINE = re.compile(r"(?i)\s*user[- ]?agent\s*[:\s]\s*([^#]*)")
# What follows a product token in a user agent (RFC 9309, 2.2.1; RFC 9110, 10.1.5): some files name
# a robot by the whole of it.
_BEHIND_TOKEN = re.compile(r"\s*[/(].*")
# RFC 9309, 2.2: only these end a line. Python, and Protego with it, ends lines at _OTHER_ENDS too.
_LINE_END = re.compile(r"\r\n?|\n")
_OTHER_ENDS = re.compile("[\v\f\x1c-\x1e\x85\u2028\u2029]")
# A name that is not a robot's: no product token has a space (RFC 9309, 2.2.1).
_NOBODY = "User-agent: nobody here"


class UnreachableRobotsError(ValueError):
    """A robots.txt can't be read, which forbids all pages; the message is the reason."""


def origin_of(url: str) -> str:
    """Return scheme, host and port of a URL, as in "https://www.ft.com": the scope of a robots.txt.

    The port is left out if it is the scheme's own. Raise ValueError for a URL without a host.
    """
    parts = urlsplit(url)
    host, scheme = (parts.hostname or "").lower(), parts.scheme.lower()
    host = f"[{host}]" if ":" in host else host
    if parts.port is None or parts.port == {"http": 80, "https": 443}.get(scheme):
        return f"{scheme}://{host}"
    return f"{scheme}://{host}:{parts.port}"


def policy_of(origin: str, status: int, body: bytes, fetched_at: datetime) -> RobotsPolicy:
    """Return the policy of a response after all redirects.

    Raises UnreachableRobotsError if the response gives none (RFC 9309, 2.3.1.4).
    """
    if status in _SUCCESSFUL:
        rules = body[:MAX_RULES_BYTES]
        if len(body) > len(rules):
            # The incomplete last line might have another meaning.
            rules = rules[: max(rules.rfind(b"\n"), rules.rfind(b"\r"), 0)]
        return RobotsPolicy(origin=origin, status=status, rules=rules, fetched_at=fetched_at)
    if 400 <= status < 500 and status not in _TEMPORARY:
        # RFC 9309, 2.3.1.3: there is no file; the body is something else.
        return RobotsPolicy(origin=origin, status=status, rules=b"", fetched_at=fetched_at)
    raise UnreachableRobotsError(f"HTTP {status}")


def is_usable_copy(copy: RobotsPolicy, now: datetime) -> bool:
    """Return whether a stored copy is obeyed while robots.txt can't be read.

    The absence of a file is not a copy. A copy from the future comes from a wrong clock.
    """
    return copy.status in _SUCCESSFUL and abs(now - copy.fetched_at) <= MAX_COPY_AGE


def rules_for(policy: RobotsPolicy, agent: str) -> str:
    """Return the rules as text in which all other robots share one name.

    A parser stores each rule for each robot: a file of 100 KB that names 2,000 robots before 5,000
    rules took Protego 32 seconds and 700 MB.
    """
    name = agent.strip().lower()
    lines = []
    for line in _LINE_END.split(_text_of(policy.rules)):
        # Without its comment, and with each of _OTHER_ENDS as it is in URLs.
        rule = line.partition("#")[0].strip()
        rule = _OTHER_ENDS.sub(lambda end: quote(end[0]), rule)
        lines.append(_without_others(rule, name))
    return "\n".join(lines)


def _text_of(rules: bytes) -> str:
    """Return the characters of a file in UTF-8, or in UTF-16 by its mark or its first letter."""
    if rules.startswith((BOM_UTF16_BE, b"\0")):
        charset = "utf-16-be"
    elif rules.startswith(BOM_UTF16_LE) or rules[1:2] == b"\0":
        charset = "utf-16-le"
    else:
        return rules.decode("utf-8-sig", errors="replace")
    even = rules[: len(rules) // 2 * 2]  # a cut may have left half a character
    return even.decode(charset, errors="replace").removeprefix("\ufeff")


def stated_sitemaps(policy: RobotsPolicy) -> list[str]:
    """Return the URLs of the sitemaps that a robots.txt names."""
    urls = []
    for sitemap in Protego.parse(rules_for(policy, _NOBODY)).sitemaps:
        with suppress(UrlError):
            urls.append(web_url(sitemap, policy.origin))
    return list(dict.fromkeys(urls))


class RobotsRules:
    """The rules of a policy for a robot."""

    def __init__(self, policy: RobotsPolicy, agent: str) -> None:
        text = rules_for(policy, agent)
        self._agent = agent
        self._rules = Protego.parse(text)
        self._lines = tuple(dict.fromkeys(_lines_for(text, agent.strip().lower())))

    def allows(self, url: str) -> bool:
        """Return whether the robot may request a URL."""
        return bool(self._rules.can_fetch(url, self._agent))

    def line_against(self, url: str) -> str | None:
        """Return the line that forbids a URL, the longest of several; None if it is allowed."""
        if self.allows(url):
            return None
        against = [
            line
            for line in self._lines
            if not Protego.parse(f"User-agent: *\n{line}").can_fetch(url, self._agent)
        ]
        return max(against, key=len, default=None)


def _lines_for(text: str, name: str) -> Iterator[str]:
    """Yield the lines of the groups for a robot: those with its name, or else those for "*"."""
    specific, general = [], []
    robots: set[str] = set()
    in_head = False
    for line in text.splitlines():
        agent = _AGENT_LINE.match(line)
        if agent is None:
            rule = line.strip()
            in_head = in_head and not rule
            if rule:
                specific += (
                    [rule] if any(robot != "*" and robot in name for robot in robots) else []
                )
                general += [rule] if "*" in robots else []
            continue
        robots = {*(robots if in_head else ()), agent[1].strip().lower()} - {""}
        in_head = True
    yield from specific or general


def _without_others(line: str, name: str) -> str:
    agent = _AGENT_LINE.match(line)
    if agent is None:
        return line
    robot = agent[1].strip().lower()
    if robot in {"", "*"}:
        return line
    # Some files have "newscrawl*", which is not a product token but clearly meant for us.
    robot = _BEHIND_TOKEN.sub("", robot.replace("*", "")).strip()
    if robot and re.search(rf"(?<![\w-]){re.escape(robot)}", name):
        return f"User-agent: {robot}"
    return _NOBODY
