from __future__ import annotations

import pytest

from graphcodec_resolvers._addresses import is_public


@pytest.mark.parametrize(
    "address",
    ["93.184.216.34", "8.8.8.8", "2001:4860:4860::8888", "::ffff:8.8.8.8"],
)
def test_addresses_of_the_internet_are_public(address: str) -> None:
    """What anybody can reach may be opened."""
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "0.0.0.0",  # noqa: S104 - an address to refuse, not to bind
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "192.88.99.1",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::10.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:127.0.0.1",
        "64:ff9b::a00:1",
        "64:ff9b:1::1",
        "2002:a00:1::",
        "2001:0:5ef5:79fb::1",
        "2001:db8::1",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%eth0",
        "2606:4700::1%eth0",
        "fec0::1",
        "ff0e::1",
        "localhost",
        "",
    ],
)
def test_other_addresses_are_not_public(address: str) -> None:
    """Local, reserved and shared addresses, and IPv4 hidden in IPv6, are refused."""
    assert not is_public(address)
