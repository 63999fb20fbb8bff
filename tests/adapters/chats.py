"""Generated chats: what the format allows, what servers send, and worse."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any, TypeAlias

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Mapping

JSON: TypeAlias = Any

texts = st.text(max_size=12)
any_text = st.one_of(texts, st.text(st.characters(), max_size=6))
names = st.sampled_from(["ana", "bo", "user", "assistant"])
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    any_text,
)
values: st.SearchStrategy[JSON] = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(texts, st.just("$type")), inner, max_size=3),
    ),
    max_leaves=6,
)
extras = st.dictionaries(
    st.sampled_from(["refusal", "annotations", "audio", "x", "$ref", "at", "parts"]),
    values,
    max_size=2,
)


def mixed(
    required: Mapping[str, st.SearchStrategy[JSON]],
    optional: Mapping[str, st.SearchStrategy[JSON]] | None = None,
) -> st.SearchStrategy[dict[str, JSON]]:
    """Return dicts with these keys and some others, in any order."""
    known = st.fixed_dictionaries(dict(required), optional=dict(optional or {}))
    return st.tuples(extras, known).flatmap(_joined)


def _joined(
    both: tuple[dict[str, JSON], dict[str, JSON]],
) -> st.SearchStrategy[dict[str, JSON]]:
    return _shuffled({**both[0], **both[1]})


def _shuffled(data: dict[str, JSON]) -> st.SearchStrategy[dict[str, JSON]]:
    return st.permutations(list(data.items())).map(dict)


# Content

payloads = st.binary(max_size=20).map(lambda data: base64.b64encode(data).decode())
data_urls = st.builds(
    "{}{}{},{}".format,
    st.sampled_from(["data:", "DATA:"]),
    st.sampled_from(["image/png", "image/PNG", "application/pdf", "odd", ""]),
    st.sampled_from([";base64", ";charset=utf-8;base64", "", ";BASE64"]),
    st.one_of(payloads, st.sampled_from(["aGk", "a%47k=", "a b", "aGl=", "ü", "=="])),
)
urls = st.one_of(
    data_urls,
    texts,
    st.sampled_from(
        [
            "https://example.org/a.png",
            "https://example.org/a.png?X-Amz-Signature=1",
            "http://user:pw@example.org/",
            "https://",
            "HTTPS://[",
            "ftp://example.org/x",
            "https://example.org/" + "x" * 9_000,
            "data:",
        ]
    ),
)
image_parts = mixed(
    {
        "type": st.just("image_url"),
        "image_url": mixed({"url": urls}, {"detail": st.just("low")}),
    }
)
audio_parts = mixed(
    {
        "type": st.just("input_audio"),
        "input_audio": mixed(
            {"data": st.one_of(payloads, texts)},
            {"format": st.sampled_from(["wav", ""])},
        ),
    }
)
file_parts = mixed(
    {
        "type": st.just("file"),
        "file": mixed({}, {"file_data": urls, "filename": texts, "file_id": texts}),
    }
)
text_parts = mixed({"type": st.just("text"), "text": any_text})
odd_parts = st.one_of(
    mixed({"type": st.sampled_from(["text", "refusal", "image_url", 3, None])}),
    mixed({"image_url": values}),
)
parts = st.one_of(text_parts, image_parts, audio_parts, file_parts, odd_parts)
contents = st.one_of(st.none(), any_text, st.lists(parts, max_size=4))

# Messages

call_ids = st.sampled_from(["", "a", "b", "c"])
arguments = st.one_of(
    st.dictionaries(texts, values, max_size=3).map(json.dumps),
    st.dictionaries(texts, values, max_size=2).map(
        lambda args: json.dumps(args, separators=(",", ":"), ensure_ascii=False)
    ),
    st.sampled_from(['{"a": NaN}', '{"a":1e2,"a":2}', "{", "[1]", "", "[" * 5_000]),
    any_text,
    values,
)
functions = mixed({"name": st.sampled_from(["f", "g"])}, {"arguments": arguments})
customs = mixed({"name": st.just("c")}, {"input": st.one_of(any_text, values)})
calls = st.one_of(
    mixed({"id": call_ids, "function": functions}, {"type": st.just("function")}),
    mixed({"id": call_ids, "function": functions, "type": values}),
    mixed({"id": call_ids, "custom": customs}, {"type": st.just("custom")}),
)
messages = st.one_of(
    mixed(
        {"role": st.sampled_from(["system", "developer"])},
        {"content": contents, "name": names},
    ),
    mixed(
        {"role": st.sampled_from(["user", "assistant"])},
        {"content": contents, "name": st.one_of(names, values)},
    ),
    mixed(
        {"role": st.sampled_from(["assistant", "user"])},
        {
            "content": contents,
            "name": names,
            "tool_calls": st.one_of(st.none(), st.lists(calls, max_size=3)),
        },
    ),
    mixed(
        {"role": st.just("tool")},
        {
            "content": st.one_of(contents, st.just("long " * 2_000)),
            "tool_call_id": st.one_of(call_ids, values),
        },
    ),
    mixed(
        {"role": st.sampled_from(["assistant", "user"]), "function_call": functions},
        {"content": contents, "tool_calls": st.lists(calls, max_size=1)},
    ),
    mixed(
        {"role": st.just("function")},
        {
            "content": contents,
            "name": st.one_of(st.sampled_from(["f", "g"]), values),
        },
    ),
)
created = st.one_of(st.integers(0, 2_000_000_000), st.sampled_from([-1e30, 1e400]))
chats = mixed(
    {"messages": st.lists(messages, max_size=6)},
    {"tools": values, "created": st.one_of(created, values), "id": texts},
)
