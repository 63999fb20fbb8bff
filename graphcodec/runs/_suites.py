"""A suite while it runs: what its own events have told so far."""

from datetime import datetime, timedelta

from attrs import Factory, define

from graphcodec.runs._data import GroupData, SuiteData
from graphcodec.runs._environment import environment_moves
from graphcodec.runs._events import (
    GroupFinished,
    GroupStarted,
    SuiteStarted,
    SuiteStopped,
    SuiteSummary,
)
from graphcodec.runs._fields import in_milliseconds


@define
class _GroupDraft:
    """A group of which more examples may come, in this process or another.

    Attributes:
        started: The earliest event that began it.
        finished_at: When the last of its parts ended.
    """

    started: GroupStarted
    finished_at: datetime | None = None


@define
class SuiteDraft:
    """A suite of which more may come.

    Attributes:
        anomalies: Where to note what is odd.
        started: The earliest of its first events, whichever arrived first.
        finished_at: When the last process that ran it stopped.
        summaries: What the processes that ran it said at their ends.
        example_count: How many examples there are to run.
        tags: All that were given.
        groups: What is known of its groups, by id.
    """

    anomalies: list[str]
    started: SuiteStarted | None = None
    finished_at: datetime | None = None
    summaries: list[SuiteSummary] = Factory(list[SuiteSummary])
    example_count: int = 0
    tags: dict[str, None] = Factory(dict[str, None])
    groups: dict[str, _GroupDraft] = Factory(dict[str, _GroupDraft])

    def began(self, event: SuiteStarted) -> None:
        """Take the earliest for the run's, and what any of them adds."""
        first = self.started
        if event.is_resumed:
            self._resumed(event)
        elif first is not None and event.seed not in (None, first.seed):
            self.anomalies.append(
                f"a second suite began, with seed {event.seed} and not {first.seed}"
            )
        if first is None or event.time < first.time:
            self.started = event
        self.example_count = max(self.example_count, event.example_count)
        self.tags.update(dict.fromkeys(event.tags))

    def _resumed(self, event: SuiteStarted) -> None:
        self.summaries.clear()
        if self.finished_at is not None and self.finished_at <= event.time:
            self.finished_at = None
        if self.started is None:
            return
        moves = environment_moves(self.started.environment, event.environment)
        if moves:
            shown = ", ".join(f"{name} {new}" for name, (_, new) in moves.items())
            self.anomalies.append(f"it was resumed in another environment: {shown}")

    def stopped(self, event: SuiteStopped) -> None:
        """Take the latest for the run's."""
        self.finished_at = max(filter(None, (self.finished_at, event.time)))

    def summed_up(self, event: SuiteSummary) -> None:
        """Keep what a process counted."""
        self.summaries.append(event)

    def group_began(self, event: GroupStarted) -> None:
        """Begin a group, or go on with one that runs here and there."""
        known = self.groups.get(_group_id(event))
        if known is None:
            self.groups[_group_id(event)] = _GroupDraft(event)
        elif event.time < known.started.time:
            known.started = event

    def group_ended(self, event: GroupFinished) -> None:
        """Note the end of a group, or of the part of it that one process ran."""
        group = self._group(event)
        if group is None:
            name = event.group_id or event.description
            self.anomalies.append(f"the group {name!r:.80} ended before it began")
        else:
            group.finished_at = max(filter(None, (group.finished_at, event.time)))

    def _group(self, event: GroupFinished) -> _GroupDraft | None:
        if event.group_id is not None:
            return self.groups.get(event.group_id)
        named = [
            group
            for group in self.groups.values()
            if group.started.description == event.description
        ]
        return named[-1] if named else None

    # What is known

    def facts(self, found: int) -> SuiteData | None:
        """Return what the suite said of itself, None if its examples say it all.

        Args:
            found: How many examples there are.
        """
        began = self.started
        is_known = began is None or (
            not began.load_time and self.example_count <= found
        )
        if is_known and not self.summaries:
            return None
        durations = [summary.duration for summary in self.summaries]
        return SuiteData(
            started_at=_looked_for_examples(began) if began else None,
            example_count=self.example_count if began else None,
            duration_ms=in_milliseconds(max(durations)) if durations else None,
        )

    def missing(self, found: int) -> list[str]:
        """Say, as anomalies, what the suite has counted and nobody told of.

        Args:
            found: How many examples there are.
        """
        counted = sum(summary.example_count for summary in self.summaries)
        if counted <= found:
            return []
        return [f"the suite counted {counted:,} examples, and {found:,} are here"]

    def frozen_groups(self) -> dict[str, GroupData]:
        """Return what is known of the groups so far."""
        return {
            name: _frozen(name, group.started, group.finished_at)
            for name, group in self.groups.items()
        }


def _looked_for_examples(began: SuiteStarted) -> datetime | None:
    try:
        return began.time - timedelta(seconds=began.load_time)
    except OverflowError:
        # It is told that this took longer than there has been time.
        return None


def _group_id(event: GroupStarted) -> str:
    named = "::".join(filter(None, (event.file_path, event.description)))
    return event.group_id or named or "?"


def _frozen(name: str, began: GroupStarted, ended: datetime | None) -> GroupData:
    file, line = began.file_path, began.line_number
    return GroupData(
        id=name,
        description=began.description,
        file=file or None,
        location=f"{file}:{line}" if file and line else file or None,
        parent_id=began.parent_id,
        started_at=began.time,
        finished_at=ended,
    )
