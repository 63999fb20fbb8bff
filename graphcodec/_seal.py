"""Seals: who may have written a document, and who may read it.

A seal is a layer of a frame. It authenticates the header of the frame, a context that
is not written, and what is below it; `_frames` puts it on and takes it off.
"""

from __future__ import annotations

import hmac
import pickle
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, Self, TypeAlias, cast

from attrs import frozen

from graphcodec._extras import from_extra
from graphcodec._live import type_name
from graphcodec._paths import excerpt
from graphcodec.errors import InvalidValueError, LimitExceededError, SealError

if TYPE_CHECKING:
    from collections.abc import Iterable

Mode: TypeAlias = Literal["sign", "encrypt"]
Data: TypeAlias = bytes | memoryview

_LEAST_KEY: Final = 16
_MOST_ID: Final = 255
_LENGTH_SIZE: Final = 8
_ADDRESS_SIZE: Final = 32
_ADDRESSES: Final = b"graphcodec seal 1: addresses, "

_MOST_BYTES: Final = 2**31 - 1_024
"""What ``cryptography`` encrypts at once, with room for the tag."""


@frozen(eq=False, repr=False)
class _Key:
    """A key of the user, and what is derived from it once."""

    secret: bytes
    signing: bytes
    addressing: bytes


class Seal:
    """Keys with which a codec seals documents, and without which it reads none.

    ``sign``: anybody can read a document, and only who has the key can write or change
    one (HMAC-SHA256). ``encrypt``: only who has the key can read it, either
    (AES-256-GCM). Each use has a key of its own, derived from the given one by HKDF.

    To rotate, first give every reader the new key, then make it the current one, and
    take the old one away when nothing sealed with it is wanted any more. Keys are never
    pickled, written or shown, so let each process make its own codec.

    Args:
        keys: The secret keys by their ids: at least 16 random bytes each, better 32; a
            password is no key. The id stands in each document for all to see.
        mode: ``sign`` or ``encrypt``. A document in the other mode is refused.
        current: The id of the key that seals. Every key opens.

    Raises:
        InvalidValueError: If an argument can't be used.
        ModuleNotFoundError: If ``cryptography`` is not installed.
    """

    __slots__ = ("_ciphers", "_current", "_keys", "_mode")

    def __init__(
        self, keys: Mapping[str, bytes], *, mode: Mode = "sign", current: str
    ) -> None:
        _check(keys, mode, current)
        self._mode: Mode = mode
        self._current = current
        self._ciphers: Any = _loaded()
        self._keys = {name: self._derived(key) for name, key in keys.items()}

    def _derived(self, key: bytes) -> _Key:
        purpose = _ADDRESSES + self._mode.encode()
        addressing = self._ciphers.derived(key, purpose, _ADDRESS_SIZE)
        return _Key(key, self._ciphers.signing_key(key), addressing)

    @property
    def mode(self) -> Mode:
        """How documents are sealed, as it was given."""
        return self._mode

    @property
    def current(self) -> str:
        """The id of the key that seals."""
        return self._current

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self._keys))
        return f"Seal(keys of {shown}, mode={self._mode!r}, current={self._current!r})"

    def __reduce__(self) -> NoReturn:
        msg = "a Seal can't be pickled, since keys never are; pass a factory of codecs"
        raise pickle.PicklingError(msg)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: object) -> Self:
        return self

    # For the other modules of this package

    def parameters(self) -> bytes:
        """Return the parameters of a new layer: a salt if it encrypts, and the key."""
        salt: bytes = self._ciphers.new_salt() if self._mode == "encrypt" else b""
        return salt + self._current.encode()

    def name_in(self, parameters: bytes) -> str:
        """Return the id of the key that sealed.

        Args:
            parameters: Those of a layer that this seal has opened.
        """
        return parameters[self._salt_size :].decode(errors="replace")

    def using(self, current: str) -> Seal:
        """Return the seal that seals with another one of the keys.

        Args:
            current: Its id.
        """
        other = object.__new__(Seal)
        other._mode, other._current = self._mode, current
        other._ciphers, other._keys = self._ciphers, self._keys
        return other

    def close(
        self, parameters: bytes, payload: Data, header: bytes, context: bytes
    ) -> bytes:
        """Return the sealed payload of a frame.

        Args:
            parameters: What `parameters` gave.
            payload: What is sealed.
            header: The header of the frame.
            context: What it must be opened with, too.

        Raises:
            LimitExceededError: If it is larger than can be encrypted.
        """
        _, key = self._key(parameters)
        if self._mode == "sign":
            signed = (*_associated(header, context), payload)
            tag: bytes = self._ciphers.tag(key.signing, *signed)
            return tag + payload
        _require_fit(payload)
        associated = b"".join(_associated(header, context))
        salt = parameters[: self._salt_size]
        out: bytes = self._ciphers.encrypt(key.secret, salt, payload, associated)
        return out

    def open(
        self, parameters: bytes, payload: Data, header: bytes, context: bytes
    ) -> Data:
        """Return what was sealed.

        Args:
            parameters: The parameters of the layer.
            payload: The payload of the frame.
            header: The header of the frame.
            context: What it was sealed with.

        Raises:
            SealError: If it is not what this seal made of anything.
        """
        salt, key = self._key(parameters)
        parts = _associated(header, context)
        try:
            if self._mode == "sign":
                size = self._ciphers.TAG_SIZE
                tag, signed = bytes(payload[:size]), payload[size:]
                self._ciphers.verify(key.signing, tag, *parts, signed)
                return signed
            _require_fit(payload)
            associated = b"".join(parts)
            out: bytes = self._ciphers.decrypt(key.secret, salt, payload, associated)
        except self._ciphers.Unfit:
            raise _unfit() from None
        return out

    def address(self, *parts: bytes) -> bytes:
        """Return the address of something that only this seal can give it.

        Args:
            *parts: What it stands for; told apart by the caller.
        """
        tag: bytes = self._ciphers.tag(self._keys[self._current].addressing, *parts)
        return tag

    def gave(self, address: bytes, *parts: bytes) -> bool:
        """Say whether `address` gave an address, with whichever key.

        Args:
            address: What arrived.
            *parts: What it should stand for.
        """
        tags: Iterable[bytes] = (
            self._ciphers.tag(key.addressing, *parts) for key in self._keys.values()
        )
        return any(hmac.compare_digest(tag, address) for tag in tags)

    @property
    def _salt_size(self) -> int:
        size: int = self._ciphers.SALT_SIZE
        return size if self._mode == "encrypt" else 0

    def _key(self, parameters: bytes) -> tuple[bytes, _Key]:
        """Return the salt that parameters begin with, and the key that they name."""
        size, name = self._salt_size, self.name_in(parameters)
        if len(parameters) <= size or name not in self._keys:
            shown = excerpt(name)
            msg = f"the document is sealed with a key {shown}, which this seal lacks"
            raise SealError(msg, hint="give the seal that key, if it is yours")
        return parameters[:size], self._keys[name]


def _associated(header: bytes, context: bytes) -> tuple[bytes, bytes, bytes]:
    """Return what is authenticated beside the payload, so that it has one meaning."""
    return header, len(context).to_bytes(_LENGTH_SIZE, "big"), context


def _unfit() -> SealError:
    msg = "the seal does not fit: the document, its header or its context is another"
    hint = "it was changed, or sealed with another context or another key of that id"
    return SealError(msg, hint=hint)


def _require_fit(payload: Data) -> None:
    if len(payload) > _MOST_BYTES:
        size = len(payload)
        msg = f"at most {_MOST_BYTES:,} bytes can be encrypted at once, not {size:,}"
        raise LimitExceededError(msg, path="$", limit="max_encrypted", value=size)


# None of these messages shows a value: a caller who mixes arguments up may have put the
# key anywhere.


def _check(keys: object, mode: object, current: object) -> None:
    if not isinstance(keys, Mapping):
        msg = f"keys must map ids to secret keys, and is a {type_name(type(keys))}"
        raise InvalidValueError(msg, hint="Seal({'2025': key}, current='2025')")
    if mode not in ("sign", "encrypt"):
        msg = "mode must be 'sign' or 'encrypt'"
        raise InvalidValueError(msg)
    given = cast("Mapping[object, object]", keys)
    for name, key in given.items():
        _check_id(name)
        _check_key(key)
    if type(current) is not str or current not in given:
        msg = "current must be the id of one of the keys"
        raise InvalidValueError(msg)


def _check_id(name: object) -> None:
    # A lone surrogate is replaced by one byte, and so is not what it was.
    raw = name.encode(errors="replace") if type(name) is str else b""
    if not 0 < len(raw) <= _MOST_ID or raw.decode() != name:
        msg = f"the id of a key must be text of 1 to {_MOST_ID} bytes"
        raise InvalidValueError(msg, type_name=type_name(type(name)))


def _check_key(key: object) -> None:
    if not isinstance(key, bytes):
        msg = f"a key must be bytes, and one is a {type_name(type(key))}"
        raise InvalidValueError(msg, hint="os.urandom(32) makes one")
    if len(key) < _LEAST_KEY:
        msg = f"a key must have at least {_LEAST_KEY} bytes, and one is shorter"
        raise InvalidValueError(msg, hint="os.urandom(32) makes one")


def _loaded() -> Any:
    """Return the module that knows ciphers."""
    with from_extra("crypto", "a Seal needs cryptography"):
        return import_module("graphcodec._ciphers")


def check_context(context: object, seal: Seal | None) -> None:
    """Refuse a context that could not be held against anything.

    Args:
        context: What a document is bound to.
        seal: The seal of the codec.

    Raises:
        InvalidValueError: If it is no bytes, or there is no seal.
    """
    if type(context) is not bytes:
        msg = f"context must be bytes, not a {type_name(type(context))}"
        raise InvalidValueError(msg, hint="such as session_id.encode()")
    if context and seal is None:
        msg = "context binds a sealed document, and this codec has no seal"
        raise InvalidValueError(msg, hint="Codec(seal=Seal(...))")
