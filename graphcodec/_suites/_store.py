"""What every store of bytes must do, as a suite of tests."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from typing import BinaryIO, Final, cast

from graphcodec._suites import _readers
from graphcodec._suites._checks import at_once, refused, require, shows_none, skip
from graphcodec.codec import Codec
from graphcodec.errors import (
    GraphCodecError,
    HandleNotFoundError,
    StaleHandleError,
)
from graphcodec.readers import (
    BytesReader,
    ByteStore,
    Reader,
    ReaderDescriptor,
    Resolver,
    StreamReader,
)

_TEXT: Final = b"first line\r\nsecond \xff\x00 line\n"
_LARGE: Final = b"".join(
    hashlib.sha256(number.to_bytes(4, "big")).digest() for number in range(1 << 15)
)
_CONTENTS: Final = (b"", b"\x00", _TEXT, bytes(range(256)) * 300, _LARGE)


class ByteStoreContract:
    """What every `ByteStore` must do: inherit from it, fill in the hooks, run pytest.

    It needs no fixtures, so it runs under unittest as well, beside
    ``unittest.TestCase``.

    Attributes:
        secrets: Texts that the store knows and must never show: tokens, passwords.
        inline: Whether handles carry the bytes themselves, so that deleting in the
            store takes nothing away from them.
    """

    secrets: tuple[str, ...] = ()
    inline: bool = False

    def make_store(self) -> ByteStore:
        """Return a store that is empty."""
        raise NotImplementedError("return a new, empty store")

    def make_resolver(self, store: ByteStore) -> Resolver:
        """Return what re-opens the handles of a store, as another process would.

        Args:
            store: What `make_store` gave.
        """
        raise NotImplementedError("return the resolver for the handles of this store")

    def overwrite(self, store: ByteStore, reader: Reader, content: bytes) -> bool:
        """Put other bytes behind a handle, past the store, if that can be done.

        Args:
            store: What `make_store` gave.
            reader: What it returned for other bytes.
            content: What is to lie there now.

        Returns:
            Whether it was done; the test is skipped if not.
        """
        del store, reader, content
        return False

    def test_it_is_a_store(self) -> None:
        """It has the three methods, and begins empty."""
        store = self.make_store()
        made = cast("object", store)
        require(isinstance(made, ByteStore), "it has write, delete and descriptors")
        require(not list(store.descriptors()), "make_store() gives an empty store")

    def test_what_is_written_is_read(self) -> None:
        """Nothing, a byte, any bytes, a megabyte: in every way of reading."""
        store = self.make_store()
        for content in _CONTENTS:
            _readers.check_reading(store.write(content), content)

    def test_everything_that_has_bytes_can_be_written(self) -> None:
        """Bytes, files, streams that can be read once, and readers of any kind."""
        store = self.make_store()
        for content in (b"", _TEXT, _LARGE):
            for source in _sources(content):
                reader = store.write(source, media_type="application/octet-stream")
                found = b"".join(reader.iter_bytes())
                require(found == content, f"write() takes a {type(source).__name__}")
            again = b"".join(store.write(store.write(content)).iter_bytes())
            require(again == content, "write() takes a reader of its own")

    def test_a_file_is_read_from_where_it_stands(self) -> None:
        """What was read already is not part of it."""
        file = io.BytesIO(b"header:content")
        file.seek(7)
        found = self.make_store().write(file).open().read()
        require(found == b"content", "write() reads a file from where it stands")

    def test_readers_are_values(self) -> None:
        """They are equal, hash, copy and pickle by their descriptor."""
        store = self.make_store()
        for content in (b"", _TEXT):
            _readers.check_value(store.write(content), self.make_resolver(store))

    def test_handles_travel_in_both_families(self) -> None:
        """Media and spools come back, and what is read is what was written."""
        store = self.make_store()
        for content in (b"", _TEXT, _LARGE):
            resolver = self.make_resolver(store)
            _readers.check_travel(store.write(content), resolver, content)

    def test_event_loops_read_the_same(self) -> None:
        """In two loops, one after the other."""
        store = self.make_store()
        for content in (b"", _TEXT, _LARGE):
            _readers.check_awaiting(store.write(content), content)

    def test_streams_are_independent(self) -> None:
        """Each has its own position, in one thread and in many."""
        _readers.check_streams(self.make_store().write(_LARGE), _LARGE)

    def test_the_same_bytes_are_kept_once(self) -> None:
        """One upload in fifty messages is one object."""
        store = self.make_store()
        first = store.write(_TEXT)
        for source in _sources(_TEXT):
            require(store.write(source) == first, "the same bytes have one handle")
        require(len(list(store.descriptors())) == 1, "the same bytes are kept once")
        require(store.write(b"others") != first, "other bytes have another handle")

    def test_threads_write_at_once(self) -> None:
        """The same bytes and different ones; nothing is lost or mixed up."""
        store = self.make_store()

        def write(number: int) -> bool:
            own = b"%d" % number * 10_000
            both = store.write(_TEXT), store.write(own)
            return [b"".join(each.iter_bytes()) for each in both] == [_TEXT, own]

        outcomes = at_once(write)
        require(all(outcomes), "a store serves many threads")
        kept = len(list(store.descriptors()))
        require(
            kept == len(outcomes) + 1, "the same bytes of all threads are kept once"
        )

    def test_what_is_kept_is_listed(self) -> None:
        """Each once, with the descriptor that its reader has."""
        store = self.make_store()
        written = {store.write(content).describe() for content in _CONTENTS}
        listed = list(store.descriptors())
        require(set(listed) == written, "descriptors() lists what is kept")
        require(len(listed) == len(written), "descriptors() lists everything once")
        resolver = self.make_resolver(store)
        for described in listed:
            found = resolver.resolve(described)
            require(isinstance(found, Reader), "what is listed can be opened")

    def test_deleting_says_what_it_did(self) -> None:
        """Once it was there, then it was not; the rest stays."""
        store = self.make_store()
        reader, other, kept = (store.write(name) for name in (b"a", b"b", b"c"))
        described = _readers.descriptor_of(other)
        require(store.delete(reader) is True, "delete() takes a reader; it was there")
        require(store.delete(reader) is False, "delete() says that it was gone")
        require(store.delete(described) is True, "delete() takes a descriptor")
        require(store.delete(other) is False, "delete() says that it was gone")
        left = list(store.descriptors())
        require(left == [kept.describe()], "what was not deleted is still listed")
        require(kept.open().read() == b"c", "what was not deleted is still there")

    def test_what_is_of_others_is_not_deleted(self) -> None:
        """A handle of another store, or another kind, is no error and no deletion."""
        store = self.make_store()
        store.write(_TEXT)
        foreign = ReaderDescriptor("of-somebody-else", {"key": "a"})
        for item in (foreign, BytesReader(b"never written")):
            require(store.delete(item) is False, "delete() leaves others alone")
        require(len(list(store.descriptors())) == 1, "delete() leaves others alone")

    def test_what_was_deleted_is_gone(self) -> None:
        """Old handles say so; writing the same bytes again brings it back."""
        store = self.make_store()
        reader = store.write(_TEXT)
        resolver = self.make_resolver(store)
        resolved = _readers.resolved_by(resolver, _readers.descriptor_of(reader))
        store.delete(reader)
        if not self.inline:
            for each in (reader, resolved):
                _readers.check_failing(each, HandleNotFoundError)
        again = store.write(_TEXT)
        require(again == reader, "the same bytes have the same handle again")
        require(reader.open().read() == _TEXT, "an old handle opens them again")

    def test_what_was_changed_is_stale(self) -> None:
        """Bytes that were put there past the store are not handed out."""
        store = self.make_store()
        for content in (b"other bytes, longer than before" * 3, b"!" * len(_TEXT)):
            reader = store.write(_TEXT)
            resolver = self.make_resolver(store)
            resolved = _readers.resolved_by(resolver, _readers.descriptor_of(reader))
            if not self.overwrite(store, reader, content):
                raise skip("nothing can be put behind a handle of this store")
            _readers.check_failing(resolved, StaleHandleError)
            store.delete(reader)

    def test_what_has_no_bytes_is_refused(self) -> None:
        """Text has none until somebody chooses an encoding, nor has nothing."""
        store = self.make_store()
        texts = "text", "", io.StringIO("text"), io.StringIO()
        for wrong in (*texts, 5, 0, None, ["a"], []):
            source = cast("bytes", wrong)
            rule = f"write() refuses a {type(wrong).__name__} with an error of ours"
            refused(lambda source=source: store.write(source), GraphCodecError, rule)  # type: ignore[misc]
        require(not list(store.descriptors()), "what is refused leaves nothing")

    def test_what_breaks_off_leaves_nothing(self) -> None:
        """Half of an upload is never kept, nor taken for the whole."""
        store = self.make_store()
        for size in (0, 10, 1 << 20):
            broken = cast("BinaryIO", _readers.OneWay(bytes(size), fails=True))
            rule = "the error of a stream that breaks is not swallowed"
            refused(lambda broken=broken: store.write(broken), Exception, rule)  # type: ignore[misc]
            unready = cast("BinaryIO", _readers.OneWay(bytes(size), stalls=True))
            rule = "a stream that is not ready is not taken for one that is over"
            refused(lambda unready=unready: store.write(unready), Exception, rule)  # type: ignore[misc]
        require(not list(store.descriptors()), "half of an object is not kept")
        require(store.write(_TEXT).open().read() == _TEXT, "the store goes on")

    def test_it_shows_no_secrets(self) -> None:
        """Neither do its readers, their handles and their documents."""
        store = self.make_store()
        reader = store.write(_TEXT)
        codec = Codec(resolvers=[self.make_resolver(store)])
        locator = repr(_readers.descriptor_of(reader).locator)
        texts = repr(store), repr(reader), locator, codec.encode_text(reader)
        shows_none(self.secrets, *texts)


def _sources(content: bytes) -> Iterator[bytes | BinaryIO | Reader]:
    yield content
    yield io.BytesIO(content)
    yield cast("BinaryIO", _readers.OneWay(content))
    yield BytesReader(content)
    yield StreamReader(io.BytesIO(content))
    yield StreamReader(cast("BinaryIO", _readers.OneWay(content)))


# Pickles and tracebacks show the public path of a name.
ByteStoreContract.__module__ = "graphcodec.testing"
