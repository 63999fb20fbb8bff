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
from graphcodec_resolvers._budget import BROKEN, Budget, translated
from graphcodec_resolvers._pins import difference
from graphcodec_resolvers._senders import finish

if TYPE_CHECKING:
    from graphcodec_resolvers._fetch import Fetcher
    from graphcodec_resolvers._pins import Pins
    from graphcodec_resolvers._places import Place
    from graphcodec_resolvers._senders import Answer

_RESUMES: Final = 2
_READ_ON: Final = 1 << 18
_SKIP: Final = 8 << 20
_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18}|\*)", re.ASCII)
_UNSATISFIED = re.compile(r"bytes \*/(\d{1,18})", re.ASCII)
_OK: Final = 200
_PARTIAL: Final = 206
_CHANGED: Final = 412
_BEYOND: Final = 416


class HttpBody:
    """What a URL serves, awaited by position.

    One request is open at a time. Reading on goes on with it; going elsewhere, or on
    after the connection was cut, asks for a range of the same version. Nothing is
    taken on trust: not the status, the range, the length or the ETag.

    Args:
        fetcher: Sends the requests.
        url: Where the bytes are.
        pins: What they must be.
        place: The URL as errors may show it.
        awaited: Whether the running event loop does other things meanwhile. If not,
            nothing here waits for one, and `finish` runs it.
    """

    def __init__(
        self, fetcher: Fetcher, url: str, pins: Pins, place: Place, *, awaited: bool
    ) -> None:
        self._fetcher = fetcher
        self._url = url
        self._pins = pins
        self._place = place
        self._awaited = awaited
        self._budget = Budget(fetcher.policy, place)
        self._etag: str | None = None
        self.size: int | None = pins.size
        self._resumes = _RESUMES
        self._owner = os.getpid()
        self._inherited: list[object] = []
        self._answer: Answer | None = None
        self._rest = memoryview(b"")
        self._at = 0
        self._until: int | None = None

    async def begin(self, first: int = 0, last: int | None = None) -> None:
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
        await self.close()
        whole = first == 0 and last is None
        fields = {} if whole else self._range(first, last)
        self._answer = answer = await self._fetcher.get(
            self._url, fields, self._budget, self._place, awaited=self._awaited
        )
        try:
            self._admit(answer, first, last, whole=whole)
        except BaseException:
            await self.close()
            raise

    def _range(self, first: int, last: int | None) -> dict[str, str]:
        fields = {"Range": f"bytes={first}-{'' if last is None else last}"}
        etag = self._pins.etag or self._etag or ""
        # A weak ETag may not be sent here: it does not promise the same bytes.
        return {**fields, "If-Range": etag} if etag.startswith('"') else fields

    def _admit(
        self, answer: Answer, first: int, last: int | None, *, whole: bool
    ) -> None:
        status = answer.status
        if status in {_OK, _PARTIAL} and _encoded(answer):
            raise self._failed("the server compressed what it was asked to send as is")
        if status == _OK:
            self._admit_whole(answer, first)
        elif status == _PARTIAL and not whole:
            self._admit_part(answer, first, last)
        elif status == _BEYOND and not whole:
            self._admit_nothing(answer, first)
        else:
            raise self._refused(status)

    def _admit_whole(self, answer: Answer, first: int) -> None:
        text = answer.headers.get("content-length", "")
        size = int(text) if text.isascii() and text.isdigit() else None
        self._learn(answer, size)
        if first > _SKIP and (size is None or first < size):
            hint = "read it from the beginning, or from a server that knows ranges"
            reason = "the server ignores Range, and the bytes asked for are far off"
            raise self._place.error(HandleError, reason, hint=hint)
        self._at, self._until = 0, size

    def _admit_part(self, answer: Answer, first: int, last: int | None) -> None:
        found = _RANGE.fullmatch(answer.headers.get("content-range", ""))
        if found is None:
            raise self._failed("the server sent a part without saying which")
        begins, ends = int(found[1]), int(found[2])
        total = None if found[3] == "*" else int(found[3])
        self._learn(answer, total)
        limits = [] if last is None else [last]
        limits += [] if total is None else [total - 1]
        if begins != first or ends < first or (limits and ends != min(limits)):
            raise self._failed("the server sent another range than it was asked for")
        self._at, self._until = first, ends + 1

    def _admit_nothing(self, answer: Answer, first: int) -> None:
        found = _UNSATISFIED.fullmatch(answer.headers.get("content-range", ""))
        if found is None or int(found[1]) > first:
            raise self._failed("the server refuses a range that should be there")
        self._learn(answer, int(found[1]), etag=False)
        self._at = first
        self._until = None

    def _learn(self, answer: Answer, size: int | None, *, etag: bool = True) -> None:
        """Compare what the server says now with the pins and with what it said."""
        tag = answer.headers.get("etag")
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

    async def read_at(self, position: int, count: int, /) -> bytes:
        """Return up to *count* bytes from *position*."""
        if self._is_end(position):
            return b""
        await self._reach(position)
        while True:
            if self._answer is None:
                await self.begin(position)
            if not self._rest and not await self._receive():
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
        return self._answer is None or self._at != position

    async def _reach(self, position: int) -> None:
        """Make sure that reading on leads to *position*."""
        if self._owner != os.getpid():
            self._leave()
        ahead = position - self._at
        if self._answer is not None and not 0 <= ahead <= _READ_ON:
            await self.close()

    async def _receive(self) -> bool:
        """Take the next chunk; say whether there is more, here or after a new try."""
        try:
            with translated(self._place), self._budget.waiting():
                chunk = await self._next()
        except _CutError:
            return await self._cut()
        self._budget.receive(len(chunk))
        end = self._at + len(chunk)
        if self._until is not None and end > self._until:
            raise self._failed("the server sent more than it said")
        if not chunk and self._until is not None and end < self._until:
            return await self._cut()
        self._rest = memoryview(chunk)
        return bool(chunk)

    async def _next(self) -> bytes:
        try:
            return b"" if self._answer is None else await self._answer.read()
        except BROKEN:
            raise _CutError from None

    async def _cut(self) -> bool:
        """Prepare to go on where the connection was cut, if that is safe."""
        strong = (self._etag or "").startswith('"')
        if not self._resumes or not strong:
            reason = "the connection was cut before all bytes were there"
            raise self._failed(reason)
        self._resumes -= 1
        await self.close()
        return True

    def _drop(self, count: int) -> None:
        self._rest = self._rest[count:]
        self._at += count

    def _leave(self) -> None:
        """Turn away from a connection that the parent process goes on using."""
        self._inherited.append(self._answer)
        self._owner = os.getpid()
        self._answer = None
        self._rest = memoryview(b"")

    async def close(self) -> None:
        """Let go of the connection, which is kept if the body was read to its end."""
        answer, self._answer = self._answer, None
        self._rest = memoryview(b"")
        if answer is None or self._owner != os.getpid():
            return
        if self._at == self._until and "content-length" in answer.headers:
            # All bytes are there; only the parser has yet to notice.
            with suppress(*BROKEN):
                await answer.read()
        await answer.close()

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


def _encoded(answer: Answer) -> bool:
    coding = answer.headers.get("content-encoding", "")
    return coding.strip().casefold() not in {"", "identity"}


class HttpSource:
    """What a URL serves, as a source for a stream.

    Args:
        body: The same, awaited or not.
    """

    def __init__(self, body: HttpBody) -> None:
        self._body = body

    def read_at(self, position: int, count: int, /) -> bytes:
        """Return up to *count* bytes from *position*."""
        return finish(self._body.read_at(position, count))

    async def aread_at(self, position: int, count: int, /) -> bytes:
        """Do what `read_at` does without blocking the event loop."""
        return await self._body.read_at(position, count)

    def close(self) -> None:
        """Let go of the connection, unless it has to be awaited."""
        finish(self._body.close())


class _CutError(Exception):
    """A connection ended in the middle of a body."""
