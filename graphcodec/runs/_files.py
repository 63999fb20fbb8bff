"""Runs and their events as files."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, cast

from attrs import define

from graphcodec._limits import Limits
from graphcodec._paths import excerpt
from graphcodec._replacing import replace_file
from graphcodec._unknown import OpaqueNode
from graphcodec.errors import GraphCodecError, UndecodableValueError, VersionError
from graphcodec.runs._appending import CUT, appender
from graphcodec.runs._builder import RunDataBuilder
from graphcodec.runs._bus import EventBus, Subscription
from graphcodec.runs._data import SCHEMA_VERSION, RunData
from graphcodec.runs._events import Event, UnknownEvent
from graphcodec.runs._forms import plain_codec, to_time, tree_codec
from graphcodec.runs._packing import (
    CAREFUL,
    Unpacked,
    lines,
    packed,
    plain_name,
    unpacked,
)
from graphcodec.runs._portable import portable

if TYPE_CHECKING:
    from graphcodec.codec import Codec

__all__ = ["EventFile", "JsonFile"]

StrPath = str | os.PathLike[str]

_EVENT_FILES: Final = (".events", ".jsonl")
_TAG: Final = "run:"


class JsonFile:
    """A whole run as one JSON file, in the documented form.

    A file whose name ends in ``.gz`` or ``.zst`` is compressed with gzip or zstd.
    """

    @staticmethod
    def write(path: StrPath, run: RunData) -> None:
        """Write *run* to *path*; folders are made where missing.

        Nobody sees half a file: it is written beside the old one, which it replaces.

        Args:
            path: The file.
            run: The run.

        Raises:
            UnencodableValueError: If a value in it has no wire form.
            InvalidValueError: If the file is to be compressed with what is not
                installed.
            OSError: If the file can't be written.
        """
        target = Path(path)
        data = packed(json_of(run), target)
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, data)

    @staticmethod
    def read(path: StrPath, *, limits: Limits | None = None) -> RunData:
        """Return the run that a file holds.

        Args:
            path: A file by `write`, or one in the documented form.
            limits: How much a compressed file may be when inflated.

        Raises:
            UndecodableValueError: If it holds no run.
            VersionError: If it is by a later version, and this one would misread it.
            LimitExceededError: If it is too large when inflated.
            OSError: If it can't be read.
        """
        name = Path(path).name
        try:
            with Path(path).open("rb") as file:
                form: object = json.loads(unpacked(file, limits or Limits()))
        except GraphCodecError as exc:
            exc.message = f"{name} can't be read: {exc.message}"
            raise
        except (ValueError, RecursionError) as exc:
            msg = f"{name} is no JSON file: {exc}"
            raise UndecodableValueError(msg) from exc
        if not isinstance(form, dict):
            msg = f"{name} holds no run"
            raise UndecodableValueError(msg, path="$")
        if "graphcodec" in form and "run_id" not in form:
            msg = f"{name} holds a document, and no run"
            hint = "graphcodec inspect shows it"
            raise UndecodableValueError(msg, path="$", hint=hint)
        return RunData.from_dict(cast("Mapping[str, object]", form))


def json_of(run: RunData) -> bytes:
    """Return what a run file holds, uncompressed.

    Args:
        run: The run.

    Raises:
        UnencodableValueError: If a value in it has no wire form.
    """
    # At the end: readers of the documented form know the keys before it.
    form = {**run.to_dict(), "schema_version": SCHEMA_VERSION}
    text = json.dumps(form, indent=2, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "surrogatepass") + b"\n"


def is_event_file(path: Path) -> bool:
    """Say whether a file holds events, as its name says, and not a whole run.

    Args:
        path: The file; ``.events`` or ``.jsonl``, compressed or not.
    """
    return plain_name(path).suffix.lower() in _EVENT_FILES


class EventFile:
    """Events as they come, a line each; what was written survives a kill.

    ::

        with EventFile("run.events", bus=bus):
            ...
        run = EventFile.rebuild("run.events")

    A file whose name ends in ``.gz`` or ``.zst`` is compressed with gzip or zstd, in
    a way that can be read up to the last event. It is for one process at a time; into
    one that is not compressed, several may write.

    Args:
        path: The file, which is appended to. A last line that was cut off, as a kill
            leaves it, is ended first.
        bus: The bus to listen to; without one, call `write`.
        codec: What encodes the events, for values of classes of your own.
        fsync: Whether each event is to survive a power failure, too; slow.

    Raises:
        InvalidValueError: If it is to be compressed with what is not installed.
        UndecodableValueError: If the file is there, and is not compressed as its name
            says, or is damaged.
        OSError: If it can't be opened.
    """

    def __init__(
        self,
        path: StrPath,
        *,
        bus: EventBus | None = None,
        codec: "Codec | None" = None,
        fsync: bool = False,
    ) -> None:
        self._codec = codec or plain_codec()
        self._values = tree_codec(codec)
        self._fsync = fsync
        self._lock = Lock()
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        self._file = appender(target)
        self._subscription: Subscription | None = None
        if bus is not None:
            self._subscription = bus.subscribe(handler=self.write)

    def write(self, event: Event) -> None:
        """Append one event; it is in the file when this returns.

        Args:
            event: Any event. What can't be written in it is replaced by a text.

        Raises:
            OSError: If the disk is full, say.
        """
        event = portable(event, self._values)
        line = self._codec.encode_text(event).encode() + b"\n"
        with self._lock:
            self._file.append(line)
            if self._fsync:
                self._file.sync()

    def close(self) -> None:
        """Listen to the bus no more, and close the file; a second time does no harm."""
        if self._subscription is not None:
            self._subscription.cancel()
        with self._lock:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @staticmethod
    def read(
        path: StrPath,
        *,
        codec: "Codec | None" = None,
        limits: Limits | None = None,
        on_gap: Callable[[UndecodableValueError], object] | None = None,
    ) -> Iterator[Event]:
        """Yield the events of a file in order; a last line that was cut off is not one.

        An event of a kind that this version does not know is an `UnknownEvent`.

        Args:
            path: The file.
            codec: What decodes them.
            limits: How much a compressed file may be when inflated.
            on_gap: Called, for each stretch of lines that are no events, with an error
                that says which; the lines after it are read all the same. Without it,
                that error is raised.

        Raises:
            UndecodableValueError: If a line is no event; says which.
            VersionError: If an event is by a later version, and this one would misread
                it.
            LimitExceededError: If the file is too large when inflated.
            OSError: If the file can't be read.
        """
        # What only a newer version knows, or a codec with more classes, is kept.
        codec = (codec or plain_codec()).replace(unknown_types="keep")
        gaps = _Gaps(on_gap)
        with Path(path).open("rb") as file:
            pieces = Unpacked(file, limits or Limits(), step=CAREFUL)
            for number, line in _numbered(pieces, gaps):
                try:
                    event = _event(codec, line, number)
                except VersionError as exc:
                    exc.message = f"line {number}: {exc.message}"
                    raise
                except UndecodableValueError as exc:
                    gaps.add(number, exc)
                    continue
                gaps.end()
                if event is not None:
                    yield event
        gaps.end()

    @staticmethod
    def rebuild(
        path: StrPath, *, codec: "Codec | None" = None, limits: Limits | None = None
    ) -> RunData:
        """Return the run that the events of a file tell.

        Lines that are no events, as a damaged disk leaves them, cost what they said and
        no more: they are noted in `RunData.anomalies`.

        Args:
            path: The file; that of a run which was killed will do.
            codec: What decodes them.
            limits: How much a compressed file may be when inflated.

        Raises:
            UndecodableValueError: If no line is an event, but some should be.
            VersionError: If an event is by a later version, and this one would misread
                it.
            LimitExceededError: If the file is too large when inflated.
            OSError: If the file can't be read.
        """
        builder = RunDataBuilder()
        feed(builder, path, codec=codec, limits=limits)
        return builder.snapshot()


def feed(
    builder: RunDataBuilder,
    path: StrPath,
    *,
    codec: "Codec | None" = None,
    limits: Limits | None = None,
) -> None:
    """Tell a builder of the events of a file, and of the lines that are none.

    Args:
        builder: The builder.
        path: The file.
        codec: See `EventFile.read`.
        limits: See `EventFile.read`.

    Raises:
        UndecodableValueError: See `EventFile.rebuild`.
    """
    gaps: list[UndecodableValueError] = []
    events = EventFile.read(path, codec=codec, limits=limits, on_gap=gaps.append)
    for event in events:
        builder.handle(event)
    if gaps and builder.run_data is None:
        raise gaps[0]
    for gap in gaps:
        builder.note(f"{Path(path).name}: {gap.message}")


# Lines


@define
class _Gaps:
    """Stretches of lines that are no events.

    Attributes:
        tell: What is told of each; without it, the first line is raised.
        first: The number of the first line of the one that is open.
        last: The number of its last line so far.
        error: What is wrong with its first line; None if none is open.
    """

    tell: Callable[[UndecodableValueError], object] | None
    first: int = 0
    last: int = 0
    error: UndecodableValueError | None = None

    def add(self, number: int, error: UndecodableValueError) -> None:
        """Begin a stretch, or go on with it."""
        if self.tell is None:
            raise error
        if self.error is None:
            self.first, self.error = number, error
        self.last = number

    def end(self) -> None:
        """Tell of the stretch that is open, if one is."""
        error, self.error = self.error, None
        if error is None or self.tell is None:
            return
        if self.last > self.first:
            lines = f"lines {self.first} to {self.last} are no events"
            error.message = f"{lines}; of the first, {error.message}"
        self.tell(error)


def _numbered(pieces: Unpacked, gaps: _Gaps) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that may be events; what can't be inflated is a gap."""
    number = 0
    try:
        for number, line in enumerate(lines(pieces), 1):
            if line.endswith(b"\n") and line.strip():
                yield number, line
    except UndecodableValueError as exc:
        exc.message = f"what follows line {number} can't be read: {exc.message}"
        gaps.add(number + 1, exc)


def _event(codec: "Codec", line: bytes, number: int) -> Event | None:
    """Return the event of a line; None for one that was cut off and ended later."""
    try:
        event = codec.decode(line.removesuffix(CUT))
    except VersionError as exc:
        exc.message = f"line {number}: {exc.message}"
        raise
    except GraphCodecError as exc:
        if line.endswith(CUT):
            return None
        msg = f"line {number} is no event: {exc.message}"
        raise UndecodableValueError(msg, path=exc.path, hint=exc.hint) from exc
    if isinstance(event, OpaqueNode):
        if event.tag.startswith(_TAG):
            return _newer(line, event.tag.removeprefix(_TAG))
        msg = f"line {number} is no event: its tag is {excerpt(event.tag)}"
        raise UndecodableValueError(msg, path="$")
    if not isinstance(event, Event):
        msg = f"line {number} holds a {type(event).__name__}, which is no event"
        raise UndecodableValueError(msg, path="$")
    return event


def _newer(line: bytes, name: str) -> Event:
    """Return an event of a kind that only a later version knows."""
    document = json.loads(line)
    root: dict[str, object] = document["root"]
    shared = {key: document[key] for key in document if key == "nodes"}
    payload = {key: root[key] for key in root if key not in ("$type", "time")}
    time = {"time": to_time(root["time"], "$.time")} if "time" in root else {}
    return UnknownEvent(name=name, payload={**payload, **shared}, **time)
