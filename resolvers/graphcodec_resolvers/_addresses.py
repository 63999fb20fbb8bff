"""Which network addresses a URL from somebody else may lead to."""

from __future__ import annotations

from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
)
from typing import Final

# What is_global lets pass, or lets pass in some versions of Python.
_REFUSED_V4: Final = tuple(
    IPv4Network(text)
    for text in (
        "100.64.0.0/10",  # carrier-grade NAT; the metadata server of one cloud
        "168.63.129.16/32",  # the wire server of another
        "192.0.0.0/24",  # protocol assignments; the metadata server of a third
        "192.88.99.0/24",  # relays of 6to4
        "198.18.0.0/15",  # benchmarks
        "224.0.0.0/3",  # multicast, reserved, broadcast
    )
)
# Everything else of IPv6 is not the internet: it is local, or holds an IPv4 address.
_GLOBAL_V6: Final = IPv6Network("2000::/3")
_REFUSED_V6: Final = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments: Teredo and others
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: holds an IPv4 address
        "3fff::/20",  # documentation
    )
)


def is_public(address: str) -> bool:
    """Say whether *address* is on the public internet, and nowhere else.

    Args:
        address: An IP address, as name resolution gives it.
    """
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, IPv6Address):
        return _is_public_v6(ip)
    return _is_public_v4(ip)


def _is_public_v4(ip: IPv4Address) -> bool:
    return ip.is_global and not any(ip in network for network in _REFUSED_V4)


def _is_public_v6(ip: IPv6Address) -> bool:
    if ip.ipv4_mapped is not None:
        return _is_public_v4(ip.ipv4_mapped)
    if ip.scope_id is not None or ip not in _GLOBAL_V6:
        return False
    return ip.is_global and not any(ip in network for network in _REFUSED_V6)
