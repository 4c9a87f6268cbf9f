"""How commands that visit sites behave there: as a crawl does."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from newscrawl import config, settings

if TYPE_CHECKING:
    from newscrawl.sources.fetcher import FetchPolicy


def manners(*, allow_private: bool = False, named: Iterable[str] = ()) -> "FetchPolicy":
    """The manners of the settings; the hosts of the `named` URLs may be private ones.

    Raises SettingError for a setting that can't work.
    """
    from newscrawl.sources.addresses import AllowedAddresses, address_of
    from newscrawl.sources.fetcher import FetchPolicy

    return FetchPolicy(
        user_agent=settings.USER_AGENT,
        robots_name=settings.ROBOTSTXT_USER_AGENT,
        max_bytes=settings.DOWNLOAD_MAXSIZE,
        timeout=settings.DOWNLOAD_TIMEOUT,
        allow_private=allow_private,
        permitted=AllowedAddresses(
            config.NEWSCRAWL_ALLOW_PRIVATE.split(","), map(address_of, set(named))
        ),
        pause=settings.DOWNLOAD_DELAY,
        longest_pause=config.seconds("NEWSCRAWL_CRAWL_DELAY_MAX", config.NEWSCRAWL_CRAWL_DELAY_MAX),
    )
