"""A name server of the tests' own: `-s TWISTED_DNS_RESOLVER=tests.site.resolver.TestResolver`."""

from typing import Any

from scrapy.resolver import CachingThreadedResolver
from twisted.internet import defer
from twisted.internet.error import DNSLookupError

# Names of a site in the world, and of one within our own network.
NAMES = {
    "pier.example": "127.0.0.1",
    "www.pier.example": "127.0.0.1",
    "inside.pier.example": "127.0.0.1",
    "cloud.pier.example": "169.254.169.254",
    "office.pier.example": "10.0.0.7",
}
GONE = "gone.pier.example"  # a name that no longer has an address


class TestResolver(CachingThreadedResolver):
    """Resolves the names above, and all else as Scrapy would."""

    __test__ = False

    def getHostByName(self, name: str, timeout: Any = ()) -> Any:  # noqa: N802 - Twisted's name
        if name == GONE:
            return defer.fail(DNSLookupError(name))
        if name in NAMES:
            return defer.succeed(NAMES[name])
        return super().getHostByName(name, timeout)
