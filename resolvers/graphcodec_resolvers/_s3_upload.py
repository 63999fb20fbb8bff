"""Uploads to S3: in one go or in parts, so that nobody ever sees half of one."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from errno import EIO
from typing import IO, TYPE_CHECKING, Final

from attrs import frozen

from graphcodec_resolvers._pins import is_text
from graphcodec_resolvers._s3_errors import ConditionError

if TYPE_CHECKING:
    from graphcodec_resolvers._s3_session import Answer, Session

IN_ONE_GO: Final = 8 << 20
"""How many bytes are sent in one request, at most; also the size of a part."""

_MOST_PARTS: Final = 10_000


@frozen
class Target:
    """Where an upload goes.

    Attributes:
        bucket: The bucket.
        key: The whole key.
        size: How many bytes there will be.
        media_type: Their MIME type, if it is known.
    """

    bucket: str
    key: str
    size: int
    media_type: str | None = None

    def names(self) -> dict[str, str]:
        """Return the parameters that name it."""
        return {"Bucket": self.bucket, "Key": self.key}

    def described(self) -> dict[str, str]:
        """Return the parameters that name and describe it."""
        kind = self.media_type
        if kind is None or not is_text(kind):
            return self.names()
        return {**self.names(), "ContentType": kind}


async def upload(
    session: Session, target: Target, spool: IO[bytes], *, create_only: bool
) -> None:
    """Upload what *spool* holds.

    Args:
        session: The way to the server.
        target: Where it goes.
        spool: The bytes.
        create_only: Whether to fail if something is there.

    Raises:
        ConditionError: If something is there.
    """
    condition = {"IfNoneMatch": "*"} if create_only else {}
    if target.size <= IN_ONE_GO:
        spool.seek(0)
        body = spool.read()
        parameters = {**target.described(), **condition}
        await session.call("put_object", Body=body, **parameters)
        return
    made = await session.call("create_multipart_upload", **target.described())
    names = {**target.names(), "UploadId": made["UploadId"]}
    try:
        parts = await _parts(session, names, target.size, spool)
        await _complete(session, {**names, **condition}, parts)
    except BaseException:
        with suppress(OSError):
            await session.call("abort_multipart_upload", **names)
        raise


async def _complete(
    session: Session, parameters: dict[str, str], parts: list[dict[str, object]]
) -> None:
    try:
        await session.call(
            "complete_multipart_upload",
            MultipartUpload={"Parts": parts},
            **parameters,
        )
    except FileNotFoundError:
        # It was completed, and the answer lost; or it was taken for a leftover.
        raise ConditionError(EIO, "the upload is not there any more") from None


async def _parts(
    session: Session, names: dict[str, str], size: int, spool: IO[bytes]
) -> list[dict[str, object]]:
    width = max(IN_ONE_GO, -(-size // _MOST_PARTS))
    turn = asyncio.Lock()

    async def part(number: int) -> dict[str, object]:
        async with session.slots:
            async with turn:
                start = (number - 1) * width
                body = await asyncio.to_thread(_read_at, spool, start, width)
            parameters = {**names, "PartNumber": number}
            answer = await session.call("upload_part", Body=body, **parameters)
        return {"PartNumber": number, "ETag": answer["ETag"]}

    tasks = [
        asyncio.ensure_future(part(number + 1)) for number in range(-(-size // width))
    ]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _read_at(spool: IO[bytes], start: int, count: int) -> bytes:
    spool.seek(start)
    return spool.read(count)


async def touch(session: Session, target: Target, found: Answer) -> bool:
    """Make an object look new; say whether that worked.

    Args:
        session: The way to the server.
        target: The object.
        found: What HEAD said of it.
    """
    try:
        await session.call(
            "copy_object",
            **target.names(),
            CopySource=target.names(),
            MetadataDirective="REPLACE",
            ContentType=found.get("ContentType", "application/octet-stream"),
            Metadata=found.get("Metadata", {}),
        )
    except OSError:
        # Too large to be copied at once, say: it is uploaded again instead.
        return False
    return True
