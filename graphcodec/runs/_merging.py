"""Runs compared and brought together."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from graphcodec.errors import InvalidValueError
from graphcodec.runs._data import ExampleData, GroupData, RunData, SuiteData, TurnData
from graphcodec.runs._environment import common_environment
from graphcodec.runs._forms import plain_codec, to_form
from graphcodec.runs._metadata import Metadata

if TYPE_CHECKING:
    from graphcodec._documents._differing import Difference

__all__ = ["diff_runs", "merge_runs"]

_ASIDE: Final = frozenset(
    {
        "run_id",
        "started_at",
        "finished_at",
        "ended_at",
        "timestamp",
        "duration_ms",
        "location",
        "anomalies",
        "git_commit",
        "seed",
        "parent_run_id",
        "tags",
        "environment",
        "suite",
        "groups",
    }
)
"""The fields that differ between any two runs and say nothing about what happened."""


def diff_runs(old: RunData, new: RunData) -> tuple[Difference, ...]:
    """Return in what two runs of a suite differ, by path.

    Times, durations, latencies, workers, lines in files, and what is about the runs as
    such (name, seed, commit, tags, environment) are left out; what users recorded is
    not, whatever it is called. Examples are matched by their ids.

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
    from graphcodec._documents._differing import differences  # noqa: PLC0415

    return differences(_comparable(old), _comparable(new))


def _comparable(run: RunData) -> bytes:
    examples = {name: _without_chance(one) for name, one in run.examples.items()}
    form = to_form(run.replace(examples=examples), without=_ASIDE)
    return plain_codec().encode(form)


def _without_chance(example: ExampleData) -> ExampleData:
    """Return an example without what its metadata says of workers and latencies."""
    metadata = example.metadata.to_dict()
    metadata.pop("worker", None)
    talk = example.conversation
    if talk is not None:
        talk = talk.replace(turns=tuple(map(_without_latency, talk.turns)))
    return example.replace(metadata=metadata, conversation=talk)


def _without_latency(turn: TurnData) -> TurnData:
    answer = turn.agent_response
    if answer is None or answer.metadata.dig("tracing", "latency_ms") is None:
        return turn
    metadata = Metadata(answer.metadata.to_dict())
    del metadata.scope("tracing")["latency_ms"]
    return turn.replace(agent_response=answer.replace(metadata=metadata))


def merge_runs(runs: Iterable[RunData]) -> RunData:
    """Return one run with the examples of several, such as the shards of a suite.

    It began when the first of them did and ended when the last did; if one never ended,
    neither did it. It has the tags of all, and of seed, commit and environment what
    they have in common. Of two examples with one id both are kept, the later as
    ``id#2``, and that is noted.

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
    return runs[0].replace(
        started_at=_first([run.started_at for run in runs]),
        finished_at=_last([run.finished_at for run in runs]),
        seed=_common([run.seed for run in runs]),
        git_commit=_common([run.git_commit for run in runs]),
        scenarios=_first_of([run.scenarios for run in runs]),
        examples=examples,
        parent_run_id=_common([run.parent_run_id for run in runs]),
        tags=tuple(dict.fromkeys(tag for run in runs for tag in run.tags)),
        environment=common_environment([run.environment for run in runs]),
        suite=_whole(runs),
        groups=_joined(runs),
        anomalies=tuple(anomalies),
    )


def _first(times: list[datetime | None]) -> datetime | None:
    return min(filter(None, times), default=None)


def _last(times: list[datetime | None]) -> datetime | None:
    """Return when the last of several ended; None if one never did."""
    return None if None in times else max(filter(None, times))


def _whole(runs: list[RunData]) -> SuiteData | None:
    """Return what the suites of all runs say together, None if one says nothing."""
    suites = [run.suite for run in runs if run.suite is not None]
    if len(suites) < len(runs):
        return None
    counts = [suite.example_count for suite in suites]
    durations = [suite.duration_ms for suite in suites]
    return suites[0].replace(
        started_at=_first([suite.started_at for suite in suites]),
        example_count=None if None in counts else sum(filter(None, counts)),
        duration_ms=None if None in durations else sum(filter(None, durations)),
    )


def _joined(runs: list[RunData]) -> dict[str, GroupData]:
    """Return the groups of all runs; of one that is in several, all its time."""
    joined: dict[str, GroupData] = {}
    for name, group in (pair for run in runs for pair in run.groups.items()):
        if name in joined:
            known = joined[name]
            group = known.replace(  # noqa: PLW2901 - the same, longer
                started_at=_first([known.started_at, group.started_at]),
                finished_at=_last([known.finished_at, group.finished_at]),
            )
        joined[name] = group
    return joined


def _first_of(dicts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the entries of all; of those with one key, the first."""
    return {key: entry for given in reversed(dicts) for key, entry in given.items()}


def _common(values: list[Any]) -> Any:
    """Return the value that all have; None if they differ."""
    return values[0] if all(value == values[0] for value in values) else None
