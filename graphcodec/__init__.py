"""Conversation graphs in, bytes out, the same typed graph back.

Names load when they are first used: ``import graphcodec.primitives`` brings attrs and
no codec.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphcodec import errors as errors
    from graphcodec._classes._marks import encodable as encodable
    from graphcodec._classes._marks import extra as extra
    from graphcodec._forging import forge_tools as forge_tools
    from graphcodec._graphs._handles import Finding as Finding
    from graphcodec._graphs._handles import VerifyReport as VerifyReport
    from graphcodec._graphs._handles import handles as handles
    from graphcodec._graphs._handles import verify as verify
    from graphcodec._graphs._persist import apersist as apersist
    from graphcodec._graphs._persist import persist as persist
    from graphcodec._graphs._trust import TrustPolicy as TrustPolicy
    from graphcodec._limits import Limits as Limits
    from graphcodec._seal import Seal as Seal
    from graphcodec._unknown import OpaqueMember as OpaqueMember
    from graphcodec._unknown import OpaqueNode as OpaqueNode
    from graphcodec.codec import Codec as Codec
    from graphcodec.codec import configure_converter as configure_converter
    from graphcodec.codec import decode as decode
    from graphcodec.codec import encode as encode
    from graphcodec.codec import encode_text as encode_text
    from graphcodec.primitives import ArtifactTool as ArtifactTool
    from graphcodec.primitives import Conversation as Conversation
    from graphcodec.primitives import GateRecord as GateRecord
    from graphcodec.primitives import Identity as Identity
    from graphcodec.primitives import Media as Media
    from graphcodec.primitives import Memory as Memory
    from graphcodec.primitives import Message as Message
    from graphcodec.primitives import ModalityHazard as ModalityHazard
    from graphcodec.primitives import Registry as Registry
    from graphcodec.primitives import Retrievable as Retrievable
    from graphcodec.primitives import SpooledArtifact as SpooledArtifact
    from graphcodec.primitives import SpooledJsonArtifact as SpooledJsonArtifact
    from graphcodec.primitives import SpooledMarkdownArtifact as SpooledMarkdownArtifact
    from graphcodec.primitives import Thought as Thought
    from graphcodec.primitives import Tokenizable as Tokenizable
    from graphcodec.primitives import Tool as Tool
    from graphcodec.primitives import ToolCall as ToolCall
    from graphcodec.primitives import ToolRegistry as ToolRegistry
    from graphcodec.primitives import TrustTier as TrustTier
    from graphcodec.primitives import TurnGate as TurnGate
    from graphcodec.primitives._tool_runs import ToolEnded as ToolEnded
    from graphcodec.primitives._tool_runs import ToolStarted as ToolStarted
    from graphcodec.readers import BytesReader as BytesReader
    from graphcodec.readers import BytesStore as BytesStore
    from graphcodec.readers import ByteStore as ByteStore
    from graphcodec.readers import Reader as Reader
    from graphcodec.readers import ReaderDescriptor as ReaderDescriptor
    from graphcodec.readers import Resolver as Resolver
    from graphcodec.readers import StreamReader as StreamReader
    from graphcodec.redaction import RedactedPlace as RedactedPlace
    from graphcodec.redaction import Redaction as Redaction
    from graphcodec.redaction import RedactionReport as RedactionReport
    from graphcodec.redaction import redact as redact

__version__ = "0.1.0"

_HOMES = {
    "graphcodec._forging": ("forge_tools",),
    "graphcodec._graphs._handles": ("Finding", "VerifyReport", "handles", "verify"),
    "graphcodec._limits": ("Limits",),
    "graphcodec._classes._marks": ("encodable", "extra"),
    "graphcodec._graphs._persist": ("apersist", "persist"),
    "graphcodec._seal": ("Seal",),
    "graphcodec._graphs._trust": ("TrustPolicy",),
    "graphcodec._unknown": ("OpaqueMember", "OpaqueNode"),
    "graphcodec.codec": (
        "Codec",
        "configure_converter",
        "decode",
        "encode",
        "encode_text",
    ),
    "graphcodec.primitives": (
        "ArtifactTool",
        "Conversation",
        "GateRecord",
        "Identity",
        "Media",
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
    ),
    "graphcodec.primitives._tool_runs": ("ToolEnded", "ToolStarted"),
    "graphcodec.readers": (
        "ByteStore",
        "BytesReader",
        "BytesStore",
        "Reader",
        "ReaderDescriptor",
        "Resolver",
        "StreamReader",
    ),
    "graphcodec.redaction": (
        "RedactedPlace",
        "Redaction",
        "RedactionReport",
        "redact",
    ),
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "ArtifactTool",
    "ByteStore",
    "BytesReader",
    "BytesStore",
    "Codec",
    "Conversation",
    "Finding",
    "GateRecord",
    "Identity",
    "Limits",
    "Media",
    "Memory",
    "Message",
    "ModalityHazard",
    "OpaqueMember",
    "OpaqueNode",
    "Reader",
    "ReaderDescriptor",
    "RedactedPlace",
    "Redaction",
    "RedactionReport",
    "Registry",
    "Resolver",
    "Retrievable",
    "Seal",
    "SpooledArtifact",
    "SpooledJsonArtifact",
    "SpooledMarkdownArtifact",
    "StreamReader",
    "Thought",
    "Tokenizable",
    "Tool",
    "ToolCall",
    "ToolEnded",
    "ToolRegistry",
    "ToolStarted",
    "TrustPolicy",
    "TrustTier",
    "TurnGate",
    "VerifyReport",
    "apersist",
    "configure_converter",
    "decode",
    "encodable",
    "encode",
    "encode_text",
    "errors",
    "extra",
    "forge_tools",
    "handles",
    "persist",
    "redact",
    "verify",
]


def __getattr__(name: str) -> object:
    if name == "errors":
        return import_module("graphcodec.errors")
    if name not in _MODULES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
