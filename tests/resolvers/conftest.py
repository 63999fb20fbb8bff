"""Servers, networks and resolvers that are closed after the test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graphcodec_resolvers import HttpResolver
from tests.resolvers.servers import PUBLIC, FakeNetwork, FaultyServer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def http_server() -> Iterator[FaultyServer]:
    """A server on this machine with the fault that the path names."""
    with FaultyServer() as server:
        yield server


@pytest.fixture
def network() -> FakeNetwork:
    """A network in which ``public.example`` is the server on this machine."""
    return FakeNetwork(public_example=PUBLIC)


@pytest.fixture
def local_network() -> FakeNetwork:
    """The network of the ``local`` resolver."""
    return FakeNetwork()


@pytest.fixture
def local(local_network: FakeNetwork) -> Iterator[HttpResolver]:
    """A resolver that opens what this machine serves."""
    with HttpResolver(
        schemes=("http", "https"),
        allow_private=True,
        timeout=5,
        _network=local_network,
    ) as resolver:
        yield resolver


@pytest.fixture
def strict(network: FakeNetwork) -> Iterator[HttpResolver]:
    """A resolver that opens public addresses only, also over plain http."""
    with HttpResolver(schemes=("http", "https"), _network=network) as resolver:
        yield resolver
