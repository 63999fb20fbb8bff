"""Where cattrs sits: one hook per class, and the user's own hooks honoured.

During a codec call the generated functions stand for our hooks; the converter is asked
only for classes whose hook is the user's. That hook may call the converter on what its
object holds: a registered object is handed back as it is, and the walker goes on to it,
so that sharing is kept. Outside a codec call the same hooks give and take the tagged
tree, without references.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NoReturn

import cattrs

from graphcodec._classes._slots import SCALARS
from graphcodec.errors import UndecodableValueError

if TYPE_CHECKING:
    from graphcodec._classes._shapes import Shape

_OURS: Final = "__graphcodec_hook__"


class CodecConverter(cattrs.Converter):
    """The converter of a codec: it says when a hook is registered."""

    _changed: Callable[[], None] | None = None
    _passes: Callable[[object], bool] | None = None

    # What users registered, so that a copy of the codec can have it, too.
    registrations: tuple[tuple[str, tuple[Any, ...], dict[str, Any]], ...] = ()

    def watch(
        self, changed: Callable[[], None], passes: Callable[[object], bool]
    ) -> None:
        """Tell the codec from now on.

        Args:
            changed: Called when a hook is registered.
            passes: Says whether a value is to be handed through as it is: an object
                that the walker of a codec call goes on to, or comes from.
        """
        self._changed = changed
        self._passes = passes

    def announce(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Tell the codec that a hook was registered, and by which call."""
        if self._changed is not None:
            self.registrations += ((name, args, kwargs),)
            self._changed()

    def unstructure(self, obj: Any, unstructure_as: Any = None) -> Any:
        """Do what cattrs does, but leave objects to the walker of a codec call."""
        if self._passes is not None and self._passes(obj):
            return obj
        return super().unstructure(obj, unstructure_as)

    def structure(self, obj: Any, cl: Any) -> Any:
        """Do what cattrs does, but pass on what a codec call has already made."""
        if self._passes is not None and self._passes(obj):
            return obj
        return super().structure(obj, cl)


def _decorator(
    converter: CodecConverter,
    name: str,
    args: tuple[Any, ...],
    register: Callable[[Any], Any],
) -> Callable[[Any], Any]:
    def decorate(hook: Any) -> Any:
        out = register(hook)
        converter.announce(name, (*args, hook), {})
        return out

    return decorate


def _announcing(name: str) -> Callable[..., Any]:
    def register(self: CodecConverter, *args: Any, **kwargs: Any) -> Any:
        out = getattr(super(CodecConverter, self), name)(*args, **kwargs)
        if "factory" in name and len(args) == 1 and not kwargs:
            # Used as a decorator: the hook comes with the next call.
            return _decorator(self, name, args, out)
        self.announce(name, args, kwargs)
        return out

    register.__name__ = name
    register.__doc__ = getattr(cattrs.Converter, name).__doc__ or "See cattrs."
    return register


for _name in (
    "register_unstructure_hook",
    "register_unstructure_hook_func",
    "register_unstructure_hook_factory",
    "register_structure_hook",
    "register_structure_hook_func",
    "register_structure_hook_factory",
):
    setattr(CodecConverter, _name, _announcing(_name))


def _refuse_half(cls: type) -> NoReturn:
    msg = f"{cls.__name__} was written by a hook that this codec can't read back"
    hint = "register the hook that reads it with codec.converter, too"
    raise UndecodableValueError(msg, type_name=cls.__name__, hint=hint)


class Hooks:
    """The hooks of one converter, as the code generators ask for them.

    Args:
        converter: Where users register theirs.
    """

    def __init__(self, converter: cattrs.BaseConverter) -> None:
        self.converter = converter
        self.custom = False
        self._local = threading.local()

    def unstructure(self, shape: Shape) -> Callable[[Any], object] | None:
        """Return the function that stands for the fields of a class, if one does."""
        if self.custom:
            hook = self.converter.get_unstructure_hook(shape.cls)
            if not hasattr(hook, _OURS):
                return hook
        return shape.encode

    def structure(self, shape: Shape) -> Callable[[Any], object] | None:
        """Return the function that takes back what `unstructure`'s gave."""
        if self.custom:
            write = self.converter.get_unstructure_hook(shape.cls)
            hook = self.converter.get_structure_hook(shape.cls)
            # A hook for one direction alone would read what nobody writes.
            if not hasattr(write, _OURS) and not hasattr(hook, _OURS):
                return lambda value: hook(value, shape.cls)
        return shape.decode

    def scalar(
        self, cls: type
    ) -> tuple[Callable[[Any], object], Callable[[Any], object]] | None:
        """Return a user's hooks for a scalar type, if there are any."""
        if not self.custom:
            return None
        write = self.converter.get_unstructure_hook(cls)
        if hasattr(write, _OURS):
            return None
        read = self.converter.get_structure_hook(cls)
        if hasattr(read, _OURS):
            return write, lambda _: _refuse_half(cls)
        return write, lambda value: read(value, cls)

    @property
    def in_call(self) -> bool:
        """Whether this thread is inside a user's function, inside a codec call."""
        return getattr(self._local, "depth", 0) > 0

    @contextmanager
    def calling(self) -> Generator[None]:
        """Mark that a user's function runs inside a codec call."""
        self._local.depth = getattr(self._local, "depth", 0) + 1
        try:
            yield
        finally:
            self._local.depth -= 1


def install(
    converter: cattrs.BaseConverter,
    *,
    is_ours: Callable[[Any], bool],
    write: Callable[[Any], object],
    read: Callable[[Any, Any], object],
) -> None:
    """Register our hooks with a converter.

    Args:
        converter: The converter.
        is_ours: Says whether the hooks are for a class or annotation.
        write: Gives the tagged tree of an object.
        read: Takes it back, given the annotation.
    """

    def unstructure(obj: Any) -> object:
        return write(obj)

    def structure(value: Any, annotation: Any) -> object:
        return read(value, annotation)

    for hook in (unstructure, structure):
        setattr(hook, _OURS, True)
    converter.register_unstructure_hook_func(is_ours, unstructure)
    converter.register_structure_hook_func(is_ours, structure)
    for cls in SCALARS:
        converter.register_unstructure_hook(cls, unstructure)
        converter.register_structure_hook(cls, structure)
