"""Stores that fail, and processes that write until they are killed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from graphcodec.log import Conversation as ConversationRecord
from graphcodec.log import (
    Document,
    MemoryDocumentStore,
    SessionLog,
    SqliteDocumentStore,
    TextContent,
    User,
)


class FailingStore(MemoryDocumentStore):
    """A store that fails while it is told to.

    Attributes:
        fails: Whether a call with these documents fails.
        calls: How often it was asked to write.
    """

    def __init__(self, fails: Callable[[Sequence[Document]], bool]) -> None:
        super().__init__()
        self.fails = fails
        self.calls = 0

    def append(
        self, key: str, documents: Sequence[Document], /
    ) -> Sequence[int | None]:
        """Write documents, or fail as a foreign store may."""
        self.calls += 1
        if self.fails(documents):
            raise RuntimeError("the disk is on fire")
        return super().append(key, documents)


def holding(text: str) -> Callable[[Sequence[Document]], bool]:
    """Return what fails for documents that hold a text."""
    return lambda documents: any(text in d.content for d in documents)


def always(documents: Sequence[Document]) -> bool:
    """Fail."""
    del documents
    return True


def never(documents: Sequence[Document]) -> bool:
    """Don't fail."""
    del documents
    return False


def write(path: str, session: str, first: int, count: int, *, journal: bool) -> None:
    """Append numbered messages, and print each number once `append` has returned."""
    with (
        SqliteDocumentStore(path) as store,
        SessionLog(store, session, journal=journal) as log,
    ):
        for number in range(first, first + count):
            content = TextContent(content=str(number))
            log.append(
                ConversationRecord(message=User(id=f"m-{number}", content=content))
            )
            if journal:
                sys.stdout.write(f"{number}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    write(
        sys.argv[1],
        sys.argv[2],
        int(sys.argv[3]),
        int(sys.argv[4]),
        journal=sys.argv[5] == "journal",
    )
