"""The codec of a process, made from what was said about it elsewhere."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from graphcodec._live import type_name
from graphcodec._process import PerProcess
from graphcodec.codec import Codec
from graphcodec.errors import InvalidValueError, NoReaderResolverError
from graphcodec.readers import UnboundReader

if TYPE_CHECKING:
    from graphcodec.readers import Reader, ReaderDescriptor

GivenCodec: TypeAlias = Codec | Callable[[], Codec] | str | None

_FAMILIES: Final = ("media", "spool")
_NAME: Final = re.compile(r"[\w.]+:[\w.]+")


class CodecSource:
    """What makes a codec in each process that needs one.

    Args:
        given: A codec; a function that makes one; where to import either from, as
            ``package.module:name``; or None for the default codec.

    Raises:
        InvalidValueError: If it is none of these.
    """

    def __init__(self, given: GivenCodec) -> None:
        if isinstance(given, str):
            usable = _NAME.fullmatch(given) is not None
        else:
            usable = given is None or isinstance(given, Codec) or callable(given)
        if not usable:
            raise InvalidValueError(
                f"codec must be a Codec or a function, not {given!r:.80}",
                hint="or where to import either from: 'package.module:name'",
            )
        self._given = given
        self._made = PerProcess(self._make)

    def get(self) -> Codec:
        """Return the codec of this process.

        Raises:
            InvalidValueError: If what was given makes no codec.
        """
        return self._made.get()

    def _make(self) -> Codec:
        given = self._given
        if given is None:
            # Nobody reads along, and bytes travel as they are: 60 times faster.
            return Codec(format="msgpack")
        made: object = _imported(given) if isinstance(given, str) else given
        if callable(made):
            made = made()
        if not isinstance(made, Codec):
            told = repr(given) if isinstance(given, str) else type_name(type(given))
            raise InvalidValueError(f"{told} gave a {type_name(type(made))}, no Codec")
        return made

    def __reduce__(self) -> tuple[type[CodecSource], tuple[GivenCodec]]:
        return CodecSource, (self._given,)


def _imported(where: str) -> object:
    module, _, name = where.partition(":")
    try:
        found: object = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as exc:
        raise InvalidValueError(
            f"there is no {where!r} to make a codec with",
            hint="it is 'package.module:name', and this process must be able to"
            " import it",
        ) from exc
    return found


def worker_codec(codec: GivenCodec) -> None:
    """Let this process open the handles that it receives by pickle.

    Call it where a worker starts, as in ``Pool(initializer=worker_codec,
    initargs=(codec,))``.
    If handles come back as results, call it in the parent as well. The codec is made,
    and asked for a reader, when a handle is opened for the first time.

    Args:
        codec: A codec; a function that makes one; or where to import either from, as
            ``package.module:name``.

    Raises:
        InvalidValueError: If it is none of these.
    """
    UnboundReader.bind_process(partial(_bound, CodecSource(codec)))


def _bound(source: CodecSource, descriptor: ReaderDescriptor) -> Reader | None:
    # A pickled reader does not say which family it belonged to.
    codec = source.get()
    for family in _FAMILIES:
        try:
            return codec.resolve(f"{family}:{descriptor.scheme}", descriptor)
        except NoReaderResolverError:
            continue
    return None
