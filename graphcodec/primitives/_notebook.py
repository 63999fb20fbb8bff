"""Primitives in a notebook: a table of their fields, in which nothing is markup."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from graphcodec.primitives._base import Primitive

_LONGEST: Final = 400
_MOST: Final = 50


def html_of(primitive: Primitive) -> str:
    """Return a primitive as HTML; no handle is opened.

    Args:
        primitive: What to show.
    """
    rows = "".join(_rows(primitive))
    title = f"<b>{escape(type(primitive).__name__)}</b>"
    return f'<table><caption style="text-align:left">{title}</caption>{rows}</table>'


def _rows(primitive: Primitive) -> Iterator[str]:
    for attribute in primitive.__attrs_attrs__:
        if attribute.repr and attribute.init:
            value: object = getattr(primitive, attribute.name)
            if value is not None and value != ():
                name = escape(attribute.alias or attribute.name)
                left = 'style="text-align:left;vertical-align:top"'
                yield f"<tr><th {left}>{name}</th><td {left}>{_cell(value)}</td></tr>"


def _cell(value: object) -> str:
    if not isinstance(value, tuple):
        return _line(value)
    members = cast("tuple[object, ...]", value)
    shown = "".join(f"<li>{_line(member)}</li>" for member in members[:_MOST])
    more = len(members) - _MOST
    rest = f"<p>… {more:,} more</p>" if more > 0 else ""
    return f'<ol start="0" style="margin:0">{shown}</ol>{rest}'


def _line(value: object) -> str:
    """Return one value: a text as it is, all else by its repr, and what it says."""
    text = _text(value)
    if text is not None:
        return _shown(text)
    said = _text(getattr(value, "content", None))
    told = _shown(repr(value))
    return told if said is None else f"{told}<br>{_shown(said)}"


def _text(value: object) -> str | None:
    if isinstance(value, str):
        return value
    text: object = getattr(value, "text", None)
    return text if isinstance(text, str) else None


def _shown(text: str) -> str:
    cut = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    # What turns texts around, or can't be seen, must not act on the page around.
    line = "".join(
        c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in cut
    )
    return f'<span dir="auto" style="white-space:pre-wrap">{escape(line)}</span>'
