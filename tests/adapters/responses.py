"""Generated items of the Responses API: what it allows, what is sent, and worse."""

from __future__ import annotations

from hypothesis import strategies as st

from graphcodec.adapters._responses_items import ANSWERS, CALLS
from tests.adapters.chats import (
    any_text,
    arguments,
    audio_parts,
    created,
    mixed,
    payloads,
    texts,
    urls,
    values,
)

ids = st.one_of(st.sampled_from(["a", "b", "c", ""]), st.none())
places = st.one_of(urls, payloads, st.none())
states = st.sampled_from(["completed", "in_progress", "failed", "searching", None])
text_parts = mixed(
    {
        "type": st.sampled_from(["input_text", "output_text", "text", "summary_text"]),
        "text": any_text,
    }
)
refusals = mixed({"type": st.just("refusal"), "refusal": any_text})
image_parts = mixed(
    {"type": st.sampled_from(["input_image", "computer_screenshot"])},
    {"image_url": places, "file_id": texts, "detail": st.just("low")},
)
file_parts = mixed(
    {"type": st.just("input_file")},
    {"file_data": places, "file_url": places, "filename": texts, "file_id": texts},
)
odd_parts = st.one_of(
    mixed({"type": st.sampled_from(["text", "refusal", "input_image", 3, None, []])}),
    mixed({"image_url": values}),
)
parts = st.one_of(text_parts, refusals, image_parts, file_parts, audio_parts, odd_parts)
contents = st.one_of(st.none(), any_text, st.lists(parts, max_size=4))
logs = st.one_of(
    mixed({"type": st.just("logs"), "logs": any_text}),
    mixed({"type": st.just("image"), "url": urls}),
)
outcomes = st.one_of(contents, values, parts, st.lists(logs, max_size=3), payloads)
found = mixed(
    {},
    {
        "text": any_text,
        "score": st.one_of(st.floats(0, 1), values),
        "filename": st.one_of(texts, st.none()),
    },
)

messages = mixed(
    {"role": st.sampled_from(["user", "assistant", "system", "developer", "critic"])},
    {"content": contents, "type": st.just("message"), "id": ids, "status": states},
)
reasoning = mixed(
    {"type": st.just("reasoning")},
    {
        "id": ids,
        "summary": st.one_of(st.lists(text_parts, max_size=2), values),
        "content": st.one_of(st.lists(text_parts, max_size=2), values),
        "encrypted_content": st.one_of(texts, st.none()),
    },
)
calls = mixed(
    {"type": st.sampled_from(sorted(CALLS)), "name": st.sampled_from(["f", "g"])},
    {
        "call_id": ids,
        "id": ids,
        "status": states,
        "arguments": st.one_of(arguments, values),
        "input": any_text,
        "action": values,
        "actions": values,
        "operation": values,
        "code": any_text,
        "queries": values,
        "output": outcomes,
        "outputs": outcomes,
        "result": outcomes,
        "results": st.one_of(st.lists(found, max_size=3), values),
        "error": values,
    },
)
answers = mixed(
    {"type": st.sampled_from(sorted(ANSWERS))},
    {
        "call_id": ids,
        "id": ids,
        "status": states,
        "output": outcomes,
        "result": outcomes,
        "tools": outcomes,
    },
)
others = mixed({"type": values})
items = st.one_of(messages, reasoning, calls, answers, calls, answers, others)
inputs = mixed(
    {"input": st.one_of(any_text, st.lists(items, max_size=6))},
    {"instructions": st.one_of(any_text, values), "tools": values, "id": texts},
)
outputs = mixed(
    {"output": st.lists(items, max_size=6)},
    {
        "created_at": st.one_of(created, values),
        "id": texts,
        "instructions": st.one_of(any_text, values),
    },
)
conversations = st.one_of(inputs, outputs)
