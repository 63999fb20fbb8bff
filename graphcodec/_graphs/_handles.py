"""The handles in a graph, and whether there is still something behind them."""

from __future__ import annotations

import time
from contextvars import copy_context
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

import attrs

from graphcodec import _parallel
from graphcodec._graphs._traverse import Walk
from graphcodec._live import type_name
from graphcodec.errors import (
    GraphCodecError,
    InvalidValueError,
    StaleHandleError,
)
from graphcodec.readers._contracts import Reader, handle_of
from graphcodec.readers._memory import SCHEME, BytesReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["Finding", "VerifyReport", "handles", "verify"]

State: TypeAlias = Literal["alive", "stale", "gone", "denied", "failed"]

_LONGEST_DETAIL: Final = 300


def handles(graph: object) -> Iterator[tuple[str, object, Reader]]:
    """Yield every reader in a graph, in the order of the document; nothing is opened.

    A reader is met once in each of its owners: the objects in whose fields it lies, at
    any depth of containers. Outside all objects, the graph itself is the owner.

    Args:
        graph: A primitive, or any value that a graph may be. See `persist` for what is
            looked into.

    Yields:
        The path, such as ``$.items[3].attachments[0].reader``, the owner, the reader.
    """
    walk = Walk(graph, per_owner=True)
    for owner, met in walk:
        if isinstance(met, Reader):
            yield walk.path(), owner, met


class Finding(NamedTuple):
    """What was found out about one handle.

    Attributes:
        path: Where in the graph it is.
        tag: The family and scheme it is written with, such as ``media:http``; the name
            of the class in place of the scheme if it can't be written.
        detail: What is wrong, or how many bytes were read.
        bytes: How many there are, if that is known without reading them all.
        seconds: How long it took to find out.
    """

    path: str
    tag: str
    detail: str
    bytes: int | None = None
    seconds: float = 0.0


@attrs.frozen(kw_only=True)
class VerifyReport:
    """What `verify` found, each in the order of the document.

    Attributes:
        alive: Handles that open.
        stale: Those behind which are other bytes than were pinned.
        gone: Those behind which there is nothing any more.
        denied: Those that a policy or a store does not let be opened.
        failed: Those that could not be opened for any other reason.
    """

    alive: tuple[Finding, ...] = ()
    stale: tuple[Finding, ...] = ()
    gone: tuple[Finding, ...] = ()
    denied: tuple[Finding, ...] = ()
    failed: tuple[Finding, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every handle opens."""
        return not (self.stale or self.gone or self.denied or self.failed)


def verify(
    graph: object,
    *,
    content: bool = False,
    timeout: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> VerifyReport:
    """Open every handle in a graph, several at once, and say what became of them.

    A reader that is met more than once is opened once.

    Args:
        graph: See `handles`.
        content: Whether to read everything, which alone proves a pinned hash. If not,
            no more is read than it takes to have the first byte.
        timeout: How long one reader may take, in seconds; it has failed if it takes
            longer, and is left to itself.
        progress: Is called after each reader with the number of those done and of all.

    Raises:
        InvalidValueError: If *timeout* is no time.
    """
    places = [_Place(*found) for found in handles(graph)]
    readers = [place.reader for place in places]
    verdicts = examined(readers, content=content, timeout=timeout, progress=progress)
    return _report(places, verdicts)


def examined(
    readers: Sequence[Reader],
    *,
    content: bool,
    timeout: float | None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Verdict]:
    """Open readers, several at once and each once, and say what became of each.

    Args:
        readers: The readers; the same one may be met again.
        content: See `verify`.
        timeout: See `verify`.
        progress: See `verify`.

    Raises:
        InvalidValueError: If *timeout* is no time.
    """
    if timeout is not None and not timeout > 0:
        raise InvalidValueError("timeout: must be more than 0 seconds", value=timeout)
    met = {id(reader): reader for reader in readers}
    found: dict[int, Verdict] = {}

    def look(reader: Reader) -> Verdict:
        return _timed(partial(_examine, reader, content=content), timeout)

    def done(reader: Reader, verdict: Verdict) -> None:
        found[id(reader)] = verdict
        if progress is not None:
            progress(len(found), len(met))

    _parallel.run(list(met.values()), look, done)
    return [found[id(reader)] for reader in readers]


class _Place(NamedTuple):
    path: str
    owner: object
    reader: Reader


class Verdict(NamedTuple):
    """What became of one reader, wherever it was met.

    Attributes:
        state: Whether it opens, and if not, why.
        detail: As in a `Finding`.
        bytes: As in a `Finding`.
        seconds: As in a `Finding`.
    """

    state: State
    detail: str = ""
    bytes: int | None = None
    seconds: float = 0.0


def _report(places: list[_Place], verdicts: list[Verdict]) -> VerifyReport:
    findings: dict[State, list[Finding]] = {}
    for place, verdict in zip(places, verdicts, strict=True):
        tag = _tag(place.owner, place.reader)
        finding = Finding(place.path, tag, *verdict[1:])
        findings.setdefault(verdict.state, []).append(finding)
    return VerifyReport(**{state: tuple(many) for state, many in findings.items()})


def _timed(examine: Callable[[], Verdict], timeout: float | None) -> Verdict:
    """Return a verdict with the time it took, or that it took too long."""
    began = time.monotonic()
    if timeout is None:
        verdict = examine()
    else:
        found = [Verdict("failed", f"there was no answer within {timeout:g} seconds")]
        # A thread can't be ended; one that hangs must at least not hold up the exit.
        run = copy_context().run
        thread = Thread(target=lambda: found.append(run(examine)), daemon=True)
        thread.start()
        thread.join(timeout)
        verdict = found[-1]
    return verdict._replace(seconds=time.monotonic() - began)


def _examine(reader: Reader, *, content: bool) -> Verdict:
    try:
        return _read(reader, content=content)
    except StaleHandleError as exc:
        return Verdict("stale", detail_of(exc))
    except FileNotFoundError as exc:
        return Verdict("gone", detail_of(exc))
    except PermissionError as exc:
        return Verdict("denied", detail_of(exc))
    except Exception as exc:  # noqa: BLE001 - one bad reader must not hide the others
        return Verdict("failed", detail_of(exc))


def _read(reader: Reader, *, content: bool) -> Verdict:
    if content:
        count = sum(map(len, reader.iter_bytes()))
        return Verdict("alive", f"{count} bytes", count)
    with reader.open() as stream:
        stream.read(1)
    return Verdict("alive", "", reader.byte_length())


def detail_of(exc: Exception) -> str:
    """Return what an error says, if it is known to say nothing secret."""
    name = type_name(type(exc))
    if isinstance(exc, GraphCodecError):
        text = f"{exc.message}; {exc.hint}" if exc.hint else exc.message
    elif isinstance(exc, OSError) and exc.strerror:
        text = f"{name}: {exc.strerror}"
    else:
        # The text of a foreign error may hold a URL with everything that is in it.
        text = name
    return text if len(text) <= _LONGEST_DETAIL else f"{text[: _LONGEST_DETAIL - 1]}…"


def _tag(owner: object, reader: Reader) -> str:
    family: str = getattr(owner, "__graphcodec_family__", "media")
    return f"{family}:{_scheme(reader)}"


def _scheme(reader: Reader) -> str:
    if isinstance(reader, BytesReader):
        # Its descriptor would be a copy of all its bytes.
        return SCHEME
    descriptor = handle_of(reader)
    return type(reader).__name__ if descriptor is None else descriptor.scheme
