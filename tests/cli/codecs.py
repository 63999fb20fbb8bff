"""Codecs that tests name on the command line."""

from __future__ import annotations

from graphcodec import Codec
from graphcodec_resolvers import HttpResolver


def local() -> Codec:
    """Return a codec that opens what this machine serves."""
    return Codec(resolvers=[HttpResolver(schemes=["http"], allow_private=True)])
