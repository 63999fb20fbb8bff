"""The body behind a URL, read by position, with everything the server says checked."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from graphcodec.errors import (
    HandleError,
    HandleNotFoundError,
    ResolverDeniedError,
)
from graphcodec_resolvers._fetch import BROKEN, Budget, Fetcher, translated
from graphcodec_resolvers._pins import difference

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

    from graphcodec_resolvers._pins import Pins
    from graphcodec_resolvers._places import Place

_RESUMES: Final = 2
_READ_ON: Final = 1 << 18
_SKIP: Final = 8 << 20
_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18}|\*)", re.ASCII)
_UNSATISFIED = re.compile(r"bytes \*/(\d{1,18})", re.ASCII)
_OK: Final = 200
_PARTIAL: Final = 206
_CHANGED: Final = 412
_BEYOND: Final = 416


class HttpSource:
    """What a URL serves, as a source of bytes.

    One request is open at a time. Reading on goes on with it; going elsewhere, or on
    after the connection was cut, asks for a range of the same version. Nothing is
    taken on trust: not the status, the range, the length or the ETag.

    Args:
        fetcher: Sends the requests.
        url: Where the bytes are.
        pins: What they must be.
        place: The URL as errors may show it.
    """

    def __init__(self, fetcher: Fetcher, url: str, pins: Pins, place: Place) -> None:
        self._fetcher = fetcher
        self._url = url
        self._pins = pins
        self._place = place
        self._budget = Budget(fetcher.policy, place)
        self._etag: str | None = None
        self.size: int | None = pins.size
        self._resumes = _RESUMES
        self._owner = os.getpid()
        self._inherited: list[object] = []
        self._response: httpx.Response | None = None
        self._chunks: Iterator[bytes] = iter(())
        self._rest = memoryview(b"")
        self._at = 0
        self._until: int | None = None

    def begin(self, first: int = 0, last: int | None = None) -> None:
        """Ask for the bytes from *first* on, and check what the server answers.

        Args:
            first: Offset of the first byte.
            last: Offset of the last byte; None for all that follow.

        Raises:
            StaleHandleError: If the bytes are not those that were pinned.
            HandleNotFoundError: If there are none.
            ResolverDeniedError: If the policy or the server refuses.
            HandleError: If the answer makes no sense.
        """
        self.close()
        whole = first == 0 and last is None
        fields = {} if whole else self._range(first, last)
        response = self._fetcher.get(self._url, fields, self._budget, self._place)
        self._response = response
        try:
            self._admit(response, first, last, whole=whole)
        except BaseException:
            self.close()
            raise
        self._chunks = _chunks_of(response)

    def _range(self, first: int, last: int | None) -> dict[str, str]:
        fields = {"Range": f"bytes={first}-{'' if last is None else last}"}
        etag = self._pins.etag or self._etag or ""
        # A weak ETag may not be sent here: it does not promise the same bytes.
        return {**fields, "If-Range": etag} if etag.startswith('"') else fields

    def _admit(
        self, response: httpx.Response, first: int, last: int | None, *, whole: bool
    ) -> None:
        status = response.status_code
        if status in {_OK, _PARTIAL} and _encoded(response):
            raise self._failed("the server compressed what it was asked to send as is")
        if status == _OK:
            self._admit_whole(response, first)
        elif status == _PARTIAL and not whole:
            self._admit_part(response, first, last)
        elif status == _BEYOND and not whole:
            self._admit_nothing(response, first)
        else:
            raise self._refused(status)

    def _admit_whole(self, response: httpx.Response, first: int) -> None:
        text = response.headers.get("content-length", "")
        size = int(text) if text.isascii() and text.isdigit() else None
        self._learn(response, size)
        if first > _SKIP:
            hint = "read it from the beginning, or from a server that knows ranges"
            reason = "the server ignores Range, and the bytes asked for are far off"
            raise self._place.error(HandleError, reason, hint=hint)
        self._at, self._until = 0, size

    def _admit_part(
        self, response: httpx.Response, first: int, last: int | None
    ) -> None:
        found = _RANGE.fullmatch(response.headers.get("content-range", ""))
        if found is None:
            raise self._failed("the server sent a part without saying which")
        begins, ends = int(found[1]), int(found[2])
        total = None if found[3] == "*" else int(found[3])
        self._learn(response, total)
        limits = [] if last is None else [last]
        limits += [] if total is None else [total - 1]
        if begins != first or ends < first or (limits and ends != min(limits)):
            raise self._failed("the server sent another range than it was asked for")
        self._at, self._until = first, ends + 1

    def _admit_nothing(self, response: httpx.Response, first: int) -> None:
        found = _UNSATISFIED.fullmatch(response.headers.get("content-range", ""))
        if found is None or int(found[1]) > first:
            raise self._failed("the server refuses a range that should be there")
        self._learn(response, int(found[1]), etag=False)
        self._at = first
        self._until = None

    def _learn(
        self, response: httpx.Response, size: int | None, *, etag: bool = True
    ) -> None:
        """Compare what the server says now with the pins and with what it said."""
        tag = response.headers.get("etag")
        if etag:
            self._compare("etag", self._pins.etag, tag)
            if self._etag is not None:
                self._compare("etag", self._etag, tag)
            self._etag = tag
        if size is not None:
            self._compare("size", self.size, size)
            self.size = size

    def _compare(self, name: str, known: object, now: object) -> None:
        if known is None or now in {known, f'"{known}"'}:
            return
        raise self._place.stale(difference(name, known, now))

    def read_at(self, position: int, count: int, /) -> bytes:
        """Return up to *count* bytes from *position*."""
        if self._is_end(position):
            return b""
        self._reach(position)
        while True:
            if self._response is None:
                self.begin(position)
            if not self._rest and not self._receive():
                return b""
            self._drop(min(max(0, position - self._at), len(self._rest)))
            if self._rest:
                data = bytes(self._rest[:count])
                self._drop(len(data))
                return data

    def _is_end(self, position: int) -> bool:
        """Say whether nothing can be there, so that nobody need be asked."""
        if self.size is None or position < self.size:
            return False
        # Where a body is being read, its end is seen, not believed.
        return self._response is None or self._at != position

    def _reach(self, position: int) -> None:
        """Make sure that reading on leads to *position*."""
        if self._owner != os.getpid():
            self._leave()
        ahead = position - self._at
        if self._response is not None and not 0 <= ahead <= _READ_ON:
            self.close()

    def _receive(self) -> bool:
        """Take the next chunk; say whether there is more, here or after a new try."""
        try:
            with translated(self._place), self._budget.waiting():
                chunk = self._next()
        except _CutError:
            return self._cut()
        self._budget.receive(len(chunk))
        end = self._at + len(chunk)
        if self._until is not None and end > self._until:
            raise self._failed("the server sent more than it said")
        if not chunk and self._until is not None and end < self._until:
            return self._cut()
        self._rest = memoryview(chunk)
        return bool(chunk)

    def _next(self) -> bytes:
        try:
            return next(self._chunks, b"")
        except BROKEN:
            raise _CutError from None

    def _cut(self) -> bool:
        """Prepare to go on where the connection was cut, if that is safe."""
        strong = (self._etag or "").startswith('"')
        if not self._resumes or not strong:
            reason = "the connection was cut before all bytes were there"
            raise self._failed(reason)
        self._resumes -= 1
        self.close()
        return True

    def _drop(self, count: int) -> None:
        self._rest = self._rest[count:]
        self._at += count

    def _leave(self) -> None:
        """Turn away from a connection that the parent process goes on using."""
        self._inherited += [self._response, self._chunks]
        self._owner = os.getpid()
        self._response = None
        self._rest = memoryview(b"")

    def close(self) -> None:
        """Let go of the connection, which is kept if the body was read to its end."""
        if self._response is not None and self._owner == os.getpid():
            if self._at == self._until and "content-length" in self._response.headers:
                # All bytes are there; only the parser has yet to notice.
                with suppress(*BROKEN):
                    next(self._chunks, None)
            self._response.close()
        self._response = None
        self._chunks = iter(())
        self._rest = memoryview(b"")

    def _failed(self, reason: str) -> HandleError:
        return self._place.error(HandleError, reason)

    def _refused(self, status: int) -> HandleError:
        if status in {404, 410}:
            reason = f"the server has nothing there (status {status})"
            return self._place.error(HandleNotFoundError, reason)
        if status in {401, 403}:
            reason = f"the server does not let us read it (status {status})"
            hint = "HttpResolver(headers={origin: {...}}) sends credentials"
            return self._place.error(ResolverDeniedError, reason, hint=hint)
        if status == _CHANGED:
            return self._place.stale("the server says that it changed (status 412)")
        return self._failed(f"the server answered with status {status}")


def _chunks_of(response: httpx.Response) -> Iterator[bytes]:
    if response.status_code == _BEYOND:
        return iter(())
    if response.is_stream_consumed:
        # Transports that make answers up have read them already.
        return iter([response.content])
    return response.iter_raw()


def _encoded(response: httpx.Response) -> bool:
    coding = response.headers.get("content-encoding", "")
    return coding.strip().casefold() not in {"", "identity"}


class _CutError(Exception):
    """A connection ended in the middle of a body."""
