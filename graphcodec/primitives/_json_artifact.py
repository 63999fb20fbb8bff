"""Spooled text that is JSON, and answers queries."""

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, Literal, cast

from attrs import field, frozen

from graphcodec._extras import from_extra
from graphcodec.errors import LimitExceededError
from graphcodec.primitives._artifact import SpooledArtifact
from graphcodec.primitives._checks import checked
from graphcodec.primitives._json_text import (
    JsonFormat,
    Sized,
    cost_of,
    count_records,
    parsed_document,
    parsed_line,
    record_lines,
    says_lines,
    sized_lines,
    whole,
)
from graphcodec.readers._patterns import check_timeout, refused
from graphcodec.readers._threads import in_thread

if TYPE_CHECKING:
    from graphcodec.primitives._json_paths import Query

__all__ = ["SpooledJsonArtifact"]


def _to_format(
    value: Literal["json", "json5", "jsonl", "ndjson"] | None,
) -> JsonFormat | None:
    return "jsonl" if value == "ndjson" else value


@checked
@frozen(eq=False, repr=False)
class SpooledJsonArtifact(SpooledArtifact):
    """Spooled text that is JSON, JSON5 or lines of JSON.

    It is seen as *records*: the lines of JSON Lines, or the entries of a document that
    is an array; any other document is one record. Lines are read one at a time, so that
    a text of gigabytes is filtered in constant memory; a document is read whole. What
    was read is not kept.

    Paths are JSONPath (RFC 9535), taken for a stranger's: they are evaluated by
    `python-jsonpath`, which runs no code, within bounds of length, depth and time.

    Attributes:
        reader: Where the bytes are.
        format: ``json``, ``json5`` or ``jsonl`` (``ndjson`` is another name for it);
            None to find out from the text, each time it is decoded. Only what was said
            here is written to a document.
        max_json_bytes: How many bytes of text are held at once as parsed values: of a
            document, of a record, of the records that a call returns. A subclass may
            set another number.
    """

    __graphcodec_tag__: ClassVar[str] = "SpooledJsonArtifact"

    max_json_bytes: ClassVar[int] = 1 << 25

    format: Literal["json", "json5", "jsonl"] | None = field(
        default=None, converter=_to_format
    )
    _inferred: JsonFormat | None = field(
        default=None,
        init=False,
        eq=False,
        repr=False,
        metadata={"graphcodec": "skip"},
    )

    def json_type(self) -> JsonFormat:
        """Return the format: the one that was declared, or what the text looks like.

        Text whose first line is JSON and is not all there is, is ``jsonl``.

        Raises:
            LimitExceededError: If the text is too large or nests too deep to say.
            UndecodableValueError: If it is none of them.
        """
        if self._holds_lines():
            return "jsonl"
        if self._known() is None:
            self._document()
        return cast("JsonFormat", self._known())

    def json_keys(self) -> list[str] | None:
        """Return the keys of the records that are objects, each once, in order.

        Returns:
            The keys; None if no record is an object.

        Raises:
            LimitExceededError: If they take more than `max_json_bytes`.
            UndecodableValueError: If the text is not in the format.
        """
        keys: dict[str, None] | None = None
        held = 0
        with closing(self._sized()) as sized:
            for record, _, _ in sized:
                if isinstance(record, dict):
                    known = keys = {} if keys is None else keys
                    own = cast("dict[str, object]", record)
                    new = [key for key in own if key not in known]
                    held += sum(map(len, new))
                    self._check_held(held)
                    keys.update(dict.fromkeys(new))
        return None if keys is None else list(keys)

    def json_length(self) -> int:
        """Return the number of records.

        Lines of JSON are counted without being parsed; blank ones don't count. An array
        has as many as it has entries, and any other document is one.

        Raises:
            LimitExceededError: If a document or line is too large, or nests too deep.
            UndecodableValueError: If a document is not in the format.
        """
        if self._holds_lines():
            return count_records(self._index(), self.max_json_bytes)
        return len(_entries(self._document().value))

    def json_get(
        self,
        path: str,
        *,
        timeout: float | None = 0.75,
        max_matches: int | None = None,
    ) -> list[object]:
        """Return what *path* finds, in the document or in each line of JSON.

        Args:
            path: A JSONPath, such as ``$.user.name``, ``$..id`` or ``$[0]``, in which
                ``$`` is the document, or each line in turn.
            timeout: How many seconds of computing matching may take for each 150,000
                values, begun ones counted; None for no limit.
            max_matches: How many matches to return at most; None for all.

        Raises:
            InvalidValueError: If an argument makes no sense.
            LimitExceededError: With the limit ``path_timeout``, if matching took longer
                than *timeout*; if something is too large or nests too deep.
            UndecodableValueError: If the text is not in the format.
        """
        query = _query(path, timeout, max_matches)
        with closing(self._found(query)) as found:
            return list(islice(found, max_matches))

    def json_pluck(
        self,
        path: str,
        *,
        timeout: float | None = 0.75,
        max_matches: int | None = None,
    ) -> list[object]:
        """Do what `json_get` does, under the name for taking one thing from many.

        Args:
            path: As there.
            timeout: As there.
            max_matches: As there.
        """
        return self.json_get(path, timeout=timeout, max_matches=max_matches)

    def json_filter(
        self,
        path: str,
        *,
        timeout: float | None = 0.75,
        max_matches: int | None = None,
    ) -> list[object]:
        """Return the records in which *path* finds something.

        A path that begins with a filter is asked of the records themselves:
        ``$[?@.age > 18]`` returns those whose age is above 18. In any other one ``$``
        is the record: ``$.error`` returns those that have an error.

        Args:
            path: A JSONPath.
            timeout: How many seconds of computing matching may take for each 150,000
                values, begun ones counted; None for no limit.
            max_matches: How many records to return at most; None for all.

        Raises:
            InvalidValueError: If an argument makes no sense.
            LimitExceededError: With the limit ``path_timeout``, if matching took longer
                than *timeout*; with ``max_json_bytes``, if the records are too large,
                one of them or together.
            UndecodableValueError: If the text is not in the format.
        """
        query = _query(path, timeout, max_matches)
        with closing(self._chosen(query)) as chosen:
            return self._held(islice(chosen, max_matches))

    def json_filtered(
        self, path: str, *, timeout: float | None = 0.75
    ) -> Iterator[object]:
        """Yield what `json_filter` returns, as it is found, in constant memory.

        Args:
            path: As there.
            timeout: As there.
        """
        return _values(self._chosen(_query(path, timeout)))

    def json_slice(self, start: int = 0, end: int | None = None) -> list[object]:
        """Return the records from number *start* up to, but without, *end*.

        Args:
            start: Number of the first record; a negative one is taken as 0.
            end: Number behind the last record; None for all, and none if negative.

        Raises:
            LimitExceededError: If they are too large, one of them or together.
            UndecodableValueError: If one of them is not JSON.
        """
        start = max(0, start)
        end = end if end is None else max(start, end)
        if not self._holds_lines():
            return _entries(self._document().value)[start:end]
        with closing(record_lines(self._index(), self.max_json_bytes)) as lines:
            return self._held(
                Sized(parsed_line(number, line), len(line), 0)
                for number, line in islice(lines, start, end)
            )

    def json_records(self) -> Iterator[object]:
        """Yield the records in order; lines as they are read, in constant memory."""
        return _values(self._sized())

    async def ajson_type(self) -> JsonFormat:
        """Do what `json_type` does without blocking the event loop."""
        return await in_thread(self.json_type)

    async def ajson_keys(self) -> list[str] | None:
        """Do what `json_keys` does without blocking the event loop."""
        return await in_thread(self.json_keys)

    async def ajson_length(self) -> int:
        """Do what `json_length` does without blocking the event loop."""
        return await in_thread(self.json_length)

    async def ajson_get(
        self,
        path: str,
        *,
        timeout: float | None = 0.75,  # noqa: ASYNC109 - of matching, not of waiting
        max_matches: int | None = None,
    ) -> list[object]:
        """Do what `json_get` does without blocking the event loop."""
        return await in_thread(
            self.json_get, path, timeout=timeout, max_matches=max_matches
        )

    async def ajson_pluck(
        self,
        path: str,
        *,
        timeout: float | None = 0.75,  # noqa: ASYNC109 - of matching, not of waiting
        max_matches: int | None = None,
    ) -> list[object]:
        """Do what `json_pluck` does without blocking the event loop."""
        return await in_thread(
            self.json_pluck, path, timeout=timeout, max_matches=max_matches
        )

    async def ajson_filter(
        self,
        path: str,
        *,
        timeout: float | None = 0.75,  # noqa: ASYNC109 - of matching, not of waiting
        max_matches: int | None = None,
    ) -> list[object]:
        """Do what `json_filter` does without blocking the event loop."""
        return await in_thread(
            self.json_filter, path, timeout=timeout, max_matches=max_matches
        )

    async def ajson_slice(self, start: int = 0, end: int | None = None) -> list[object]:
        """Do what `json_slice` does without blocking the event loop."""
        return await in_thread(self.json_slice, start, end)

    def _known(self) -> JsonFormat | None:
        return self.format or self._inferred

    def _infer(self, found: JsonFormat) -> None:
        # Two threads may both find out; they find the same.
        object.__setattr__(self, "_inferred", found)

    def _holds_lines(self) -> bool:
        known = self._known()
        if known is None and says_lines(self._index(), self.max_json_bytes):
            self._infer("jsonl")
            return True
        return known == "jsonl"

    def _document(self) -> Sized:
        """Return the value and the size of a text that is no lines."""
        data = whole(self._index(), self.max_json_bytes)
        found, root = parsed_document(data, self._known())
        self._infer(found)
        return Sized(root, len(data), cost_of(data))

    def _roots(self) -> Generator[Sized]:
        """Yield what ``$`` stands for in turn."""
        if self._holds_lines():
            yield from sized_lines(self._index(), self.max_json_bytes)
        else:
            yield self._document()

    def _sized(self) -> Generator[Sized]:
        """Yield the records; to those of an array, an even part of it is given."""
        if self._holds_lines():
            yield from sized_lines(self._index(), self.max_json_bytes)
            return
        root, size, cost = self._document()
        entries = _entries(root)
        for entry in entries:
            yield Sized(entry, size // len(entries), cost / len(entries))

    def _chosen(self, query: "Query") -> Generator[Sized]:
        with closing(self._sized()) as sized:
            for record in sized:
                if query.chooses(record.value, record.cost):
                    yield record

    def _found(self, query: "Query") -> Generator[object]:
        held = 0
        with closing(self._roots()) as roots:
            for root, size, cost in roots:
                if values := query.values(root, cost):
                    held += size
                    self._check_held(held)
                    yield from values

    def _held(self, sized: Iterable[Sized]) -> list[object]:
        """Return the values while their sizes stay within the limit."""
        held = 0
        values: list[object] = []
        for value, size, _ in sized:
            held += size
            self._check_held(held)
            values.append(value)
        return values

    def _check_held(self, held: int) -> None:
        if held > self.max_json_bytes:
            raise LimitExceededError(
                f"what was found takes more than {self.max_json_bytes:,} bytes of text",
                hint="give max_matches, ask for less, or iterate over json_filtered or"
                " json_records",
                limit="max_json_bytes",
                value=self.max_json_bytes,
            )


def _entries(root: object) -> list[object]:
    return cast("list[object]", root) if isinstance(root, list) else [root]


def _values(sized: Generator[Sized]) -> Generator[object]:
    with closing(sized):
        for record in sized:
            yield record.value


def _query(path: str, timeout: float | None, max_matches: int | None = None) -> "Query":
    check_timeout(timeout)
    if max_matches is not None and max_matches < 0:
        raise refused("max_matches can't be negative", max_matches)
    with from_extra("artifacts", "JSONPath needs python-jsonpath"):
        from graphcodec.primitives._json_paths import (  # noqa: PLC0415 - optional
            Query,
        )
    return Query(path, timeout)
