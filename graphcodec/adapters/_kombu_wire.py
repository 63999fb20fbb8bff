"""Documents as the bodies of messages and the values of results."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# kombu's annotations are partial.

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any, Final, cast

from kombu.serialization import registry

from graphcodec._frames import is_frame
from graphcodec._process import PerProcess
from graphcodec.codec import Codec
from graphcodec.errors import UndecodableValueError, UnencodableValueError
from graphcodec.queues._workers import CodecSource

__all__ = ["CONTENT_TYPE", "NAME", "Wire", "add_to_kombu"]

NAME: Final = "graphcodec"
"""What the serializer is called in Celery's settings."""

CONTENT_TYPE: Final = "application/x-graphcodec+json"
"""The content type of messages."""

_THEIRS: Final = ("celery.", "kombu.", "vine.")


class Wire:
    """Writes what kombu hands over as JSON text, and reads it back.

    Many transports and result backends take text alone, so a frame, which is bytes, is
    written as a JSON string in base64.

    Args:
        source: What makes the codec, in each process that needs it.
    """

    def __init__(self, source: CodecSource) -> None:
        # What is written is what a worker with the same codec can read.
        self._codec: PerProcess[Codec] = PerProcess(
            lambda: source.get().replace(format="json", write_unregistered=False)
        )

    def dumps(self, value: object) -> str:
        """Return the text of a message.

        Args:
            value: What Celery makes of a task, a result or a group.

        Raises:
            UnencodableValueError: If an argument or result can't be encoded.
        """
        codec = self._codec.get()
        try:
            data = codec.encode(value)
        except UnencodableValueError:
            # Signatures, in callbacks, chains and chords, are dicts of a kind.
            plain = _plain(value)
            if plain is value:
                raise
            data = codec.encode(plain)
        if is_frame(data):
            return json.dumps(b64encode(data).decode())
        return data.decode()

    def loads(self, data: str | bytes | memoryview) -> object:
        """Return what the text of a message says.

        Args:
            data: The text.

        Raises:
            GraphCodecError: Whatever `Codec.decode` raises; `SealError` if the codec
                has a seal and this is not sealed by it.
        """
        text = data.encode() if isinstance(data, str) else bytes(data)
        document = _framed(text) if text[:1] == b'"' else text
        return self._codec.get().decode(document)


def add_to_kombu(wire: Wire) -> None:
    """Register a serializer with kombu, which has one registry in each process."""
    there: Any = registry
    there.register(NAME, wire.dumps, wire.loads, CONTENT_TYPE, "utf-8")


def _framed(text: bytes) -> bytes:
    try:
        return b64decode(json.loads(text), validate=True)
    except ValueError:
        msg = "the message is no document, and no frame in base64"
        raise UndecodableValueError(msg) from None


def _plain(value: object) -> Any:
    """Return *value* with the containers of Celery in it as plain ones.

    Containers that hold none stay the same objects, so that sharing stays.
    """
    return _Plain().of(value)


class _Plain:
    """One walk; what is met again, or lies in a cycle, is made once."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[object, object]] = {}

    def of(self, value: object) -> object:
        """Return what stands for *value*."""
        theirs = type(value).__module__.startswith(_THEIRS)
        if not theirs and type(value) not in (dict, list, tuple):
            return value
        if id(value) in self._made:
            return self._made[id(value)][1]
        self._made[id(value)] = value, value
        made = self._container(value, theirs=theirs)
        self._made[id(value)] = value, made
        return made

    def _container(self, value: object, *, theirs: bool) -> object:
        if isinstance(value, Mapping):
            entries = cast("Mapping[object, object]", value)
            fresh: Any = {key: self.of(item) for key, item in entries.items()}
            same = all(fresh[key] is item for key, item in entries.items())
        elif isinstance(value, (list, tuple)):
            items = cast("list[object] | tuple[object, ...]", value)
            fresh = [self.of(item) for item in items]
            same = all(map(lambda a, b: a is b, fresh, items))
            fresh = tuple(fresh) if isinstance(value, tuple) else fresh
        else:
            return value
        return value if same and not theirs else fresh
