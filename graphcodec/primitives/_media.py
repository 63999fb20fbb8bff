"""Images, sound, video and documents: a handle on bytes, and how far to trust them."""

import base64
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import (
    BinaryIO,
    ClassVar,
    Final,
    Literal,
    NotRequired,
    Self,
    TypedDict,
    Unpack,
    cast,
)
from uuid import uuid4

from attrs import define, field, frozen, setters

from graphcodec.errors import InvalidValueError
from graphcodec.primitives._base import Primitive
from graphcodec.primitives._checks import checked, excerpt, hinted
from graphcodec.primitives._containers import is_dict
from graphcodec.primitives._registry import Registry, copied, segments
from graphcodec.primitives._trust import ModalityHazard, TrustTier, to_hazard, to_tier
from graphcodec.readers._contracts import CHUNK_SIZE, Reader

__all__ = ["Media", "MediaStash"]

MediaKind = Literal["image", "audio", "video", "document"]

_ENTRY_KEYS: Final = frozenset({"value", "trust_tier", "derived_from_media"})
_TIERS: Final = frozenset(tier.value for tier in TrustTier)
_ENTRY_HINT: Final = (
    'an entry is {"value": ..., "trust_tier": "third-party-public"} '
    'and may have "derived_from_media": the id of a media'
)


def _nothing() -> Mapping[str, object]:
    return {}


def _stash_data(initial: Mapping[str, object]) -> Mapping[str, object]:
    data = copied(initial)
    entries: object = data
    if is_dict(entries):
        for entry in entries.values():
            _flatten_tier(entry)
    return data


def _flatten_tier(entry: object) -> None:
    """Turn the `TrustTier` of an entry into its value, which any format can hold."""
    if is_dict(entry):
        tier = entry.get("trust_tier")
        if type(tier) is TrustTier:
            entry["trust_tier"] = tier.value


def _check_entry(name: str, entry: object) -> None:
    """Verify one entry of a stash.

    Raises:
        InvalidValueError: If it is not what `MediaStash` describes.
    """
    reason = _entry_fault(entry)
    if reason:
        raise InvalidValueError(
            f"the entry {excerpt(name)} of a MediaStash {reason}",
            path="$.data",
            hint=_ENTRY_HINT,
            type_name="MediaStash",
            value=excerpt(name),
        )


def _entry_fault(entry: object) -> str:
    if not is_dict(entry):
        return f"must be a dict, not {excerpt(entry)}"
    if "value" not in entry:
        return "has no value"
    unknown = entry.keys() - _ENTRY_KEYS
    if unknown:
        return f"has the unknown field {excerpt(min(unknown, key=repr))}"
    tier = entry.get("trust_tier")
    if type(tier) is not str or tier not in _TIERS:
        return f"needs a trust_tier, not {excerpt(tier)}"
    parent = entry.get("derived_from_media", "-")
    if type(parent) is not str or not parent:
        return f"has {excerpt(parent)} for derived_from_media"
    return ""


@checked
@define(eq=False, repr=False, on_setattr=setters.NO_OP)
class MediaStash(Registry):
    r"""What was found out about a media, each finding with a trust of its own.

    A transcript of a stranger's recording is no more to be trusted than the recording,
    so an entry is a dict with a ``value`` of any kind, a ``trust_tier`` and perhaps, as
    ``derived_from_media``, the id of the media that it was found in. Every write is
    verified, so what is in a stash can be written and read again. Tiers are kept as
    str.

    Args:
        initial: A mapping of names to entries.
    """

    __graphcodec_tag__: ClassVar[str] = "MediaStash"

    _data: Mapping[str, object] = field(
        factory=_nothing,
        converter=_stash_data,
        alias="initial",
        metadata={"graphcodec_key": "data", **hinted(_ENTRY_HINT)},
    )

    def set(self, path: str, value: object) -> None:
        r"""Put a copy of *value* at *path*, if the entry is a valid one then.

        Args:
            path: The name of an entry, or a path within one (``ocr.value``). A dot in a
                name is written ``\.``.
            value: The entry, or a part of it.

        Raises:
            InvalidValueError: If the path leads nowhere or the entry would not be
                valid; nothing is changed then.
        """
        trial, name = self._trial(path)
        trial.set(path, value)
        self._take_over(trial, name)

    def delete(self, path: str) -> bool:
        """Remove an entry, or a part that an entry can do without.

        Args:
            path: As for `set`.

        Raises:
            InvalidValueError: If the rest of the entry would not be valid.
        """
        trial, name = self._trial(path)
        found = trial.delete(path)
        self._take_over(trial, name)
        return found

    def _trial(self, path: str) -> tuple[Registry, str]:
        """Return a registry with a copy of the entry that *path* is about."""
        name = segments(path)[0]
        return Registry({name: self._data[name]} if name in self._data else {}), name

    def _take_over(self, trial: Registry, name: str) -> None:
        store = cast("dict[str, object]", self._data)
        entries = trial.all()
        if name not in entries:
            store.pop(name, None)
            return
        _flatten_tier(entries[name])
        _check_entry(name, entries[name])
        store[name] = entries[name]

    def _check_together(self) -> None:
        for name, entry in self._data.items():
            _check_entry(name, entry)


def _to_stash(value: Registry | None) -> MediaStash:
    if value is None:
        return MediaStash()
    if type(value) is Registry:
        return MediaStash(value.all())
    return cast("MediaStash", value)


def _to_id(value: str | None) -> str:
    return _new_id() if value is None else value


def _new_id() -> str:
    return uuid4().hex


class MediaParts(TypedDict):
    """What the factories of `Media` take, all as keywords."""

    kind: MediaKind
    mime_type: str
    filename: str
    reader: Reader
    id: NotRequired[str | None]
    source: NotRequired[str | None]
    stash: NotRequired[Registry | None]


@checked
@frozen(kw_only=True, eq=False, repr=False)
class Media(Primitive):
    """Bytes of some kind, where they lie, and two judgements that are never guessed.

    The constructor wants both judgements; the factories ask where the bytes come from
    instead, and take documents to be able to hold instructions, all else to be opaque.

    Attributes:
        id: A name of its own; made if none is given.
        kind: What a model would take it as.
        mime_type: Such as ``image/png``.
        filename: What to call it.
        reader: Opens the bytes, as often as wanted.
        trust_tier: Where the bytes come from.
        modality_hazard: What content of this kind can do to a model.
        source: A note on the origin, such as a URL.
        stash: What was found out about it; a plain `Registry` becomes a `MediaStash`.
    """

    __graphcodec_tag__: ClassVar[str] = "Media"

    id: str = field(factory=_new_id, converter=_to_id)
    kind: MediaKind
    mime_type: str
    filename: str
    reader: Reader = field(metadata=hinted("wrap bytes: BytesReader(data)"))
    trust_tier: TrustTier = field(converter=to_tier)
    modality_hazard: ModalityHazard = field(converter=to_hazard)
    source: str | None = None
    stash: MediaStash = field(
        factory=MediaStash,
        converter=_to_stash,
        metadata=hinted("wrap a mapping: Registry({name: entry})"),
    )

    @classmethod
    def user_attachment(cls, **parts: Unpack[MediaParts]) -> Self:
        """Return a media that a user sent: third-party and private.

        Args:
            **parts: All fields but the two judgements.

        Raises:
            InvalidValueError: As the constructor does.
        """
        return cls._judged(TrustTier.THIRD_PARTY_PRIVATE, parts)

    @classmethod
    def tool_generated(cls, **parts: Unpack[MediaParts]) -> Self:
        """Return a media that a tool of ours made: first-party.

        Args:
            **parts: All fields but the two judgements.

        Raises:
            InvalidValueError: As the constructor does.
        """
        return cls._judged(TrustTier.FIRST_PARTY, parts)

    @classmethod
    def retrieved_public(cls, **parts: Unpack[MediaParts]) -> Self:
        """Return a media from where anybody can put things: third-party and public.

        Args:
            **parts: All fields but the two judgements.

        Raises:
            InvalidValueError: As the constructor does.
        """
        return cls._judged(TrustTier.THIRD_PARTY_PUBLIC, parts)

    @classmethod
    def retrieved_private(cls, **parts: Unpack[MediaParts]) -> Self:
        """Return a media from a closed collection: third-party and private.

        Args:
            **parts: All fields but the two judgements.

        Raises:
            InvalidValueError: As the constructor does.
        """
        return cls._judged(TrustTier.THIRD_PARTY_PRIVATE, parts)

    def open(self) -> BinaryIO:
        """Return a new binary stream, positioned at the first byte.

        Raises:
            HandleError: If the bytes are gone, changed or out of reach.
        """
        return self.reader.open()

    def iter_bytes(self, chunk_size: int = CHUNK_SIZE) -> Iterator[bytes]:
        """Yield the content in order.

        Args:
            chunk_size: The most bytes in one piece.

        Raises:
            HandleError: If the bytes are gone, changed or out of reach.
        """
        return self.reader.iter_bytes(chunk_size)

    def read(self) -> bytes:
        """Return the whole content.

        Raises:
            HandleError: If the bytes are gone, changed or out of reach.
        """
        return b"".join(self.reader.iter_bytes())

    def byte_length(self) -> int | None:
        """Return the number of bytes, or None if only reading would tell."""
        return self.reader.byte_length()

    def as_base64(self) -> str:
        """Return the whole content in base64 with padding, as chat APIs take it.

        Raises:
            HandleError: If the bytes are gone, changed or out of reach.
        """
        return base64.b64encode(self.read()).decode("ascii")

    async def aopen(self) -> BinaryIO:
        """Do what `open` does without blocking the event loop."""
        return await self.reader.aopen()

    def aiter_bytes(self, chunk_size: int = CHUNK_SIZE) -> AsyncIterator[bytes]:
        """Do what `iter_bytes` does without blocking the event loop.

        Args:
            chunk_size: The most bytes in one piece.
        """
        return self.reader.aiter_bytes(chunk_size)

    async def aread(self) -> bytes:
        """Do what `read` does without blocking the event loop."""
        return b"".join([chunk async for chunk in self.reader.aiter_bytes()])

    def __hash__(self) -> int:
        return hash(self.id)

    def _summary(self) -> str:
        kind, mime_type = self.kind, excerpt(self.mime_type)
        return f"id={excerpt(self.id)}, kind={kind!r}, mime_type={mime_type}"

    @classmethod
    def _judged(cls, tier: TrustTier, parts: MediaParts) -> Self:
        hazard = (
            ModalityHazard.EXTRACTABLE_INSTRUCTIONS
            if parts.get("kind") == "document"
            else ModalityHazard.OPAQUE_PERCEPTUAL
        )
        return cls(trust_tier=tier, modality_hazard=hazard, **parts)
