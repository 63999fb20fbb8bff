"""Descriptions of tools, as agents that log sessions keep them."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from attrs import field, frozen

from graphcodec.log._rules import ANY_TEXT
from graphcodec.primitives._base import Primitive
from graphcodec.primitives._checks import checked, excerpt
from graphcodec.primitives._convert import to_tuple

__all__ = ["Args", "MultiCommands", "Tool", "ToolDefinition"]


@checked
@frozen(eq=False, repr=False)
class Args(Primitive):
    """What a tool takes or gives; in JSON it is its schema and nothing else.

    Attributes:
        schema: The JSON Schema.
    """

    __graphcodec_tag__: ClassVar[str] = "log:Args"

    schema: Mapping[str, object]


@checked
@frozen(kw_only=True, eq=False, repr=False)
class ToolDefinition(Primitive):
    """A tool that a model may use: as a `Tool`, one with a single command.

    Attributes:
        name: Its name.
        category: What it belongs to.
        description: What it does.
        arguments: What it takes.
        returns: What it gives.
    """

    __graphcodec_tag__: ClassVar[str] = "log:ToolDefinition"
    __log_variant__: ClassVar[str] = "SingleCommand"

    name: str = field(metadata=ANY_TEXT)
    category: str = field(metadata=ANY_TEXT)
    description: str = field(metadata=ANY_TEXT)
    arguments: Args
    returns: Args | None = None

    def _summary(self) -> str:
        return f"name={excerpt(self.name)}"


def _to_definitions(value: Sequence[ToolDefinition]) -> tuple[ToolDefinition, ...]:
    return to_tuple(value)


@checked
@frozen(eq=False, repr=False)
class MultiCommands(Primitive):
    """A tool with several commands.

    Attributes:
        name: Its name.
        definitions: The commands.
    """

    __graphcodec_tag__: ClassVar[str] = "log:MultiCommands"
    __log_variant__: ClassVar[str] = "MultiCommands"

    name: str = field(metadata=ANY_TEXT)
    definitions: tuple[ToolDefinition, ...] = field(converter=_to_definitions)

    def _summary(self) -> str:
        return f"name={excerpt(self.name)}"


Tool = ToolDefinition | MultiCommands
