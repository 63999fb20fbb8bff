"""A conversation on a terminal, as it was said, seen from the wire."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from rich.padding import Padding
from rich.text import Text

from graphcodec._documents._classless import (
    READER,
    Finder,
    is_list,
    is_map,
    reference,
    tag_of,
    unwrapped,
)
from graphcodec.cli._text import counted, cut, size
from graphcodec.cli._tree import located

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

ITEMS: Final = frozenset({"Message", "ToolCall", "Thought", "Retrievable"})
_MOST_LINES: Final = 12
_LONGEST_LINE: Final = 1_000
_DEEPEST: Final = 6
_MOST_PARTS: Final = 40
_NO_TIME: Final = datetime.fromtimestamp(0, UTC)


class Talk:
    """A conversation, or a list of what one is made of.

    Args:
        wire: The outermost map of a document.
    """

    def __init__(self, wire: dict[str, Any]) -> None:
        self._finder = Finder(wire)
        root = self._finder.entered(wire["root"])
        self.whole: dict[str, Any] = root if tag_of(root) == "Conversation" else {}
        if self.whole or tag_of(root) in ITEMS:
            items = self.whole.get("items") if self.whole else [root]
        else:
            items = root
        self.items = [self._finder.entered(item) for item in self._list(items)]

    @property
    def is_one(self) -> bool:
        """Whether the document holds something that was said."""
        known = all(tag_of(item) in ITEMS for item in self.items)
        return bool(self.whole) or (bool(self.items) and known)

    def show(self, out: Console, most: int) -> None:
        """Show it to people.

        Args:
            out: Where to.
            most: How many items, half of them from the end.
        """
        out.print(self._head())
        for title in ("instructions", "memories"):
            for each in islice(self._list(self.whole.get(title)), _MOST_LINES):
                value = self._finder.entered(each)
                inner = value.get("content", value) if is_map(value) else value
                name = {"instructions": "instruction", "memories": "memory"}[title]
                out.print(Text(f"\n{name}", "bold magenta"))
                self._text(out, self.text(inner))
        first = most - most // 2
        last = max(first, len(self.items) - most // 2)
        for number, item in enumerate(self.items):
            if first <= number < last:
                if number == first:
                    words = f"\n… {counted(last - first, 'more item')}: --most, --path"
                    out.print(Text(words, "dim"))
                continue
            out.print()
            self._item(out, number, item)

    def _head(self) -> Text:
        kinds = Counter(map(_kind, self.items))
        parts = [counted(count, kind) for kind, count in kinds.items()]
        calls = [item for item in self.items if tag_of(item) == "ToolCall"]
        failed = sum(item.get("is_error") is True for item in calls)
        pending = sum(item.get("is_complete") is False for item in calls)
        parts += [
            f"{count} {word}"
            for count, word in ((failed, "failed"), (pending, "pending"))
            if count
        ]
        text = Text(cut(self.text(self.whole.get("id")), 60), "bold")
        return text.append(f"  {' · '.join(parts)}".rstrip(), "not bold dim")

    def _item(self, out: Console, number: int, item: Any) -> None:
        if not is_map(item):
            out.print(Text(f"[{number}] {cut(json.dumps(item), 200)}", "dim"))
            return
        head = Text(f"[{number}] ", "dim")
        head.append(_clock(item.get("created_at")), "dim")
        head.append_text(self._title(item))
        out.print(head, no_wrap=True, overflow="ellipsis")
        content = item.get("content")
        if tag_of(self._finder.entered(content)) in (None, "Tokenizable"):
            style = "dim italic" if tag_of(item) == "Thought" else ""
            self._text(out, self.text(content), style)
        for line in self._parts(item):
            out.print(
                Padding(line, (0, 0, 0, 4), expand=False),
                no_wrap=True,
                overflow="ellipsis",
            )

    def _title(self, item: dict[Any, Any]) -> Text:
        match tag_of(item):
            case "Message":
                user = item.get("role") == "user"
                return Text(self._who(item), "bold cyan" if user else "bold green")
            case "ToolCall":
                text = Text(cut(self.text(item.get("tool")), 60), "bold yellow")
                args = json.dumps(self.plain(item.get("args")), ensure_ascii=False)
                return text.append(f"  {cut(args, 400)}", "not bold default")
            case "Retrievable":
                text = Text("passage  ", "bold blue")
                says = [self.text(item.get(name)) for name in ("source", "trust_tier")]
                return text.append(cut("  ".join(filter(None, says)), 200), "not bold")
            case "Thought":
                return Text("thought", "bold magenta")
            case tag:
                return Text(cut(str(tag), 100), "bold")

    def _who(self, item: dict[Any, Any]) -> str:
        identity = self._finder.entered(item.get("identity"))
        role = self.text(item.get("role"))
        if not is_map(identity):
            return cut(role, 60)
        name = self.text(identity.get("representation"))
        shown = cut(name or role, 60)
        return shown if name in (role, "") else f"{shown} ({cut(role, 20)})"

    def _parts(self, item: dict[Any, Any]) -> Iterator[Text]:
        """Yield a line for each thing that belongs to an item beside its text."""
        if tag_of(item) == "ToolCall":
            yield from self._results(item)
        if tag_of(item) == "Thought" and item.get("payload") is not None:
            shape = cut(self.text(item.get("replay_compatibility")), 60)
            yield Text(f"payload for {shape}", "dim")
        content = self._finder.entered(item.get("content"))
        if tag_of(content) not in (None, "Tokenizable"):
            yield self._handle(content)
        for each in self._list(item.get("attachments")):
            yield self._handle(self._finder.entered(each))

    def _results(self, item: dict[Any, Any]) -> Iterator[Text]:
        if item.get("is_complete") is False:
            yield Text("pending", "yellow")
            return
        results = self._finder.entered(item.get("results"))
        failed = item.get("is_error") is True
        mark = Text("✗ " if failed else "→ ", "red" if failed else "dim")
        if tag_of(results) == "Tokenizable":
            yield mark.append(cut(self.text(results), 400))
            return
        many = results if is_list(results) else [results]
        for each in many:
            value = self._finder.entered(each)
            if is_map(value):
                yield mark.copy().append_text(self._handle(value))

    def _handle(self, value: Any) -> Text:
        """Return what a media or an artifact is, and where its bytes are."""
        if not is_map(value):
            return Text(cut(json.dumps(value), 100))
        says = [self.text(value.get(name)) for name in ("filename", "mime_type")]
        text = Text(cut("  ".join([tag_of(value) or "", *filter(None, says)]), 120))
        reader = self._finder.entered(value.get("reader"))
        if tag_of(reader) == READER:
            locator = reader.get("locator")
            known = locator.get("size") if is_map(locator) else None
            shown = f"  {size(known)}" if type(known) is int and known >= 0 else ""
            text.append(f"{shown}  {located(locator)}", "dim")
        return text

    def _text(self, out: Console, text: str, style: str = "") -> None:
        lines = text.strip("\n").split("\n") if text else []
        for line in lines[:_MOST_LINES]:
            shown = Text(cut(line, _LONGEST_LINE), style)
            out.print(Padding(shown, (0, 0, 0, 4), expand=False), overflow="fold")
        if len(lines) > _MOST_LINES:
            more = counted(len(lines) - _MOST_LINES, "more line")
            out.print(Text(f"    … {more}", "dim"))

    # Values of the wire

    def text(self, value: Any) -> str:
        """Return the text that *value* is, or that is in it; nothing if there is none.

        Args:
            value: Anything on the wire.
        """
        value = self._finder.entered(value)
        if is_map(value):
            value = value.get("$str", value.get("text", ""))
        return value if type(value) is str else ""

    def plain(self, value: Any, depth: int = 0) -> Any:
        """Return data without the marks of the wire, as deep as people look.

        Args:
            value: Anything on the wire.
            depth: How deep it is.
        """
        if reference(value) is not None and depth >= 1:
            value = self._finder.entered(value)
        value = unwrapped(value)
        if is_list(value):
            if depth == _DEEPEST:
                return "…"
            return [self.plain(each, depth + 1) for each in value[:_MOST_PARTS]]
        if not is_map(value):
            is_data = value is None or isinstance(value, (str, int, float))
            return value if is_data else str(value)[:100]
        if depth == _DEEPEST:
            return "…"
        key = next(iter(value), "")
        if len(value) == 1 and str(key)[:1] == "$" and key != "$dict":
            return self.plain(value[key], depth + 1)
        return {
            str(name): self.plain(each, depth + 1)
            for name, each in islice(value.items(), _MOST_PARTS)
        }

    def _list(self, value: Any) -> list[Any]:
        value = self._finder.entered(value)
        return value if is_list(value) else []


def _kind(item: Any) -> str:
    tag = tag_of(item)
    names = {"ToolCall": "tool call", "Retrievable": "passage", "Thought": "thought"}
    if tag == "Message":
        return f"{cut(str(item.get('role')), 20)} message"
    return names.get(tag or "", "other")


def _clock(value: Any) -> str:
    try:
        time = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return ""
    # Adapters put this one where a format has no times.
    return "" if time == _NO_TIME else f"{time:%H:%M} "
