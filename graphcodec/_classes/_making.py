"""An instance made again from the values of its fields, with all that validates it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from graphcodec._classes._marks import IN_DICT
from graphcodec._classes._shapes import struct_checks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphcodec._classes._layouts import Layout


def make(
    cls: Any,
    layout: Layout,
    values: Mapping[str, object],
    *,
    kept: Mapping[str, object] | None = None,
    shell: object = None,
) -> object:
    """Return an instance of a class.

    Args:
        cls: The class.
        layout: Its layout.
        values: The values of its fields, by attribute; for a class with functions of
            its own, the one value that they take.
        kept: Fields that the class does not know.
        shell: An empty instance to use.
    """
    if layout.kind == "custom":
        made: object = cls.__graphcodec_decode__(*values.values())
        return made
    table = {
        part.argument: values[part.name]
        for part in layout.parts
        if part.argument is not None and part.name in values
    }
    match layout.kind:
        case "pydantic":
            made = make_model(cls, table, shell)
        case "struct":
            made = make_struct(cls, table)
        case _:
            made = _constructed(cls, table, shell)
    for part in layout.parts:
        if part.argument is None and part.name in values:
            object.__setattr__(made, part.name, values[part.name])
    if kept is not None and layout.extra is not None:
        _keep(made, layout.extra, kept)
    return made


def _constructed(cls: Any, table: dict[str, object], shell: Any) -> object:
    if shell is None:
        made: object = cls(**table)
        return made
    cls.__init__(shell, **table)
    return shell


def make_model(cls: Any, table: dict[str, Any], shell: Any = None) -> object:
    """Return a pydantic model, made by its own validation.

    Args:
        cls: The model.
        table: The values of its fields.
        shell: An empty instance to use.
    """
    made: object = cls.__new__(cls) if shell is None else shell
    validator = cls.__pydantic_validator__
    if cls.__pydantic_root_model__:
        validator.validate_python(table["root"], self_instance=made)
    else:
        validator.validate_python(
            table, self_instance=made, by_alias=False, by_name=True
        )
    return made


def make_struct(cls: Any, table: dict[str, Any]) -> object:
    """Return a msgspec Struct, whose constructor checks nothing by itself.

    What msgspec knows is checked, and its constraints with it; objects in it have been
    checked already, by their own classes.

    Args:
        cls: The Struct.
        table: The values of its fields.
    """
    for name, annotation in struct_checks(cls):
        if name in table:
            table[name] = msgspec.convert(table[name], annotation)
    made: object = cls(**table)
    return made


def _keep(made: Any, place: str, kept: Mapping[str, object]) -> None:
    if place == IN_DICT:
        vars(made)[IN_DICT] = kept
    elif place == "__pydantic_extra__":
        made.__pydantic_extra__.update(kept)
    else:
        object.__setattr__(made, place, kept)
