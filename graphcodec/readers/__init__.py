"""Readers re-open bytes, resolvers make readers, stores keep bytes."""

from graphcodec.readers._contracts import JSON as JSON
from graphcodec.readers._contracts import ByteStore as ByteStore
from graphcodec.readers._contracts import Reader as Reader
from graphcodec.readers._contracts import ReaderDescriptor as ReaderDescriptor
from graphcodec.readers._contracts import Resolver as Resolver
from graphcodec.readers._memory import BytesReader as BytesReader
from graphcodec.readers._memory import BytesStore as BytesStore
from graphcodec.readers._memory import InMemoryResolver as InMemoryResolver
from graphcodec.readers._stream import StreamReader as StreamReader
from graphcodec.readers._unbound import UnboundReader as UnboundReader

__all__ = [
    "JSON",
    "ByteStore",
    "BytesReader",
    "BytesStore",
    "InMemoryResolver",
    "Reader",
    "ReaderDescriptor",
    "Resolver",
    "StreamReader",
    "UnboundReader",
]
