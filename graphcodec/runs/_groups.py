"""Groups of a pytest session: the files and classes in which its tests stand."""

import pytest

from graphcodec.runs._bus import EventBus
from graphcodec.runs._events import GroupFinished, GroupStarted

__all__ = ["GroupWatcher", "group_id"]


class GroupWatcher:
    """Publishes the beginning and the end of each group that runs in this process.

    A group may begin more than once, if its tests don't run one after the other, or in
    several processes.

    Args:
        bus: Where to publish.
    """

    def __init__(self, bus: EventBus) -> None:
        self._bus = bus
        self._open: list[pytest.Collector] = []

    def enter(self, item: pytest.Item) -> None:
        """Begin the groups of a test that have not begun, the outermost first.

        Args:
            item: The test, which is about to run.
        """
        groups = _groups(item)
        self._leave_all_but(groups)
        for group in groups[len(self._open) :]:
            self._open.append(group)
            self._bus.publish(_started(group))

    def leave(self, following: pytest.Item | None = None) -> None:
        """End the groups in which the next test does not stand, the innermost first.

        Args:
            following: The next test, if there is one.
        """
        self._leave_all_but([] if following is None else _groups(following))

    def _leave_all_but(self, groups: list[pytest.Collector]) -> None:
        while self._open and self._open != groups[: len(self._open)]:
            group = self._open.pop()
            name = _description(group)
            event = GroupFinished(description=name, group_id=group.nodeid)
            self._bus.publish(event)


def group_id(item: pytest.Item) -> str | None:
    """Return the id of the innermost group of a test, if it stands in one.

    Args:
        item: The test.
    """
    groups = _groups(item)
    return groups[-1].nodeid if groups else None


def _groups(node: pytest.Item | pytest.Collector) -> list[pytest.Collector]:
    """Return the groups around a node, itself included, the outermost first."""
    return [
        parent
        for parent in node.listchain()
        if isinstance(parent, pytest.File | pytest.Class)
    ]


def _started(group: pytest.Collector) -> GroupStarted:
    *outer, _ = _groups(group)
    return GroupStarted(
        description=_description(group),
        file_path=group.nodeid.partition("::")[0],
        line_number=_line(group),
        group_id=group.nodeid,
        parent_id=outer[-1].nodeid if outer else None,
    )


def _description(group: pytest.Collector) -> str:
    return group.name if isinstance(group, pytest.Class) else group.nodeid


def _line(group: pytest.Collector) -> int:
    """Return the line of a class, 0 for a file."""
    if not isinstance(group, pytest.Class):
        return 0
    _, line, _ = group.reportinfo()
    return 0 if line is None or line < 0 else line + 1
