"""URLs: canonical addresses of articles, mobile and AMP duplicates, slugs of sources, and the hosts
that may be requested: public ones, and private ones that the user has allowed."""

import ipaddress
import re
from collections.abc import Iterable
from html import unescape
from unicodedata import normalize
from urllib.parse import (
    SplitResult,
    parse_qs,
    quote,
    unquote,
    urlencode,
    urljoin,
    urlsplit,
    urlunsplit,
)

from selectolax.lexbor import LexborHTMLParser
from tldextract import TLDExtract
from w3lib.url import canonicalize_url, safe_url_string

from newscrawl.config import SettingError

# Longer than any article URL of the registry's sites; the common limit of servers and browsers.
MAX_LENGTH = 2000
# How sites mark the AMP twin and the print view of an article: by a parameter that is set, by one
# with such a value, or by the end of the path. Ours, from the addresses of many sites.
_VIEWS = frozenset({"amp", "_amp", "print", "printable", "mobile", "m", "noamp", "valid_amp"})
_VIEW_PARAMETERS = frozenset(
    {"output", "outputtype", "view", "mode", "format", "display", "layout", "template"}
)
_SET = frozenset({"", "1", "true", "yes", "mobile"})
_VIEW_PATH = re.compile(r"(?P<main>/[^/]*[-\d][^/]*)/(?:amp|print)/?$", re.IGNORECASE)
_VIEW_SUFFIX = re.compile(r"\.amp(?P<rest>\.html?)?$", re.IGNORECASE)
# A parameter without a value that names an article, as in news.php?12345 and index.php?/news/12.
_NUMBER = re.compile(r"[^=]*[\d/][^=]*")
# Parameters that say where a reader came from: click numbers of advertisers and ids of sessions,
# prefixes of programs that count campaigns, and beginnings of words about campaigns and referrers.
# As courlan 1.4 has them, from the lists of AdGuard, ClearURLs and Firefox, with ours.
_CLICKS = r"\w*cl(?:ic)?k?id|[gw]braid|igsh\w*|partnerid|\w*sess(?:ion)?id\w*|share\w*|gift\w*"
_PROGRAMS = (
    "ad|ads|amp|at|cx|cxrecs|et|fb|ga|gs|guce|hs|itm|matomo|mc|mkt|ml|mtm|ns|oly|piwik|pk|rb"
    "|sfmc|share|trk|utm|vero|wt"
)
_WORDS = "aff|campaign|cid|clid|eid|ga|gl|keyword|kwd|medium|ref|session|source|uid|xtor"
# Ours: names that single publishers, portals and networks use, and values that say the same.
_PUBLISHERS = (
    r"access_?token|action_\w+|awc|bxid|cf_history_state|cmp|cmpid|cn-reloaded|cndid|cvid|dgcid|dicbo|dlbk|ef_id|"
    r"emailid|emc|epik|esrc|ftag|ftcamp|fsp|gclsrc|guccounter|hash[abc]|hsctatracking|icid|icmp|ico|"
    r"instance_id|intcid|intcmp|irgwc|isappinstalled|ito|leadsource|li_fat_id|linkid|mbid|mibextid|mod|"
    r"ncid|nlid|nocache|oborigurl|ocid|partner|ran(?:mid|ean(?:id)?|siteid)|rdcts|recirc|regi_id|"
    r"replytocom|rss|rss_?id|s_kwcid|sc_(?:c(?:ampaign|hannel|id|mp)|medium|source|src|pos)|cm_(?:mmc\w*|ven|cat|pla|ite|re|sp)|scm|segment_id|sfnsn|sfns|sh|smid|smprod|smtyp|"
    r"soc_(?:platform|src|trk)|spm|spref|sr_share|srnd|sref|sthash|taid|tblci|tpcc|track(?:ing|(?:ing)?_?(?:id|code|info))|trk|"
    r"trkcampaign|trkinfo|tsrc|unlocked_article_code|usqp|wprov|wt_?z?mc|wt\.\w+|xing_share|xtcr|xtref|"
    r"yptr|zanpid|em[cd]i|email_?hash|elq\w*|trkid|noredirect|social|\w*from_?rss\w*|is_?rss|wp_rss|maca|via_push|_x_tr_\w+|srsltid|from_?(?:mobile|pc|wap)|google_editors_picks|hss_channel|feed_?(?:link|name|source|type)|rss_?\w*|itid|\w*partner|fbrefresh|mk(?:evt|[cr]id)|wtrid|rnd|cachebust\w*"
    r"|seid|__tn__|_branch_match_id|_?_twitter_impression|_hsenc|_hsmi|_openstat"
)
_TRACKING = re.compile(rf"^(?:(?:{_CLICKS}|{_PUBLISHERS})$|(?:{_PROGRAMS})_)|(?:\b|_)(?:{_WORDS})")
_CHANNEL = re.compile(
    r"(?:rss\d?|feeds?|atom|hootsuite|buffer|newsletter|push|share|sharing|social|twitter|facebook"
    r"|whatsapp|telegram|e-?mail"
    r"|linkedin|instagram|flipboard|googlenews|msn|twsrc|(?:group|single)message|timeline)(?:[._]\w*)?|rss-feed",
    re.IGNORECASE,
)
# Of these, some number articles on some sites: those that say more than a campaign's name.
_NUMBERED = re.compile(
    r"(?:[ce]id|uid|source|(?:ref|ga|gl)[a-z]*(?:[_-]?(?:id|no|nr))?)=\d+", re.IGNORECASE
)
# Hosts and last parts of paths of redirectors: google.com/url?url=, bing.com/news/apiclick.aspx,
# l.facebook.com/l.php and r.search.yahoo.com/…/RU=…/RK=2; copies by AMP caches: ours.
_REDIRECTOR = re.compile(
    r"(?:^|\.)(?:safelinks|urldefense|feedproxy|r\.search|href|anonym|skimresources)\."
    r"|^(?:out|go|exit)\.(?=[\w-]+\.[a-z])"
    r"|/(?:url|apiclick|redirect(?:or)?|redir|rd|click|clk|out|away|go|goto|l|link|linkfilter|deeplink|track"
    r"|translate|popout|turbo)(?:\.\w{2,4})?/?$"
)
_AMP_CACHE = re.compile(
    r"https?://(?:www\.google\.[a-z.]+/amp|[\w-]+\.cdn\.ampproject\.org/\w)/(?:(s)/)?(.+)"
)
_TARGET = re.compile(r"/RU=([^/]+)")
_MAX_LABEL = 63  # RFC 1035, 2.3.4
# A URL in the path or in a parameter of another: the first is kept, or the second.
_DOUBLE = (
    re.compile(r'(https?://[^">&? ]{5,}?)https?://'),
    re.compile(r"https?://.+?(https?://.{5,}?)(?:https?://|$)"),
)
_ACCENTED = re.compile("[A-Za-z]?(?:%[89A-F][0-9A-F])+", re.IGNORECASE)
# "&section=2" holds no "&sect", which browsers read without a semicolon in HTML alone.
_ENTITY = re.compile(r"&#?\w+;")
_SESSION = re.compile(r";jsessionid=[^/?#;]*", re.IGNORECASE)
# Bytes of the head of a page that are searched for its canonical URL.
_HEAD = 64 * 1024
# An address in which nothing can be cleaned, as in nearly all articles: lower-case host without
# punycode or a default port, letters and digits in the path, no dot segment, no parameters.
_NAME = "[a-z0-9]+(?:-[a-z0-9]+)*"
_CLEAN = re.compile(
    rf"https?://(?![^/]{{64}}){_NAME}(?:\.{_NAME})*(?::(?!0|80/|443/)[0-9]{{2,5}})?"
    r"(?:/[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)+/?",
    re.ASCII,
)
_LINK = re.compile(rb"<link\b[^<>]{0,4000}>", re.IGNORECASE)


class UrlError(ValueError):
    """A URL is not followed; the message is the reason."""


def web_url(url: str, base: str | None = None) -> str:
    """Return `url`, made absolute against `base`, in a form that can be requested.

    Raise UrlError for other schemes than http and https, for credentials, and for invalid URLs.
    """
    text = urljoin(base, url.strip()) if base else url.strip()
    if len(text) > MAX_LENGTH:
        raise UrlError(f"longer than {MAX_LENGTH} characters: {text[:60]}...")
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise UrlError(f"not a URL ({error}): {text!r}") from None
    if parts.scheme.lower() not in {"http", "https"}:
        raise UrlError(f"neither http nor https: {text!r}")
    if not host:
        raise UrlError(f"has no host: {text!r}")
    if parts.username is not None or parts.password is not None:
        raise UrlError(f"has credentials, which are never sent: host {host}")
    safe: str = safe_url_string(text)
    return safe


def canonical_url(url: str, base: str | None = None) -> str:
    """Return the URL that identifies an article, independent of the link that was followed.

    It is independent of tracking parameters, fragments, default ports, dot segments and the order
    of parameters, and of the view of the article (AMP or print). Use it to distinguish articles; to
    fetch one, use the URL as it was given, since the server may not know a cleaned path. Raise
    UrlError as `web_url`.
    """
    plain = _SESSION.sub("", web_url(url, base))
    if _CLEAN.fullmatch(plain):
        return _main_view(plain)
    host = urlsplit(plain).hostname or ""
    try:
        if max(map(len, host.split("."))) > _MAX_LABEL:
            raise ValueError("a label that is too long")  # noqa: TRY301
        canonical = canonicalize_url(_cleaned(plain))
        if urlsplit(canonical).hostname != host:
            # A URL of another site within the URL is a part of it.
            canonical = canonicalize_url(_cleaned(plain, is_double=False))
    except ValueError:
        raise UrlError(f"has an invalid host: {plain[:80]!r}") from None
    canonical = _main_view(_with_lost_parts(canonical, urlsplit(plain)))
    # Cleaning changes "&amp" at the end to "&", which it would remove the next time.
    return canonical_url(canonical.rstrip("&")) if canonical.endswith("&") else canonical


def _cleaned(url: str, *, is_double: bool = True) -> str:
    """Return a URL without tracking parameters, entities, double slashes, its default port and, if
    it is a double one that has another in it, without one of the two."""
    url = url.replace("&amp;", "&").removesuffix("/&")
    if is_double and url.count("://") > 1 and "web.archive.org" not in url:
        url = next(filter(None, (rule.match(url) for rule in _DOUBLE)), [url, url])[1]
    if url.count("/") == 3 or url.count("://") > 1:
        url = url.rstrip("/")
    parts = urlsplit(_ACCENTED.sub(_compose, _ENTITY.sub(lambda entity: unescape(entity[0]), url)))
    netloc = parts.netloc.lower().strip(".")
    if parts.port == _DEFAULT_PORTS.get(parts.scheme):
        netloc = netloc.removesuffix(f":{parts.port}")
    query = parse_qs(parts.query)
    pairs = {
        name: query[name]
        for name in sorted(query)
        if not _TRACKING.search(name.lower()) and not all(map(_CHANNEL.fullmatch, query[name]))
    }
    tracked = "=" in parts.fragment and _TRACKING.search(parts.fragment)
    if (
        parts.fragment[1:] and parts.fragment[0] == "!" and not tracked
    ):  # a page, as Google's AJAX crawling names it
        pairs["_escaped_fragment_"] = [unquote(parts.fragment[1:])]
    path = re.sub("%(?![0-9A-Fa-f]{2})", "%25", re.sub("/+", "/", parts.path))
    path = quote(path, safe="/%!=:,-")
    return urlunsplit((parts.scheme.lower(), netloc, path, urlencode(pairs, doseq=True), ""))


def _compose(escaped: re.Match[str]) -> str:
    """Return escaped characters in Unicode's composed form: a letter and its accent are one."""
    text = unquote(escaped[0], errors="surrogateescape")
    return quote(normalize("NFC", text), errors="surrogateescape")


def _with_lost_parts(canonical: str, plain: SplitResult) -> str:
    """Return a cleaned URL with the semicolons, the parameters without "=" and the numbers of
    articles that it had."""
    parts = urlsplit(canonical)
    path = parts.path.replace("%3B", ";") if ";" in plain.path else parts.path
    before, after = plain.query.split("&"), parts.query.split("&")
    numbers = [part for part in before if _NUMBER.fullmatch(part)]
    numbered = sorted({part for part in before if _NUMBERED.fullmatch(part)}.difference(after))
    query = "&".join(filter(None, (*numbers, *numbered, parts.query)))
    return parts._replace(path=path, query=query).geturl()


def _main_view(url: str) -> str:
    """Return the URL of the article that an AMP twin or print view shows, as a site names it."""
    parts = urlsplit(url)
    path = parts.path
    while (shorter := _VIEW_SUFFIX.sub(r"\g<rest>", _VIEW_PATH.sub(r"\g<main>", path))) != path:
        path = shorter
    parameters = []
    for parameter in parts.query.split("&"):
        name, _, value = parameter.lower().partition("=")
        is_view = name in _VIEWS and value in _SET
        if not is_view and not (name in _VIEW_PARAMETERS and value in _VIEWS):
            parameters.append(parameter)
    query = "&".join(parameters)
    if (path, query) == (parts.path, parts.query):
        return url
    return parts._replace(path=path, query=query).geturl()


def unwrapped(url: str) -> str:
    """Return the address to which a link of a search engine, an alert or a network leads, where it
    is a part of the link; any other link unchanged."""
    if copy := _AMP_CACHE.fullmatch(url):
        return f"http{copy[1] or ''}://{copy[2]}"
    try:
        parts = urlsplit(url)
        if not _REDIRECTOR.search(f"{parts.netloc}{parts.path}".lower()):
            return url
        targets = [value for values in parse_qs(parts.query).values() for value in values]
        targets.append(parts.query)
    except ValueError:
        return url
    if inner := _TARGET.search(parts.path):
        targets.append(unquote(inner[1]))
    for target in targets:
        if target.startswith(("http://", "https://")) and not _same_site(target, url):
            return unwrapped(target)
    return url


def canonical_if_valid(url: str) -> str | None:
    """Return the canonical URL, or None if the URL can't be requested."""
    try:
        return canonical_url(url)
    except UrlError:
        return None


def declared_url(html: bytes, url: str) -> str | None:
    """Return the canonical URL that a page declares by rel=canonical, or None.

    It is used only within the page's own site, and never if it is the site's front page: sites that
    declare it on every page would make all their articles one.
    """
    target = _canonical_link(html[:_HEAD])
    try:
        if not target or not _same_site(web_url(target, url), url):
            return None
        claim = canonical_url(target, url)
    except UrlError:
        return None
    return None if urlsplit(claim).path in {"", "/"} else claim


def _canonical_link(head: bytes) -> str:
    """Return the address of the first link with rel=canonical; only this link is parsed."""
    for match in _LINK.finditer(head):
        if b"canonical" not in match[0].lower():
            continue
        if head.rfind(b"<!--", 0, match.start()) > head.rfind(b"-->", 0, match.start()):
            continue
        link = LexborHTMLParser(match[0]).css_first('link[rel~="canonical"][href]')
        if link is not None:
            return (link.attributes.get("href") or "").strip()
    return ""


def site_name(url: str) -> str | None:
    """Return the name in a URL's registered domain ("news.bbc.co.uk" → "bbc"); None for an IP."""
    domain = registered_domain(url)
    return domain.partition(".")[0] if domain else None


# The Public Suffix List of the installed package: nothing is downloaded or written.
_SUFFIXES = TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


def registered_domain(url: str) -> str | None:
    """Return the domain that its owner registered ("news.bbc.co.uk" → "bbc.co.uk"); None for an IP
    address."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return None
    domain = _SUFFIXES(host).top_domain_under_public_suffix
    return re.sub(r"^www[0-9]*\.", "", domain) or None


def _same_site(first: str, second: str) -> bool:
    if urlsplit(first).hostname == urlsplit(second).hostname:
        return True
    domain = registered_domain(first)
    return domain is not None and domain == registered_domain(second)


# First labels of hosts for mobile and AMP pages.
_HOSTS = frozenset({"m", "mobile", "amp", "touch"})
_AMP_FOLDER = "/amp/"


def main_addresses(url: str) -> tuple[str, ...]:
    """Return the canonical URLs at which a mobile or AMP twin's article would be.

    "https://m.a.example/news/b-1" may be a twin of the same path at www.a.example or a.example,
    "https://a.example/amp/news/b-1" one of "/news/b-1"; other URLs have no twins. Only the other
    address shows whether it is a twin, since a mobile site may have paths of its own. So these URLs
    are compared with known addresses, and never requested. `canonical_url` handles the forms that
    need no comparison: "/amp" at the end, "?amp=1".
    """
    parts = urlsplit(url)
    label, _, domain = parts.netloc.partition(".")
    hosts = [parts.netloc]
    if label in _HOSTS and "." in domain:
        hosts = [f"www.{domain}", domain]
    paths = [parts.path]
    if parts.path.startswith(_AMP_FOLDER) and len(parts.path) > len(_AMP_FOLDER):
        paths = [parts.path.removeprefix("/amp"), parts.path]
    twins = (
        parts._replace(netloc=host, path=path).geturl()
        for path in paths
        for host in hosts
        if path != "/"
    )
    return tuple(twin for twin in twins if twin != url)


_REGISTERED = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
# Hosts may have more than the standard allows (RFC 1123, 2.1): underscores and double hyphens.
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
# RFC 1035, 2.3.4.
_MAX_HOST = 253


def is_registered_slug(text: str) -> bool:
    """Return whether text is a valid slug of a registered source."""
    return _REGISTERED.fullmatch(text) is not None


def is_slug(text: str) -> bool:
    """Return whether text is a valid slug, registered or made of a host: safe in a path."""
    labels = text.split(".")
    return len(text) <= _MAX_HOST and all(map(_LABEL.fullmatch, labels))


def host_slug(url: str) -> str:
    """Return the slug made of a URL's host. Raises UrlError for an invalid host."""
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
        raise UrlError(f"has an invalid host: {url[:80]!r}")
    return host


IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

_DEFAULT_PORTS = {"http": 80, "https": 443}
# RFC 6052, section 2.1: IPv4 addresses in a network with IPv6 only.
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_NEVER = (
    ipaddress.IPv6Network("::/96"),  # RFC 4291, 2.5.5.1: IPv4 in a deprecated form
    ipaddress.IPv6Network("64:ff9b:1::/48"),  # RFC 8215: NAT64 within one network
    ipaddress.IPv6Network("2001::/32"),  # RFC 4380: Teredo, which holds an IPv4 address
)


def is_public(address: IpAddress) -> bool:
    """Return whether an IP address is public, also if it embeds an IPv4 address."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.is_site_local or any(address in network for network in _NEVER):
            return False
        inner = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
    return address.is_global and not address.is_multicast


def page_key(url: str) -> tuple[str, str]:
    """Return host without www and path without its last slash, which are equal for http and
    https."""
    parts = urlsplit(url)
    return parts.netloc.lower().removeprefix("www."), parts.path.rstrip("/")


def address_of(url: str) -> tuple[str, int]:
    """Return host and port of a URL."""
    parts = urlsplit(url)
    return (parts.hostname or "").lower(), parts.port or _DEFAULT_PORTS.get(parts.scheme, 80)


def allowed_host(url: str) -> str:
    """Return host and port of a URL, as an entry of NEWSCRAWL_ALLOW_PRIVATE."""
    host, port = address_of(url)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class AllowedAddresses:
    """Private hosts and networks that may be requested."""

    def __init__(self, entries: Iterable[str] = (), hosts: Iterable[tuple[str, int]] = ()) -> None:
        self._hosts: set[tuple[str, int | None]] = set(hosts)
        self._networks: list[IpNetwork] = []
        for entry in filter(None, map(str.strip, entries)):
            try:
                self._networks.append(ipaddress.ip_network(entry, strict=False))
                continue
            except ValueError:
                pass  # a host
            try:
                parts = urlsplit(f"//{entry}")
                host, port = parts.hostname, parts.port
            except ValueError:
                host, port = None, None
            if not host or "/" in entry:
                raise SettingError(
                    f"NEWSCRAWL_ALLOW_PRIVATE: {entry!r} is neither a host, a host:port nor a "
                    "network; as in localhost:8000,10.0.0.0/8"
                )
            self._hosts.add((host.lower(), port))

    def host(self, host: str, port: int) -> bool:
        """Return whether the host is allowed, on this port or on all."""
        return (host, port) in self._hosts or (host, None) in self._hosts

    def address(self, address: IpAddress) -> bool:
        """Return whether the address is in an allowed network."""
        return any(address in network for network in self._networks)
