"""The names of sources in commands, files and tables: one word that is safe in a path.

A source of the registry has a slug of its own. A page of an archive that belongs to none of them
makes its host the slug, and what stands in an archive was written by others.
"""

import ipaddress
import re
from urllib.parse import urlsplit

from newscrawl.sources.urls import UrlError

_REGISTERED = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
# Hosts may hold more than the standard allows (RFC 1123, 2.1): underscores and double hyphens.
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
# RFC 1035, 2.3.4.
_MAX_HOST = 253


def is_registered_slug(text: str) -> bool:
    """Whether a source of the registry may bear the slug."""
    return _REGISTERED.fullmatch(text) is not None


def is_slug(text: str) -> bool:
    """Whether any source may bear the slug: a file that is named so stands where it should."""
    labels = text.split(".")
    return len(text) <= _MAX_HOST and all(map(_LABEL.fullmatch, labels))


def host_slug(url: str) -> str:
    """Return the slug that a URL's host makes; raise UrlError where that is no host."""
    try:
        host = (urlsplit(url).hostname or "").rstrip(".").removeprefix("www.")
    except ValueError:
        host = ""
    if ":" in host:
        try:
            host = f"ip6-{ipaddress.IPv6Address(host).exploded.replace(':', '-')}"
        except ValueError:
            host = ""
    if not is_slug(host):
        raise UrlError(f"names no host that there can be: {url[:80]!r}")
    return host
