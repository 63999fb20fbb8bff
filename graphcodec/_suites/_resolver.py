"""What every resolver must do, as a suite of tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Final, cast

from graphcodec._suites import _readers
from graphcodec._suites._checks import (
    at_once,
    refused,
    require,
    shows_none,
    skip,
    touches_nothing,
)
from graphcodec.codec import Codec
from graphcodec.errors import (
    HandleError,
    HandleNotFoundError,
    ResolverDeniedError,
    StaleHandleError,
    UndecodableValueError,
)
from graphcodec.readers import JSON, Reader, ReaderDescriptor, Resolver

_ODD: Final[tuple[JSON, ...]] = ({"a": 1}, ["a"], None, True, 1.5)


class ResolverContract:
    """What every resolver must do: inherit from it, fill in the hooks, run pytest.

    A subclass says how its resolver is made and which handles there are; the tests
    are inherited. It needs no fixtures, so it runs under unittest as well, beside
    ``unittest.TestCase``. Hooks that return None skip their test.

    Attributes:
        secrets: Texts that the resolver knows and must never show: tokens, passwords.
    """

    secrets: tuple[str, ...] = ()

    def make_resolver(self) -> Resolver:
        """Return a resolver; it is made anew for each test."""
        raise NotImplementedError("return the resolver that is to be tested")

    def examples(self) -> Iterable[tuple[Reader, bytes]]:
        """Return readers whose handles the resolver takes, each with its content."""
        raise NotImplementedError("return at least one reader with its content")

    def missing(self) -> Reader | None:
        """Return a reader behind which there is nothing, if there can be one."""
        return None

    def stale(self) -> Reader | None:
        """Return a reader behind which are other bytes than were pinned, if any."""
        return None

    def denied(self) -> Reader | None:
        """Return a reader that the policy or the place does not let us open, if any."""
        return None

    def malformed(self) -> Iterable[Mapping[str, JSON]]:
        """Return locators that must be refused.

        By default those of the examples, each with a field too many, with values of
        another kind, and without any field.
        """
        yield {}
        for described in self._descriptors():
            locator = described.locator
            yield {**locator, "endpoint_url": "http://169.254.169.254/"}
            yield {**locator, "storage_options": {"key": "a"}}
            for name in locator:
                for value in _ODD:
                    yield {**locator, name: value}

    def _readers(self) -> Iterator[tuple[Reader, bytes]]:
        found = list(self.examples())
        require(found, "examples() gives at least one reader")
        yield from found

    def _descriptors(self) -> Iterator[ReaderDescriptor]:
        for reader, _ in self._readers():
            yield _readers.descriptor_of(reader)

    def test_it_has_tags_of_both_families(self) -> None:
        """A scheme is one place, whoever owns the reader."""
        resolver = self.make_resolver()
        made = cast("object", resolver)
        require(isinstance(made, Resolver), "a resolver has tags and resolve()")
        tags: object = resolver.tags
        require(not isinstance(tags, str), "tags are several")
        schemes = {tag.partition(":")[2] for tag in resolver.tags}
        wanted = {
            f"{family}:{name}" for family in ("media", "spool") for name in schemes
        }
        require(set(resolver.tags) == wanted, "each scheme is taken in both families")
        for described in self._descriptors():
            require(described.scheme in schemes, "the tags name the schemes it takes")

    def test_it_leaves_other_schemes_to_others(self) -> None:
        """None lets the next resolver try."""
        resolver = self.make_resolver()
        for locator in (
            {},
            {"url": "https://example.org/"},
            {"store": "a", "key": "b"},
        ):
            found = resolver.resolve(ReaderDescriptor("of-somebody-else", locator))
            require(found is None, "resolve() gives None for a scheme of others")

    def test_resolving_touches_nothing(self) -> None:
        """Whoever decodes ten thousand handles opens none of them."""
        resolver = self.make_resolver()
        for described in self._descriptors():
            resolver.resolve(described)
        for described in self._descriptors():
            resolve = partial(self.make_resolver().resolve, described)
            touches_nothing(resolve, "resolve() does no I/O")

    def test_handles_to_nothing_resolve(self) -> None:
        """Whether something is there is found out on opening."""
        for reader in (self.missing(), self.stale(), self.denied()):
            if reader is not None:
                described = _readers.descriptor_of(reader)
                _readers.resolved_by(self.make_resolver(), described)

    def test_readers_are_values(self) -> None:
        """They are equal, hash, copy and pickle by their descriptor."""
        for reader, _ in self._readers():
            _readers.check_value(reader, self.make_resolver())

    def test_handles_travel_in_both_families(self) -> None:
        """Media and spools come back, and what is read is what was there."""
        for reader, content in self._readers():
            _readers.check_travel(reader, self.make_resolver(), content)

    def test_resolved_readers_read(self) -> None:
        """Whole, in pieces, in ranges, again and again."""
        for reader, content in self._resolved():
            _readers.check_reading(reader, content)

    def test_resolved_readers_read_on_event_loops(self) -> None:
        """In two loops, one after the other."""
        for reader, content in self._resolved():
            _readers.check_awaiting(reader, content)

    def test_streams_are_independent(self) -> None:
        """Each has its own position, in one thread and in many."""
        for reader, content in self._resolved():
            _readers.check_streams(reader, content)

    def test_threads_share_a_resolver(self) -> None:
        """Codecs are used from any thread, and so are their resolvers."""
        resolver = self.make_resolver()
        for reader, content in self._readers():
            codec = Codec(resolvers=[resolver])
            document = codec.encode(reader)

            def read(_: int, document: bytes = document, codec: Codec = codec) -> bytes:
                decoded = cast("Reader", codec.decode(document))
                return b"".join(decoded.iter_bytes())

            require(set(at_once(read)) == {content}, "a resolver serves many threads")

    def _resolved(self) -> Iterator[tuple[Reader, bytes]]:
        resolver = self.make_resolver()
        for (_, content), described in zip(
            self._readers(), self._descriptors(), strict=True
        ):
            yield _readers.resolved_by(resolver, described), content

    def test_malformed_handles_are_refused(self) -> None:
        """Anybody may have written a document: unknown fields and odd values end it."""
        schemes = {described.scheme for described in self._descriptors()}
        for scheme in schemes:
            for locator in self.malformed():
                described = ReaderDescriptor(scheme, locator)
                rule = f"resolve() refuses a locator with {sorted(locator)}"
                resolve = partial(self.make_resolver().resolve, described)
                touched = partial(touches_nothing, resolve, "refusing does no I/O")
                error = refused(touched, UndecodableValueError, rule)
                shows_none(self.secrets, str(error))

    def test_what_is_missing_is_not_found(self) -> None:
        """It is no other error, and no empty content."""
        self._fails(self.missing(), HandleNotFoundError)

    def test_what_was_changed_is_stale(self) -> None:
        """A pin that does not hold is noticed before the end of the content."""
        self._fails(self.stale(), StaleHandleError)

    def test_what_is_forbidden_is_denied(self) -> None:
        """Forbidden is not missing."""
        self._fails(self.denied(), ResolverDeniedError)

    def _fails(self, reader: Reader | None, kind: type[HandleError]) -> None:
        if reader is None:
            raise skip("the suite has no such handle")
        described = _readers.descriptor_of(reader)
        found = _readers.resolved_by(self.make_resolver(), described)
        shows_none(self.secrets, _readers.check_failing(found, kind))

    def test_it_shows_no_secrets(self) -> None:
        """Neither do its readers, their handles and their documents."""
        resolver = self.make_resolver()
        for reader, _ in (*self._readers(), *self._resolved()):
            described = _readers.descriptor_of(reader)
            locator = repr(described.locator)
            document = Codec(resolvers=[resolver]).encode_text(reader)
            texts = repr(resolver), repr(reader), repr(described), locator, document
            shows_none(self.secrets, *texts)


# Pickles and tracebacks show the public path of a name.
ResolverContract.__module__ = "graphcodec.testing"
