"""Documents opened but not decoded, and readers for their handles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from graphcodec import _formats, _frames
from graphcodec._formats import Data
from graphcodec._resolving import Resolvers
from graphcodec.codec import Codec
from graphcodec.errors import GraphCodecError, NoReaderResolverError
from graphcodec.readers import Reader, ReaderDescriptor, Resolver

Resolve: TypeAlias = Callable[[str, ReaderDescriptor], Reader]


def opened(
    document: Data, codec: Codec, context: bytes = b""
) -> tuple[dict[str, Any], bool]:
    """Return the outermost map of a document, and whether it is MessagePack.

    Args:
        document: JSON or MessagePack, in a frame or not.
        codec: Whose limits and keys are used.
        context: What a sealed document is bound to.

    Raises:
        UndecodableValueError: If it is no document.
        SealError: If it is not sealed as the codec wants it.
        LimitExceededError: If it is too large when it is unpacked.
    """
    data = _formats.as_bytes(document)
    plain = _formats.as_bytes(_frames.opened(data, codec.limits, codec.seal, context))
    return _formats.read(plain), _formats.is_binary(plain)


def layers(document: Data) -> tuple[str, ...]:
    """Return the names of the layers of a frame; none if it is no frame.

    Args:
        document: What arrived.
    """
    data = _formats.as_bytes(document)
    if not _frames.is_frame(data):
        return ()
    return _frames.names(_frames.parse(data).layers)


def resolvers_of(codec: Codec, first: Iterable[Resolver] = ()) -> list[Resolve]:
    """Return who may know a handle.

    Args:
        codec: The codec of the caller.
        first: Who is asked before it, such as the stores of a call.
    """
    asked = list(first)
    if not asked:
        return [codec.resolve]
    return [Resolvers(asked, builtin=False).resolve, codec.resolve]


def store_resolvers(roots: Mapping[str, str]) -> list[Resolver]:
    """Return what resolves the handles of stores; nothing if there are none.

    Args:
        roots: Where each store is, a folder or a URL, by its alias.
    """
    if not roots:
        return []
    from graphcodec_resolvers import FsspecResolver  # noqa: PLC0415

    return [FsspecResolver(roots)]


def bound(
    tag: str, locator: Mapping[str, Any], resolvers: Sequence[Resolve]
) -> Reader | GraphCodecError:
    """Return a reader for a handle, or why there is none; nothing is opened.

    Args:
        tag: The family and the scheme.
        locator: What a resolver needs.
        resolvers: Who is asked, in this order.
    """
    scheme = tag.partition(":")[2]
    try:
        descriptor = ReaderDescriptor(scheme, locator)
    except GraphCodecError as exc:
        return exc
    missing = NoReaderResolverError()
    for resolve in resolvers:
        try:
            return resolve(tag, descriptor)
        except NoReaderResolverError as exc:
            missing = exc
        except GraphCodecError as exc:
            return exc
    return missing
