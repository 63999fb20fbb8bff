"""Tables of text, and a chart that a page can show in light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from tests.bench.rows import BASE, Figure, Row


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table with its columns aligned.

    Args:
        head: The names of the columns.
        lines: The cells.
    """
    cells = [list(head), ["---"] * len(head), *map(list, lines)]
    widths = [max(len(line[n]) for line in cells) for n in range(len(head))]
    padded = [
        [
            cell.ljust(width, "-" if cell == "---" else " ")
            for cell, width in zip(line, widths, strict=True)
        ]
        for line in cells
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in padded)


def peers_table(rows: list[Row]) -> str:
    """Return a table with one line for each peer."""
    head = ("", "encode", "decode", "to pickle", "to pickle", "bytes", "zstd", "")
    return table(head, map(_peer_line, rows))


def _peer_line(row: Row) -> tuple[str, ...]:
    if row.encode is None or row.decode is None:
        return (row.name, "", "", "", "", "", "", row.remark)
    return (
        row.name,
        f"{row.encode.seconds * 1e3:,.1f} ms",
        f"{row.decode.seconds * 1e3:,.1f} ms",
        f"{row.encode.ratio:.2f}",
        f"{row.decode.ratio:.2f}",
        f"{row.size:,}",
        f"{row.packed:,}",
        row.remark,
    )


def figures_table(figures: list[Figure]) -> str:
    """Return a table with one line for each figure."""
    lines = (
        (
            each.name,
            f"{each.found:.2f}",
            f"{each.wanted:.2f}",
            "yes" if each.reached else f"no, {each.found / each.wanted:.2f} times that",
        )
        for each in figures
    )
    return table(("figure", "found", "at most", "reached"), lines)


_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #24292f }
.faint { fill: #57606a }
.ground { fill: #ffffff }
.bar { fill: #8c959f }
.ours { fill: #1f6feb }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .faint { fill: #9da7b3 }
  .ground { fill: #161b22 }
  .bar { fill: #6e7681 }
  .ours { fill: #58a6ff }
}
"""
_LEFT, _WIDE, _STEP = 220, 420, 24


def chart(rows: list[Row], title: str) -> str:
    """Return an SVG with a bar for the round trip of each peer, pickle being one.

    Args:
        rows: The peers.
        title: What is shown.
    """
    done = sorted((row for row in rows if row.trip), key=lambda row: row.trip)
    base = next((row.trip for row in done if row.name == BASE), done[0].trip)
    # What is far out would leave nothing of the others to see.
    most = min(max(row.trip for row in done), 4 * base)
    lines = [f'<text x="0" y="16">{escape(title)}</text>']
    for index, row in enumerate(done):
        lines += _bar(row, 30 + index * _STEP, most / _WIDE, base)
    width, height = _LEFT + _WIDE + 88, 56 + len(done) * _STEP
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" '
        f'viewBox="-14 -10 {width} {height}">'
    )
    # Of its own: whatever shows it may be dark where the system is light.
    ground = '<rect class="ground" x="-14" y="-10" rx="8"'
    return "\n".join(
        [
            head,
            f"<title>{escape(title)}</title>",
            f"<style>{_STYLE}</style>",
            f'{ground} width="{width}" height="{height}"/>',
            *lines,
            "</svg>",
            "",
        ]
    )


def _bar(row: Row, y: int, scale: float, base: float) -> list[str]:
    kind = "ours" if row.name.startswith("graphcodec") else "bar"
    width = round(min(row.trip / scale, _WIDE))
    x, line = _LEFT + width + 6, y + 13
    name = escape(row.name)
    return [
        f'<text x="{_LEFT - 8}" y="{line}" text-anchor="end">{name}</text>',
        f'<rect class="{kind}" x="{_LEFT}" y="{y}" width="{width}" height="17"/>',
        f'<text class="faint" x="{x}" y="{line}">{row.trip / base:.2f}</text>',
    ]


def chart_of(rows: list[Row], turns: int) -> str:
    """Return the chart of one size."""
    title = f"Round trip of {turns:,} turns; pickle is 1, and less is better"
    return chart(rows, title)
