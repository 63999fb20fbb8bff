"""Hostile documents are refused with our errors, within little memory."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

import pytest

from graphcodec import Codec, Seal
from graphcodec.errors import GraphCodecError, SealError
from tests.bench.hostile import DOCUMENTS

_ROOM: Final = 50
"""Megabytes that a refusal may take more than there was with the document at hand."""


@pytest.mark.parametrize("name", DOCUMENTS)
def test_refused_by_an_error_of_ours(name: str) -> None:
    """Nothing is accepted, and nothing else is raised."""
    with pytest.raises(GraphCodecError) as caught:
        Codec().decode(DOCUMENTS[name]())
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("name", DOCUMENTS)
def test_refused_by_a_codec_with_a_key(name: str) -> None:
    """A codec with a key does not even look at them."""
    codec = Codec(seal=Seal({"a": bytes(32)}, current="a"))
    data = DOCUMENTS[name]()

    with pytest.raises(GraphCodecError) as caught:
        codec.decode(data)
    if data[:1] in (b"{", b"["):
        assert isinstance(caught.value, SealError)


@pytest.mark.long
def test_refusals_take_little_memory() -> None:
    """No refusal takes more than 50 MB, measured where each is the only one."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.hostile"],
        capture_output=True,
        check=True,
        text=True,
    )
    rows = [line.split() for line in done.stdout.splitlines()]
    taken = {" ".join(row[:-5]): (float(row[-3]), row[-1]) for row in rows}

    assert len(taken) == len(DOCUMENTS)
    assert all(code.startswith("E_") for _, code in taken.values())
    assert max(megabytes for megabytes, _ in taken.values()) < _ROOM
