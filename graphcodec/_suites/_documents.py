"""What every store of documents must do, as a suite of tests."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from graphcodec._suites._checks import at_once, require, skip
from graphcodec.log import Document, DocumentStore

_KEY = "session-1"


class DocumentStoreContract:
    """What every `DocumentStore` must do: inherit from it, fill in `make_store`.

    It needs no fixtures, so it runs under unittest as well, beside
    ``unittest.TestCase``.
    """

    def make_store(self) -> DocumentStore:
        """Return a store that is empty."""
        raise NotImplementedError("return a new, empty store")

    def reopen(self, store: DocumentStore) -> DocumentStore | None:
        """Return a second store over the same documents, as another process would.

        Args:
            store: What `make_store` gave.

        Returns:
            The other store, None if documents are in the memory of this process.
        """
        del store
        return None

    def test_documents_come_back_in_order(self) -> None:
        """Documents come back whole, in the order in which they were appended."""
        store = self.make_store()
        documents = [_full(name) for name in ("b", "a", "c")]
        numbers = store.append(_KEY, documents[:2])
        numbers = [*numbers, *store.append(_KEY, documents[2:])]
        found = list(store.scan(_KEY))

        require([d.id for d in found] == ["b", "a", "c"], "scan keeps the order")
        require([d.seq for d in found] == numbers, "append returns the numbers")
        require(all(_grows(a.seq, b.seq) for a, b in pairwise(found)), "numbers grow")
        same = [_facts(a) == _facts(b) for a, b in zip(found, documents, strict=True)]
        require(all(same), "every field comes back")

    def test_same_id_changes_nothing(self) -> None:
        """A document whose id is there is skipped, also within one call."""
        store = self.make_store()
        store.append(_KEY, [_plain("a", "first")])
        numbers = store.append(
            _KEY, [_plain("b"), _plain("a", "second"), _plain("c"), _plain("c")]
        )
        found = list(store.scan(_KEY))

        require([d.id for d in found] == ["a", "b", "c"], "an id is there once")
        require(found[0].content == "first", "the first document stays")
        require(
            [number is None for number in numbers] == [False, True, False, True],
            "append returns None for what it skipped",
        )

    def test_scan_after(self) -> None:
        """A scan begins behind a number."""
        store = self.make_store()
        numbers = _numbers(store.append(_KEY, [_plain(name) for name in "abcd"]))

        require(_ids(store, after=numbers[1]) == "cd", "after is exclusive")
        require(_ids(store, after=numbers[3]) == "", "nothing is behind the last")
        require(_ids(store, after=numbers[0], limit=2) == "bc", "after takes a limit")

    def test_limits_mean_one_thing(self) -> None:
        """None is all and 0 is none, in both directions."""
        store = self.make_store()
        store.append(_KEY, [_plain(name) for name in "abc"])

        require(_ids(store, limit=None) == "abc", "None is all")
        require(_ids(store, limit=0) == "", "0 is none")
        require(_ids(store, limit=2) == "ab", "the oldest come first")
        require(_ids(store, limit=None, newest_first=True) == "cba", "None is all")
        require(_ids(store, limit=0, newest_first=True) == "", "0 is none")
        require(
            _ids(store, limit=2, newest_first=True) == "cb", "the newest come first"
        )

    def test_long_scans(self) -> None:
        """More documents than a page holds come each once, in both directions."""
        store = self.make_store()
        names = [f"{number:04}" for number in range(2500)]
        store.append(_KEY, [_plain(name) for name in names])
        oldest = [d.id for d in store.scan(_KEY)]
        newest = [d.id for d in store.scan(_KEY, newest_first=True)]

        require(oldest == names, "a long scan has each once, in order")
        require(newest == names[::-1], "a long scan backwards too")
        require(len(list(store.scan(_KEY, limit=2001))) == 2001, "and up to a limit")  # noqa: PLR2004 - just above two pages

    def test_record_types(self) -> None:
        """A scan can be narrowed to one kind."""
        store = self.make_store()
        kinds = {"a": "summary", "b": "observation", "c": "summary"}
        store.append(
            _KEY, [_plain(name, record_type=kind) for name, kind in kinds.items()]
        )

        require(_ids(store, record_type="summary") == "ac", "a scan takes a kind")
        require(
            _ids(store, record_type="summary", newest_first=True, limit=1) == "c",
            "a kind goes with the other options",
        )
        require(_ids(store, record_type="vote") == "", "of an unknown kind is none")

    def test_collections_are_apart(self) -> None:
        """Collections know nothing of each other, whatever their keys."""
        store = self.make_store()
        keys = ["a", "A", "a:b", "a/b", "a%b", "a_b", "é", "'; DROP TABLE x; --"]
        for key in keys:
            store.append(key, [_plain("same", key)])

        require(sorted(store.keys()) == sorted(keys), "keys gives each collection")
        for key in keys:
            (found,) = store.scan(key)
            require(found.content == key, "a collection has its own documents")

    def test_find_and_count(self) -> None:
        """A document is found by its id."""
        store = self.make_store()
        store.append(_KEY, [_plain("a"), _plain("b", "text")])
        found = store.find(_KEY, "b")

        require(found is not None and found.content == "text", "find finds by id")
        require(found is not None and found.seq > 0, "what was found has its number")
        require(store.find(_KEY, "c") is None, "what is not there is None")
        require(store.find("other", "b") is None, "find keeps to its collection")
        require((store.count(_KEY), store.count("other")) == (2, 0), "count counts")

    def test_delete(self) -> None:
        """What was deleted is gone, and its number is not given again."""
        store = self.make_store()
        numbers = _numbers(store.append(_KEY, [_plain("a"), _plain("b")]))
        store.append("other", [_plain("a")])

        require(store.delete(_KEY, "b") is True, "delete says what was there")
        require(store.delete(_KEY, "b") is False, "and what was not")
        (number,) = _numbers(store.append(_KEY, [_plain("c")]))
        require(number > numbers[1], "a number is given once")
        require(store.delete_all(_KEY) == 2, "delete_all says how many")  # noqa: PLR2004 - a and c
        require(_ids(store) == "", "nothing is left")
        require(store.delete_all(_KEY) == 0, "of nothing is nothing deleted")
        (number,) = _numbers(store.append(_KEY, [_plain("d")]))
        require(number > numbers[1] + 1, "not even after delete_all")
        require(store.count("other") == 1, "delete_all keeps to its collection")

    def test_any_text(self) -> None:
        """Content of any length and any characters comes back."""
        store = self.make_store()
        texts = ["", "\u2028 \U0001f600 'quote\" \\", "x" * 1_000_000]
        documents = [_plain(str(n), text) for n, text in enumerate(texts)]
        store.append(_KEY, documents)

        require([d.content for d in store.scan(_KEY)] == texts, "text is not changed")

    def test_nothing_to_append(self) -> None:
        """To append nothing does nothing."""
        store = self.make_store()

        require(list(store.append(_KEY, [])) == [], "nothing has no numbers")
        require(list(store.keys()) == [], "and makes no collection")

    def test_threads(self) -> None:
        """Threads that append at once lose nothing, and keep their own order."""
        store = self.make_store()

        def write(thread: int) -> None:
            for number in range(20):
                store.append(_KEY, [_plain(f"{thread}-{number:02}")])

        at_once(write)
        names = [d.id for d in store.scan(_KEY)]
        mine = [name for name in names if name.startswith("3-")]

        require(len(set(names)) == len(names) == 160, "each is there once")  # noqa: PLR2004 - eight threads by twenty
        require(mine == sorted(mine), "each thread's are in its order")

    def test_another_store_sees_them(self) -> None:
        """A second store over the same documents sees and continues them."""
        store = self.make_store()
        other = self.reopen(store)
        if other is None:
            raise skip("the documents are in the memory of this process")
        store.append(_KEY, [_plain("a")])
        other.append(_KEY, [_plain("b"), _plain("a", "again")])
        store.append(_KEY, [_plain("c")])

        require(_ids(store) == _ids(other) == "abc", "both see one order")


def _plain(name: str, content: str = "{}", **fields: str) -> Document:
    return Document(id=name, content=content, record_type=fields.get("record_type"))


def _full(name: str) -> Document:
    return Document(
        id=name,
        content=f'{{"id":"{name}"}}',
        record_type="observation",
        title="a title",
        summary="a summary",
        created_at=1_700_000_000_123,
    )


def _facts(document: Document) -> tuple[object, ...]:
    return (
        document.id,
        document.content,
        document.record_type,
        document.title,
        document.summary,
        document.created_at,
    )


def _grows(number: int, following: int) -> bool:
    return 0 < number < following


def _numbers(given: Sequence[int | None]) -> list[int]:
    return [number for number in given if number is not None]


def _ids(
    store: DocumentStore,
    *,
    after: int = 0,
    limit: int | None = None,
    newest_first: bool = False,
    record_type: str | None = None,
) -> str:
    found = store.scan(
        _KEY,
        after=after,
        limit=limit,
        newest_first=newest_first,
        record_type=record_type,
    )
    return "".join(document.id for document in found)
