"""The table of ``docs/alternatives.md``, as Markdown."""

from __future__ import annotations

from tests.alternatives.peers import peers
from tests.alternatives.probes import PROBES


def table() -> str:
    """Return the answers of all codecs to all probes."""
    everyone = peers()
    rows = [["", *(peer.name for peer in everyone)], ["---"] * (len(everyone) + 1)]
    rows += [
        [name, *(probe(peer) for peer in everyone)] for name, probe in PROBES.items()
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
