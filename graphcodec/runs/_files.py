"""Runs and their events as files."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, cast

from graphcodec._replacing import replace_file
from graphcodec.errors import GraphCodecError, UndecodableValueError
from graphcodec.runs._builder import RunDataBuilder
from graphcodec.runs._bus import EventBus, Subscription
from graphcodec.runs._data import RunData
from graphcodec.runs._events import Event
from graphcodec.runs._forms import plain_codec, tree_codec
from graphcodec.runs._portable import portable

if TYPE_CHECKING:
    from graphcodec.codec import Codec

__all__ = ["EventFile", "JsonFile"]

_CUT: Final = b" # cut\n"
"""What ends a line that a kill left open; no document ends like that."""

StrPath = str | os.PathLike[str]


class JsonFile:
    """A whole run as one JSON file, in the documented form."""

    @staticmethod
    def write(path: StrPath, run: RunData) -> None:
        """Write *run* to *path*; folders are made where missing.

        Nobody sees half a file: it is written beside the old one, which it replaces.

        Args:
            path: The file.
            run: The run.

        Raises:
            UnencodableValueError: If a value in it has no wire form.
            OSError: If the file can't be written.
        """
        text = json.dumps(run.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, text.encode("utf-8", "surrogatepass") + b"\n")

    @staticmethod
    def read(path: StrPath) -> RunData:
        """Return the run that a file holds.

        Args:
            path: A file by `write`, or one in the documented form.

        Raises:
            UndecodableValueError: If it holds no run.
            OSError: If it can't be read.
        """
        try:
            form: object = json.loads(Path(path).read_bytes())
        except (ValueError, RecursionError) as exc:
            msg = f"{Path(path).name} is no JSON file: {exc}"
            raise UndecodableValueError(msg) from exc
        if not isinstance(form, dict):
            msg = f"{Path(path).name} holds no run"
            raise UndecodableValueError(msg, path="$")
        if "graphcodec" in form and "run_id" not in form:
            msg = f"{Path(path).name} holds a document, and no run"
            hint = "graphcodec inspect shows it"
            raise UndecodableValueError(msg, path="$", hint=hint)
        return RunData.from_dict(cast("Mapping[str, object]", form))


class EventFile:
    """Events as they come, a line each; what was written survives a kill.

    ::

        with EventFile("run.events", bus=bus):
            ...
        run = EventFile.rebuild("run.events")

    Args:
        path: The file, which is appended to. A last line that was cut off, as a kill
            leaves it, is ended first.
        bus: The bus to listen to; without one, call `write`.
        codec: What encodes the events, for values of classes of your own.
        fsync: Whether each event is to survive a power failure, too; slow.
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
        # Without a buffer: what `write` has written, no kill takes back.
        self._file = target.open("ab", buffering=0)
        self._is_cut = _ends_open(target)
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
            if self._is_cut:
                line = _CUT + line
            # One call: lines of several processes don't mix.
            written = self._file.write(line)
            if written < len(line):
                self._write_rest(line[written:])
            self._is_cut = False
            if self._fsync:
                os.fsync(self._file.fileno())

    def _write_rest(self, rest: bytes) -> None:
        """Write what a disk that is nearly full did not take at once, or say why."""
        self._is_cut = True
        while rest:
            rest = rest[self._file.write(rest) :]

    def close(self) -> None:
        """Listen to the bus no more, and close the file."""
        if self._subscription is not None:
            self._subscription.cancel()
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
    def read(path: StrPath, *, codec: "Codec | None" = None) -> Iterator[Event]:
        """Yield the events of a file in order; a last line that was cut off is not one.

        Args:
            path: The file.
            codec: What decodes them.

        Raises:
            UndecodableValueError: If another line is no event; says which.
            OSError: If the file can't be read.
        """
        codec = codec or plain_codec()
        with Path(path).open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.endswith(b"\n") and line.strip():
                    event = _event(codec, line, number)
                    if event is not None:
                        yield event

    @staticmethod
    def rebuild(path: StrPath, *, codec: "Codec | None" = None) -> RunData:
        """Return the run that the events of a file tell.

        Args:
            path: The file; that of a run which was killed will do.
            codec: What decodes them.

        Raises:
            UndecodableValueError: If a line is no event; says which.
            OSError: If the file can't be read.
        """
        builder = RunDataBuilder()
        for event in EventFile.read(path, codec=codec):
            builder.handle(event)
        return builder.snapshot()


def _event(codec: "Codec", line: bytes, number: int) -> Event | None:
    """Return the event of a line; None for one that was cut off and ended later."""
    try:
        event = codec.decode(line.removesuffix(_CUT))
    except GraphCodecError as exc:
        if line.endswith(_CUT):
            return None
        msg = f"line {number} is no event: {exc.message}"
        raise UndecodableValueError(msg, path=exc.path, hint=exc.hint) from exc
    if not isinstance(event, Event):
        msg = f"line {number} holds a {type(event).__name__}, which is no event"
        raise UndecodableValueError(msg, path="$")
    return event


def _ends_open(path: Path) -> bool:
    """Say whether the last line of a file was cut off."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if not size:
            return False
        file.seek(size - 1)
        return file.read(1) != b"\n"
