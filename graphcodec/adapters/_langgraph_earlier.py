"""Checkpoints that LangGraph's own serializer wrote, read without importing anything.

Its data names a module and a class for each object, and how to call that. Here, the two
names are looked up in a table of what is known; a name that is not there is an error,
and so is every way to call but the ones listed. The formats before MessagePack are not
read: ``json`` names what to call in a way that can't be told apart from data, and
``pickle`` runs code.
"""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import pathlib
import re
import uuid
import zoneinfo
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NoReturn

import ormsgpack
from langgraph.store.base import Item
from langgraph.types import Command, Interrupt, Overwrite, Send, TimeoutPolicy

from graphcodec._limits import exceeded
from graphcodec.adapters._langgraph_types import ADDRESSES, ROWS
from graphcodec.adapters.langchain import TYPES as MESSAGES
from graphcodec.errors import GraphCodecError, UndecodableValueError

_Name = tuple[str, str]

_ONE, _ROW, _KEYWORDS, _METHOD = range(4)
_MODELS: Final = (4, 5)
_SNAPSHOT: Final = 7

_FROM_ISO: Final = ("datetime", "datetime", "fromisoformat")
_PATH_MODULES: Final = ("pathlib", "pathlib._local")
_MOST_PATTERN: Final = 1_000


def _pattern(text: Any, flags: int) -> re.Pattern[Any]:
    if len(text) > _MOST_PATTERN:
        msg = "a pattern is too long"
        raise ValueError(msg)
    return re.compile(text, flags)


def _send(node: str, arg: object, timeout: TimeoutPolicy | None = None) -> Send:
    return Send(node, arg) if timeout is None else Send(node, arg, timeout=timeout)


_CLASSES: Final[tuple[type, ...]] = (
    dt.date,
    dt.time,
    dt.timedelta,
    dt.timezone,
    uuid.UUID,
    decimal.Decimal,
    set,
    frozenset,
    collections.deque,
    zoneinfo.ZoneInfo,
    *ADDRESSES,
    Command,
    Interrupt,
    Item,
    Overwrite,
    TimeoutPolicy,
    *ROWS.values(),
    *MESSAGES.values(),
)
_FUNCTIONS: Final[Mapping[_Name, Callable[..., Any]]] = {
    ("re", "compile"): _pattern,
    ("langgraph.types", "Send"): _send,
    **{
        (module, name): pathlib.Path
        for module in _PATH_MODULES
        for name in ("Path", "PosixPath", "WindowsPath")
    },
}


def _name(cls: type) -> _Name:
    return cls.__module__, cls.__name__


class EarlierReader:
    """Reads what LangGraph's own serializer wrote.

    Args:
        classes: What it may hold beside messages and LangGraph's own classes.
    """

    def __init__(self, classes: Iterable[type]) -> None:
        known: dict[_Name, Callable[..., Any]] = {_name(cls): cls for cls in _CLASSES}
        self._known: dict[_Name, Callable[..., Any]]
        self._known = {**known, **_FUNCTIONS, **{_name(cls): cls for cls in classes}}

    def read(self, kind: str, data: bytes, limit: int) -> object:
        """Return the value that *data* holds.

        Args:
            kind: What LangGraph noted beside it.
            data: What it wrote.
            limit: The most bytes that are read.

        Raises:
            UndecodableValueError: If it can't be read, or holds what is not known.
            LimitExceededError: If it is too long.
        """
        if len(data) > limit:
            raise exceeded("max_bytes", limit, len(data))
        match kind:
            case "null":
                return None
            case "bytes":
                return data
            case "bytearray":
                return bytearray(data)
            case "msgpack":
                return self._unpacked(data)
            case _:
                msg = f"there is no reading a checkpoint of kind {kind!r:.40}"
                hint = "load and save it again with LangGraph's own serializer"
                raise UndecodableValueError(msg, hint=hint)

    def _unpacked(self, data: bytes) -> object:
        refusals: list[GraphCodecError] = []

        def made(code: int, content: bytes) -> object:
            try:
                return self._made(code, unpack(content))
            except GraphCodecError as exc:
                refusals.append(exc)
                raise

        def unpack(content: bytes) -> Any:
            return ormsgpack.unpackb(
                content, ext_hook=made, option=ormsgpack.OPT_NON_STR_KEYS
            )

        try:
            return unpack(data)
        except (ormsgpack.MsgpackDecodeError, RecursionError, GraphCodecError) as exc:
            # What is raised inside comes out as an error of the parser.
            if refusals:
                raise refusals[0] from None
            msg = f"this is no checkpoint of LangGraph: {exc!s:.80}"
            raise UndecodableValueError(msg) from exc

    def _made(self, code: int, data: Any) -> object:
        """Return the object that stands behind one extension type of MessagePack."""
        if code == _SNAPSHOT:
            return ROWS["langgraph.DeltaSnapshot"](data)
        try:
            module, name, given, *rest = data
            make = self._maker(code, module, name, rest)
            return _called(code, make, given)
        except GraphCodecError:
            raise
        except (
            TypeError,
            ValueError,
            KeyError,
            AttributeError,
            ArithmeticError,
        ) as exc:
            msg = f"an object of the checkpoint can't be made: {exc!s:.120}"
            raise UndecodableValueError(msg) from exc

    def _maker(
        self, code: int, module: object, name: object, rest: list[object]
    ) -> Callable[..., Any]:
        if code == _METHOD:
            if (module, name, *rest) != _FROM_ISO:
                _unknown(module, name)
            return dt.datetime.fromisoformat
        make = self._known.get((str(module), str(name)))
        if make is None:
            _unknown(module, name)
        return make


def _called(code: int, make: Callable[..., Any], given: Any) -> object:
    if code in (_ONE, _METHOD):
        return make(given)
    if code == _ROW:
        return make(*given)
    if code == _KEYWORDS or code in _MODELS:
        return make(**given)
    msg = f"there is no reading extension type {code} of LangGraph"
    raise UndecodableValueError(msg)


def _unknown(module: object, name: object) -> NoReturn:
    msg = f"the checkpoint holds {module!s:.80}.{name!s:.80}, which is not known here"
    hint = "if it is yours, name its class in Serializer(earlier=[...])"
    raise UndecodableValueError(msg, hint=hint, type_name=f"{module}.{name}")
