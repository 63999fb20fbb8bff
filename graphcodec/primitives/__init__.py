"""The things a conversation is made of; importing them loads attrs and no codec."""

from graphcodec.primitives._artifact import SpooledArtifact as SpooledArtifact
from graphcodec.primitives._conversation import Conversation as Conversation
from graphcodec.primitives._gates import GateRecord as GateRecord
from graphcodec.primitives._gates import TurnGate as TurnGate
from graphcodec.primitives._identity import Identity as Identity
from graphcodec.primitives._json_artifact import (
    SpooledJsonArtifact as SpooledJsonArtifact,
)
from graphcodec.primitives._markdown_artifact import (
    SpooledMarkdownArtifact as SpooledMarkdownArtifact,
)
from graphcodec.primitives._media import Media as Media
from graphcodec.primitives._media import MediaStash as MediaStash
from graphcodec.primitives._message import Message as Message
from graphcodec.primitives._message import Thought as Thought
from graphcodec.primitives._registry import Registry as Registry
from graphcodec.primitives._retrieval import Memory as Memory
from graphcodec.primitives._retrieval import Retrievable as Retrievable
from graphcodec.primitives._tokenizable import Tokenizable as Tokenizable
from graphcodec.primitives._tool_call import ToolCall as ToolCall
from graphcodec.primitives._tool_registry import ToolRegistry as ToolRegistry
from graphcodec.primitives._tools import ArtifactTool as ArtifactTool
from graphcodec.primitives._tools import Tool as Tool
from graphcodec.primitives._trust import ModalityHazard as ModalityHazard
from graphcodec.primitives._trust import TrustTier as TrustTier

__all__ = [
    "ArtifactTool",
    "Conversation",
    "GateRecord",
    "Identity",
    "Media",
    "MediaStash",
    "Memory",
    "Message",
    "ModalityHazard",
    "Registry",
    "Retrievable",
    "SpooledArtifact",
    "SpooledJsonArtifact",
    "SpooledMarkdownArtifact",
    "Thought",
    "Tokenizable",
    "Tool",
    "ToolCall",
    "ToolRegistry",
    "TrustTier",
    "TurnGate",
]

# Tracebacks, pickles and docs should show the public path of a name.
for _name in __all__:
    globals()[_name].__module__ = __name__
