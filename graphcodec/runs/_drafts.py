"""An example while it runs: what the events have told so far."""

from datetime import datetime

from attrs import Factory, define

from graphcodec.runs._data import (
    ConversationData,
    EvaluationData,
    ExampleData,
    ExceptionData,
    MessageData,
    ToolCallData,
    TurnData,
)
from graphcodec.runs._events import (
    AgentResponse,
    ExampleStarted,
    ToolCallCompleted,
    TopicChanged,
    UserMessage,
)
from graphcodec.runs._fields import in_milliseconds
from graphcodec.runs._metadata import Metadata


@define
class TurnDraft:
    """A turn of which more may come.

    Attributes:
        number: Its number.
        told: The number that events give it, which a confused sender may repeat.
        topic: What it is about.
        user_message: What the user said.
        agent_response: What the agent answered.
        tool_calls: What the answer says of the calls.
        interim: The calls that completed, for as long as there is no answer.
    """

    number: int
    told: int
    topic: str | None = None
    user_message: MessageData | None = None
    agent_response: MessageData | None = None
    tool_calls: list[ToolCallData] = Factory(list[ToolCallData])
    interim: list[ToolCallData] = Factory(list[ToolCallData])

    @property
    def is_answered(self) -> bool:
        """Whether the agent has answered."""
        return self.agent_response is not None

    def answer(self, event: AgentResponse) -> None:
        """Take the agent's answer, whose tool calls replace those seen before."""
        self.agent_response = MessageData(
            role="agent",
            content=event.text,
            timestamp=event.time,
            metadata=event.metadata.to_dict(),
        )
        self.tool_calls = list(event.tool_calls)
        self.interim.clear()

    def frozen(self) -> TurnData:
        """Return what is known so far."""
        return TurnData(
            number=self.number,
            user_message=self.user_message,
            agent_response=self.agent_response,
            tool_calls=(*self.tool_calls, *self.interim),
            topic=self.topic,
        )


@define
class ExampleDraft:
    """An example of which more may come.

    Attributes:
        id: Its id in the run.
        started: The event that began it.
        scenario_id: Which scenario it plays through.
        anomalies: Where to note what is odd.
        is_assumed: Whether something else was told of it before its beginning.
    """

    id: str
    started: ExampleStarted
    scenario_id: str | None
    anomalies: list[str]
    is_assumed: bool = False
    status: str = "running"
    finished_at: datetime | None = None
    duration_ms: int | None = None
    exception: ExceptionData | None = None
    topic: str | None = None
    turns: list[TurnDraft] = Factory(list[TurnDraft])
    evaluations: list[EvaluationData] = Factory(list[EvaluationData])
    metadata: Metadata = Factory(Metadata)

    # What is said

    def user_said(self, event: UserMessage) -> None:
        """Begin a turn, or complete one of which something else was told before."""
        turn = self._turn_to_open(event.turn_number)
        turn.user_message = MessageData(
            role="user",
            content=event.text,
            timestamp=event.time,
            source=event.source,
            metadata=event.metadata.to_dict(),
        )

    def _turn_to_open(self, told: int) -> TurnDraft:
        named = self._named(told)
        if not named:
            return self._begin(told)
        turn = named[-1]
        if turn.user_message is not None:
            self._note(f"a second user message came for turn {told}")
            return self._begin(told)
        if turn.is_answered:
            self._note(f"the user message of turn {told} came after the answer")
        return turn

    def agent_said(self, event: AgentResponse) -> None:
        """Give the answer to the turn that waits for it, by number if one does."""
        told = event.turn_number
        named = self._named(told)
        waiting = [turn for turn in named if not turn.is_answered]
        last = self.turns[-1] if self.turns else None
        if waiting:
            waiting[-1].answer(event)
        elif named:
            self._note(f"a second answer came for turn {told}")
            self._begin(told).answer(event)
        elif last is not None and not last.is_answered:
            self._note(f"the answer to turn {told} came in turn {last.number}")
            last.answer(event)
        else:
            # The agent speaks first, or once more.
            self._begin(told).answer(event)

    def tool_answered(self, event: ToolCallCompleted) -> None:
        """Keep a call until the agent's answer says what counts."""
        told = event.turn_number
        turn = next(reversed(self._named(told)), None) or self._begin(told)
        if turn.is_answered:
            # Its answer has said which calls there were.
            self._note(f"{event.tool_name} completed after the answer of turn {told}")
            return
        metadata = event.metadata.to_dict()
        if event.call_id is not None:
            metadata["call_id"] = event.call_id
        call = ToolCallData(
            name=event.tool_name,
            arguments=event.arguments,
            result=event.result,
            error=event.error,
            timestamp=event.time,
            metadata=metadata,
        )
        turn.interim.append(call)

    def topic_changed(self, event: TopicChanged) -> None:
        """Change the topic: of the turn that is open, and of those to come."""
        self.topic = event.to_topic
        turn = self.turns[-1] if self.turns else None
        # Whatever follows an answer is about the next turn, unless nothing was known.
        if turn is not None and (not turn.is_answered or turn.topic is None):
            turn.topic = event.to_topic

    def _named(self, told: int) -> list[TurnDraft]:
        """Return the turns that events mean by a number; the latest is the last."""
        return [turn for turn in self.turns if turn.told == told]

    def _begin(self, told: int) -> TurnDraft:
        """Begin a turn; it has the number that is told, unless another has."""
        taken = {0, *(turn.number for turn in self.turns)}
        number = max(taken) + 1 if told in taken or told < 0 else told
        turn = TurnDraft(number, told, self.topic)
        self.turns.append(turn)
        return turn

    # The end

    def ended(self, status: str, at: datetime, duration: float | None = None) -> None:
        """Close the example."""
        if self.status != "running":
            self._note(f"it ended as {status} after it had ended as {self.status}")
        self.status = status
        self.finished_at = at
        if duration is not None:
            self.duration_ms = in_milliseconds(duration)

    def _note(self, what: str) -> None:
        self.anomalies.append(f"{self.id}: {what}")

    def frozen(self) -> ExampleData:
        """Return what is known so far."""
        started = self.started
        file, colon, line = started.location.rpartition(":")
        conversation = ConversationData(
            started_at=started.time,
            ended_at=self.finished_at,
            turns=[turn.frozen() for turn in self.turns],
            final_topic=self.topic,
        )
        return ExampleData(
            id=self.id,
            stable_id=started.stable_id,
            canonical_path=started.canonical_path,
            scenario_id=self.scenario_id,
            file=file if colon and line.isdigit() else started.location,
            description=started.description,
            location=started.location,
            status=self.status,
            started_at=started.time,
            finished_at=self.finished_at,
            duration_ms=self.duration_ms,
            exception=self.exception,
            conversation=conversation,
            evaluations=tuple(self.evaluations),
            metadata=self.metadata.to_dict(),
        )
