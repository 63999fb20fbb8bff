"""What messages hold: text, images, thinking, tool calls, embeddings."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, Self, cast

from attrs import field, frozen

from graphcodec.errors import InvalidValueError
from graphcodec.log._rules import ANY_TEXT, JSON_DEFAULT, OMIT_NONE, U64
from graphcodec.log._words import Custom, ExecutionHint, to_hint, to_word
from graphcodec.primitives._base import Primitive
from graphcodec.primitives._checks import checked, excerpt
from graphcodec.primitives._convert import to_tuple

__all__ = [
    "ArgValue",
    "Embedding",
    "ImageContent",
    "ModelOutput",
    "TextContent",
    "ThinkingContent",
    "ToolCall",
    "UserModelContent",
]


@checked
@frozen(kw_only=True, eq=False, repr=False)
class TextContent(Primitive):
    """Text.

    Attributes:
        content: The text.
        signature: What the provider signed it with.
        handle: Where the whole text is, if *content* is its beginning; see `offload`.
    """

    __graphcodec_tag__: ClassVar[str] = "log:TextContent"
    __log_variant__: ClassVar[str] = "Text"

    content: str = field(metadata=ANY_TEXT)
    signature: str | None = field(default=None, metadata=ANY_TEXT)
    handle: Mapping[str, object] | None = field(default=None, metadata=OMIT_NONE)

    def _summary(self) -> str:
        return f"<{len(self.content)} chars>"


@checked
@frozen(kw_only=True, eq=False, repr=False)
class ImageContent(Primitive):
    """An image.

    Attributes:
        b64: Its bytes in base64.
        mime_type: What it is: a word such as ``ImagePng``, or `Custom`.
        handle: Where the bytes are, if *b64* is empty; see `offload`.
    """

    __graphcodec_tag__: ClassVar[str] = "log:ImageContent"
    __log_variant__: ClassVar[str] = "Image"

    b64: str = field(metadata=ANY_TEXT)
    mime_type: str | Custom = field(converter=to_word)
    handle: Mapping[str, object] | None = field(default=None, metadata=OMIT_NONE)

    def _summary(self) -> str:
        if self.handle is not None:
            return "<in a store>"
        return f"<{len(self.b64)} chars of base64>"


@checked
@frozen(kw_only=True, eq=False, repr=False)
class ThinkingContent(Primitive):
    """What a model thought.

    Attributes:
        thinking: The text.
        signature: What the provider signed it with.
    """

    __graphcodec_tag__: ClassVar[str] = "log:ThinkingContent"
    __log_variant__: ClassVar[str] = "ThinkingContent"

    thinking: str = field(metadata=ANY_TEXT)
    signature: str | None = field(default=None, metadata=ANY_TEXT)

    def _summary(self) -> str:
        return f"<{len(self.thinking)} chars>"


_BITS: Final[Mapping[str, int]] = {
    "Usize": 64,
    "U8": 8,
    "U16": 16,
    "U32": 32,
    "U64": 64,
    "U128": 128,
    "Isize": -64,
    "I8": -8,
    "I16": -16,
    "I32": -32,
    "I64": -64,
    "I128": -128,
}
_TEXTS: Final = ("Text", "JSON")
_FLOATS: Final = ("Float32", "Float64")
_FLOAT32_MAX: Final = 3.4028235677973366e38
_NANOS: Final = 1_000_000_000


@checked
@frozen(eq=False, repr=False)
class ArgValue(Primitive):
    """One argument of a tool call, with the type that its writer gave it.

    Attributes:
        kind: ``Text``, ``JSON`` (JSON as text), ``Float32``, ``Float64``, ``Usize``,
            ``U8`` to ``U128``, ``Isize``, ``I8`` to ``I128``, ``Duration`` (a pair of
            seconds and nanoseconds) or ``JSONMap`` (a dict of `ArgValue`).
        value: A str, finite float, int within the width, pair or dict, as *kind* says.
    """

    __graphcodec_tag__: ClassVar[str] = "log:ArgValue"

    kind: str
    value: object

    @classmethod
    def of(cls, value: object) -> Self:
        """Return the argument that holds a plain value.

        Text, whole numbers and finite floats have kinds of their own; all else that
        JSON has becomes JSON text.

        Args:
            value: A str, number, bool, None, list or dict.

        Raises:
            InvalidValueError: If JSON has no such value.
        """
        if type(value) is str:
            return cls("Text", value)
        if type(value) is float and math.isfinite(value):
            return cls("Float64", value)
        if type(value) is int:
            for kind in ("I64", "U64", "I128", "U128"):
                if _fits(_BITS[kind], value):
                    return cls(kind, value)
        try:
            text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError) as exc:
            msg = f"an argument must be a value that JSON has, not {excerpt(value)}"
            raise InvalidValueError(msg, type_name="ArgValue") from exc
        return cls("JSON", text)

    def plain(self) -> object:
        """Return the value as JSON holds it.

        A duration becomes seconds; JSON text is parsed, and stays text if it is none.
        """
        if self.kind == "JSON":
            try:
                return cast("object", json.loads(cast("str", self.value)))
            except (ValueError, RecursionError):
                return self.value
        if self.kind == "JSONMap":
            inner = cast("Mapping[str, ArgValue]", self.value)
            return {name: value.plain() for name, value in inner.items()}
        if self.kind == "Duration":
            seconds, nanos = cast("tuple[int, int]", self.value)
            return seconds + nanos / _NANOS
        return self.value

    def _summary(self) -> str:
        return self.kind

    def _check_together(self) -> None:
        wanted = _wanted(self.kind, self.value)
        if wanted is not None:
            shown = excerpt(self.value)
            raise InvalidValueError(
                f"ArgValue.value must be {wanted}, not {shown}",
                path="$.value",
                type_name="ArgValue",
                value=shown,
            )


def _fits(bits: int, value: int) -> bool:
    """Say whether an int fits into as many bits, below zero those with a sign."""
    if bits > 0:
        return 0 <= value < 1 << bits
    half = 1 << (-bits - 1)
    return -half <= value < half


def _wanted(kind: str, value: object) -> str | None:
    """Return what an argument of a kind holds, None if *value* is that."""
    if kind in _TEXTS:
        return None if type(value) is str else "a str"
    if kind in _FLOATS:
        most = _FLOAT32_MAX if kind == "Float32" else math.inf
        good = type(value) is float and math.isfinite(value) and abs(value) < most
        return None if good else "a finite float"
    if kind in _BITS:
        good = type(value) is int and _fits(_BITS[kind], value)
        return None if good else f"an int that fits {kind}"
    if kind == "Duration":
        return None if _is_duration(value) else "a tuple of seconds and nanoseconds"
    if kind == "JSONMap":
        return None if _is_map(value) else "a dict of ArgValue with str keys"
    return f"of a kind that is known, which {excerpt(kind)} is not: it can't be"


def _is_duration(value: object) -> bool:
    if type(value) is not tuple or len(cast("tuple[object, ...]", value)) != 2:  # noqa: PLR2004 - a pair
        return False
    seconds, nanos = cast("tuple[object, object]", value)
    return (
        type(seconds) is int
        and type(nanos) is int
        and _fits(64, seconds)
        and 0 <= nanos < _NANOS
    )


def _is_map(value: object) -> bool:
    if type(value) is not dict:
        return False
    items = cast("dict[object, object]", value).items()
    return all(type(k) is str and isinstance(v, ArgValue) for k, v in items)


def _to_arguments(
    value: Mapping[str, object] | None,
) -> Mapping[str, ArgValue] | None:
    """Turn the plain values of a dict into arguments."""
    if type(value) is not dict:
        return cast("Mapping[str, ArgValue] | None", value)
    given = cast("dict[str, object]", value)
    return {
        name: item if isinstance(item, ArgValue) else ArgValue.of(item)
        for name, item in given.items()
    }


def _to_names(value: Sequence[str]) -> tuple[str, ...]:
    return to_tuple(value)


def _to_floats(value: Sequence[float]) -> tuple[float, ...]:
    return to_tuple(value)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class ToolCall(Primitive):
    """A model's wish to use a tool.

    Attributes:
        id: The name that the result refers to.
        name: The tool.
        arguments: The arguments; plain values are turned into `ArgValue`.
        signature: What the provider signed it with.
        depends_on: The ids of calls that must be done before.
        execution_hint: How it may run beside others.
    """

    __graphcodec_tag__: ClassVar[str] = "log:ToolCall"
    __log_variant__: ClassVar[str] = "ToolCall"

    id: str = field(metadata=ANY_TEXT)
    name: str = field(metadata=ANY_TEXT)
    arguments: Mapping[str, ArgValue] | None = field(
        default=None, converter=_to_arguments
    )
    signature: str | None = field(default=None, metadata=ANY_TEXT)
    depends_on: tuple[str, ...] = field(
        default=(), converter=_to_names, metadata={**ANY_TEXT, **JSON_DEFAULT}
    )
    execution_hint: ExecutionHint = field(
        default=ExecutionHint.UNSPECIFIED, converter=to_hint, metadata=JSON_DEFAULT
    )

    def plain_arguments(self) -> dict[str, object]:
        """Return the arguments as JSON holds them."""
        return {name: value.plain() for name, value in (self.arguments or {}).items()}

    def _summary(self) -> str:
        return f"id={excerpt(self.id)}, name={excerpt(self.name)}"


@checked
@frozen(kw_only=True, eq=False, repr=False)
class Embedding(Primitive):
    """A vector.

    Attributes:
        dimensions: How many numbers it has.
        values: The numbers.
    """

    __graphcodec_tag__: ClassVar[str] = "log:Embedding"
    __log_variant__: ClassVar[str] = "Embedding"

    dimensions: int = field(metadata=U64)
    values: tuple[float, ...] = field(converter=_to_floats)

    def _summary(self) -> str:
        return f"<{self.dimensions} dimensions>"


UserModelContent = TextContent | ImageContent
ModelOutput = TextContent | ImageContent | ThinkingContent | ToolCall | Embedding
