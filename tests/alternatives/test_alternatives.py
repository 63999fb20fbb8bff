"""What ``docs/alternatives.md`` says of other codecs is what they do."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyfory
import pytest

from tests.alternatives.table import table

_PAGE = Path(__file__).parents[2] / "docs" / "alternatives.md"


@pytest.fixture
def quiet() -> Iterator[None]:
    """Let the others warn as they like: what they do is what counts."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.usefixtures("quiet")
@pytest.mark.filterwarnings("ignore")
def test_the_table_is_what_was_found_out() -> None:
    """Every cell: `python -m tests.alternatives` prints the table anew."""
    assert table() in _PAGE.read_text("utf-8")


@dataclass
class Author:
    """Somebody."""

    name: str


@dataclass
class Entry:
    """Something by somebody."""

    author: Author = pyfory.field(ref=True)  # noqa: RUF009 - as it wants it


def test_pyfory_keeps_identity_where_a_field_says_so() -> None:
    """As the page says."""
    fory = pyfory.Fory(xlang=False, ref=True, strict=True)
    fory.register(Author)
    fory.register(Entry)
    ann = Author("ann")

    first, second = fory.loads(fory.dumps([Entry(ann), Entry(ann)]))

    assert first.author is second.author
