"""The benchmark runs; what it finds is for people to read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench import graphs, rows
from tests.bench.__main__ import main
from tests.bench.peers import MAKERS
from tests.bench.rows import Figure, Row


def test_a_run_prints_every_peer_and_every_kind(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Each has a line, if only one that says why it has no figures."""
    main(
        ["2", "3", "--kinds", "1", "--rounds", "1", "--chart", str(tmp_path / "c.svg")]
    )

    shown = capsys.readouterr().out
    assert [name for name, _ in MAKERS if f"| {name} " not in shown] == []
    assert [kind for kind in graphs.KINDS if kind not in shown] == []
    assert (tmp_path / "c.svg").read_text().count("<rect") > 2


def test_one_that_fails_is_a_row_that_says_so() -> None:
    """Pickle recurses into a chain of a thousand messages."""
    found = {row.name: row for row in rows.kind_rows("deep", 100, rounds=1)}

    assert found[rows.BASE].encode is None
    assert found[rows.BASE].remark.startswith("fails: RecursionError")
    assert found[rows.JSON].size > 0


@pytest.mark.parametrize(("found", "reached"), [(0.5, True), (0.6, False)])
def test_a_figure_is_reached_or_not(found: float, reached: bool) -> None:  # noqa: FBT001
    """At most what is wanted."""
    assert Figure("encode", found, 0.5).reached is reached


def test_a_row_without_figures_took_no_time() -> None:
    """So that nothing divides by what was not measured."""
    assert Row("pyfory", remark="fails").trip == 0.0
