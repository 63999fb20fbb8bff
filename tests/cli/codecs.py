"""Codecs that tests name on the command line."""

from __future__ import annotations

from graphcodec import Codec, Seal
from graphcodec_resolvers import HttpResolver


def local() -> Codec:
    """Return a codec that opens what this machine serves."""
    return Codec(resolvers=[HttpResolver(schemes=["http"], allow_private=True)])


SEALED = Codec(seal=Seal({"k": bytes(32)}, mode="encrypt", current="k"))
