"""Which addresses belong to the public internet, for all that fetches."""

import ipaddress

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

# RFC 6052: IPv4 addresses as a network that speaks IPv6 alone sees them.
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def is_public(address: IpAddress) -> bool:
    """Whether an IP address belongs to the public internet."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
    return address.is_global and not address.is_multicast
