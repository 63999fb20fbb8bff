"""A suite of conversations in which everything happens; run by tests in a process."""

import os
import signal
from collections.abc import Iterator

import pytest

from graphcodec.runs import ConversationRecorder

ROUNDS = int(os.environ.get("ROUNDS", "2"))
KINDS = [
    "pass",
    "fail",
    "error",
    "skip",
    "crash",
    "xfail",
    "xpass",
    "teardown",
    "agent first",
    "open",
    "odd values",
]
TRIES: dict[int, int] = {}


@pytest.fixture
def fragile(kind: str) -> Iterator[None]:
    """Fail before or after the test."""
    if kind == "error":
        msg = "no set-up"
        raise RuntimeError(msg)
    yield
    if kind == "teardown":
        msg = "no tear-down"
        raise RuntimeError(msg)


@pytest.mark.parametrize("n", range(ROUNDS))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("fragile")
def test_talk(
    kind: str,
    n: int,
    conversation: ConversationRecorder,
    request: pytest.FixtureRequest,
) -> None:
    """Talk, in one way or another."""
    if kind == "skip":
        pytest.skip("later")
    if kind in ("xfail", "xpass"):
        request.applymarker(pytest.mark.xfail(reason="known", strict=kind == "xpass"))
    conversation.topic("greeting", trigger="initial")
    if kind == "agent first":
        conversation.agent("Welcome")
    odd = {"bytes": b"\xff", "function": print} if kind == "odd values" else {}
    conversation.user(f"Hello {n}", metadata={"n": n, **odd})
    conversation.tool_call("search", {"q": n}, result="ok", call_id=f"c{n}")
    assert kind != "open", "the agent never answered"
    call = {"name": "search", "arguments": {"q": n}, "result": "ok"}
    tracing = {"model": "m", "tokens": {"input": 1, "output": 2}}
    conversation.agent("Hi!", tool_calls=[call], metadata={"tracing": tracing})
    conversation.topic("tea")
    conversation.evaluate("friendly", n % 2 == 0, mode="soft", reasoning="it smiled")
    assert kind not in ("fail", "xfail"), "as it should"
    if kind == "crash":
        raise KeyError(n) from ValueError("first")


@pytest.mark.flaky(reruns=2)
@pytest.mark.parametrize("n", range(ROUNDS))
def test_retry(n: int, conversation: ConversationRecorder) -> None:
    """Pass at the second try."""
    conversation.user("once more")
    TRIES[n] = TRIES.get(n, 0) + 1
    assert TRIES[n] == 2


@pytest.mark.scenario({"name": "buy", "goal": "buy tea"})
@pytest.mark.parametrize("n", range(ROUNDS))
def test_scenario_of_a_mark(n: int, conversation: ConversationRecorder) -> None:
    """Play through a scenario."""
    conversation.user(f"tea {n}")


@pytest.mark.parametrize("scenario", [{"name": f"s{n}"} for n in range(ROUNDS)])
def test_scenario_of_a_parameter(
    scenario: dict[str, object], conversation: ConversationRecorder
) -> None:
    """Play through a scenario."""
    conversation.user(str(scenario["name"]))


@pytest.mark.skipif("KILL" not in os.environ, reason="kills its process")
def test_kill(conversation: ConversationRecorder) -> None:
    """Die in the middle of a turn."""
    conversation.user("Hello")
    conversation.tool_call("search", {"q": 1}, result="ok")
    os.kill(os.getpid(), signal.SIGKILL)
