"""Documents in files, wherever fsspec reaches: found, read, and written whole."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# fsspec has no annotations.

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from graphcodec._bulk._compressions import deflated, inflated
from graphcodec._limits import Limits
from graphcodec._process import PerProcess
from graphcodec._replacing import replace_file
from graphcodec.errors import InvalidValueError, LimitExceededError

__all__ = ["Document", "Files", "Found", "Rewrite"]

# Where a file appears when all of it has arrived, so that it needs no second name.
_WHOLE: Final = frozenset(
    ["s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oss", "memory"]
)
_MAGIC: Final = frozenset("*?[")


@frozen
class Found:
    """A document that is there.

    Attributes:
        name: What to call it.
        path: Where it is, as its file system calls it.
        below: Its place below the folder that was asked for, with slashes.
    """

    name: str
    path: str
    below: str


@frozen
class Document:
    """One document to rewrite: a job.

    Attributes:
        name: What to call it in a report.
        source: Where it is, as its file system calls it.
        target: Where the result goes, as its file system calls it.
    """

    name: str
    source: str
    target: str


class Files:
    """The files of one file system, opened anew in each process.

    Args:
        url: A path, or a URL for fsspec; it says which file system it is.
        options: What fsspec needs for the URL: endpoints, credentials. They are pickled
            with this, so that a worker can open it.
    """

    def __init__(self, url: str, options: Mapping[str, object] | None = None) -> None:
        self._url = url
        self._options = dict(options or {})
        self._opened = PerProcess(self._open)

    def __reduce__(self) -> tuple[object, ...]:
        return Files, (self._url, self._options)

    def _open(self) -> tuple[Any, bool]:
        core = import_module("fsspec.core")
        try:
            system, _ = core.url_to_fs(self._url, **self._options)
        except (ValueError, ImportError) as exc:
            msg = f"there is no file system for {self._url!r:.80}: {exc}"
            raise InvalidValueError(msg) from exc
        local = import_module("fsspec.implementations.local").LocalFileSystem
        return system, isinstance(system, local)

    @property
    def system(self) -> Any:
        """The file system of fsspec, of this process."""
        return self._opened.get()[0]

    @property
    def is_local(self) -> bool:
        """Whether it is that of this machine."""
        return self._opened.get()[1]

    def is_like(self, url: str) -> bool:
        """Say whether a path or URL is of a file system of the same kind."""
        return _protocol(url) == _protocol(self._url)

    def path(self, url: str) -> str:
        """Return what the file system calls a place.

        Args:
            url: A path or URL of it.

        Raises:
            InvalidValueError: If it is of another one.
        """
        if not self.is_like(url):
            msg = f"{url!r:.80} is not of the file system of {self._url!r:.80}"
            raise InvalidValueError(msg, hint="take those of one at a time")
        self._opened.get()
        _, path = import_module("fsspec.core").url_to_fs(url, **self._options)
        return str(path).rstrip("/")

    # In

    def find(self, urls: Iterable[str]) -> list[Found]:
        """Return the documents at some places, sorted place by place.

        What is hidden, by a name with a dot in front, in a folder or under a pattern,
        is left out.

        Args:
            urls: Files, folders, and patterns as fsspec has them: ``**/*.json``.

        Raises:
            InvalidValueError: If there is nothing.
        """
        found: list[Found] = []
        for url in urls:
            here = self._at(url)
            if not here:
                raise InvalidValueError(f"there is no document at {url!r:.200}")
            found += here
        return found

    def _at(self, url: str) -> list[Found]:
        path = self.path(url)
        if _MAGIC & set(path):
            infos = self.system.glob(path, detail=True)
            names = [str(n) for n, info in infos.items() if info["type"] == "file"]
            return _below(_root(path), names)
        if self.system.isdir(path):
            return _below(path, map(str, self.system.find(path)))
        if self.system.isfile(path):
            return [Found(url, path, path.rpartition("/")[2])]
        return []

    def read(self, path: str, limits: Limits) -> bytes:
        """Return what a file holds, inflated if its name says that it is compressed.

        Args:
            path: Where it is, as the file system calls it.
            limits: How large it may be.

        Raises:
            LimitExceededError: If it is larger.
            UndecodableValueError: If it is not compressed as its name says.
            OSError: If it can't be read.
        """
        most = limits.max_bytes
        if self.is_local:
            with Path(path).open("rb") as stream:
                data = stream.read(most + 1)
        else:
            data = self.system.cat_file(path, start=0, end=most + 1)
        if len(data) > most:
            msg = f"max_bytes is {most:,}, and this file has more"
            hint = "raise it with Limits(max_bytes=...) if the data is yours"
            raise LimitExceededError(msg, limit="max_bytes", hint=hint)
        return inflated(path, data, limits.max_decompressed)

    # Out

    def there(self, path: str) -> set[str]:
        """Return the files in a folder and those in it, as the file system calls them.

        Args:
            path: The folder, which need not be there.
        """
        return {str(name) for name in self.system.find(path)}

    def exists(self, path: str) -> bool:
        """Say whether there is a file.

        Args:
            path: Where, as the file system calls it.
        """
        if self.is_local:
            return Path(path).exists()
        # What was listed before another process wrote is no answer.
        self.system.invalidate_cache()
        return bool(self.system.exists(path))

    def write(self, path: str, data: bytes) -> None:
        """Write a file as a whole: there is the old or the new one, and no half.

        Folders are made; permissions are kept, and links lead to what is replaced.

        Args:
            path: Where, as the file system calls it.
            data: What it is to hold, compressed if its name says so.

        Raises:
            OSError: If it can't be written.
        """
        data = deflated(path, data)
        if self.is_local:
            _write_local(path, data)
            return
        system = self.system
        if _WHOLE & set(_protocols(system)):
            system.pipe_file(path, data)
            return
        folder, _, name = path.rpartition("/")
        system.makedirs(folder, exist_ok=True)
        fresh = f"{folder}/.{name}.{secrets.token_hex(4)}"
        system.pipe_file(fresh, data)
        system.mv(fresh, path)


@frozen(kw_only=True)
class Rewrite:
    """Writes what a function makes of a document: a work.

    Attributes:
        source: Where the documents are.
        target: Where the results go.
        make: Takes the bytes of a document and gives those of the result; None if
            there is nothing to do.
        limits: How large a document may be.
        replace: Whether a result that is there is made anew. If not, it says that its
            document was done.
    """

    source: Files
    target: Files
    make: Callable[[bytes, Document], bytes | None]
    limits: Limits = field(factory=Limits)
    replace: bool = False

    def __call__(self, document: Document) -> bool:
        """Do one document; say whether there was anything to do."""
        if not self.replace and self.target.exists(document.target):
            return False
        out = self.make(self.source.read(document.source, self.limits), document)
        if out is None:
            return False
        self.target.write(document.target, out)
        return True


def _write_local(path: str, data: bytes) -> None:
    place = Path(path).resolve()
    mode = place.stat().st_mode & 0o7777 if place.exists() else None
    try:
        replace_file(place, data, mode=mode)
    except FileNotFoundError:
        place.parent.mkdir(parents=True, exist_ok=True)
        replace_file(place, data)


def _below(root: str, paths: Iterable[str]) -> list[Found]:
    """Return what is below a folder and not hidden there."""
    start = len(root) + 1 if root else 0
    found = (Found(path, path, path[start:]) for path in sorted(paths))
    return [
        one for one in found if not one.below.startswith(".") and "/." not in one.below
    ]


def _root(pattern: str) -> str:
    """Return the folder above the first part of a path that is a pattern."""
    parts = pattern.split("/")
    first = next(n for n, part in enumerate(parts) if _MAGIC & set(part))
    return "/".join(parts[:first])


def _protocol(url: str) -> str:
    # Of a chain, `zip://*.json::s3://bucket/a.zip`, the first one is what is asked.
    protocol, found, _ = url.partition("://")
    return protocol if found else "file"


def _protocols(system: Any) -> Sequence[str]:
    protocol: str | Sequence[str] = system.protocol
    return [protocol] if isinstance(protocol, str) else protocol
