"""Codecs that upgrade a store: of today, with keys, and one that dies at work."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from graphcodec import Codec, Redaction, Seal
from tests.wire_corpus.releases import RELEASES

KEYS: Final = {"old": bytes(range(32)), "new": bytes(range(1, 33))}

today: Final = RELEASES["story_6_enum_changed"].codec
relay: Final = today.replace(unknown_types="keep", unknown_fields="ignore")


redacting: Final = Codec(
    redact=[
        Redaction("email", pattern=r"[\w.]+@[\w.]+\w"),
        Redaction("password", field="password"),
    ]
)


def _sealed(current: str) -> Codec:
    return today.replace(seal=Seal(KEYS, mode="encrypt", current=current))


def sealed_old() -> Codec:
    """Return a codec whose current key is the old one."""
    return _sealed("old")


def sealed_new() -> Codec:
    """Return a codec whose current key is the new one."""
    return _sealed("new")


def _name(fields: dict[str, Any]) -> dict[str, Any]:
    """Rename a field; end the process at the number in a file, if there is one."""
    note = Path(os.environ["DIES_AT"])
    if note.exists() and int(note.read_text()) == fields["number"]:
        os._exit(9)
    return {"number": fields["number"], "title": fields.pop("name")}


@frozen
class Old:
    """The class that wrote the documents."""

    number: int
    name: str


@frozen
class New:
    """The class of today."""

    number: int
    title: str


before: Final = Codec(types={"up.Item": Old})
dying: Final = Codec()
dying.register(New, "up.Item", version=2, upgrades={1: _name})
