"""Why a request of a crawl is not made: told to its errback, and counted there."""

from scrapy.exceptions import IgnoreRequest


class UnfitAddressError(IgnoreRequest):
    """A request for an address that no crawl may ask, whatever robots.txt says."""


class DisallowedByRobotsError(IgnoreRequest):
    """A page that robots.txt keeps from us."""


class RobotsUnreachableError(IgnoreRequest):
    """A page that waits until robots.txt can be read: nobody knows whether it is kept from us."""
