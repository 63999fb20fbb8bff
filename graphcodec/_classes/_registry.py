"""Which classes a codec knows, and under which tags."""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, Final

from graphcodec._classes._marks import Mark, Upgrade, mark_of, require_dot
from graphcodec._classes._shapes import Shape, shape_of
from graphcodec._classes._slots import PLAIN_SCALARS, SEQUENCES
from graphcodec._live import type_name
from graphcodec._paths import excerpt
from graphcodec.errors import (
    DuplicateTagError,
    InvalidValueError,
    UndecodableValueError,
)

FAMILIES: Final[Mapping[str, str]] = {
    "log": "graphcodec.log._catalog",
    "run": "graphcodec.runs",
}
"""Our own modules with further classes, by what stands before the colon of their tags.

Each has its classes in ``TYPES`` and is imported when one of them is first met.
"""


class TypeRegistry:
    """Tags and classes of one codec.

    Marked classes can be written by any codec; only registered ones are read.

    Args:
        closed: Whether only what can be read may be written.

    Attributes:
        generation: Counts the changes: functions compiled before one are old.
        closed: Whether only what can be read may be written.
    """

    generation: int
    closed: bool

    def __init__(self, *, closed: bool = False) -> None:
        self.generation = 0
        self.closed = closed
        self._tags: dict[str, type] = {}
        self._marks: dict[type, Mark] = {}
        self._functions: dict[type, tuple[Callable[[Any], object], ...]] = {}
        self._shapes: dict[type, Shape | None] = {}
        self._bases: set[type] = set()
        self._replaced: set[type] = set()
        self._lock = threading.RLock()

    def add(
        self,
        cls: type,
        tag: str | None = None,
        *,
        version: int = 1,
        aliases: Iterable[str] = (),
        upgrades: Mapping[int, Upgrade] | None = None,
        replace: bool = False,
        functions: tuple[Callable[[Any], object], ...] = (),
        builtin: bool = False,
    ) -> None:
        """Register a class.

        Args:
            cls: The class.
            tag: Its tag; without one, the class says its own.
            version: The version that is written.
            aliases: Further tags that are read.
            upgrades: The steps from older versions.
            replace: Take the tag away from another class.
            functions: How one is turned into a value and back, for classes whose
                fields can't be read.
            builtin: Whether the tag is graphcodec's own.

        Raises:
            DuplicateTagError: If another class has the tag.
            InvalidValueError: If the class or the tag can't be used.
        """
        mark = _find_mark(cls, tag, version, tuple(aliases), dict(upgrades or {}))
        if not builtin:
            require_dot(mark)
        with self._lock:
            self._claim(cls, mark, replace=replace)
            self._marks[cls] = mark
            self._functions[cls] = functions
            self._bases.update(cls.__mro__[:-1])
            self._shapes.clear()
            self.generation += 1
        if not builtin:
            self._verify(cls)

    def _verify(self, cls: type) -> None:
        """Read the class now: a mistake in it belongs to this call."""
        try:
            self.shape(cls)
        except InvalidValueError as exc:
            # A neighbour that is registered next may be what is missing.
            if "unknown name" not in exc.message:
                raise

    def _claim(self, cls: type, mark: Mark, *, replace: bool) -> None:
        for name in (mark.tag, *mark.aliases):
            other = self._tags.get(name)
            if other is not None and other is not cls and not replace:
                msg = f"the tag {name!r} belongs to {type_name(other)}"
                hint = "choose another tag, or pass replace=True"
                raise DuplicateTagError(
                    msg, tag=name, type_name=type_name(cls), hint=hint
                )
        old = self._marks.get(cls)
        if old is not None and old.tag != mark.tag and not replace:
            msg = f"{type_name(cls)} is registered as {old.tag!r}"
            hint = "read it under a second tag with aliases=, or pass replace=True"
            raise DuplicateTagError(
                msg, tag=mark.tag, type_name=type_name(cls), hint=hint
            )
        for name in (mark.tag, *mark.aliases):
            loser = self._tags.get(name)
            if loser is not None and loser is not cls and self._tag_of(loser) == name:
                # What it would write now would be read as the other class.
                self._marks.pop(loser, None)
                self._replaced.add(loser)
            self._tags[name] = cls
        self._replaced.discard(cls)

    def _tag_of(self, cls: type) -> str | None:
        mark = self._marks.get(cls)
        return None if mark is None else mark.tag

    def shape(self, cls: type) -> Shape | None:
        """Return the shape of a registered or marked class, None for any other.

        Args:
            cls: A class; what its bases are does not count.
        """
        found: Shape | None = self._shapes.get(cls, _UNREAD)
        if found is _UNREAD:
            with self._lock:
                found = self._shapes[cls] = self._read(cls)
        return found

    def _read(self, cls: type) -> Shape | None:
        mark = self._marks.get(cls)
        if mark is None and cls not in self._replaced:
            mark = mark_of(cls)
        if mark is None:
            return None
        encode, decode = self._functions.get(cls, ()) or (None, None)
        names = {known.__name__: known for known in self._marks}
        return shape_of(
            cls, mark, self.is_object, names=names, encode=encode, decode=decode
        )

    def functions_of(
        self, cls: type
    ) -> tuple[Callable[[Any], object], Callable[[Any], object]] | None:
        """Return the functions that *cls* was registered with, None if it was not."""
        found = self._functions.get(cls)
        return (found[0], found[1]) if found else None

    def by_tag(self, tag: str) -> Shape | None:
        """Return the shape of the class registered under *tag* or an alias of it."""
        cls = self._class_of(tag)
        return None if cls is None else self.shape(cls)

    def known(self) -> list[Shape]:
        """Return the shapes of all classes that are read, ordered by tag."""
        for name in FAMILIES:
            self._add_family(name)
        shapes = {cls: self.shape(cls) for cls in list(self._tags.values())}
        found = [shape for shape in shapes.values() if shape is not None]
        return sorted(found, key=lambda shape: shape.mark.tag)

    def below(self, bases: tuple[type, ...]) -> list[Shape]:
        """Return the shapes of the registered classes that derive from some others.

        Families that were not met so far are left out: nothing is imported for this.

        Args:
            bases: The others.
        """
        classes = dict.fromkeys(self._tags.values())
        shapes = [self.shape(cls) for cls in classes if issubclass(cls, bases)]
        return [shape for shape in shapes if shape is not None]

    def _class_of(self, tag: str) -> type | None:
        cls = self._tags.get(tag)
        if cls is None and ":" in tag:
            self._add_family(tag.partition(":")[0])
            cls = self._tags.get(tag)
        return cls

    def _add_family(self, name: str) -> None:
        """Register a family of our own classes, unless that was done before.

        What was compiled stays right: no document could hold them until now, and as
        annotations they count as registered from the start.
        """
        module = FAMILIES.get(name)
        if module is None:
            return
        types: tuple[type, ...] = import_module(module).TYPES
        with self._lock:
            for cls in types:
                mark = mark_of(cls)
                if mark is not None and mark.tag not in self._tags:
                    self._tags[mark.tag] = cls

    def is_object(self, cls: type) -> bool:
        """Say whether instances of *cls* can be registered objects."""
        return cls in self._bases or mark_of(cls) is not None

    def may_write(self, cls: type) -> bool:
        """Say whether instances of a registered or marked class may be written.

        Args:
            cls: The class.
        """
        if not self.closed or cls in self._marks:
            return True
        mark = mark_of(cls)
        return mark is not None and self._class_of(mark.tag) is cls

    def may_write_tag(self, tag: str) -> bool:
        """Say whether an object of which only the tag is known may be written.

        Args:
            tag: The tag.
        """
        return not self.closed or self._class_of(tag) is not None

    def hashed_by_identity(self) -> frozenset[str]:
        """Return the tags of the classes that hash by an id, whatever they hold."""
        return frozenset(
            mark.tag
            for cls, mark in list(self._marks.items())
            if "__graphcodec_check__" in vars(cls)
        )

    def copy(self, *, closed: bool = False) -> TypeRegistry:
        """Return a registry with the same classes that can grow by itself.

        Args:
            closed: Whether only what can be read may be written.
        """
        new = TypeRegistry(closed=closed)
        new._tags = self._tags.copy()
        new._marks = self._marks.copy()
        new._functions = self._functions.copy()
        new._bases = self._bases.copy()
        new._replaced = self._replaced.copy()
        return new


_UNREAD: Final[Any] = object()


def _find_mark(
    cls: type,
    tag: str | None,
    version: int,
    aliases: tuple[str, ...],
    upgrades: dict[int, Upgrade],
) -> Mark:
    if not isinstance(cls, type):  # pyright: ignore[reportUnnecessaryIsInstance]
        msg = f"only a class can be registered, not {cls!r}"
        raise InvalidValueError(msg)
    if cls in (*PLAIN_SCALARS, *SEQUENCES, dict, object):
        msg = f"{type_name(cls)} has a form of its own on the wire"
        raise InvalidValueError(msg, hint="register a class of your own")
    if tag is not None:
        return Mark(tag=tag, version=version, aliases=aliases, upgrades=upgrades)
    mark = mark_of(cls)
    if mark is None:
        name = type_name(cls)
        example = f"'shop.{cls.__name__}'"
        msg = f"{name} has no tag"
        hint = f"mark it with @encodable({example}), or pass {{{example}: ...}}"
        raise InvalidValueError(msg, type_name=name, hint=hint)
    if version == 1 and not aliases and not upgrades:
        return mark
    return Mark(
        tag=mark.tag,
        version=max(version, mark.version),
        aliases=mark.aliases + aliases,
        upgrades={**mark.upgrades, **upgrades},
    )


def loaded_class(tag: str) -> type | None:
    """Return a loaded class that is marked with *tag*, for an error's hint.

    Args:
        tag: The tag that no class is registered for.
    """
    seen: set[type] = set()
    stack: list[type] = [object, enum.Enum]
    while stack:
        cls = stack.pop()
        if vars(cls).get("__graphcodec_tag__") == tag:
            return cls
        children: list[type] = type.__subclasses__(cls)
        for child in children:
            if child not in seen:
                seen.add(child)
                stack.append(child)
    return None


def unknown_tag(tag: object) -> UndecodableValueError:
    """Return the error for a tag that no class is registered under.

    Args:
        tag: What stands where a tag belongs.
    """
    msg = f"the tag {excerpt(tag)} is unknown to this codec"
    if type(tag) is not str:
        return UndecodableValueError(msg)
    cls = loaded_class(tag)
    hint = "register its class: Codec(types={tag: cls}), or unknown_types='keep'"
    if cls is not None:
        hint = (
            f"{type_name(cls)} is marked with it and loaded: decode with a codec"
            f" that knows it, Codec(types=[{cls.__name__}])"
        )
    return UndecodableValueError(msg, tag=tag[:80], hint=hint)
