"""The YAML block that may stand in front of a Markdown text.

It counts only if it is closed: ``---`` on the first line, and ``---`` again within the
first 200 lines and 16,384 characters. PyYAML's safe loader reads it, which makes plain
values alone. Aliases are refused on top of that: a few of them can stand for gigabytes,
or for a value that holds itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from graphcodec._extras import from_extra
from graphcodec.errors import GraphCodecError, LimitExceededError, UndecodableValueError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ENOUGH_BYTES", "front_matter", "length_of_front_matter"]

MOST_LINES: Final = 200
LARGEST: Final = 1 << 14
DEEPEST: Final = 50

ENOUGH_BYTES: Final = 4 * LARGEST
"""How many bytes hold the block, if there is one."""


def length_of_front_matter(lines: Sequence[str]) -> int:
    """Return how many lines the block takes, its two fences among them; 0 if none.

    Args:
        lines: The first lines of the text, enough for the block.
    """
    if not lines or lines[0].removeprefix("\ufeff").rstrip() != "---":
        return 0
    size = 0
    for number, line in enumerate(lines[1:MOST_LINES], 2):
        if line.rstrip() == "---":
            return number
        size += len(line)
        if size > LARGEST:
            break
    return 0


def front_matter(lines: Sequence[str]) -> dict[object, object] | None:
    """Return what the block says; None if there is none or it says no mapping.

    Args:
        lines: The first lines of the text, enough for the block.

    Raises:
        LimitExceededError: If it nests too deep.
        UndecodableValueError: If it is not YAML, or not plain data.
    """
    length = length_of_front_matter(lines)
    if not length:
        return None
    found = _loaded("\n".join(lines[1 : length - 1]))
    if found is None:
        return {}
    return cast("dict[object, object]", found) if isinstance(found, dict) else None


def _loaded(text: str) -> object:
    loader = _loader()
    try:
        return loader(text).get_single_data()
    except GraphCodecError:
        raise
    except Exception as exc:  # noqa: BLE001 - it lets out what int() and others raise
        raise _refused(_reason(exc), hint="read it with cat") from None


def _loader() -> Any:
    with from_extra("artifacts", "reading front matter needs pyyaml"):
        import yaml  # noqa: PLC0415 - optional

    class Loader(yaml.SafeLoader):
        depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise _refused("it uses an alias", hint="write the value out")
            if self.depth == DEEPEST:
                raise LimitExceededError(
                    f"the front matter nests deeper than {DEEPEST} levels",
                    limit="max_depth",
                    value=DEEPEST,
                )
            self.depth += 1
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

    return Loader


def _reason(exc: Exception) -> str:
    return str(getattr(exc, "problem", None) or exc).partition("\n")[0]


def _refused(reason: str, *, hint: str) -> UndecodableValueError:
    return UndecodableValueError(
        f"the front matter can't be read ({reason:.80})", hint=hint
    )
