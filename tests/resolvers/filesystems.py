"""File systems of fsspec for tests; fsspec has no types, so this is where Any ends."""

from __future__ import annotations

from importlib import import_module
from typing import Any, TypeAlias

FileSystem: TypeAlias = Any

_fsspec: Any = import_module("fsspec")
_memory: Any = import_module("fsspec.implementations.memory").MemoryFileSystem


def filesystem(protocol: str, **options: object) -> FileSystem:
    """Return a file system of fsspec."""
    return _fsspec.filesystem(protocol, **options)


def split(url: str) -> tuple[FileSystem, str]:
    """Return the file system of a URL, and the path in it."""
    fs, path = _fsspec.core.url_to_fs(url)
    return fs, str(path)


class PlainFileSystem(_memory):  # type: ignore[misc]
    """Stands for a service: it has ETags, signs URLs, and nothing special is known."""

    protocol = "plain"

    def info(self, path: str, **kwargs: object) -> dict[str, object]:
        """Return facts about an object, its ETag among them."""
        info: dict[str, object] = _memory.info(self, path, **kwargs)
        return {**info, "ETag": f'"{info["created"]}"'} if "created" in info else info

    def sign(self, path: str, expiration: int = 100, **_kwargs: object) -> str:
        """Return a URL that holds for a while."""
        return f"https://h.example/{path}?expires={expiration}"


class ForbiddenFileSystem:
    """A file system that does not let us in."""

    protocol = "forbidden"
    async_impl = False
    storage_args = ()

    def __init__(self) -> None:
        self.storage_options: dict[str, object] = {}

    def info(self, path: str) -> dict[str, object]:
        """Refuse."""
        raise PermissionError(13, "Forbidden", path)


class RemoteFileSystem:
    """A file system that holds a connection."""

    protocol = "remote"
    async_impl = True

    def __init__(
        self, host: str, *, token: str, skip_instance_cache: bool = False
    ) -> None:
        self.given = (host, token, skip_instance_cache)
        self.storage_args = (host,)
        self.storage_options = {"token": token}


FORBIDDEN: FileSystem = ForbiddenFileSystem()
PLAIN: FileSystem = PlainFileSystem()
