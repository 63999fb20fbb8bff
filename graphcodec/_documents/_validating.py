"""Documents examined: everything that can be found wrong, not only the first."""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false
# A parsed document is Any until it was looked at.

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from attrs import define, field, frozen

from graphcodec import _formats, _frames
from graphcodec._coding._document import Document, check_limits
from graphcodec._documents._classless import Finder, parse_path, tag_of
from graphcodec._documents._findings import MOST, Finding, Findings
from graphcodec._documents._rules import Rules
from graphcodec._documents._scanning import duplicates, end_of_first
from graphcodec._handlers import Handler, Handlers
from graphcodec._limits import Limits
from graphcodec._paths import Step, excerpt, format_path
from graphcodec._seal import Seal
from graphcodec.codec import Codec
from graphcodec.errors import (
    GraphCodecError,
    HandleError,
    LimitExceededError,
    VersionError,
)
from graphcodec.readers._contracts import Reader, ReaderDescriptor

_BOM: Final = b"\xef\xbb\xbf"
_AT_BYTE: Final = re.compile(r"\(byte (\d+)\)")
_BUILTIN_SCHEMES: Final = ("http", "in-memory")
_MOST_ROUNDS: Final = 50
_THINNED: Final = "a part of it was left out for an error above; mend that first"
_MOST_DECODED: Final = 256 << 20


@frozen(kw_only=True)
class Report:
    """What was found in one document.

    Attributes:
        findings: What is wrong, in the order in which it was found.
        more: Whether it was stopped at the most, so that there may be more.
        format: ``json`` or ``msgpack``; empty if that could not be seen.
        layers: The layers of its frame.
        bytes: Its size as it arrived.
        objects: How many objects it holds.
        nodes: How many nodes.
    """

    findings: tuple[Finding, ...]
    more: bool = False
    format: str = ""
    layers: tuple[str, ...] = ()
    bytes: int = 0
    objects: int = 0
    nodes: int = 0

    @property
    def errors(self) -> int:
        """How many findings are errors."""
        return sum(finding.severity == "error" for finding in self.findings)

    @property
    def warnings(self) -> int:
        """How many findings are warnings."""
        return len(self.findings) - self.errors


def validate(
    data: bytes,
    codec: Codec | None = None,
    *,
    allow_unknown: bool = False,
    most: int = MOST,
) -> Report:
    """Return what is wrong with a document.

    Args:
        data: A document, in a frame or not.
        codec: Whose classes, resolvers, handlers, limits and seal count; if left out,
            the built-in classes, and handles and handlers of any kind are taken for
            good.
        allow_unknown: Whether tags that the codec does not know are mere warnings.
        most: How many findings to stop at.
    """
    examination = _Examination(codec, Findings(most), allow_unknown)
    examination.run(data)
    return examination.report(data)


@define
class _Examination:
    codec: Codec | None
    findings: Findings
    allow_unknown: bool
    layers: tuple[str, ...] = ()
    wire: dict[str, Any] | None = None
    binary: bool = False
    objects: int = 0

    def report(self, data: bytes) -> Report:
        return Report(
            findings=tuple(self.findings.found),
            more=self.findings.full,
            format=_formats.name_of(binary=self.binary)
            if self.wire is not None
            else "",
            layers=self.layers,
            bytes=len(data),
            objects=self.objects,
            nodes=0 if self.wire is None else len(self.wire.get("nodes", [])),
        )

    def run(self, data: bytes) -> None:
        codec = self.codec or Codec()
        shape_of, limits = codec.shape_of, codec.limits
        document = self._opened(data, limits, codec.seal)
        if document is None:
            return
        self.binary = _formats.is_binary(document)
        document = self._parsed(document)
        if self.wire is None:
            return
        for found in duplicates(document, binary=self.binary):
            msg = f"the key {excerpt(found.key)} stands there twice; the last one wins"
            path = wire_path(found.steps)
            self.findings.warning("duplicate-key", msg, path, offset=found.offset)
            if self.findings.full:
                return
        rules = Rules(
            self.wire,
            shape_of,
            self.findings,
            binary=self.binary,
            allow_unknown=self.allow_unknown,
        )
        rules.check()
        self.objects = rules.objects
        try:
            shapes = Document(self.wire, shape_of)
            check_limits(shapes, len(document), limits)
        except LimitExceededError as exc:
            self._tell(exc, "limit")
        self._decode(codec, rules.reader_tags, len(document))

    def _opened(self, data: bytes, limits: Limits, seal: Seal | None) -> bytes | None:
        if len(data) > limits.max_bytes:
            msg = f"max_bytes is {limits.max_bytes:,}, and this has {len(data):,}"
            self.findings.error("limit", msg)
            return None
        try:
            if _frames.is_frame(data):
                self.layers = _frames.names(_frames.parse(data).layers)
            return bytes(_frames.opened(data, limits, seal))
        except GraphCodecError as exc:
            self._tell(exc, "limit" if exc.limit else "frame")
            return None

    def _tell(self, exc: GraphCodecError, kind: str) -> None:
        at_byte = _AT_BYTE.search(exc.message)
        self.findings.error(
            "version" if isinstance(exc, VersionError) else kind,
            exc.message,
            exc.path,
            offset=int(at_byte[1]) if at_byte else None,
            hint=exc.hint,
        )

    def _parsed(self, document: bytes) -> bytes:
        """Parse a document, and return that part of it that could be parsed."""
        if document.startswith(_BOM):
            msg = "the document begins with a byte order mark"
            self.findings.error("syntax", msg, offset=0, hint="write UTF-8 without one")
            document = document.removeprefix(_BOM)
        try:
            self.wire = _formats.read(document)
        except GraphCodecError as exc:
            end = (
                end_of_first(document, binary=self.binary)
                if "trailing characters" in exc.message
                else None
            )
            if end is None:
                self._tell(exc, "limit" if exc.limit else "syntax")
                return document
            count = len(document) - end
            msg = f"{count:,} bytes follow the document"
            self.findings.error("syntax", msg, offset=end)
            document = document[:end]
            try:
                self.wire = _formats.read(document)
            except GraphCodecError as again:
                self._tell(again, "syntax")
        return document

    # What only the classes can say

    def _decode(self, codec: Codec, reader_tags: Iterable[str], size: int) -> None:
        strict = codec.replace(unknown_types="keep", seal=None)
        if self.codec is None:
            strict = strict.replace(handlers=_AnyHandlers())
            elsewhere = [
                tag
                for tag in reader_tags
                if tag.partition(":")[2] not in _BUILTIN_SCHEMES
            ]
            if elsewhere:
                strict.register_resolver(_Anywhere(elsewhere))
        pruned = _Pruned(self.wire or {})
        rounds = min(_MOST_ROUNDS, _MOST_DECODED // max(1, size) + 1)
        for _ in range(rounds):
            if self.findings.full:
                return
            try:
                strict.decode(
                    _formats.write(pruned.wire, _formats.name_of(binary=self.binary))
                )
            except GraphCodecError as exc:
                exc.path = pruned.as_it_was(exc.path)
                if pruned.is_thinned(exc.path):
                    exc.hint = _THINNED
                if not self.findings.wrong(exc.path or "$"):
                    self._tell(exc, "limit" if exc.limit else "value")
                if not pruned.cut():
                    return
            else:
                break
        if self.allow_unknown or any(
            known.severity == "error" for known in self.findings.found
        ):
            return
        # What is no object on the wire can be unknown too, such as an artifact's class.
        options = codec._options  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        strict = strict.replace(unknown_types=options.unknown_types)
        try:
            strict.decode(
                _formats.write(pruned.wire, _formats.name_of(binary=self.binary))
            )
        except GraphCodecError as exc:
            self._tell(exc, "limit" if exc.limit else "value")


@define
class _Pruned:
    """A document from which objects that are wrong are taken out, one by one.

    Decode stops at the first error. Without the object that has it, decode finds the
    next one; where that was, the lists remember by the indices they had at first.

    Attributes:
        wire: The document as it is now.
    """

    wire: dict[str, Any]
    _indices: dict[int, list[int]] = field(factory=dict[int, list[int]], init=False)
    _gone: list[Any] = field(factory=list[Any], init=False)
    _broken: tuple[list[Any], int] | None = field(default=None, init=False)
    _owner: str = field(default="", init=False)
    _thinned: set[str] = field(factory=set[str], init=False)

    def as_it_was(self, path: str) -> str:
        """Return a path in the document as it was at first, and remember what is there.

        Args:
            path: The path in what is left.
        """
        self._broken = None
        try:
            steps = parse_path(path)
            chain = Finder(self.wire).chain(steps)
        except (GraphCodecError, LookupError):
            return path
        if not chain:
            return path
        before = steps[: len(steps) - len(chain)]
        first: list[Step] = []
        for (holder, key), step in zip(chain, steps[-len(chain) :], strict=True):
            if type(holder) is list:
                if tag_of(holder[key]) is not None:
                    self._broken = holder, key
                    self._owner = format_path([*before, *first[:-1]])
                first.append(self._indices.get(id(holder), range(key + 1))[key])
            else:
                first.append(step)
        return format_path([*before, *first])

    def is_thinned(self, path: str) -> bool:
        """Say whether a field is of an object from whose lists something was taken.

        Args:
            path: The field, in the document as it was at first.
        """
        try:
            return format_path(parse_path(path)[:-1]) in self._thinned
        except GraphCodecError:
            return False

    def cut(self) -> bool:
        """Take out the innermost object that stands in a list, if there is one."""
        if self._broken is None:
            return False
        holder, key = self._broken
        indices = self._indices.setdefault(id(holder), list(range(len(holder))))
        self._thinned.add(self._owner)
        # Held, so that the ids of lists in it are not used again.
        self._gone.append(holder.pop(key))
        del indices[key]
        return True


def wire_path(steps: Iterable[Step]) -> str:
    """Return the path of a place that is given by the keys of the wire.

    Args:
        steps: The keys and indices from the outermost map.
    """
    shown = [step for step in steps if not str(step).startswith("$")]
    return format_path(shown[1:] if shown[:1] == ["root"] else shown)


class _AnyHandlers(Handlers):
    """Takes any name of a function for bound."""

    def read(self, wire: Any) -> Handler:
        """Return a function that is never called."""
        return _unbound if type(wire) is str else super().read(wire)


def _unbound(**_: object) -> None:
    """Stand for a function that is bound elsewhere."""


class _Elsewhere(Reader):
    """Stands for bytes that nobody is going to read."""

    def __init__(self, descriptor: ReaderDescriptor) -> None:
        self._descriptor = descriptor

    def describe(self) -> ReaderDescriptor:
        """Return what the reader was made from."""
        return self._descriptor

    def open(self) -> Any:
        """Refuse: whoever validates opens nothing."""
        msg = "the document is validated, and no handle in it is opened"
        raise HandleError(msg)


@frozen
class _Anywhere:
    """Takes the handles of resolvers that are not there."""

    tags: list[str]

    def resolve(self, descriptor: ReaderDescriptor, /) -> Reader:
        """Return a reader that is never opened."""
        return _Elsewhere(descriptor)
