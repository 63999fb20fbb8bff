"""Open-ended notes on an event, a message or an example."""

from collections.abc import Iterator, Mapping, MutableMapping
from typing import ClassVar, NoReturn, Self, cast

__all__ = ["Metadata"]


class Metadata(MutableMapping[str, object]):
    """A mapping whose entries are attributes, too, and whose maps are Metadata.

    ::

        metadata = Metadata(model="m-1")
        with metadata.scope("tracing", "tokens") as tokens:
            tokens.input = 12
        metadata.dig("tracing", "tokens", "input")  # 12

    Maps are taken over deeply, also those in lists, so that what was written down and
    read again looks the same. A key that is no identifier, or that is the name of a
    method, is reached by item access. Equal to any mapping with equal entries.

    Args:
        entries: What to begin with; copied.
        **more: Further entries.
    """

    __slots__ = ("_entries",)
    __hash__: ClassVar[None]  # type: ignore[assignment]  # mutable, compared by value

    __graphcodec_tag__: ClassVar[str] = "run:Metadata"

    _entries: dict[str, object]

    def __init__(
        self, entries: Mapping[str, object] | None = None, /, **more: object
    ) -> None:
        object.__setattr__(self, "_entries", {})
        self.update(entries or {}, **more)

    def scope(self, *keys: str) -> "Metadata":
        """Return the metadata at the end of *keys*, made on the way where missing.

        It can be used in a ``with`` statement, for its looks.

        Args:
            *keys: At least one.

        Raises:
            TypeError: If there are no keys, or one of them holds something else.
        """
        if not keys:
            msg = "scope takes at least one key"
            raise TypeError(msg)
        here = self
        for key in keys:
            found = here._entries.setdefault(_checked(key), Metadata())
            if not isinstance(found, Metadata):
                msg = f"{key!r} holds a {type(found).__name__}, not metadata"
                raise TypeError(msg)
            here = found
        return here

    def dig(self, *keys: str | int) -> object:
        """Return what lies at the end of *keys*, None if the way leads nowhere.

        Args:
            *keys: Keys of maps, and indexes of lists.
        """
        here: object = self if keys else None
        for key in keys:
            try:
                here = cast("dict[object, object]", here)[key]
            except (KeyError, IndexError, TypeError):
                return None
        return here

    def merge(self, other: Mapping[str, object]) -> "Metadata":
        """Return new metadata with the entries of both; *other* wins.

        Args:
            other: What to add, at the top level.
        """
        return Metadata({**self._entries, **other})

    def to_dict(self) -> dict[str, object]:
        """Return plain dicts and lists with the same content."""
        return {key: _plain(value) for key, value in self._entries.items()}

    def __getitem__(self, key: str) -> object:
        return self._entries[key]

    def __setitem__(self, key: str, value: object) -> None:
        self._entries[_checked(key)] = _taken(value)

    def __delitem__(self, key: str) -> None:
        del self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") or name == "_entries":
            raise AttributeError(name)
        try:
            return self._entries[name]
        except KeyError:
            msg = f"no entry {name!r} in this metadata"
            raise AttributeError(msg, name=name, obj=self) from None

    def __setattr__(self, name: str, value: object) -> None:
        if hasattr(type(self), name):
            msg = f"{name!r} is a method of Metadata; write metadata[{name!r}] = ..."
            raise AttributeError(msg, name=name, obj=self)
        self[name] = value

    def __delattr__(self, name: str) -> None:
        try:
            del self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Metadata):
            return self._entries == other._entries
        if isinstance(other, Mapping):
            entries = cast("Mapping[str, object]", other)
            return self._entries == Metadata(entries)._entries
        return NotImplemented

    def __copy__(self) -> "Metadata":
        return Metadata(self._entries)

    def __deepcopy__(self, memo: object) -> "Metadata":
        return Metadata(self.to_dict())

    def __reduce__(self) -> tuple[object, ...]:
        return Metadata, (self.to_dict(),)

    def __repr__(self) -> str:
        # Whose content may be a customer's.
        return f"Metadata(<{len(self._entries)} entries>)"

    def __graphcodec_encode__(self) -> object:
        """Return what is written: plain dicts and lists."""
        return self.to_dict()

    @classmethod
    def __graphcodec_decode__(cls, data: object) -> "Metadata":
        """Return the metadata that was written as *data*.

        Raises:
            TypeError: If it is no dict with str keys.
        """
        if not isinstance(data, dict):
            _refuse(data)
        return cls(cast("dict[str, object]", data))


def _refuse(data: object) -> NoReturn:
    msg = f"metadata is a map, not a {type(data).__name__}"
    raise TypeError(msg)


def _checked(key: object) -> str:
    if not isinstance(key, str):
        msg = f"a key of metadata is a str, not {key!r:.60}"
        raise TypeError(msg)
    return key


def _taken(value: object) -> object:
    """Return *value* with its maps as metadata, and no container shared."""
    if isinstance(value, Metadata):
        return value
    if isinstance(value, Mapping):
        entries = cast("Mapping[object, object]", value)
        if all(isinstance(key, str) for key in entries):
            return Metadata(cast("Mapping[str, object]", entries))
        return {key: _taken(entry) for key, entry in entries.items()}
    if isinstance(value, list | tuple):
        items = [_taken(item) for item in cast("list[object]", value)]
        return items if isinstance(value, list) else tuple(items)
    return value


def _plain(value: object) -> object:
    if isinstance(value, Metadata):
        return value.to_dict()
    if type(value) is dict:
        entries = cast("dict[object, object]", value)
        return {key: _plain(entry) for key, entry in entries.items()}
    if isinstance(value, list | tuple):
        items = [_plain(item) for item in cast("list[object]", value)]
        return items if isinstance(value, list) else tuple(items)
    return value
