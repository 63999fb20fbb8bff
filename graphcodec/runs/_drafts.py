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
from graphcodec.runs._metadata import Metadata


@define
class TurnDraft:
    """A turn of which more may come.

    Attributes:
        number: Its number.
        topic: What it is about.
        user_message: What the user said.
        agent_response: What the agent answered.
        tool_calls: What the answer says of the calls.
        interim: The calls that completed, for as long as there is no answer.
    """

    number: int
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
    """

    id: str
    started: ExampleStarted
    scenario_id: str | None
    anomalies: list[str]
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
        """Begin a turn."""
        number = event.turn_number
        if any(turn.number == number for turn in self.turns):
            number = self._next_number()
            self._note(f"a second user message came for turn {event.turn_number}")
        turn = self._begin(number)
        turn.user_message = MessageData(
            role="user",
            content=event.text,
            timestamp=event.time,
            source=event.source,
            metadata=event.metadata.to_dict(),
        )

    def agent_said(self, event: AgentResponse) -> None:
        """Give the answer to the turn that waits for it, by number if one does."""
        waiting = [turn for turn in self.turns if not turn.is_answered]
        named = [turn for turn in waiting if turn.number == event.turn_number]
        if named:
            named[0].answer(event)
        elif waiting and waiting[-1] is self.turns[-1]:
            number = waiting[-1].number
            self._note(f"the answer to turn {event.turn_number} came in turn {number}")
            waiting[-1].answer(event)
        else:
            # The agent speaks first, or once more.
            self._begin(self._next_number()).answer(event)

    def tool_answered(self, event: ToolCallCompleted) -> None:
        """Keep a call until the agent's answer says what counts."""
        turn = self.turns[-1] if self.turns else None
        if turn is None or turn.is_answered:
            turn = self._begin(self._next_number())
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

    def _begin(self, number: int) -> TurnDraft:
        turn = TurnDraft(number, self.topic)
        self.turns.append(turn)
        return turn

    def _next_number(self) -> int:
        return max((turn.number for turn in self.turns), default=0) + 1

    # The end

    def ended(self, status: str, at: datetime, duration: float | None = None) -> None:
        """Close the example."""
        if self.status != "running":
            self._note(f"it ended as {status} after it had ended as {self.status}")
        self.status = status
        self.finished_at = at
        if duration is not None:
            self.duration_ms = round(duration * 1000)

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
