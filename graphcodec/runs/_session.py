"""A pytest session as a run: in one process, or as one of several workers."""

import hashlib
import shutil
import subprocess
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, Final, cast
from uuid import uuid4

import pytest
from attrs import define, field

from graphcodec.runs._builder import RunDataBuilder
from graphcodec.runs._bus import EventBus
from graphcodec.runs._data import RunData
from graphcodec.runs._events import (
    Event,
    ExampleFailed,
    ExamplePassed,
    ExamplePending,
    ExampleStarted,
    SuiteStarted,
    SuiteStopped,
    SuiteSummary,
)
from graphcodec.runs._files import EventFile, JsonFile

BUS: Final = pytest.StashKey[EventBus]()
"""Where a session keeps its bus while a run is recorded."""


# Examples


@define
class _Attempt:
    """One try at one test.

    Attributes:
        number: Which try, counted from 1.
        reports: What pytest said of its phases.
        failure: The exception of the first phase that failed.
    """

    number: int
    reports: list[pytest.TestReport] = field(factory=list[pytest.TestReport])
    failure: BaseException | None = None

    @property
    def duration(self) -> float:
        """How long its phases took together, in seconds."""
        return sum(report.duration for report in self.reports)


class ExampleWatcher:
    """Publishes the beginning and the end of each test that runs in this process.

    Args:
        bus: Where to publish.
    """

    def __init__(self, bus: EventBus) -> None:
        self._bus = bus
        self._attempts: dict[str, _Attempt] = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Begin an example; a plug-in that tries again comes here again."""
        before = self._attempts.get(item.nodeid)
        number = before.number + 1 if before else 1
        self._attempts[item.nodeid] = _Attempt(number)
        self._bus.publish(_started(item, number))
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Take note of a phase, and end the example after the last one."""
        report = yield
        attempt = self._attempts.get(item.nodeid)
        if attempt is None:
            return report
        attempt.reports.append(report)
        if report.failed and call.excinfo and attempt.failure is None:
            attempt.failure = call.excinfo.value
        if report.when == "teardown":
            self._bus.publish(_ended(item, attempt))
        return report


def _names(item: pytest.Item) -> dict[str, Any]:
    path = "::".join(item.nodeid.split("::")[1:]) or item.name
    digest = hashlib.sha256(item.nodeid.encode("utf-8", "surrogatepass")).hexdigest()
    return {
        "example_id": item.nodeid,
        "stable_id": f"example:{digest[:12]}",
        "description": item.name,
        "full_description": path,
    }


def _started(item: pytest.Item, attempt: int) -> ExampleStarted:
    file, line, _ = item.location
    names = _names(item)
    return ExampleStarted(
        **names,
        canonical_path=names["full_description"],
        location=f"{file}:{(line or 0) + 1}",
        scenario=_scenario(item),
        attempt=attempt,
    )


def _scenario(item: pytest.Item) -> object:
    """Return what the mark or the parameter called ``scenario`` says."""
    mark = item.get_closest_marker("scenario")
    if mark is not None:
        return mark.args[0] if mark.args else dict(mark.kwargs)
    spec = getattr(item, "callspec", None)
    params: dict[str, object] = {} if spec is None else spec.params
    found = params.get("scenario")
    return found if _is_scenario(found) else None


def _is_scenario(value: object) -> bool:
    return isinstance(value, dict) or hasattr(value, "to_dict")


def _ended(item: pytest.Item, attempt: _Attempt) -> Event:
    names = _names(item)
    failed = next((report for report in attempt.reports if report.failed), None)
    if failed is not None:
        return ExampleFailed(
            **names,
            location=f"{item.location[0]}:{(item.location[1] or 0) + 1}",
            duration=attempt.duration,
            **_told(attempt.failure, failed, item.config.rootpath),
        )
    skipped = next((report for report in attempt.reports if report.skipped), None)
    if skipped is not None:
        return ExamplePending(**names, message=_reason(skipped))
    return ExamplePassed(**names, duration=attempt.duration)


def _told(
    failure: BaseException | None, report: pytest.TestReport, root: Path
) -> dict[str, Any]:
    if failure is None:
        # A strict xfail that passed: there is no exception, and pytest says why.
        return {"message": report.longreprtext, "exception_class": "Failed"}
    cls = type(failure)
    is_builtin = cls.__module__ == "builtins"
    name = cls.__qualname__ if is_builtin else f"{cls.__module__}.{cls.__qualname__}"
    return {
        "message": str(failure),
        "exception_class": name,
        "backtrace": list(_backtrace(failure, root)),
    }


def _backtrace(failure: BaseException, root: Path) -> Iterator[str]:
    """Yield where an exception came from, innermost first, then what caused it."""
    chain: BaseException | None = failure
    seen: set[int] = set()
    while chain is not None and id(chain) not in seen:
        seen.add(id(chain))
        if chain is not failure:
            yield f"caused by {type(chain).__qualname__}: {chain}"
        frames = traceback.extract_tb(chain.__traceback__)
        ours = [frame for frame in frames if not _is_machinery(frame.filename)]
        for frame in reversed(ours or frames):
            yield f"{_shown(frame.filename, root)}:{frame.lineno}: in {frame.name}"
        hidden = chain.__suppress_context__
        chain = chain.__cause__ or (None if hidden else chain.__context__)


def _shown(filename: str, root: Path) -> str:
    """Return a path as it is written in every checkout."""
    path = Path(filename)
    return str(path.relative_to(root)) if path.is_relative_to(root) else filename


def _is_machinery(filename: str) -> bool:
    parts = Path(filename).parts
    return "_pytest" in parts or "pluggy" in parts


def _reason(report: pytest.TestReport) -> str:
    """Return why a test was skipped, or was expected to fail."""
    if hasattr(report, "wasxfail"):
        return str(report.wasxfail) or "expected to fail"
    longrepr: object = report.longrepr
    if isinstance(longrepr, tuple):
        reason = str(cast("tuple[object, ...]", longrepr)[-1])
        return reason.removeprefix("Skipped: ")
    return report.longreprtext


# The suite


class RunRecorder:
    """Records a session and writes its run when it ends.

    Args:
        bus: Where everything is published.
        path: Where the run is to be written. Beside it, with the suffix ``.events``,
            are the events as they come.
        config: The session's.
        settle: Called at the end, to wait for what is still on its way.
    """

    def __init__(
        self,
        bus: EventBus,
        path: Path,
        config: pytest.Config,
        settle: Callable[[], None],
    ) -> None:
        self._bus = bus
        self._path = path
        self._config = config
        self._settle = settle
        self._born = time.perf_counter()
        self._is_started = False
        events = path.with_suffix(".events")
        events.unlink(missing_ok=True)
        self._file = EventFile(events, bus=bus)
        self._builder = RunDataBuilder(bus)
        self.written: RunData | None = None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Begin the run, unless workers do the collecting."""
        if not self._config.pluginmanager.hasplugin("dsession"):
            self.start(len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Begin the run with what the first worker has collected."""
        self.start(len(ids))

    def start(self, count: int) -> None:
        """Publish the first event, once.

        Args:
            count: How many examples there are.
        """
        if self._is_started:
            return
        self._is_started = True
        seed: object = self._config.getoption("randomly_seed", None)
        event = SuiteStarted(
            example_count=count,
            load_time=time.perf_counter() - self._born,
            seed=seed if type(seed) is int else None,
            run_id=str(uuid4()),
            git_commit=_git_commit(self._config.rootpath),
        )
        self._bus.publish(event)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self) -> Generator[None, Any, Any]:
        """End the run after its workers, and write it before the last words."""
        try:
            return (yield)
        finally:
            self._settle()
            self.start(0)
            self._bus.publish(self._summary())
            self._bus.publish(SuiteStopped())
            self.written = self._builder.snapshot()
            self._builder.detach()
            self._file.close()
            JsonFile.write(self._path, self.written)

    def _summary(self) -> SuiteSummary:
        summary = self._builder.snapshot().summary()
        return SuiteSummary(
            duration=time.perf_counter() - self._born,
            example_count=summary.example_count,
            failure_count=summary.failed_count + summary.aborted_count,
            pending_count=summary.pending_count,
        )

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        """Say where the run is."""
        if self.written is None:
            return
        terminalreporter.section("graphcodec run")
        count = len(self.written.examples)
        terminalreporter.line(f"{count} examples recorded in {self._path}")
        for anomaly in self.written.anomalies:
            terminalreporter.line(f"odd: {anomaly}")


def _git_commit(folder: Path) -> str | None:
    git = shutil.which("git")
    if git is None:
        return None
    command = [git, "-C", str(folder), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(  # noqa: S603 - git, in the folder of the tests
            command, capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None
