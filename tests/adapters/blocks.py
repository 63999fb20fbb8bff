"""Generated messages of Anthropic's: what it allows, what servers send, and worse."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.adapters.chats import any_text, mixed, names, payloads, texts, urls, values

ids = st.one_of(st.sampled_from(["a", "b", "c", ""]), st.none())
sources = st.one_of(
    mixed(
        {"type": st.just("base64"), "data": st.one_of(payloads, texts)},
        {"media_type": st.sampled_from(["image/png", "application/pdf", "text/plain"])},
    ),
    mixed({"type": st.just("url"), "url": urls}),
    mixed(
        {"type": st.just("text"), "data": any_text, "media_type": st.just("text/plain")}
    ),
    mixed({"type": st.sampled_from(["file", "content", "url", "text", None, []])}),
    values,
)
texts_ = mixed({"type": st.just("text"), "text": any_text}, {"citations": values})
media = mixed(
    {"type": st.sampled_from(["image", "document"])},
    {"source": sources, "title": st.one_of(texts, st.none()), "cache_control": values},
)
thoughts = st.one_of(
    mixed(
        {"type": st.just("thinking")},
        {
            "thinking": st.one_of(any_text, values),
            "signature": st.one_of(texts, values),
        },
    ),
    mixed({"type": st.just("redacted_thinking")}, {"data": st.one_of(texts, values)}),
)
uses = mixed(
    {
        "type": st.sampled_from(["tool_use", "server_tool_use", "mcp_tool_use"]),
        "name": st.sampled_from(["f", "g"]),
    },
    {
        "id": ids,
        "input": st.one_of(st.dictionaries(texts, values, max_size=2), values),
        "caller": values,
    },
)
passages = mixed(
    {"type": st.just("search_result")},
    {
        "content": st.one_of(st.lists(st.one_of(texts_, media), max_size=3), values),
        "source": st.one_of(texts, st.none()),
        "title": texts,
    },
)
odd = mixed({"type": values})
contents = st.one_of(
    any_text,
    st.none(),
    st.lists(st.one_of(texts_, media, passages, odd), max_size=3),
    mixed({"type": st.sampled_from(["web_search_tool_result_error", "text", "x"])}),
    values,
)
results = mixed(
    {"type": st.sampled_from(["tool_result", "tool_result", "web_search_tool_result"])},
    {
        "tool_use_id": ids,
        "content": contents,
        "is_error": st.one_of(st.booleans(), values),
    },
)
blocks = st.one_of(texts_, media, thoughts, uses, results, uses, results, passages, odd)
messages = st.one_of(
    mixed(
        {
            "role": st.sampled_from(["user", "assistant", "assistant", "system"]),
            "content": st.one_of(any_text, st.none(), st.lists(blocks, max_size=5)),
        },
        {"id": names, "usage": values},
    ),
    mixed({"role": st.sampled_from(["user", "assistant"])}),
)
requests = mixed(
    {"messages": st.lists(messages, max_size=5)},
    {
        "system": st.one_of(any_text, st.none(), st.lists(texts_, max_size=2)),
        "id": texts,
        "tools": values,
    },
)
conversations = st.one_of(requests, requests, messages)
