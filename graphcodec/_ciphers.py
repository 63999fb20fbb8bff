"""What a seal is made of: HMAC, HKDF and AES-GCM, each as ``cryptography`` has it.

Loaded with the first `Seal`, since that package is an extra.
"""

from __future__ import annotations

import os
from typing import Final, TypeAlias

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes, hmac
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

Data: TypeAlias = bytes | memoryview

TAG_SIZE: Final = 32
SALT_SIZE: Final = 32

_KEY_SIZE: Final = 32
_NONCE_SIZE: Final = 12
_SIGNING: Final = b"graphcodec seal 1: HMAC-SHA256"
_ENCRYPTING: Final = b"graphcodec seal 1: AES-256-GCM"


class Unfit(Exception):  # noqa: N818 - a signal, and told as a `SealError`
    """A tag does not fit what it stands for."""


def derived(key: bytes, purpose: bytes, size: int, salt: bytes | None = None) -> bytes:
    """Return a key for one purpose (HKDF with SHA-256, RFC 5869).

    Args:
        key: The key of the user, of any length.
        purpose: What it is for; what is derived for one says nothing of another.
        size: How many bytes.
        salt: Gives another key for each value.
    """
    return HKDF(hashes.SHA256(), size, salt, purpose).derive(key)


def signing_key(key: bytes) -> bytes:
    """Return what `tag` and `verify` take.

    Args:
        key: The key of the user.
    """
    return derived(key, _SIGNING, _KEY_SIZE)


def tag(signing: bytes, *parts: Data) -> bytes:
    """Return HMAC-SHA256 (RFC 2104) over parts, one after the other.

    Args:
        signing: A derived key.
        *parts: What is signed.
    """
    mac = hmac.HMAC(signing, hashes.SHA256())
    for part in parts:
        mac.update(part)
    return mac.finalize()


def verify(signing: bytes, expected: bytes, *parts: Data) -> None:
    """Compare `tag` with one that arrived, in constant time.

    Args:
        signing: A derived key.
        expected: What arrived.
        *parts: What is signed.

    Raises:
        Unfit: If they differ.
    """
    mac = hmac.HMAC(signing, hashes.SHA256())
    for part in parts:
        mac.update(part)
    try:
        mac.verify(expected)
    except InvalidSignature:
        raise Unfit from None


def new_salt() -> bytes:
    """Return what has one document encrypted with a key of its own."""
    return os.urandom(SALT_SIZE)


def encrypt(key: bytes, salt: bytes, plain: Data, associated: bytes) -> bytes:
    """Return what AES-256-GCM (NIST SP 800-38D) makes of a document, and its tag.

    The key and the nonce come from the salt, as in RFC 8188 (sections 2.2 and 2.3), so
    that no number of documents wears out the key of the user.

    Args:
        key: The key of the user.
        salt: What `new_salt` gave, once for each document.
        plain: What is encrypted.
        associated: What is authenticated beside it.
    """
    cipher, nonce = _cipher(key, salt)
    return cipher.encrypt(nonce, plain, associated)


def decrypt(key: bytes, salt: bytes, sealed: Data, associated: bytes) -> bytes:
    """Return what `encrypt` was given.

    Args:
        key: The key of the user.
        salt: What it was encrypted with.
        sealed: What is decrypted.
        associated: What was authenticated beside it.

    Raises:
        Unfit: If any of it is not what it was.
    """
    cipher, nonce = _cipher(key, salt)
    try:
        return cipher.decrypt(nonce, sealed, associated)
    except InvalidTag:
        raise Unfit from None


def _cipher(key: bytes, salt: bytes) -> tuple[AESGCM, bytes]:
    made = derived(key, _ENCRYPTING, _KEY_SIZE + _NONCE_SIZE, salt)
    return AESGCM(made[:_KEY_SIZE]), made[_KEY_SIZE:]
