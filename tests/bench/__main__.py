"""Compare graphcodec with other codecs in one run: ``python -m tests.bench``.

Every result is checked before it is timed. What counts are the ratios of one run, in
which all take turns, so that a machine that slows down slows all of them.
"""

from __future__ import annotations

import argparse
import itertools
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.bench import graphs, report, rows

# At this size pickle, cattrs and msgspec are asked; the others take minutes.
_MOST_PEERS = 20_000
# Below this, what a call costs by itself hides what a turn costs.
_GROWS_FROM = 1_000


def _say(*lines: str) -> None:
    sys.stdout.write("\n".join([*lines, ""]))
    sys.stdout.flush()


def run(
    sizes: Sequence[int], kinds: int, rounds: int | None, chart: Path | None
) -> None:
    """Print all tables.

    Args:
        sizes: The numbers of turns.
        kinds: How large the graphs of other kinds are.
        rounds: How often each is timed; by default the fewer, the larger it is.
        chart: Where to put the chart of the last size but one, if anywhere.
    """
    _say(f"CPython {platform.python_version()}, {platform.machine()}", "")
    found: dict[int, list[rows.Row]] = {}
    figures: list[rows.Figure] = []
    for turns in sizes:
        names = () if turns <= _MOST_PEERS else (rows.JSON, rows.MSGPACK, rows.BASE)
        found[turns] = rows.peer_rows(turns, names, rounds=rounds)
        _say(f"### {turns:,} turns", "", report.peers_table(found[turns]), "")
        figures += rows.figures_of(turns, found[turns])
    for kind in graphs.KINDS:
        if kind != "turns":
            several = rows.kind_rows(kind, kinds, rounds=rounds)
            _say(f"### {kind}", "", report.peers_table(several), "")
            figures += rows.args_figures(several) if kind == "args-heavy" else []
    large_ones = [size for size in sizes if size >= _GROWS_FROM]
    for small, large in itertools.pairwise(large_ones):
        figures.append(rows.growth(found[small], found[large], (small, large)))
    figures += [rows.memory_figure(sizes[-1]), *rows.import_figures(rounds)]
    _say("### What is to be reached", "", report.figures_table(figures))
    if chart is not None:
        middle = sizes[len(sizes) // 2]
        chart.write_text(report.chart_of(found[middle], middle), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument(
        "turns", nargs="*", type=int, help="sizes (default: 100 1000 20000)"
    )
    parser.add_argument("--large", action="store_true", help="100,000 turns, too")
    parser.add_argument("--kinds", type=int, default=200, help="size of other graphs")
    parser.add_argument("--rounds", type=int, help="how often each is timed")
    parser.add_argument("--chart", type=Path, help="where to write an SVG")
    given = parser.parse_args(arguments)
    sizes = [*(given.turns or [100, 1_000, 20_000]), *([100_000] * given.large)]
    run(sizes, given.kinds, given.rounds, given.chart)


if __name__ == "__main__":
    main()
