"""From the Responses API to a conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast

from graphcodec.adapters._arguments import read_arguments
from graphcodec.adapters._contents import Content, PartsReader, attached
from graphcodec.adapters._draft import Draft, Role
from graphcodec.adapters._meant import meant
from graphcodec.adapters._notes import (
    Fields,
    Note,
    as_fields,
    as_list,
    as_name,
    noted,
    refused,
)
from graphcodec.adapters._responses_items import (
    ANSWERS,
    CALLS,
    IDS,
    PENDING,
    REASONING,
    CallKind,
)
from graphcodec.adapters._responses_parts import DIALECT
from graphcodec.adapters._results import Results, ResultsReader, text_results
from graphcodec.errors import InvalidValueError

if TYPE_CHECKING:
    from graphcodec.primitives import Conversation

KEY: Final = "openai_responses"
"""The key of everything that this format has in a stash."""


class ResponsesReader:
    """Reads the input of one request, or the output of one response.

    Args:
        data: A mapping with one of them, or a list of items.
        spool_above: The most bytes of an answer that stays a text.
    """

    def __init__(
        self, data: Mapping[str, object] | Sequence[object], *, spool_above: int
    ) -> None:
        self._is_list = isinstance(data, list)
        self._whole, self._section = _whole(data)
        self._spool_above = spool_above
        self._parts = PartsReader(DIALECT)
        self._draft = Draft(KEY, self._whole, created="created_at")

    def read(self) -> Conversation:
        """Return the conversation.

        Raises:
            InvalidValueError: If it is none; says where.
        """
        said = self._whole.get("instructions")
        tops = ("instructions",) if isinstance(said, str) and said else ()
        note = noted(self._whole, (*tops, self._section))
        if tops:
            self._draft.instruct(cast("str", said), {"from": "instructions"})
        if self._is_list:
            note["list"] = True
        if self._section != "input":
            note["section"] = self._section
        items = self._whole[self._section]
        if isinstance(items, str):
            note["text"] = True
            items = [{"role": "user", "content": items}] if items else []
        for position, item in enumerate(as_list(items) or []):
            self._item(position, item)
        return self._draft.conversation(note)

    def _item(self, position: int, given: object) -> None:
        path = f"$.{self._section}[{position}]"
        item = as_fields(given)
        if item is None:
            hint = "objects of a client library have a model_dump()"
            raise refused("an item must be a dict", given, path, hint)
        kind = item.get("type", "message" if "role" in item else None)
        if kind == "message":
            self._message(position, item, f"{path}.content")
        elif kind == "reasoning":
            self._reasoning(position, item)
        elif isinstance(kind, str) and kind in CALLS:
            self._call(position, kind, item, path)
        elif isinstance(kind, str) and kind in ANSWERS:
            self._answer(position, kind, item)
        else:
            self._keep(position, item)

    def _keep(self, position: int, item: Fields) -> None:
        self._draft.keep(position, kept=dict(item))

    # What is said and thought

    def _message(self, position: int, item: Fields, path: str) -> None:
        role = as_name(item.get("role"))
        name = as_name(item.get("id")) or f"item-{position}"
        prefix = f"item-{position}" if role in {"user", "assistant"} else ""
        content = self._parts.content(item.get("content"), path, prefix)
        placed = (*_named(item, "id"), "type", "role", "content")
        note = {"at": position, **noted(item, placed), **content.note}
        if prefix and (content.text or content.media):
            self._draft.say(name, cast("Role", role), content, note)
        elif role in {"system", "developer"} and content.text:
            noted_id = {"id": name} if "id" in item else {}
            self._draft.instruct(content.text, {**note, "role": role, **noted_id})
        else:
            self._keep(position, item)

    def _reasoning(self, position: int, item: Fields) -> None:
        key = "summary" if item.get("summary") or not item.get("content") else "content"
        parts = as_list(item.get(key))
        if parts is not None and not all(isinstance(part, Mapping) for part in parts):
            parts = None
        path = f"$.{self._section}[{position}].{key}"
        content = Content() if parts is None else self._parts.content(parts, path)
        sealed = as_name(item.get("encrypted_content"))
        if not content.text and not sealed:
            self._keep(position, item)
            return
        placed = (*_named(item, "id"), "type")
        placed += () if parts is None and key in item else (key,)
        placed += ("encrypted_content",) if sealed else ()
        note = {"at": position, **noted(item, placed), **content.note}
        if key == "content":
            note["key"] = key
        name = as_name(item.get("id")) or f"item-{position}"
        payload = {"encrypted_content": sealed} if sealed else None
        self._draft.think(name, content.text, note, payload, REASONING)

    # Calls

    def _call(self, position: int, kind: str, item: Fields, path: str) -> None:
        call = CALLS[kind]
        tool = call.tool or as_name(item.get("name"))
        if tool is None:
            raise refused("a tool needs a name", item.get("name"), f"{path}.name")
        args, placed, spelled = _arguments(call, item)
        name = as_name(item.get(call.given)) or f"item-{position}"
        note: Note = {"at": position, "type": kind}
        if call.is_hosted and item.get("status") not in PENDING:
            results, rest, answer = self._hosted(position, item, call)
            note |= {**noted(item, [*placed, *rest]), **spelled}
            self._draft.ask(name, tool, args, note, answered_as=name)
            failed = item.get("status") == "failed" or item.get("error") is not None
            self._draft.answer(name, results, answer, is_error=failed)
            if call.tool == "file_search" and rest:
                self._passages(position, as_list(item.get(call.result)) or [])
            return
        given = item.get(call.given)
        by = given if isinstance(given, str) else name
        note |= {**noted(item, placed), **spelled}
        answered_as = None if call.is_hosted else by
        self._draft.ask(name, tool, args, note, answered_as=answered_as)

    def _hosted(
        self, position: int, item: Fields, call: CallKind
    ) -> tuple[Results, tuple[str, ...], Note]:
        """Return the results in an item itself, their key, and a note on them."""
        nothing = text_results("", self._spool_above)
        key = (call.result,) if call.result else ()
        value = item.get(call.result)
        if value is None:
            return nothing, () if call.result in item else key, {}
        if call.tool == "file_search":
            return nothing, key if _is_results(value) else (), {}
        if call.tool == "image_generation":
            image = self._image(position, item, value)
            return (nothing, (), {}) if image is None else (image, key, {})
        results, note = self._results(position, value)
        return results, key, note

    def _image(self, position: int, item: Fields, value: object) -> Results | None:
        form = as_name(item.get("output_format")) or "png"
        if not isinstance(value, str):
            return None
        try:
            place = self._parts.sources.base64("image", value, f"image/{form}")
        except InvalidValueError:
            return None
        return attached(place, f"item-{position}-media-0")

    def _passages(self, position: int, results: list[object]) -> None:
        for index, entry in enumerate(results):
            found = cast("Fields", entry)
            score, source = found.get("score"), as_name(found.get("filename"))
            rated = type(score) in {int, float} and 0 <= cast("float", score) <= 1
            placed = ["filename"] if source else []
            placed += ["score"] if rated else []
            note = {"at": position, "result": index, **noted(found, [*placed, "text"])}
            self._draft.look_up(
                f"item-{position}-result-{index}",
                cast("str", found["text"]),
                note,
                source=source,
                score=score if rated else None,
            )

    def _answer(self, position: int, kind: str, item: Fields) -> None:
        key = ANSWERS[kind]
        by = next((by for by in IDS if isinstance(item.get(by), str)), IDS[0])
        if self._draft.asked(item.get(by)) is None:
            self._keep(position, item)
            return
        results, rest = self._results(position, item.get(key))
        placed = ("type", by, *((key,) if item.get(key, "") is not None else ()))
        note = {"at": position, "type": kind, **noted(item, placed), **rest}
        note |= {} if by == IDS[0] else {"by": by}
        is_error = item.get("status") == "failed"
        self._draft.answer(cast("str", item[by]), results, note, is_error=is_error)

    def _results(self, position: int, value: object) -> tuple[Results, Note]:
        path = f"$.{self._section}[{position}]"
        reader = ResultsReader(self._parts, self._spool_above)
        return reader.results(value, path, f"item-{position}")


def _arguments(
    call: CallKind, item: Fields
) -> tuple[dict[str, object], list[str], Note]:
    """Return the arguments, the keys that are placed, and how they are spelled."""
    placed = [key for key in call.placed if key != call.given or _named(item, key)]
    if not call.text:
        return {key: item[key] for key in call.args if key in item}, placed, {}
    found = read_arguments(item.get(call.text, ""))
    if found is None:
        placed.remove(call.text)
        return {}, placed, {}
    return found[0], placed, found[1]


def _named(item: Fields, key: str) -> tuple[str, ...]:
    """Return the key of an id, unless there is one that no primitive takes."""
    return (key,) if key not in item or as_name(item[key]) else ()


def _is_results(value: object) -> bool:
    """Say whether all results of a search have a text, so that they are passages."""
    results = as_list(value)
    return results is not None and all(
        as_name((as_fields(entry) or {}).get("text")) for entry in results
    )


def _whole(data: object) -> tuple[Fields, str]:
    """Return the mapping that *data* is, or is short for, and where its items are.

    Raises:
        InvalidValueError: If it has none.
    """
    if isinstance(data, list):
        return {"input": cast("list[object]", data)}, "input"
    whole = as_fields(data)
    if whole is None:
        reason = "it must be a request, a response or a list of items"
        raise refused(reason, data, "$")
    if whole.get("input") and "output" in whole:
        hint = "put the items of output behind those of input"
        raise InvalidValueError("there is both input and output", path="$", hint=hint)
    section = "output" if "output" in whole else "input"
    items = whole.get(section)
    if isinstance(items, list) or (section == "input" and isinstance(items, str)):
        return whole, section
    hint = "" if section in whole else meant(whole)
    raise refused(f"{section} must be a list", items, f"$.{section}", hint)
