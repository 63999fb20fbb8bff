"""Sessions as logs of records: append, read back, follow, remember, analyse."""

from graphcodec.log._arrow import filter_by_type as filter_by_type
from graphcodec.log._arrow import from_record_batch as from_record_batch
from graphcodec.log._arrow import sum_input_tokens as sum_input_tokens
from graphcodec.log._arrow import sum_output_tokens as sum_output_tokens
from graphcodec.log._arrow import to_record_batch as to_record_batch
from graphcodec.log._arrow import to_table as to_table
from graphcodec.log._content import ArgValue as ArgValue
from graphcodec.log._content import Embedding as Embedding
from graphcodec.log._content import ImageContent as ImageContent
from graphcodec.log._content import ModelOutput as ModelOutput
from graphcodec.log._content import TextContent as TextContent
from graphcodec.log._content import ThinkingContent as ThinkingContent
from graphcodec.log._content import ToolCall as ToolCall
from graphcodec.log._content import UserModelContent as UserModelContent
from graphcodec.log._conversion import from_primitives as from_primitives
from graphcodec.log._conversion import to_primitives as to_primitives
from graphcodec.log._documents import Document as Document
from graphcodec.log._documents import DocumentStore as DocumentStore
from graphcodec.log._documents import MemoryDocumentStore as MemoryDocumentStore
from graphcodec.log._events import Appended as Appended
from graphcodec.log._events import Event as Event
from graphcodec.log._events import Failed as Failed
from graphcodec.log._events import Flushed as Flushed
from graphcodec.log._events import Subscription as Subscription
from graphcodec.log._failures import AgenticError as AgenticError
from graphcodec.log._failures import StructuredErrorTrace as StructuredErrorTrace
from graphcodec.log._failures import StructuredFrame as StructuredFrame
from graphcodec.log._ids import SessionId as SessionId
from graphcodec.log._ids import new_id as new_id
from graphcodec.log._json import from_json as from_json
from graphcodec.log._json import to_json as to_json
from graphcodec.log._ledger import TokenLedger as TokenLedger
from graphcodec.log._memory import MemoryCoordinator as MemoryCoordinator
from graphcodec.log._memory import MemoryHierarchy as MemoryHierarchy
from graphcodec.log._memory import MemoryStore as MemoryStore
from graphcodec.log._memory import MemoryTier as MemoryTier
from graphcodec.log._memory import audit_key as audit_key
from graphcodec.log._memory import memory_key as memory_key
from graphcodec.log._moments import Timestamp as Timestamp
from graphcodec.log._offload import inline as inline
from graphcodec.log._offload import offload as offload
from graphcodec.log._parquet import Exported as Exported
from graphcodec.log._parquet import read_parquet as read_parquet
from graphcodec.log._parquet import write_parquet as write_parquet
from graphcodec.log._postgres import PostgresDocumentStore as PostgresDocumentStore
from graphcodec.log._reading import Entry as Entry
from graphcodec.log._reading import atail as atail
from graphcodec.log._reading import tail as tail
from graphcodec.log._records import Assistant as Assistant
from graphcodec.log._records import Conversation as Conversation
from graphcodec.log._records import FailedAction as FailedAction
from graphcodec.log._records import MemoryFact as MemoryFact
from graphcodec.log._records import Messages as Messages
from graphcodec.log._records import Observation as Observation
from graphcodec.log._records import ObservationEntry as ObservationEntry
from graphcodec.log._records import Reflection as Reflection
from graphcodec.log._records import ReflectionEntry as ReflectionEntry
from graphcodec.log._records import Retracted as Retracted
from graphcodec.log._records import SessionMemory as SessionMemory
from graphcodec.log._records import SessionRecord as SessionRecord
from graphcodec.log._records import Summary as Summary
from graphcodec.log._records import TimeRange as TimeRange
from graphcodec.log._records import ToolResult as ToolResult
from graphcodec.log._records import UnknownRecord as UnknownRecord
from graphcodec.log._records import User as User
from graphcodec.log._records import WorkingMemory as WorkingMemory
from graphcodec.log._records import id_of as id_of
from graphcodec.log._rows import SessionRecordRow as SessionRecordRow
from graphcodec.log._session import SessionLog as SessionLog
from graphcodec.log._sqlite import SqliteDocumentStore as SqliteDocumentStore
from graphcodec.log._tools import Args as Args
from graphcodec.log._tools import MultiCommands as MultiCommands
from graphcodec.log._tools import Tool as Tool
from graphcodec.log._tools import ToolDefinition as ToolDefinition
from graphcodec.log._turns import Answer as Answer
from graphcodec.log._turns import Turn as Turn
from graphcodec.log._turns import effective as effective
from graphcodec.log._turns import orphans as orphans
from graphcodec.log._usage import ContentLogProb as ContentLogProb
from graphcodec.log._usage import GenerationMetadata as GenerationMetadata
from graphcodec.log._usage import LogProbs as LogProbs
from graphcodec.log._usage import ModelId as ModelId
from graphcodec.log._usage import RefusalLogProb as RefusalLogProb
from graphcodec.log._usage import RefusalReason as RefusalReason
from graphcodec.log._usage import SystemFingerprint as SystemFingerprint
from graphcodec.log._usage import Timing as Timing
from graphcodec.log._usage import TokenSnapshot as TokenSnapshot
from graphcodec.log._usage import TopLogProb as TopLogProb
from graphcodec.log._usage import UsageCosting as UsageCosting
from graphcodec.log._usage import UsageReport as UsageReport
from graphcodec.log._words import CostStatus as CostStatus
from graphcodec.log._words import Custom as Custom
from graphcodec.log._words import ExecutionHint as ExecutionHint
from graphcodec.log._words import GenKind as GenKind
from graphcodec.log._words import MessageRole as MessageRole
from graphcodec.log._words import ObservationKind as ObservationKind
from graphcodec.log._words import StopReason as StopReason

__all__ = [
    "AgenticError",
    "Answer",
    "Appended",
    "ArgValue",
    "Args",
    "Assistant",
    "ContentLogProb",
    "Conversation",
    "CostStatus",
    "Custom",
    "Document",
    "DocumentStore",
    "Embedding",
    "Entry",
    "Event",
    "ExecutionHint",
    "Exported",
    "Failed",
    "FailedAction",
    "Flushed",
    "GenKind",
    "GenerationMetadata",
    "ImageContent",
    "LogProbs",
    "MemoryCoordinator",
    "MemoryDocumentStore",
    "MemoryFact",
    "MemoryHierarchy",
    "MemoryStore",
    "MemoryTier",
    "MessageRole",
    "Messages",
    "ModelId",
    "ModelOutput",
    "MultiCommands",
    "Observation",
    "ObservationEntry",
    "ObservationKind",
    "PostgresDocumentStore",
    "Reflection",
    "ReflectionEntry",
    "RefusalLogProb",
    "RefusalReason",
    "Retracted",
    "SessionId",
    "SessionLog",
    "SessionMemory",
    "SessionRecord",
    "SessionRecordRow",
    "SqliteDocumentStore",
    "StopReason",
    "StructuredErrorTrace",
    "StructuredFrame",
    "Subscription",
    "Summary",
    "SystemFingerprint",
    "TextContent",
    "ThinkingContent",
    "TimeRange",
    "Timestamp",
    "Timing",
    "TokenLedger",
    "TokenSnapshot",
    "Tool",
    "ToolCall",
    "ToolDefinition",
    "ToolResult",
    "TopLogProb",
    "Turn",
    "UnknownRecord",
    "UsageCosting",
    "UsageReport",
    "User",
    "UserModelContent",
    "WorkingMemory",
    "atail",
    "audit_key",
    "effective",
    "filter_by_type",
    "from_json",
    "from_primitives",
    "from_record_batch",
    "id_of",
    "inline",
    "memory_key",
    "new_id",
    "offload",
    "orphans",
    "read_parquet",
    "sum_input_tokens",
    "sum_output_tokens",
    "tail",
    "to_json",
    "to_primitives",
    "to_record_batch",
    "to_table",
    "write_parquet",
]

# Tracebacks, pickles and docs should show the public path of a name.
for _name in __all__:
    if isinstance(globals()[_name], type) or callable(globals()[_name]):
        globals()[_name].__module__ = __name__
