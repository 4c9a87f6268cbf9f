"""Which addresses may be requested: public ones, and private ones that the user has allowed."""

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

from newscrawl.config import SettingError

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


def address_of(url: str) -> tuple[str, int]:
    """Return host and port of a URL."""
    parts = urlsplit(url)
    return (parts.hostname or "").lower(), parts.port or _DEFAULT_PORTS.get(parts.scheme, 80)


class AllowedAddresses:
    """Private hosts and networks that may be requested."""

    def __init__(self, entries: Iterable[str] = (), named: Iterable[tuple[str, int]] = ()) -> None:
        self._hosts: set[tuple[str, int | None]] = set(named)
        self._networks: list[IpNetwork] = []
        for entry in filter(None, map(str.strip, entries)):
            self._add(entry)

    def _add(self, entry: str) -> None:
        try:
            self._networks.append(ipaddress.ip_network(entry, strict=False))
        except ValueError:
            try:
                parts = urlsplit(f"//{entry}")
                host, port = parts.hostname, parts.port
            except ValueError:
                host, port = None, None
            if not host or "/" in entry:
                raise SettingError(
                    f"NEWSCRAWL_ALLOW_PRIVATE: {entry!r} is neither a host, a host:port nor a "
                    "network; as in localhost:8000,10.0.0.0/8"
                ) from None
            self._hosts.add((host.lower(), port))

    def host(self, host: str, port: int) -> bool:
        """Return whether the host is allowed, on this port or on all."""
        return (host, port) in self._hosts or (host, None) in self._hosts

    def address(self, address: IpAddress) -> bool:
        """Return whether the address is in an allowed network."""
        return any(address in network for network in self._networks)
