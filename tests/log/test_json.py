"""Records from and to the JSON of the first logs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphcodec import decode, encode, log
from graphcodec.errors import InvalidValueError, JsonError
from graphcodec.testing import same_graph
from tests.log.records import (
    GOLDEN,
    KINDS,
    MOMENT,
    called,
    failed,
    golden_lines,
    one_of_each,
    snapshot,
    summary,
    user,
    working,
)

USER = '{"User":{"id":"m","role":"user","content":{"Text":{"content":"hi"}}}}'
CONVERSATION = f'{{"message_type":"conversation","message":{USER}}}'
SUMMARY = log.to_json(summary())
DEFINITION = log.ToolDefinition(
    name="n", category="c", description="d", arguments=log.Args({})
)


def changed(document: str, path: str, value: object) -> str:
    """Return a JSON document with another value at a path of keys and indices."""
    tree: Any = json.loads(document)
    *above, last = path.split(".")
    place = tree
    for step in above:
        place = place[int(step) if step.isdigit() else step]
    place[last] = value
    return json.dumps(tree)


def without(document: str, path: str) -> str:
    """Return a JSON document that lacks a key."""
    tree: Any = json.loads(document)
    *above, last = path.split(".")
    place = tree
    for step in above:
        place = place[int(step) if step.isdigit() else step]
    del place[last]
    return json.dumps(tree)


# What the first logs hold


@pytest.mark.parametrize("kind", KINDS)
def test_golden_file(kind: str) -> None:
    """Each line of the file of a kind is read and written back unchanged."""
    text = (GOLDEN / f"{kind}.jsonl").read_text()
    records = [log.from_json(line) for line in text.split("\n")[:-1]]

    assert not any(isinstance(record, log.UnknownRecord) for record in records)
    assert "".join(f"{log.to_json(record)}\n" for record in records) == text


def test_records_travel_like_primitives() -> None:
    """A codec carries every record there is, and everything in it."""
    records = [*map(log.from_json, golden_lines()), *one_of_each()]

    again = decode(encode(records), list[Any])

    assert same_graph(again, records)


@pytest.mark.parametrize("record", one_of_each(), ids=lambda r: type(r).__name__)
def test_made_records_come_back(record: log.SessionRecord) -> None:
    """A record that was made here comes back from its JSON equal."""
    assert log.from_json(log.to_json(record)) == record


def test_bytes_are_read_too() -> None:
    """The JSON may be bytes, as files and databases give them."""
    assert log.from_json(SUMMARY.encode()) == summary()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (log.Timestamp(5), '{"secs_since_epoch":0,"nanos_since_epoch":5}'),
        (log.ModelId("m", "Group"), '{"Group":["m",null]}'),
        (log.ArgValue("U8", 3), '{"U8":3}'),
        (log.Args({"type": "object"}), '{"type":"object"}'),
        (
            DEFINITION,
            '{"name":"n","category":"c","description":"d","arguments":{},"returns":null}',
        ),
        (
            snapshot(1, 2),
            (
                '{"total":3,"input":1,"output":2,"rolling":3,'
                '"budget":null,"remaining":null,"cost":0.0}'
            ),
        ),
    ],
)  # fmt: skip
def test_parts_have_a_form_of_their_own(value: Any, text: str) -> None:
    """What records are made of can be written and read by itself."""
    assert log.to_json(value) == text
    assert log.from_json(text, value.__class__) == value


@pytest.mark.parametrize(
    ("value", "cls", "text"),
    [
        (DEFINITION, log.Tool, f'{{"SingleCommand":{log.to_json(DEFINITION)}}}'),
        (
            log.MultiCommands("git", [DEFINITION, DEFINITION]),
            log.Tool,
            f'{{"MultiCommands":["git",[{log.to_json(DEFINITION)},{log.to_json(DEFINITION)}]]}}',
        ),
        (
            log.TextContent(content="a"),
            log.UserModelContent,
            '{"Text":{"content":"a","signature":null}}',
        ),
    ],
)  # fmt: skip
def test_parts_can_name_their_variant(value: Any, cls: Any, text: str) -> None:
    """What belongs to a union can be written and read as one of its variants."""
    assert log.to_json(value, cls) == text
    assert log.from_json(text, cls) == value
    assert decode(encode(value)) == value


@pytest.mark.parametrize(
    ("text", "message", "path"),
    [
        ('{"MultiCommands":["git"]}', "a pair of name", "$.MultiCommands"),
        ('{"MultiCommands":["git",[1]]}', "an object", "$.MultiCommands[1][0]"),
        ('{"MultiCommands":[1,[]]}', "must be a str", "$.MultiCommands"),
        ('{"Other":[]}', "no variant 'Other'", "$"),
    ],
)
def test_refused_tools(text: str, message: str, path: str) -> None:
    """A tool that is none is refused, with the place."""
    with pytest.raises(JsonError, match=message) as caught:
        log.from_json(text, log.Tool)
    assert caught.value.path == path


def test_other_union_is_refused() -> None:
    """What is no variant of a union is not written as one."""
    with pytest.raises(JsonError, match="the User can't be written"):
        log.to_json(log.User(content=log.TextContent(content="")), log.Tool)


# The rules of reading


def test_tag_may_stand_anywhere() -> None:
    """A database may reorder the keys of an object."""
    tree = json.loads(SUMMARY)
    tree["message_type"] = tree.pop("message_type")

    assert log.from_json(json.dumps(tree)) == summary()


@pytest.mark.parametrize(
    ("document", "message", "path"),
    [
        ("{", "json serialization: Input data was truncated", ""),
        (b"\xff", "json serialization: ", ""),
        ("[]", "must be an object, not a list", "$"),
        (without(SUMMARY, "message_type"), "'message_type' is missing", "$"),
        (changed(SUMMARY, "message_type", 7), "a word, not 7", "$.message_type"),
        ('{"message_type":"summary","message_type":"summary"}', "stands twice", ""),
        (without(SUMMARY, "usage"), "the field 'usage' is missing", "$"),
        (changed(SUMMARY, "usage", None), "must be an object, not None", "$.usage"),
        (changed(SUMMARY, "message_count", 3.0), "not 3.0", "$.message_count"),
        (changed(SUMMARY, "message_count", value=True), "not True", "$.message_count"),
        (changed(SUMMARY, "message_count", -1), "not -1", "$.message_count"),
        (changed(SUMMARY, "message_count", 1 << 64), "not 1844", "$.message_count"),
        (changed(SUMMARY, "usage.cost", "1"), "not '1'", "$.usage.cost"),
        (changed(CONVERSATION, "message", {}), "one variant, not 0", "$.message"),
        (
            changed(CONVERSATION, "message", {"User": {}, "Assistant": {}}),
            "one variant, not 2",
            "$.message",
        ),
        (
            changed(CONVERSATION, "message.User.content", {"Text": {}}),
            "'content' is missing",
            "$.message.User.content.Text",
        ),
        (
            changed(CONVERSATION, "message.User.role", None),
            "must be a str, not None",
            "$.message.User.role",
        ),
        (
            changed(log.to_json(working("x")), "facts", {}),
            "must be a list, not a dict",
            "$.facts",
        ),
        (
            changed(log.to_json(working("x")), "facts.0.confidence", "0.5"),
            "not '0.5'",
            "$.facts[0].confidence",
        ),
        (
            changed(log.to_json(working("x")), "timestamp.secs_since_epoch", 1.0),
            "must be an int, not 1.0",
            "$.timestamp.secs_since_epoch",
        ),
        ("[" * 100_000, "json serialization: ", ""),
    ],
)  # fmt: skip
def test_refused(document: str | bytes, message: str, path: str) -> None:
    """What does not follow the rules is refused, with the place."""
    with pytest.raises(JsonError, match=message) as caught:
        log.from_json(document)

    assert caught.value.path == path
    assert str(caught.value).startswith("json serialization: ")


def test_deep_arguments_are_refused() -> None:
    """Arguments nested without end raise our error and no `RecursionError`."""
    deep = '{"JSONMap":{"a":' * 900 + '{"I64":1}' + "}}" * 900
    plain = log.to_json(called())
    document = plain.replace('"arguments":{}', f'"arguments":{{"a":{deep}}}')

    with pytest.raises(JsonError, match="json serialization: "):
        log.from_json(document)


def test_int_is_a_float() -> None:
    """A whole number is accepted where a float stands."""
    read = log.from_json(changed(SUMMARY, "usage.cost", 2))

    assert isinstance(read, log.Summary)
    assert type(read.usage.cost) is float


def test_absent_and_null_are_none() -> None:
    """An optional field may be left out or null."""
    assert log.from_json(without(SUMMARY, "usage.budget")) == summary()
    assert log.from_json(changed(SUMMARY, "usage.budget", None)) == summary()


def test_legacy_tool_call() -> None:
    """A tool call from before dependencies and hints gets their defaults."""
    document = log.to_json(called(path="a"))
    for name in ("depends_on", "execution_hint"):
        document = without(document, f"message.Assistant.content.ToolCall.{name}")
    read = log.from_json(document)

    assert isinstance(read, log.Conversation)
    assert isinstance(read.message.content, log.ToolCall)
    assert read.message.content.depends_on == ()
    assert read.message.content.execution_hint is log.ExecutionHint.UNSPECIFIED


# Old logs


@pytest.mark.parametrize(
    "document",
    [
        without(CONVERSATION, "message.User.id"),
        *(
            without(line, "id")
            for line in golden_lines()
            if line.startswith(
                tuple(f'{{"message_type":"{kind}"' for kind in KINDS[1:5])
            )
        ),
    ],
)
def test_missing_id_is_the_same_every_time(document: str) -> None:
    """A record from before ids is read twice with one id, which is a proper one."""
    first, second = log.from_json(document), log.from_json(document)

    assert log.id_of(first) == log.id_of(second)
    assert len(log.id_of(first) or "") == 25


def test_missing_ids_differ() -> None:
    """Two records from before ids have two."""
    one = without(CONVERSATION, "message.User.id")
    other = one.replace("hi", "ho")

    assert log.id_of(log.from_json(one)) != log.id_of(log.from_json(other))


def test_missing_id_can_be_told() -> None:
    """Whoever knows the id of a document gives it to the record without one."""
    legacy = without(CONVERSATION, "message.User.id")

    assert log.id_of(log.from_json(legacy, id="doc-1")) == "doc-1"
    assert log.id_of(log.from_json(CONVERSATION, id="doc-1")) == "m"


def test_derived_id_bears_the_time() -> None:
    """The id of an old record sorts by the time that the record tells."""
    document = without(log.to_json(working("x", timestamp=MOMENT)), "id")
    name = log.id_of(log.from_json(document))

    assert log.SessionId(name or "").timestamp_ms == 1_700_000_000_000


@pytest.mark.parametrize("path", ["facts.0.source_message_id"])
def test_fact_without_source(path: str) -> None:
    """A fact from when its source was optional is read, and written as it was."""
    document = without(log.to_json(working("x")), path)
    read = log.from_json(document)

    assert isinstance(read, log.WorkingMemory)
    assert read.facts[0].source_message_id is None
    assert json.loads(log.to_json(read)) == json.loads(document)


def test_old_token_snapshot() -> None:
    """A snapshot from before the reshaping is read as what it meant."""
    old = '{"message_type":"summary","message_count":1,"usage":'
    read = log.from_json(old + '{"total_input":3,"total_output":4,"cost":0.5}}')

    assert isinstance(read, log.Summary)
    assert read.usage == log.TokenSnapshot(
        total=7, input=3, output=4, rolling=7, cost=0.5
    )


def test_old_tool_result() -> None:
    """A tool result whose id was the id of the call is read as what it meant."""
    (line,) = [line for line in golden_lines() if '"no such file"' in line]
    tree = json.loads(without(line, "message.ToolResult.id"))
    fields = tree["message"]["ToolResult"]
    fields["id"] = fields.pop("tool_call_id")
    read = log.from_json(json.dumps(tree))

    assert isinstance(read, log.Conversation)
    assert isinstance(read.message, log.ToolResult)
    assert read.message.tool_call_id == "t1"
    assert len(read.id) == 25


# New logs, read by this version


@pytest.mark.parametrize(
    "document",
    [
        '{"message_type":"vote","by":"x","id":"v-1"}',
        '{"by": 1.50, "message_type":"vote"}',
        changed(CONVERSATION, "message", {"Robot": {"id": "m"}}),
        changed(CONVERSATION, "message.User.content", {"Video": {}}),
        changed(SUMMARY, "message_type", "Summary"),
        log.to_json(failed()).replace('"ToolCall"', '"Overheated"'),
        log.to_json(called()).replace("unspecified", "eventually"),
        log.to_json(called(a=1)).replace('"I64"', '"I256"'),
        log.to_json(called()).replace('"Name"', '"Nickname"'),
    ],
)
def test_unknown_record_is_kept(document: str) -> None:
    """What a newer version added is kept, and written back to the letter."""
    read = log.from_json(document)

    assert isinstance(read, log.UnknownRecord)
    assert read.kind == json.loads(document)["message_type"]
    assert log.to_json(read) == document


def test_unknown_record_knows_its_id() -> None:
    """The id of a record of an unknown kind is found where ids stand."""
    read = log.from_json('{"message_type":"vote","id":"v-1"}')

    assert log.id_of(read) == "v-1"


@pytest.mark.parametrize(
    "path",
    [
        "new",
        "message.Assistant.new",
        "message.Assistant.usage.new",
        "message.Assistant.usage.cost.new",
        "message.Assistant.content.ToolCall.new",
    ],
)
def test_unknown_field_is_kept(path: str) -> None:
    """A field that this version does not know is written back, through a codec too."""
    document = changed(log.to_json(called(a=1)), path, {"$type": "x", "n": [1, 2.5]})
    read = log.from_json(document)

    assert json.loads(log.to_json(read)) == json.loads(document)
    assert json.loads(log.to_json(decode(encode(read), log.Conversation))) == (
        json.loads(document)
    )


def test_unknown_field_of_an_error_is_kept() -> None:
    """The details of an error may grow too."""
    document = changed(log.to_json(failed()), "error.ToolCall.new", [1])

    assert json.loads(log.to_json(log.from_json(document))) == json.loads(document)


# What the first logs could write and not read, or not write


@pytest.mark.parametrize("number", [2**128 - 1, -(2**127), 2**64])
def test_wide_integers_come_back(number: int) -> None:
    """Integers of 128 bits are written as ever, and can be read."""
    record = called(n=number)

    assert log.from_json(log.to_json(record)) == record


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_would_become_null_is_refused(number: float) -> None:
    """A float that JSON lacks can't get into a record in the first place."""
    with pytest.raises(InvalidValueError, match="must be a finite"):
        log.ArgValue("Float64", number)
    with pytest.raises(InvalidValueError, match=r"UsageReport\.input must be a finite"):
        log.UsageReport(input=number)


@pytest.mark.parametrize("cls", [log.SystemFingerprint, log.RefusalReason])
def test_former_poison_is_written(cls: Any) -> None:
    """Metadata that nobody could write have a form, and come back."""
    (line,) = [line for line in golden_lines() if '"log_probs"' in line]
    read = log.from_json(line)
    assert isinstance(read, log.Conversation)
    record = read.replace(message=read.message.replace(metadata=[cls(value="fp")]))

    assert log.from_json(log.to_json(record)) == record


def test_times_before_1970() -> None:
    """A time before 1970 comes back to the nanosecond."""
    record = log.Retracted(reason="old", timestamp=log.Timestamp(-1))

    assert log.from_json(log.to_json(record)) == record


@settings(deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cs"])), st.integers(-(2**100), 2**100)
)
def test_any_text_and_time(text: str, nanoseconds: int) -> None:
    """Text and times of any value come back, or were refused when they were made."""
    try:
        moment = log.Timestamp(nanoseconds)
    except InvalidValueError:
        return
    record = log.Retracted(reason=text, timestamp=moment)

    assert log.from_json(log.to_json(record)) == record


def test_half_a_surrogate_pair_is_refused() -> None:
    """Text that is no Unicode can't be written, and the error says of what."""
    with pytest.raises(JsonError, match="the Conversation can't be written") as caught:
        log.to_json(user("\ud800"))

    assert caught.value.type_name == "Conversation"


def test_keys_keep_their_order() -> None:
    """The keys of a map stand in its own order, not in a new one at every start."""
    names = [str(number) for number in range(50)]
    arguments: Any = dict.fromkeys(names, 1)
    text = log.to_json(called(**arguments))
    places = [text.index(f'"{name}":') for name in names]

    assert places == sorted(places)
