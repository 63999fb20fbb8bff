import json
import sys
import threading
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from attrs import define, field

from graphcodec import Codec, encodable
from graphcodec.errors import GraphCodecError
from graphcodec.primitives import ToolCall
from tests.codec.samples import FORMATS
from tests.primitives.builders import NOW, make


@encodable("test.Acts")
@define(eq=False)
class Acts:
    """A class that changes the graph while it is written, as another thread might."""

    act: Callable[[], object] | None = None

    def __graphcodec_encode__(self) -> object:
        if self.act is not None:
            self.act()
        return 1

    @classmethod
    def __graphcodec_decode__(cls, data: object) -> "Acts":
        assert data == 1
        return cls()


@encodable("test.Slots")
@define(eq=False)
class Slots:
    """Typed slots that are changed."""

    acts: Acts | None = None
    table: dict[str, Acts] = field(factory=dict[str, Acts])
    items: list[Acts] = field(factory=list[Acts])
    members: set[int] = field(factory=set[int])
    when: datetime = NOW


CODEC = Codec(types=[Acts, Slots])


def encode_or_refuse(graph: object, codec: Codec = CODEC) -> Any:
    """Return the decoded document of *graph*, None if it was refused."""
    try:
        data = codec.encode(graph)
    except GraphCodecError:
        return None
    return codec.decode(data)


def test_key_that_is_exchanged_is_not_turned_into_text() -> None:
    """The dict has as many keys as before, but one of them is an int."""
    acts = Acts()
    table: dict[Any, Any] = {"a": acts, "b": 2}

    def act() -> None:
        table.pop("b", None)
        table[1] = "x"

    acts.act = act
    again = encode_or_refuse([table])

    assert again is None or {*again[0]} <= {"a", "b", 1}


def test_key_that_is_exchanged_for_markup_is_no_markup() -> None:
    """In a typed slot and in an untyped one."""
    acts = Acts()
    table: dict[Any, Any] = {"a": acts, "b": Acts()}

    def act() -> None:
        table.pop("b", None)
        table["$tuple"] = Acts()

    acts.act = act
    encode_or_refuse([table])
    table.pop("$tuple", None)
    table["b"] = Acts()
    encode_or_refuse(Slots(table=table))


@pytest.mark.parametrize("name", FORMATS)
def test_value_that_is_exchanged_is_not_degraded(name: Any) -> None:
    """A plain slot that is no longer plain when it is formatted."""
    acts = Acts()
    plain: dict[str, Any] = {"a": 1, "b": [1, {"c": 2}]}

    def act() -> None:
        plain["a"] = NOW
        plain["b"][0] = {1}
        plain["b"][1]["c"] = b"x"

    acts.act = act
    call = make(ToolCall, args={"k": plain})
    graph = [call, acts]
    again = encode_or_refuse(graph, CODEC.replace(format=name))

    assert again is None or again[0].args["k"] in (
        {"a": 1, "b": [1, {"c": 2}]},
        {"a": NOW, "b": [{1}, {"c": b"x"}]},
    )


def test_time_that_is_replaced_is_not_confused_with_another() -> None:
    """A freed object's id is no identity."""
    slots = [Slots(acts=Acts()) for _ in range(100)]
    expected = [slots[0].when]
    for number, one in enumerate(slots[:-1]):
        expected.append(datetime(2000, 1, 1, tzinfo=UTC) + timedelta(days=number))
        assert one.acts is not None
        one.acts.act = _mover(slots, number)
    document = json.loads(CODEC.encode(slots))
    found = [wire["when"] for wire in document["root"]["$any"]]

    assert found == [time.isoformat(timespec="microseconds") for time in expected]


def _mover(slots: list[Slots], number: int) -> Callable[[], None]:
    """Return what gives the next object a new time, and forgets an older one."""

    def move() -> None:
        day = datetime(2000, 1, 1, tzinfo=UTC) + timedelta(days=number)
        slots[number + 1].when = day
        if number:
            slots[number - 1].when = NOW

    return move


@pytest.mark.parametrize("kind", [list, set, deque, dict])
def test_container_that_grows_is_an_error_or_a_document(kind: Any) -> None:
    """Never a crash or an error of Python."""
    acts = Acts()
    grown: Any = dict.fromkeys([acts]) if kind is dict else kind([acts])

    def act() -> None:
        if len(grown) < 1_000:
            add = {list: "append", set: "add", deque: "append", dict: "setdefault"}
            getattr(grown, add[kind])(Acts(act))

    acts.act = act
    encode_or_refuse([grown])
    encode_or_refuse({"k": (grown,)})


def test_graph_is_changed_by_another_thread() -> None:
    """An error of ours, or a document in which every value has its type."""
    plain: dict[str, Any] = {"fixed": 1}
    mixed: dict[Any, Any] = {"fixed": (1,)}
    items: list[Any] = [1]
    members = {1, 2}
    slots = Slots(members=members)
    graph = {
        "plain": plain,
        "items": items,
        "mixed": (mixed, members),
        "slots": [slots],
    }
    stop = threading.Event()

    def change() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            plain["k"] = (NOW, {1}, b"x", 2**70, "\ud800", [NOW])[number % 6]
            plain[str(number % 7)] = number
            plain.pop(str((number + 3) % 7), None)
            mixed[number % 5] = "int key"
            mixed.pop((number + 2) % 5, None)
            mixed["$" * (number % 3)] = [number]
            items[:] = [plain, mixed, NOW][: number % 4]
            slots.when = NOW + timedelta(days=number % 9_000)
            slots.table[str(number % 5)] = Acts()
            slots.table.pop(str((number + 2) % 5), None)
            members.add(number % 50)
            members.discard((number + 7) % 50)

    thread = threading.Thread(target=change)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread.start()
    done = 0
    try:
        for _ in range(400):
            again = encode_or_refuse(graph)
            if again is not None:
                done += 1
                _assert_whole(again)
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)

    assert done > 0


def _assert_whole(again: dict[str, Any]) -> None:
    """Verify that no value has lost its type."""
    value = again["plain"].get("k")
    assert value is None or value in (NOW, {1}, b"x", 2**70, "\ud800", [NOW])
    assert all(type(member) is int for member in again["mixed"][1])
    for key in again["mixed"][0]:
        assert type(key) is int or key in ("fixed", "", "$", "$$")
