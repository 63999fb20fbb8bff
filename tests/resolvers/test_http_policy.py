from __future__ import annotations

import asyncio
import math
import ssl
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpx
import pytest
import trustme

from graphcodec.errors import HandleError, InvalidValueError, ResolverDeniedError
from graphcodec_resolvers import HttpResolver
from tests.resolvers.servers import DATA, PUBLIC, FakeNetwork, FaultyServer
from tests.resolvers.test_http import resolved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

INSIDE = [
    "http://169.254.169.254/latest/meta-data/",
    "http://[::ffff:10.0.0.1]/",
    "http://[64:ff9b::a00:1]/",
    "http://localhost/",
    "http://localhost./",
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0.0.0.0/",
    "http://[::]/",
    "http://[::1]/",
]
NO_URLS = [
    "file:///etc/passwd",
    "ftp://public.example/",
    "//public.example/",
    "public.example",
    "https://",
    "http:///etc/passwd",
    "https://exa%6dple.org/",
    "https://0177.0.0.1/",
    "https://[::1%25eth0]/",
    "https://public.example:99999/",
    "https://public.example:x/",
    "simplecache::https://public.example/",
    "https://public.example\x00/",
    "https://[",
]


@pytest.mark.parametrize("url", INSIDE)
def test_addresses_inside_are_denied(
    strict: HttpResolver, network: FakeNetwork, url: str
) -> None:
    """However it is spelt, an address that is not public is not connected to."""
    reader = resolved(strict, url)

    for attempt in (reader.open, reader.byte_length, lambda: reader.read_range(0, 1)):
        with pytest.raises(ResolverDeniedError, match="not public"):
            attempt()
    assert network.connected == []


@pytest.mark.parametrize("url", NO_URLS)
def test_what_is_no_url_of_a_server_is_denied(
    strict: HttpResolver, network: FakeNetwork, url: str
) -> None:
    """Files, chained URLs and nonsense decode, and are denied on opening."""
    reader = resolved(strict, url)

    with pytest.raises(ResolverDeniedError, match="this is"):
        reader.open()
    assert network.asked == network.connected == []


@pytest.mark.parametrize(
    "answer",
    ["127.0.0.1", "10.0.0.1", "::1", [PUBLIC, "127.0.0.1"], ["127.0.0.1", PUBLIC]],
)
def test_public_names_with_private_addresses_are_denied(
    strict: HttpResolver, network: FakeNetwork, answer: str | list[str]
) -> None:
    """One bad address among good ones is enough."""
    network.names["rebind.example"] = answer

    with pytest.raises(ResolverDeniedError, match="not public"):
        resolved(strict, "http://rebind.example/").open()
    assert network.connected == []


def test_the_connection_goes_to_the_address_that_was_checked(
    strict: HttpResolver, network: FakeNetwork, http_server: FaultyServer
) -> None:
    """A name is resolved once, so it can't change its mind in between."""
    reader = resolved(strict, http_server.url("plain", "public.example"))

    assert reader.open().read() == DATA
    assert network.asked == ["public.example"]
    assert network.connected == [PUBLIC]
    host = http_server.seen[0][2]["host"]
    assert host == f"public.example:{http_server.port}"


@pytest.mark.parametrize("target", [*INSIDE, "file:///etc/passwd", "ftp://x/"])
def test_redirects_are_checked_from_scratch(
    strict: HttpResolver,
    network: FakeNetwork,
    http_server: FaultyServer,
    target: str,
) -> None:
    """A public server can't send us where we would not have gone."""
    path = f"to/{quote(target, safe='')}"
    reader = resolved(strict, http_server.url(path, "public.example"))

    with pytest.raises(ResolverDeniedError, match=r"not public|a redirect leads to"):
        reader.open()
    assert network.connected == [PUBLIC]
    assert len(http_server.seen) == 1


def test_redirects_with_credentials_in_them_are_denied(
    strict: HttpResolver, http_server: FaultyServer
) -> None:
    """The password that a server chose is not shown either."""
    http_server.target = "http://user:geheim@public.example/?sig=geheim"

    with pytest.raises(ResolverDeniedError, match="user name or password") as caught:
        resolved(strict, http_server.url("to", "public.example")).open()
    assert "geheim" not in str(caught.value)


def test_a_redirect_without_a_target_is_denied(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """It leads back to itself, three times."""
    with pytest.raises(ResolverDeniedError, match="redirect"):
        resolved(local, http_server.url("status/302")).open()


@pytest.mark.parametrize(
    "target", ["http://[", "https://x:y/", "https://" + "a" * 9000]
)
def test_redirects_to_nonsense_are_denied(
    local: HttpResolver, http_server: FaultyServer, target: str
) -> None:
    """What is no URL is not guessed at."""
    http_server.target = target

    with pytest.raises(ResolverDeniedError, match="a redirect leads to"):
        resolved(local, http_server.url("to")).open()


def test_good_redirects_are_followed(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """Relative ones too, and with the range that was asked for."""
    reader = resolved(local, http_server.url("to/%2Fplain"))

    assert reader.open().read() == DATA
    assert reader.read_range(5, 9) == DATA[5:9]


def test_redirects_end(local: HttpResolver, http_server: FaultyServer) -> None:
    """Three are followed, not for ever."""
    with pytest.raises(ResolverDeniedError, match="more than 3 redirects"):
        resolved(local, http_server.url("loop")).open()
    assert len(http_server.seen) == 4


@pytest.mark.parametrize(
    ("hosts", "host", "allowed"),
    [
        (["public.example"], "public.example", True),
        (["PUBLIC.example."], "public.example", True),
        (["other.example"], "public.example", False),
        ([".example"], "public.example", True),
        (["example"], "public.example", False),
        ([".public.example"], "public.example", False),
        ([".lic.example"], "public.example", False),
        ([], "public.example", False),
    ],
)
def test_hosts_narrow_the_policy(
    network: FakeNetwork,
    http_server: FaultyServer,
    hosts: list[str],
    host: str,
    allowed: bool,  # noqa: FBT001 - a row of the table
) -> None:
    """A host is allowed by its name, or by the domain above it with a dot."""
    with HttpResolver(hosts=hosts, schemes=["http"], _network=network) as resolver:
        reader = resolved(resolver, http_server.url("plain", host))
        if allowed:
            assert reader.open().read() == DATA
            return
        with pytest.raises(ResolverDeniedError, match="not among those allowed"):
            reader.open()


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: HttpResolver(hosts="example.org"), "hosts: must be several"),
        (lambda: HttpResolver(schemes="ftp"), "schemes: must be"),
        (lambda: HttpResolver(schemes=["https", "file"]), "schemes: must be"),
        (lambda: HttpResolver(schemes=[]), "schemes: must be"),
        (lambda: HttpResolver(timeout=0), "timeout: must be more"),
        (lambda: HttpResolver(timeout=math.nan), "timeout: must be more"),
        (lambda: HttpResolver(max_bytes=-1), "max_bytes: must be"),
    ],
)
def test_odd_policies_are_refused(make: Callable[[], HttpResolver], match: str) -> None:
    """A rule that could not be kept is noticed when it is made."""
    with pytest.raises(InvalidValueError, match=match):
        make()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("client", "https://h.example"),
        ("client", httpx.AsyncClient()),
        ("hosts", 5),
        ("hosts", [b"h.example"]),
        ("schemes", 5),
        ("allow_private", "false"),
        ("allow_private", None),
        ("max_bytes", "5"),
        ("max_bytes", 1.5),
        ("timeout", None),
        ("timeout", True),
        ("headers", "Authorization"),
        ("headers", {"https://h.example": "Authorization"}),
        ("headers", {"https://h.example": {"Authorization": b"bytes"}}),
        ("headers", {b"https://h.example": {}}),
    ],
)
def test_what_is_no_policy_is_refused(name: str, value: object) -> None:
    """What comes from a file of settings has other types; none opens the intranet."""
    with pytest.raises(InvalidValueError, match=f"^{name}: "):
        HttpResolver(**{name: value})  # type: ignore[arg-type]


def test_a_function_makes_a_client_that_blocks() -> None:
    """One that must be awaited would never be asked anything."""
    resolver = HttpResolver(httpx.AsyncClient)  # type: ignore[arg-type]

    with pytest.raises(InvalidValueError, match="made a AsyncClient, no httpx"):
        resolved(resolver, "https://h.example/").open()


def test_one_scheme_needs_no_list() -> None:
    """It can't be mistaken for anything else."""
    assert "['http']" in repr(HttpResolver(schemes="http"))


@pytest.mark.parametrize(
    "host",
    ["https://h.example", "h.example/a", "u@h", "", "h:443", "*.h.example", "[::1]"],
)
def test_hosts_are_hosts(host: str) -> None:
    """A URL, pattern or port among the hosts would never match, so it is refused."""
    with pytest.raises(InvalidValueError, match="hosts"):
        HttpResolver(hosts=[host])


def test_hosts_without_an_address_are_our_error(
    strict: HttpResolver, network: FakeNetwork
) -> None:
    """A name that does not resolve is tried again, then reported."""
    network.names["nowhere.example"] = []

    with pytest.raises(HandleError, match="connection failed"):
        resolved(strict, "http://nowhere.example/").open()
    with pytest.raises(HandleError, match="connection failed"):
        resolved(strict, f"http://{'a' * 70}.example/").open()


def test_another_address_is_tried_if_one_is_dead(http_server: FaultyServer) -> None:
    """The addresses of a host are tried in order."""

    class HalfDead(FakeNetwork):
        def connect(self, address: str, port: int, timeout: float | None):  # type: ignore[no-untyped-def]  # noqa: ANN202
            return super().connect(
                address, 1 if address == "8.8.8.8" else port, timeout
            )

    network = HalfDead(public_example=["8.8.8.8", PUBLIC])
    with HttpResolver(schemes=["http"], _network=network) as resolver:
        reader = resolved(resolver, http_server.url("plain", "public.example"))

        assert reader.read_range(0, 4) == DATA[:4]
    assert network.connected == ["8.8.8.8", PUBLIC]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """An authority that nobody else knows."""
    return trustme.CA()


@pytest.fixture
def tls_server(authority: trustme.CA) -> Iterator[FaultyServer]:
    """A server with a certificate for ``public.example``."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate = authority.issue_cert("public.example")
    certificate.configure_cert(context)  # pyright: ignore[reportUnknownMemberType]
    with FaultyServer(context) as server:
        yield server


@pytest.fixture
def trusting(authority: trustme.CA, network: FakeNetwork) -> FakeNetwork:
    """The network, trusting that authority, with one more name for the address."""
    network.context = ssl.create_default_context()
    authority.configure_trust(network.context)  # pyright: ignore[reportUnknownMemberType]
    network.names["other.example"] = PUBLIC
    return network


def test_certificates_are_checked_by_name(
    trusting: FakeNetwork, tls_server: FaultyServer
) -> None:
    """The name counts, though the connection goes to an address."""
    with HttpResolver(_network=trusting) as resolver:
        good = resolved(resolver, tls_server.url("plain", "public.example"))
        bad = resolved(resolver, tls_server.url("plain", "other.example"))

        assert good.open().read() == DATA
        with pytest.raises(HandleError, match="connection failed"):
            bad.open()


def test_encrypted_connections_are_kept_while_they_are_clean(
    trusting: FakeNetwork, tls_server: FaultyServer
) -> None:
    """Blocking and awaited: ranges share one, and what is left over ends it."""
    with HttpResolver(_network=trusting) as resolver:
        reader = resolved(resolver, tls_server.url("plain", "public.example"))
        other = resolved(resolver, tls_server.url("smuggle", "public.example"))

        async def read() -> None:
            for _ in range(2):
                assert await reader.aread_range(0, 4) == DATA[:4]
            with await other.aopen() as stream:
                assert stream.read() == b"abcd"
            assert await reader.aread_range(0, 4) == DATA[:4]

        for _ in range(2):
            assert reader.read_range(0, 4) == DATA[:4]
        assert other.open().read() == b"abcd"
        assert reader.read_range(0, 4) == DATA[:4]
        assert len(trusting.connected) == 2
        asyncio.run(read())
        assert len(trusting.connected) == 4


def test_https_is_not_left_for_http(
    trusting: FakeNetwork, tls_server: FaultyServer, http_server: FaultyServer
) -> None:
    """A redirect may not take the encryption away, also where http is allowed."""
    target = quote(http_server.url("plain", "public.example"), safe="")
    with HttpResolver(schemes=["https", "http"], _network=trusting) as resolver:
        reader = resolved(resolver, tls_server.url(f"to/{target}", "public.example"))

        with pytest.raises(ResolverDeniedError, match="https to http"):
            reader.open()
    assert http_server.seen == []


@pytest.fixture
def client_of(trusting: FakeNetwork) -> Iterator[Callable[[], httpx.Client]]:
    """Makes clients of an application that trusts the authority."""
    context = trusting.context
    assert context is not None
    with httpx.Client(verify=context, trust_env=False) as client:
        yield lambda: client


def test_a_given_client_connects_to_the_checked_address(
    trusting: FakeNetwork,
    tls_server: FaultyServer,
    client_of: Callable[[], httpx.Client],
) -> None:
    """It is told the address, and checks the certificate for the name."""
    trusting.names.update({"public.example": "127.0.0.1", "other.example": "127.0.0.1"})
    trusting.local_is_public = True
    resolver = HttpResolver(client_of, _network=trusting)

    for _ in range(2):
        good = resolved(resolver, tls_server.url("plain", "public.example"))
        assert good.read_range(0, 4) == DATA[:4]
        bad = resolved(resolver, tls_server.url("plain", "other.example"))
        with pytest.raises(HandleError, match="connection failed"):
            bad.read_range(0, 4)
    host = tls_server.seen[0][2]["host"]
    assert host == f"public.example:{tls_server.port}"


def test_a_given_client_is_not_sent_inside(
    trusting: FakeNetwork,
    tls_server: FaultyServer,
    client_of: Callable[[], httpx.Client],
) -> None:
    """The policy holds whoever does the sending."""
    trusting.names["rebind.example"] = "127.0.0.1"
    resolver = HttpResolver(client_of, _network=trusting)

    with pytest.raises(ResolverDeniedError, match="not public"):
        resolved(resolver, tls_server.url("plain", "rebind.example")).open()
    assert tls_server.seen == []


def test_the_environment_is_not_read(
    strict: HttpResolver, http_server: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy from the environment would connect to what nobody checked."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")

    reader = resolved(strict, http_server.url("plain", "public.example"))

    assert reader.open().read() == DATA
