"""What a test calls to tell what was said in it."""

from collections.abc import Mapping, Sequence
from typing import Literal

from graphcodec.runs._bus import EventBus
from graphcodec.runs._data import ToolCallData
from graphcodec.runs._events import (
    AgentResponse,
    EvaluationRecorded,
    Event,
    SimulationEnded,
    SimulationStarted,
    ToolCallCompleted,
    TopicChanged,
    UserMessage,
)

__all__ = ["ConversationRecorder"]

Fields = Mapping[str, object]


class ConversationRecorder:
    """Publishes what happens in one example, with the numbers of its turns.

    Args:
        bus: Where to publish; without one, nothing is recorded.
        example_id: The example.
    """

    def __init__(self, bus: EventBus | None, example_id: str) -> None:
        self._bus = bus
        self._example_id = example_id
        self._answered = 0
        self._topic: str | None = None

    @property
    def is_recording(self) -> bool:
        """Whether anybody listens."""
        return self._bus is not None

    @property
    def topic_name(self) -> str | None:
        """What the conversation is about, if anybody said."""
        return self._topic

    def user(
        self, text: str, *, source: str = "script", metadata: Fields | None = None
    ) -> None:
        """Tell what the user says; a turn begins.

        Args:
            text: What is said.
            source: Who wrote it: ``script``, ``simulator``, or another word.
            metadata: What else there is to know.
        """
        event = UserMessage(
            example_id=self._example_id,
            turn_number=self._answered + 1,
            text=text,
            source=source,
            metadata=metadata,
        )
        self._publish(event)

    def agent(
        self,
        text: str,
        *,
        tool_calls: Sequence[ToolCallData | Fields] = (),
        metadata: Fields | None = None,
    ) -> None:
        """Tell what the agent answers; the turn is complete.

        Args:
            text: What is said.
            tool_calls: All calls on the way to it, as data or as dicts with ``name``,
                ``arguments``, ``result``, ``error``, ``metadata``. They replace what
                `tool_call` told.
            metadata: What else there is to know, such as ``tracing``.
        """
        self._answered += 1
        event = AgentResponse(
            example_id=self._example_id,
            turn_number=self._answered,
            text=text,
            tool_calls=list(tool_calls),
            metadata=metadata,
        )
        self._publish(event)

    def tool_call(
        self,
        name: str,
        arguments: Fields | None = None,
        *,
        result: object = None,
        error: str | None = None,
        call_id: str | None = None,
        metadata: Fields | None = None,
    ) -> None:
        """Tell that a tool has answered, while the agent is still at work.

        Args:
            name: The tool.
            arguments: What it was asked.
            result: What it gave.
            error: What went wrong.
            call_id: A name of the call.
            metadata: What else there is to know.
        """
        event = ToolCallCompleted(
            example_id=self._example_id,
            turn_number=self._answered + 1,
            tool_name=name,
            arguments=arguments,
            result=result,
            error=error,
            call_id=call_id,
            metadata=metadata,
        )
        self._publish(event)

    def topic(self, to: str, *, trigger: str = "unknown") -> None:
        """Tell that the conversation turns to another topic; the same one is no news.

        Args:
            to: What it is about now.
            trigger: What made it turn: ``initial``, ``classification``, another word.
        """
        if to == self._topic:
            return
        event = TopicChanged(
            example_id=self._example_id,
            turn_number=self._answered,
            from_topic=self._topic,
            to_topic=to,
            trigger=trigger,
        )
        self._topic = to
        self._publish(event)

    def simulation_started(self, goal: str, *, max_turns: int | None = None) -> None:
        """Tell that a simulated user begins to talk.

        Args:
            goal: What the user wants.
            max_turns: After how many turns the simulation is ended.
        """
        event = SimulationStarted(
            example_id=self._example_id, goal=goal, max_turns=max_turns
        )
        self._publish(event)

    def simulation_ended(self, termination_reason: str) -> None:
        """Tell that a simulated user is done, after the turns so far.

        Args:
            termination_reason: ``goal_reached``, ``max_turns``, ``stop_condition``,
                ``error``, or another word.
        """
        event = SimulationEnded(
            example_id=self._example_id,
            turn_count=self._answered,
            termination_reason=termination_reason,
        )
        self._publish(event)

    def evaluate(
        self,
        name: str,
        passed: bool,  # noqa: FBT001 - the verdict is what the call is about
        *,
        description: str | None = None,
        reasoning: str | None = None,
        mode: Literal["hard", "soft"] = "hard",
        type: str | None = None,  # noqa: A002 - the documented word
        failure_message: str | None = None,
        metadata: Fields | None = None,
    ) -> None:
        """Tell a verdict. It is recorded; to fail the test is left to an ``assert``.

        Args:
            name: What was judged, in short.
            passed: The verdict.
            description: What was judged; the name if left out.
            reasoning: Why, in the words of the judge.
            mode: ``hard`` if the example is to fail with it, ``soft`` if not.
            type: ``quality``, ``grounding``, ``tool_call``, or another word.
            failure_message: What to tell people.
            metadata: What else there is to know.
        """
        event = EvaluationRecorded(
            example_id=self._example_id,
            turn_number=self._answered,
            name=name,
            mode=mode,
            type=type,
            description=name if description is None else description,
            passed=passed,
            reasoning=reasoning,
            failure_message=failure_message,
            metadata=metadata,
        )
        self._publish(event)

    def _publish(self, event: Event) -> None:
        if self._bus is not None:
            self._bus.publish(event)
