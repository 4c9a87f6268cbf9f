"""Where else on its site an article may stand: what pages for phones and AMP are copies of."""

from urllib.parse import urlsplit

# Hosts that sites serve phones and AMP from, in front of their own name.
_HOSTS = frozenset({"m", "mobile", "amp", "touch"})
_AMP_FOLDER = "/amp/"


def main_addresses(url: str) -> tuple[str, ...]:
    """Return the canonical URLs under which a mobile or AMP twin's article would stand.

    "https://m.a.example/news/b-1" may be a twin of the same path at www.a.example or a.example,
    "https://a.example/amp/news/b-1" one of "/news/b-1"; any other URL is none. Whether it is one,
    only the other address can tell: a mobile site may have paths of its own. So these are to be
    looked for among known addresses, and never to be asked for. `canonical_url` knows the forms
    that need no looking: "/amp" at the end, "?amp=1".
    """
    parts = urlsplit(url)
    label, _, rest = parts.netloc.partition(".")
    hosts = [parts.netloc]
    if label in _HOSTS and "." in rest:
        hosts = [f"www.{rest}", rest]
    paths = [parts.path]
    if parts.path.startswith(_AMP_FOLDER) and len(parts.path) > len(_AMP_FOLDER):
        paths = [parts.path.removeprefix("/amp"), parts.path]
    found = (
        parts._replace(netloc=host, path=path).geturl()
        for path in paths
        for host in hosts
        if path != "/"
    )
    return tuple(one for one in found if one != url)
