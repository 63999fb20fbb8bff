"""An instance made again from the values of its fields, with all that validates it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphcodec._marks import IN_DICT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphcodec._layouts import Layout


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
    call = _validated if layout.kind == "pydantic" else _constructed
    made = call(cls, table, shell)
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


def _validated(cls: Any, table: dict[str, object], shell: Any) -> object:
    made: object = cls.__new__(cls) if shell is None else shell
    cls.__pydantic_validator__.validate_python(
        table, self_instance=made, by_alias=False, by_name=True
    )
    return made


def _keep(made: Any, place: str, kept: Mapping[str, object]) -> None:
    if place == IN_DICT:
        vars(made)[IN_DICT] = kept
    elif place == "__pydantic_extra__":
        made.__pydantic_extra__.update(kept)
    else:
        object.__setattr__(made, place, kept)
