"""The tools that a model is offered."""

from collections.abc import Iterable, Iterator
from typing import ClassVar, Literal, Self

from attrs import define, field, setters

from graphcodec.errors import InvalidValueError
from graphcodec.primitives._base import Primitive
from graphcodec.primitives._checks import checked, excerpt
from graphcodec.primitives._tools import Tool

__all__ = ["ToolRegistry"]


def _listed(tools: Iterable[Tool]) -> list[Tool]:
    given: object = tools
    # What is no collection of tools is left for the check to refuse.
    return list(tools) if isinstance(given, (list, tuple)) else tools  # type: ignore[return-value]


def _names(names: Iterable[str]) -> set[str]:
    given: object = names
    if isinstance(given, (list, tuple, set, frozenset)):
        return set(names)
    return names  # type: ignore[return-value]  # as above


@checked
@define(eq=False, repr=False, on_setattr=setters.NO_OP)
class ToolRegistry(Primitive):
    """Tools in order, each name once, some of them hidden from the model.

    A name is hidden whether or not a tool is registered under it: the tool that comes
    under that name later is hidden from the start. Registries are equal if they hold
    equal tools in the same order and hide the same names.

    Args:
        tools: The tools to start from.
        hidden: The names to hide.
    """

    __graphcodec_tag__: ClassVar[str] = "ToolRegistry"

    _tools: list[Tool] = field(
        factory=list[Tool],
        converter=_listed,
        alias="tools",
        metadata={"graphcodec_key": "tools"},
    )
    _hidden: set[str] = field(
        factory=set[str],
        converter=_names,
        kw_only=True,
        alias="hidden",
        metadata={"graphcodec_key": "hidden"},
    )

    def register(self, tool: Tool, *, overwrite: bool = False) -> None:
        """Add a tool at the end.

        Args:
            tool: The tool.
            overwrite: Put it in the place of the one that has its name, if one has.

        Raises:
            InvalidValueError: If it is no tool, or its name is taken.
        """
        _require_tool(tool)
        index = self._index(tool.name)
        if index is None:
            self._tools.append(tool)
        elif overwrite:
            self._tools[index] = tool
        else:
            raise _taken(tool.name)

    def unregister(self, name: str) -> bool:
        """Remove a tool, unhide its name, and say whether there was one.

        Args:
            name: Its name.
        """
        index = self._index(name)
        self._hidden.discard(name)
        if index is None:
            return False
        del self._tools[index]
        return True

    def get(self, name: str) -> Tool | None:
        """Return the tool of that name, hidden or not; None if there is none.

        Args:
            name: Its name.
        """
        index = self._index(name)
        return None if index is None else self._tools[index]

    def has(self, name: str) -> bool:
        """Say whether a tool of that name is registered, hidden or not.

        Args:
            name: Its name.
        """
        return self._index(name) is not None

    def all(self) -> list[Tool]:
        """Return all tools, in order."""
        return list(self._tools)

    def visible(self) -> list[Tool]:
        """Return the tools that are not hidden, in order."""
        return [tool for tool in self._tools if tool.name not in self._hidden]

    def hidden(self) -> list[Tool]:
        """Return the tools that are hidden, in order."""
        return [tool for tool in self._tools if tool.name in self._hidden]

    def describe(self) -> list[dict[str, object]]:
        """Return what a model is told of the tools that are not hidden."""
        return [tool.describe() for tool in self.visible()]

    def hide(self, *names: str) -> None:
        """Hide names, also those that no tool has yet.

        Args:
            *names: The names.

        Raises:
            InvalidValueError: If one is no text.
        """
        self._hidden.update(_checked_names(names))

    def unhide(self, *names: str) -> None:
        """Hide names no longer.

        Args:
            *names: The names; those that are not hidden are left alone.
        """
        self._hidden.difference_update(names)

    def set_hidden(self, names: Iterable[str]) -> None:
        """Hide these names and no others.

        Args:
            names: The names.

        Raises:
            InvalidValueError: If one is no text.
        """
        checked_names = _checked_names(names)
        self._hidden.clear()
        self._hidden.update(checked_names)

    def clear_hidden(self) -> None:
        """Hide nothing."""
        self._hidden.clear()

    def prune_ephemeral(self) -> list[Tool]:
        """Remove the tools that are for one turn only, and return them."""
        pruned = [tool for tool in self._tools if tool.ephemeral]
        for tool in pruned:
            self.unregister(tool.name)
        return pruned

    @classmethod
    def merge(
        cls,
        registries: Iterable[Self],
        *,
        on_collision: Literal["throw", "replace", "keep"] = "throw",
    ) -> Self:
        """Return a new registry with the tools of several.

        From left to right: where a name is taken, the tool that comes later says by its
        own ``on_collision`` what happens; if it says ``throw``, the option does. A tool
        is hidden if the registry that it was taken from hides it, or another one hides
        its name without having a tool under it.

        Args:
            registries: The registries; they stay as they are.
            on_collision: What to do where the later tool says ``throw``.

        Raises:
            InvalidValueError: If a name is taken, and neither says otherwise.
        """
        if on_collision not in ("throw", "replace", "keep"):
            raise InvalidValueError(
                f"on_collision must be 'throw', 'replace' or 'keep',"
                f" not {excerpt(on_collision)}",
                type_name="ToolRegistry",
            )
        merged = cls()
        early: set[str] = set()
        for registry in registries:
            early |= merged._adopt(registry, on_collision)
        merged._hidden.update(early)
        return merged

    def _adopt(self, other: Self, on_collision: str) -> set[str]:
        """Take in the tools of another registry; return what else it hides."""
        for tool in other:
            if self._makes_way(tool, on_collision):
                self.register(tool, overwrite=True)
                hide = self.hide if tool.name in other._hidden else self.unhide
                hide(tool.name)
        return {name for name in other._hidden if not other.has(name)}

    def _makes_way(self, tool: Tool, on_collision: str) -> bool:
        """Say whether a tool of another registry is taken in.

        Raises:
            InvalidValueError: If its name is taken, and nothing says what to do then.
        """
        if not self.has(tool.name):
            return True
        own = tool.on_collision
        policy = on_collision if own == "throw" else own
        if policy == "throw":
            raise _taken(tool.name)
        return policy == "replace"

    def __len__(self) -> int:
        return len(self._tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.all())

    def __contains__(self, name: object) -> bool:
        return any(tool.name == name for tool in self._tools)

    def __copy__(self) -> Self:
        return self.replace()

    def _index(self, name: str) -> int | None:
        names = (index for index, tool in enumerate(self._tools) if tool.name == name)
        return next(names, None)

    def _summary(self) -> str:
        count = len(self._tools)
        return f"<{count} tool{'' if count == 1 else 's'}>"

    def _check_together(self) -> None:
        for index, tool in enumerate(self._tools):
            _require_tool(tool, f"$.tools[{index}]")
        _checked_names(self._hidden)
        names = [tool.name for tool in self._tools]
        if len(set(names)) < len(names):
            raise _taken(next(name for name in names if names.count(name) > 1))


def _require_tool(tool: object, path: str = "") -> None:
    if not isinstance(tool, Tool):
        raise InvalidValueError(
            f"a ToolRegistry holds tools, not {excerpt(tool)}",
            path=path,
            type_name="ToolRegistry",
            value=excerpt(tool),
        )


def _checked_names(names: Iterable[str]) -> list[str]:
    given: object = names
    several = [given] if isinstance(given, str) else list(names)
    for name in several:
        if type(name) is not str or isinstance(given, str):
            raise InvalidValueError(
                f"what a ToolRegistry hides are names, not {excerpt(name)}",
                path="$.hidden",
                hint="give several: [name]" if isinstance(given, str) else "",
                type_name="ToolRegistry",
                value=excerpt(name),
            )
    return several


def _taken(name: str) -> InvalidValueError:
    return InvalidValueError(
        f"a tool named {excerpt(name)} is registered already",
        path="$.tools",
        hint="pass overwrite=True, or merge with on_collision='replace' or 'keep'",
        type_name="ToolRegistry",
        value=excerpt(name),
    )
