"""The pytest plug-in: ``pytest --graphcodec-run run.json``.

It is loaded into every session where graphcodec is installed, so nothing is imported
before a run is to be recorded or a test asks for the fixture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from graphcodec.runs._plan import RunPlan, add_options

if TYPE_CHECKING:
    from graphcodec.runs._recorder import ConversationRecorder

_WORKER_INPUT: Final = "graphcodec_run"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Start recording, or sending what is recorded elsewhere."""
    line = "scenario(data): what is to be played through, for recorded runs"
    config.addinivalue_line("markers", line)
    worker: dict[str, Any] = getattr(config, "workerinput", {})
    if _WORKER_INPUT in worker:
        _send(config, worker)
    elif not worker and not _is_list(config):
        plan = RunPlan.of(config)
        if plan is not None:
            _record(config, plan)


def _is_list(config: pytest.Config) -> bool:
    """Say whether a session only lists what there is, and must leave the run alone."""
    names = ("collectonly", "showfixtures", "show_fixtures_per_test")
    return any(config.getoption(name, default=False) for name in names)


def _record(config: pytest.Config, plan: RunPlan) -> None:
    from graphcodec.runs._bus import EventBus  # noqa: PLC0415 - see above
    from graphcodec.runs._session import BUS, ExampleWatcher, RunRecorder  # noqa: PLC0415
    from graphcodec.runs._workers import WorkerHost  # noqa: PLC0415

    problems: list[str] = []

    def note(exc: Exception, event: object, _handler: object) -> None:
        problems.append(f"{type(event).__name__} could not be recorded: {exc}")

    bus = config.stash[BUS] = EventBus(on_error=note)
    if config.getoption("numprocesses", None) or config.getoption("tx", None):
        host = WorkerHost(bus)
        here: object = host
        settle = host.settle
    else:
        here, settle = ExampleWatcher(bus), _nothing
    config.pluginmanager.register(here)
    recorder = RunRecorder(bus, plan, config, settle, problems)
    config.pluginmanager.register(recorder)


def _nothing() -> None:
    """Wait for nobody."""


def _send(config: pytest.Config, worker: dict[str, Any]) -> None:
    from graphcodec.runs._bus import EventBus  # noqa: PLC0415 - see above
    from graphcodec.runs._session import BUS, ExampleWatcher  # noqa: PLC0415
    from graphcodec.runs._workers import WorkerEnd  # noqa: PLC0415

    bus = config.stash[BUS] = EventBus()
    config.pluginmanager.register(ExampleWatcher(bus))
    end = WorkerEnd(bus, worker[_WORKER_INPUT], worker["workerid"])
    config.pluginmanager.register(end)


@pytest.fixture
def conversation(request: pytest.FixtureRequest) -> ConversationRecorder:
    """Return what to tell of a conversation; nothing is kept unless a run is recorded.

    Args:
        request: Whose test it is.
    """
    from graphcodec.runs._recorder import ConversationRecorder  # noqa: PLC0415
    from graphcodec.runs._session import BUS  # noqa: PLC0415

    bus = request.config.stash.get(BUS, None)
    return ConversationRecorder(bus, request.node.nodeid)
