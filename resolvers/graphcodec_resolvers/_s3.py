"""A prefix in a bucket as a store.

Every answer says of which upload its bytes are, and that is compared with the first
answer; so bytes of two uploads are never mixed, whether the server knows ``If-Match``
or not. Everything written lies under its hash and is written only if nothing is there.
"""

from __future__ import annotations

import re
import tempfile
import time
from errno import EIO, ESTALE
from functools import partial
from typing import IO, TYPE_CHECKING, Final, TypeAlias, cast

from attrs import frozen

from graphcodec.errors import InvalidValueError
from graphcodec_resolvers._backends import (
    CONTENT,
    TOUCH_AFTER,
    WHOLE,
    Hashed,
    Kept,
    Span,
)
from graphcodec_resolvers._keys import content_key
from graphcodec_resolvers._pins import Pins, difference, is_sha256, is_text
from graphcodec_resolvers._s3_errors import (
    BeyondError,
    ConditionError,
    TransientError,
    UnsupportedError,
    translated,
)
from graphcodec_resolvers._s3_session import Session, Sessions, patiently
from graphcodec_resolvers._s3_upload import IN_ONE_GO, Target, touch, upload

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime
    from typing import Any

    from graphcodec_resolvers._s3_session import Answer

_RANGE: Final = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})", re.ASCII)
_PIECE: Final = 1 << 18
_SHORTEST: Final = 1 << 16
_LONGEST: Final = 4 << 20
_ASK_FIRST: Final = 1 << 18
_LONGEST_URL: Final = 7 * 24 * 3600

Found: TypeAlias = "tuple[S3Source, Pins]"


@frozen
class _Object:
    """One object, perhaps in one version.

    Attributes:
        bucket: Its bucket.
        key: Its whole key.
        version: The version to read; None for the newest.
    """

    bucket: str
    key: str
    version: str | None = None

    def names(self) -> dict[str, str]:
        """Return the parameters that name it."""
        version = {} if self.version is None else {"VersionId": self.version}
        return {"Bucket": self.bucket, "Key": self.key, **version}


class S3Objects:
    """Keeps objects below a prefix of a bucket.

    Args:
        sessions: The way to the server.
        bucket: The bucket.
        prefix: What stands before each key; empty, or with a slash at its end.
    """

    process: None = None

    def __init__(self, sessions: Sessions, bucket: str, prefix: str) -> None:
        self._sessions = sessions
        self._bucket = bucket
        self._prefix = prefix

    def open(self, key: str, pins: Pins, span: Span = WHOLE, /) -> Found:
        """Open an object; its first bytes come with the facts."""
        return self._sessions.run(partial(self._open, key, pins, span))

    async def aopen(self, key: str, pins: Pins, span: Span = WHOLE, /) -> Found:
        """Do what `open` does, awaited."""
        return await self._sessions.arun(partial(self._open, key, pins, span))

    async def _open(self, key: str, pins: Pins, span: Span, session: Session) -> Found:
        item = _Object(self._bucket, self._prefix + key, pins.version)
        start, end = span[0], min(span[1], span[0] + _LONGEST)
        facts, data = Pins(), b""
        if start < end and pins.size != 0:
            try:
                facts, data = await _fetch(session, item, start, end, facts)
            except BeyondError:
                start = end = 0
        if facts.size is None:
            facts = _facts(await session.call("head_object", **item.names()))
        return S3Source(self._sessions, item, facts, start, data), facts

    def keep(self, chunks: Iterable[bytes], media_type: str | None = None, /) -> Kept:
        """Spool the content on this machine, then upload it under its hash."""
        with tempfile.SpooledTemporaryFile(IN_ONE_GO) as spool:
            hashed = Hashed(chunks)
            # Not writelines(), which keeps all of it in memory.
            for chunk in hashed:
                spool.write(chunk)
            kept = hashed.kept()
            key = self._prefix + content_key(kept.sha256)
            target = Target(self._bucket, key, kept.size, media_type)
            self._sessions.run(partial(self._upload, target, cast("IO[bytes]", spool)))
        return kept

    async def _upload(self, target: Target, spool: IO[bytes], session: Session) -> None:
        create_only = session.conditional
        if target.size > _ASK_FIRST:
            # Asking first costs less than sending much in vain.
            found = await _found(session, target)
            if found and await _is_kept(session, target, found):
                return
            create_only = create_only and found is None
        try:
            await upload(session, target, spool, create_only=create_only)
        except FileNotFoundError:
            raise OSError(EIO, "there is no such bucket") from None
        except UnsupportedError:
            if not create_only:
                raise
            session.conditional = False
            await upload(session, target, spool, create_only=False)
        except ConditionError:
            found = await _found(session, target)
            if not found or not await _is_kept(session, target, found):
                await upload(session, target, spool, create_only=False)

    def delete(self, key: str, /) -> bool:
        """Remove an object, which in a versioned bucket hides it."""
        return self._sessions.run(partial(self._delete, key, None))

    def discard(self, kept: Kept, before: float, /) -> bool:
        """Remove content unless it was written again since."""
        key = content_key(kept.sha256)
        return self._sessions.run(partial(self._delete, key, before))

    async def _delete(self, key: str, before: float | None, session: Session) -> bool:
        names = _Object(self._bucket, self._prefix + key).names()
        try:
            found = await session.call("head_object", **names)
        except FileNotFoundError:
            return False
        if before is not None and _modified(found["LastModified"]) >= before:
            return False
        await session.call("delete_object", **names)
        return True

    def contents(self) -> Iterator[Kept]:
        """Yield what has a hash for its name."""
        for item in self._pages("list_objects_v2", "Contents"):
            name = str(item["Key"]).rpartition("/")[2]
            if is_sha256(name):
                yield Kept(name, int(item["Size"]), _modified(item["LastModified"]))

    def leftovers(self, before: float, /, *, dry_run: bool) -> int:
        """Abort uploads that were begun before some time and never finished."""
        uploads = [
            {name: item[name] for name in ("Key", "UploadId")}
            for item in self._pages("list_multipart_uploads", "Uploads")
            if _modified(item["Initiated"]) < before
        ]
        for names in uploads if not dry_run else ():
            self._sessions.run(partial(_abort, {"Bucket": self._bucket, **names}))
        return len(uploads)

    def _pages(self, method: str, name: str) -> Iterator[Answer]:
        where = {"Bucket": self._bucket, "Prefix": f"{self._prefix}{CONTENT}/"}
        more: dict[str, object] | None = {}
        while more is not None:
            page = self._sessions.run(partial(_call, method, {**where, **more}))
            yield from page.get(name) or ()
            more = _next_page(page)

    def url(self, key: str, pins: Pins, expires: float, /) -> str:
        """Return a signed URL for reading the object."""
        seconds = round(expires)
        if seconds > _LONGEST_URL:
            msg = f"expires: must be at most {_LONGEST_URL} seconds, not {expires}"
            raise InvalidValueError(msg, value=expires)
        item = _Object(self._bucket, self._prefix + key, pins.version)
        return self._sessions.run(partial(_signed, item, seconds))


class S3Source:
    """One upload of an object, read in ranges that grow while reading goes on.

    Args:
        sessions: The way to the server.
        item: The object.
        facts: What the first answer said of it.
        start: Offset of the bytes that came with the first answer.
        data: Those bytes.
    """

    def __init__(
        self, sessions: Sessions, item: _Object, facts: Pins, start: int, data: bytes
    ) -> None:
        self._sessions = sessions
        self._item = item
        self._facts = facts
        self._start = start
        self._data = data

    def read_at(self, position: int, count: int, /) -> bytes:
        """Return up to *count* bytes from *position*."""
        start, end = self._missing(position, count)
        if start < end:
            work = partial(self._fetch, start, end)
            self._start, self._data = start, self._sessions.run(work)
        return self._cut(position, count)

    async def aread_at(self, position: int, count: int, /) -> bytes:
        """Do what `read_at` does, awaited."""
        start, end = self._missing(position, count)
        if start < end:
            work = partial(self._fetch, start, end)
            self._start, self._data = start, await self._sessions.arun(work)
        return self._cut(position, count)

    def _missing(self, position: int, count: int) -> tuple[int, int]:
        """Return the range to ask for before *position* can be read; empty if none."""
        size = self._facts.size or 0
        ahead = position - self._start
        if position >= size or not count or 0 <= ahead < len(self._data):
            return 0, 0
        # Read on from where the last range ended, it pays to ask for more at a time.
        width = 4 * len(self._data) if ahead == len(self._data) else 0
        width = min(max(width, count, _SHORTEST), _LONGEST)
        return position, min(position + width, size)

    async def _fetch(self, start: int, end: int, session: Session) -> bytes:
        _, data = await _fetch(session, self._item, start, end, self._facts)
        return data

    def _cut(self, position: int, count: int) -> bytes:
        offset = position - self._start
        inside = 0 <= offset < len(self._data)
        return self._data[offset : offset + count] if inside else b""

    def close(self) -> None:
        """Let go of what was read ahead."""
        self._data = b""


async def _fetch(
    session: Session, item: _Object, start: int, end: int, facts: Pins
) -> tuple[Pins, bytes]:
    """Return a range of one upload, resumed where it was cut off.

    Raises:
        BeyondError: If it begins behind the end.
        OSError: With ESTALE if the upload is not that of *facts*.
    """
    data = bytearray()

    async def attempt() -> Pins:
        nonlocal facts
        first = start + len(data)
        guard = {} if facts.etag is None else {"IfMatch": facts.etag}
        limits = {"Range": f"bytes={first}-{end - 1}", **guard}
        answer = await session.once("get_object", **item.names(), **limits)
        async with answer["Body"] as body:
            facts = _same(facts, _facts(answer))
            until = min(end, _admitted(answer, first, facts))
            while (missing := until - start - len(data)) > 0:
                data.extend(await _piece(body, min(missing, _PIECE)))
        return facts

    try:
        facts = await patiently(attempt)
    except ConditionError as exc:
        raise OSError(ESTALE, exc.strerror) from None
    return facts, bytes(data[: end - start])


async def _piece(body: Any, count: int) -> bytes:  # aiobotocore has no types
    try:
        piece: bytes = await body.read(count)
    except Exception as exc:  # noqa: BLE001 - what is not known passes on as it is
        raise translated(exc) from None
    if not piece:
        raise TransientError(EIO, "the answer was cut off")
    return piece


def _admitted(answer: Answer, first: int, facts: Pins) -> int:
    """Return where the bytes of an answer end, if they are those asked for."""
    found = _RANGE.fullmatch(str(answer.get("ContentRange", "")))
    if found is not None and int(found[1]) == first:
        return int(found[2]) + 1
    if found is None and first == 0 and facts.size is not None:
        return facts.size
    raise OSError(EIO, "the server sent another range than it was asked for")


def _same(known: Pins, found: Pins) -> Pins:
    """Return what is known of an upload; an error if *found* is of another one."""
    for name in ("etag", "size"):
        before, now = getattr(known, name), getattr(found, name)
        if before is not None and before != now:
            raise OSError(ESTALE, difference(name, before, now))
    return found


def _facts(answer: Answer) -> Pins:
    found = _RANGE.fullmatch(str(answer.get("ContentRange", "")))
    size = int(found[3]) if found else answer.get("ContentLength")
    etag, version = answer.get("ETag"), answer.get("VersionId")
    return Pins(
        size=size,
        etag=etag if is_text(etag) else None,
        # What was there before the bucket kept versions is called "null".
        version=version if is_text(version) and version != "null" else None,
    )


async def _found(session: Session, target: Target) -> Answer | None:
    try:
        return await session.call("head_object", **target.names())
    except FileNotFoundError:
        return None


async def _is_kept(session: Session, target: Target, found: Answer) -> bool:
    """Say whether the content is there, and make it look new if it is."""
    if found["ContentLength"] != target.size:
        return False
    if _modified(found["LastModified"]) > time.time() - TOUCH_AFTER:
        return True
    # Else it might be collected before whoever wrote it has told where.
    return await touch(session, target, found)


def _modified(when: datetime) -> float:
    return when.timestamp()


def _next_page(page: Answer) -> dict[str, object] | None:
    if not page.get("IsTruncated"):
        return None
    if "NextContinuationToken" in page:
        return {"ContinuationToken": page["NextContinuationToken"]}
    return {
        "KeyMarker": page["NextKeyMarker"],
        "UploadIdMarker": page["NextUploadIdMarker"],
    }


async def _call(method: str, parameters: dict[str, object], session: Session) -> Answer:
    return await session.call(method, **parameters)


async def _abort(names: dict[str, object], session: Session) -> None:
    try:
        await session.call("abort_multipart_upload", **names)
    except FileNotFoundError:
        return


async def _signed(item: _Object, seconds: int, session: Session) -> str:
    client = await session.client()
    names = item.names()
    return await client.generate_presigned_url(
        "get_object", Params=names, ExpiresIn=seconds
    )
