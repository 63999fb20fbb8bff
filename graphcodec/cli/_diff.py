"""``graphcodec diff``: what two documents differ in, by meaning."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, Final

import attrs
import click
from rich.text import Text

from graphcodec._documents._differing import (
    Change,
    Difference,
    changed_part,
    differences,
)
from graphcodec.cli._files import DOCUMENT, about, busy, once, read_bytes, title
from graphcodec.cli._text import console, cut
from graphcodec.cli._tree import Tree
from graphcodec.errors import GraphCodecError
from graphcodec.view._locators import shown_graph, shown_part

if TYPE_CHECKING:
    from rich.console import Console

_SIGNS: Final[Mapping[Change, tuple[str, str]]] = {
    "added": ("+", "green"),
    "removed": ("-", "red"),
    "changed": ("~", "yellow"),
    "moved": (">", "cyan"),
    "shared": ("=", "magenta"),
    "unshared": ("≠", "magenta"),
}
_LONG: Final = 60


class _Trouble(click.ClickException):
    """The documents can't be compared, which does not mean that they differ."""

    exit_code = 2

    def show(self, file: IO[str] | None = None) -> None:
        """Write the message.

        Args:
            file: Where to.
        """
        click.echo(f"graphcodec: {self.message}", file=file, err=True)


most_option = click.option(
    "--most",
    type=click.IntRange(min=0),
    default=200,
    show_default=True,
    help="How many differences to show.",
)
"""The option of commands that show differences."""


@click.command()
@click.argument("old", type=DOCUMENT)
@click.argument("new", type=DOCUMENT)
@most_option
@click.option("--json", "as_json", is_flag=True, help="Write JSON for a script.")
def diff(old: str, new: str, most: int, *, as_json: bool) -> int:
    """Show what two documents differ in, by meaning.

    The order of keys, the numbers of nodes, the format and the compression mean
    nothing. Entries of lists are told apart by their ids, else by what is in them.

    The exit code is 0 if nothing differs, 1 if something does, and 2 if the documents
    can't be compared.
    """
    once((old, new))
    found = _found(old, new)
    if as_json:
        click.echo(json.dumps({"old": title(old), "new": title(new), **facts(found)}))
    else:
        show(found, most)
    return 1 if found else 0


def _found(old: str, new: str) -> tuple[Difference, ...]:
    one, two = read_bytes(old), read_bytes(new)
    try:
        with busy((one, two), "comparing"):
            return differences(one, two)
    except GraphCodecError as exc:
        # Which of the two it is about, only a look at each can tell.
        named = about(exc, _culprit(one, old, new))
        raise _Trouble(" ".join(str(named).split())) from None


def _culprit(one: bytes, old: str, new: str) -> str:
    try:
        differences(one, one)
    except GraphCodecError:
        return old
    return new


def facts(found: tuple[Difference, ...]) -> dict[str, Any]:
    """Return differences as JSON has them.

    Args:
        found: The differences.
    """
    return {
        "equal": not found,
        "counts": dict(Counter(difference.change for difference in found)),
        "differences": [attrs.asdict(_shown(difference)) for difference in found],
    }


def _shown(difference: Difference) -> Difference:
    """Return a difference without what may be a secret in the URLs of handles."""
    hide = shown_part if ".locator" in difference.path else shown_graph
    before, after = hide(difference.before), hide(difference.after)
    return attrs.evolve(difference, before=before, after=after)


# For people


def show(found: tuple[Difference, ...], most: int) -> None:
    """Write differences for people.

    Args:
        found: The differences.
        most: How many to write out.
    """
    out = console()
    if not found:
        out.print("no differences", style="green")
        return
    counts = Counter(difference.change for difference in found)
    out.print(" · ".join(f"{counts[c]:,} {c}" for c in _SIGNS if counts[c]))
    for difference in islice(found, most):
        _row(out, _shown(difference))
    if len(found) > most:
        out.print(f"… {len(found) - most:,} more", style="dim")


def _row(out: Console, difference: Difference) -> None:
    sign, style = _SIGNS[difference.change]
    head = Text(f"{sign} {cut(difference.path, 400)}", style)
    whence = difference.old_path if difference.change == "moved" else difference.other
    if difference.change in ("moved", "shared", "unshared"):
        word = {"moved": "from", "shared": "one with", "unshared": "was one with"}
        head.append(f"  {word[difference.change]} {cut(whence, 400)}", "dim")
    elif difference.old_path:
        head.append(f"  was {cut(difference.old_path, 400)}", "dim")
    body = _body(difference)
    if len(body) == 1 and len(head) + len(body[0]) + 2 <= out.width:
        head.append("  ").append(body.pop())
    for line in (head, *(Text("    ").append(line) for line in body)):
        line.truncate(out.width, overflow="ellipsis")
        out.print(line, no_wrap=True, overflow="ignore", crop=False)


def _body(difference: Difference) -> list[str]:
    """Return what was there and what is there now, in a few lines."""
    before, after = difference.before, difference.after
    match difference.change:
        case "added":
            return [_brief(after)]
        case "removed":
            return [_brief(before)]
        case "changed":
            if isinstance(before, str) and isinstance(after, str):
                before, after = _parts(before, after)
            one, two = _brief(before), _brief(after)
            if len(one) + len(two) < _LONG:
                return [f"{one} → {two}"]
            return [one, f"→ {two}"]
        case _:
            return []


def _parts(before: str, after: str) -> tuple[str, str]:
    if max(len(before), len(after)) <= _LONG:
        return before, after
    return changed_part(before, after)


def _brief(value: object) -> str:
    return Tree([], depth=0, binary=False).brief(value)
