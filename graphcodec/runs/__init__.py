"""Runs: events of agent tests, recorded, compared and read."""

from typing import Final

from graphcodec.runs._builder import RunDataBuilder as RunDataBuilder
from graphcodec.runs._bus import EventBus as EventBus
from graphcodec.runs._bus import Subscription as Subscription
from graphcodec.runs._bus import current_bus as current_bus
from graphcodec.runs._bus import use_bus as use_bus
from graphcodec.runs._data import ConversationData as ConversationData
from graphcodec.runs._data import EvaluationData as EvaluationData
from graphcodec.runs._data import ExampleData as ExampleData
from graphcodec.runs._data import ExceptionData as ExceptionData
from graphcodec.runs._data import GroupData as GroupData
from graphcodec.runs._data import MessageData as MessageData
from graphcodec.runs._data import RunData as RunData
from graphcodec.runs._data import ScenarioData as ScenarioData
from graphcodec.runs._data import SuiteData as SuiteData
from graphcodec.runs._data import SummaryStats as SummaryStats
from graphcodec.runs._data import ToolCallData as ToolCallData
from graphcodec.runs._data import TurnData as TurnData
from graphcodec.runs._environment import (
    describe_environment as describe_environment,
)
from graphcodec.runs._events import EVENTS as EVENTS
from graphcodec.runs._events import AgentResponse as AgentResponse
from graphcodec.runs._events import EvaluationRecorded as EvaluationRecorded
from graphcodec.runs._events import Event as Event
from graphcodec.runs._events import ExampleAborted as ExampleAborted
from graphcodec.runs._events import ExampleFailed as ExampleFailed
from graphcodec.runs._events import ExamplePassed as ExamplePassed
from graphcodec.runs._events import ExamplePending as ExamplePending
from graphcodec.runs._events import ExampleStarted as ExampleStarted
from graphcodec.runs._events import GroupFinished as GroupFinished
from graphcodec.runs._events import GroupStarted as GroupStarted
from graphcodec.runs._events import SimulationEnded as SimulationEnded
from graphcodec.runs._events import SimulationStarted as SimulationStarted
from graphcodec.runs._events import SuiteStarted as SuiteStarted
from graphcodec.runs._events import SuiteStopped as SuiteStopped
from graphcodec.runs._events import SuiteSummary as SuiteSummary
from graphcodec.runs._events import ToolCallCompleted as ToolCallCompleted
from graphcodec.runs._events import TopicChanged as TopicChanged
from graphcodec.runs._events import UnknownEvent as UnknownEvent
from graphcodec.runs._events import UserMessage as UserMessage
from graphcodec.runs._events import event_from_dict as event_from_dict
from graphcodec.runs._files import EventFile as EventFile
from graphcodec.runs._files import JsonFile as JsonFile
from graphcodec.runs._forwarding import BytesSender as BytesSender
from graphcodec.runs._forwarding import EventForwarder as EventForwarder
from graphcodec.runs._forwarding import EventReceiver as EventReceiver
from graphcodec.runs._forwarding import Forwarded as Forwarded
from graphcodec.runs._forwarding import GraphSender as GraphSender
from graphcodec.runs._merging import diff_runs as diff_runs
from graphcodec.runs._merging import merge_runs as merge_runs
from graphcodec.runs._metadata import Metadata as Metadata
from graphcodec.runs._recorder import ConversationRecorder as ConversationRecorder
from graphcodec.runs._report import report_html as report_html
from graphcodec.runs._tables import TABLES as TABLES
from graphcodec.runs._tables import to_tables as to_tables

TYPES: Final = (
    *EVENTS.values(),
    UnknownEvent,
    Forwarded,
    Metadata,
    ConversationData,
    EvaluationData,
    ExampleData,
    ExceptionData,
    GroupData,
    MessageData,
    RunData,
    ScenarioData,
    SuiteData,
    ToolCallData,
    TurnData,
)
"""The classes that every codec knows by tags that begin with ``run:``."""
