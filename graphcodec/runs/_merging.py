"""Runs compared and brought together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, cast

from graphcodec.errors import InvalidValueError
from graphcodec.runs._data import RunData
from graphcodec.runs._forms import plain_codec

if TYPE_CHECKING:
    from graphcodec._differing import Difference

__all__ = ["diff_runs", "merge_runs"]

_ASIDE: Final = frozenset(
    {
        "run_id",
        "started_at",
        "finished_at",
        "ended_at",
        "timestamp",
        "duration_ms",
        "worker",
        "anomalies",
        "git_commit",
        "seed",
    }
)
"""What differs between any two runs, and says nothing about what happened."""


def diff_runs(old: RunData, new: RunData) -> tuple[Difference, ...]:
    """Return in what two runs of a suite differ, by path.

    Times, durations, workers and the names of the runs are left out. Examples are
    matched by their ids.

    Args:
        old: A run.
        new: A later one.

    Returns:
        What was ``added``, ``removed``, ``changed`` or ``moved`` (``change``), where
        (``path``, ``old_path``), and what stood and stands there (``before``,
        ``after``).

    Raises:
        UnencodableValueError: If a value in one has no wire form.
    """
    # Comparing needs the codec, publishing does not.
    from graphcodec._differing import differences  # noqa: PLC0415

    return differences(_comparable(old), _comparable(new))


def _comparable(run: RunData) -> bytes:
    return plain_codec().encode(_without_times(run.to_dict()))


def _without_times(part: object) -> object:
    if isinstance(part, dict):
        entries = cast("dict[str, object]", part)
        return {
            key: _without_times(entries[key]) for key in entries if key not in _ASIDE
        }
    if isinstance(part, list):
        return [_without_times(item) for item in cast("list[object]", part)]
    return part


def merge_runs(runs: Iterable[RunData]) -> RunData:
    """Return one run with the examples of several, such as the shards of a suite.

    It began when the first of them did and ended when the last did; if one never ended,
    neither did it. Of two examples with one id both are kept, the later as ``id#2``,
    and that is noted.

    Args:
        runs: The runs, at least one; the first gives the name.

    Raises:
        InvalidValueError: If there is none.
    """
    runs = list(runs)
    if not runs:
        raise InvalidValueError("there are no runs to merge")
    examples: dict[str, Any] = {}
    anomalies = [anomaly for run in runs for anomaly in run.anomalies]
    for run in runs:
        for name, example in run.examples.items():
            free, number = name, 1
            while free in examples:
                number += 1
                free = f"{name}#{number}"
            if free != name:
                anomalies.append(f"{name}: it is in several runs, now also as {free}")
                example = example.replace(id=free)  # noqa: PLW2901 - the same, renamed
            examples[free] = example
    ends = [run.finished_at for run in runs]
    return runs[0].replace(
        started_at=min(filter(None, (run.started_at for run in runs)), default=None),
        finished_at=None if None in ends else max(filter(None, ends)),
        seed=_common([run.seed for run in runs]),
        git_commit=_common([run.git_commit for run in runs]),
        scenarios=_first_of([run.scenarios for run in runs]),
        examples=examples,
        anomalies=tuple(anomalies),
    )


def _first_of(dicts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the entries of all; of those with one key, the first."""
    return {key: entry for given in reversed(dicts) for key, entry in given.items()}


def _common(values: list[Any]) -> Any:
    """Return the value that all have; None if they differ."""
    return values[0] if all(value == values[0] for value in values) else None
