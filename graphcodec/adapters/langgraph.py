"""A serializer for the checkpoints of LangGraph.

LangGraph gives each value of a graph's state to the serializer of its checkpointer. The
one that comes with it writes the module and the name of every class, and imports them
to read. This one writes documents: tags lead to classes through its codec alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from graphcodec._extras import from_extra

with from_extra("langgraph", "checkpoints need langgraph"):
    from graphcodec.adapters._langgraph_earlier import EarlierReader
    from graphcodec.adapters._langgraph_types import register

from graphcodec.codec import Codec
from graphcodec.errors import UndecodableValueError

__all__ = ["Serializer"]

KIND = "graphcodec"
"""What a checkpointer notes beside each document."""


class Serializer:
    """Turns values of checkpoints into documents: the ``serde`` of any checkpointer.

    LangGraph's own classes and LangChain's messages are known. Yours come with the
    codec; only what can be read may be written.

    An exception at the root is written as its text, as LangGraph itself does: it marks
    a task that failed.

    Args:
        codec: Knows your classes, and has the options: limits, compression, a seal. It
            is copied.
        earlier: Classes that checkpoints from LangGraph's own serializer may hold
            beside messages and LangGraph's own. They are read, not written.

    Raises:
        DuplicateTagError: If the codec has given one of LangGraph's classes, or their
            tags, away.
    """

    def __init__(
        self, codec: Codec | None = None, *, earlier: Iterable[type] = ()
    ) -> None:
        self._codec = (codec or Codec()).replace(write_unregistered=False)
        register(self._codec)
        self._earlier = EarlierReader(earlier)

    def dumps_typed(self, obj: object) -> tuple[str, bytes]:
        """Return the kind of the data, and a document.

        Args:
            obj: The value.

        Raises:
            UnencodableValueError: If it holds what has no wire form, or what this
                serializer could not read; says what and where.
            LimitExceededError: If it breaks a limit of the codec.
        """
        value = repr(obj) if isinstance(obj, BaseException) else obj
        return KIND, self._codec.encode(value)

    def loads_typed(self, data: tuple[str, bytes]) -> object:
        """Return the value that *data* holds.

        Args:
            data: What `dumps_typed` gave, or what LangGraph's own serializer gave as
                ``msgpack``, ``bytes``, ``bytearray`` or ``null``.

        Raises:
            UndecodableValueError: If it is neither, or holds a class that is not known.
            LimitExceededError: If it breaks a limit of the codec.
            SealError: If the codec has a seal and this is not sealed by it.
        """
        kind, content = data
        if kind == KIND:
            return self._codec.decode(content)
        if self._codec.seal is not None:
            # What others wrote must not get past a seal by calling itself older.
            msg = f"a serializer with a seal reads no {kind!r:.40}"
            hint = "read earlier checkpoints with a serializer without one"
            raise UndecodableValueError(msg, hint=hint)
        limit = self._codec.limits.max_bytes
        return self._earlier.read(kind, content, limit)
