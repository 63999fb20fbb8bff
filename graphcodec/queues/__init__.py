"""Graphs for worker processes: a queue of documents, and pools that open handles."""

from graphcodec.queues._queue import GraphQueue
from graphcodec.queues._workers import worker_codec

__all__ = ["GraphQueue", "worker_codec"]
