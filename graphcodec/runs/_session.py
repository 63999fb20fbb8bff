"""A pytest session as a run: in one process, or as one of several workers."""

import hashlib
import shutil
import subprocess
import time
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast
from uuid import uuid4

import pytest
from attrs import define, field

from graphcodec.errors import GraphCodecError
from graphcodec.runs._builder import RunDataBuilder
from graphcodec.runs._bus import EventBus, use_bus
from graphcodec.runs._data import RunData
from graphcodec.runs._environment import describe_environment
from graphcodec.runs._events import (
    Event,
    ExampleAborted,
    ExampleFailed,
    ExamplePassed,
    ExamplePending,
    ExampleStarted,
    SuiteStarted,
    SuiteStopped,
    SuiteSummary,
)
from graphcodec.runs._files import EventFile, JsonFile, feed, is_event_file
from graphcodec.runs._groups import GroupWatcher, group_id
from graphcodec.runs._plan import RunPlan

BUS: Final = pytest.StashKey[EventBus]()
"""Where a session keeps its bus while a run is recorded."""

_SHOWN: Final = 5
"""How many problems are told at the end."""


# Examples


@define
class _Attempt:
    """One try at one test.

    Attributes:
        number: Which try, counted from 1.
        reports: What pytest said of its phases.
        failure: The exception of the first phase that failed.
        is_over: Whether its end has been published.
    """

    number: int
    reports: list[pytest.TestReport] = field(factory=list[pytest.TestReport])
    failure: BaseException | None = None
    is_over: bool = False

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
        self._groups = GroupWatcher(bus)
        self._attempts: dict[str, _Attempt] = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, Any, Any]:
        """Begin the groups of a test before it, and end those that are over after.

        What runs in between may publish on `current_bus`.
        """
        self._groups.enter(item)
        try:
            with use_bus(self._bus):
                return (yield)
        finally:
            self._groups.leave(nextitem)

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
            attempt.is_over = True
            self._bus.publish(_ended(item, attempt))
        return report

    def pytest_sessionfinish(self) -> None:
        """Close what an interrupted session leaves open."""
        message = "the session ended in the middle of it"
        for name, attempt in self._attempts.items():
            if not attempt.is_over:
                event = ExampleAborted(example_id=name, message=message)
                self._bus.publish(event)
        self._groups.leave()


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
        group_id=group_id(item),
    )


def _scenario(item: pytest.Item) -> object:
    """Return what the mark or the parameter called ``scenario`` says."""
    mark = item.get_closest_marker("scenario")
    if mark is not None:
        given: object = mark.args[0] if mark.args else dict(mark.kwargs)
        return {"name": given} if isinstance(given, str) else given
    spec = getattr(item, "callspec", None)
    params: dict[str, object] = {} if spec is None else spec.params
    found = params.get("scenario")
    is_scenario = isinstance(found, Mapping) or hasattr(found, "to_dict")
    return params["scenario"] if is_scenario else None


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
        "message": _text(failure),
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
            yield f"caused by {_named(chain)}"
        frames = traceback.extract_tb(chain.__traceback__)
        ours = [frame for frame in frames if not _is_machinery(frame.filename)]
        for frame in reversed(ours or frames):
            yield f"{_shown(frame.filename, root)}:{frame.lineno}: in {frame.name}"
        if isinstance(chain, BaseExceptionGroup):
            members = cast("BaseExceptionGroup[BaseException]", chain).exceptions
            yield from (f"one of them: {_named(member)}" for member in members)
        hidden = chain.__suppress_context__
        chain = chain.__cause__ or (None if hidden else chain.__context__)


def _named(failure: BaseException) -> str:
    return f"{type(failure).__qualname__}: {_text(failure)}"


def _text(failure: BaseException) -> str:
    """Return what an exception says, also of one that can't say it."""
    try:
        return str(failure)
    except Exception as exc:  # noqa: BLE001 - foreign code, and only for its looks
        return f"<{type(failure).__qualname__}.__str__ raised {type(exc).__qualname__}>"


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
        reason = str(report.wasxfail).removeprefix("reason: ")
        return reason or "expected to fail"
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
        plan: What is to be recorded, and where.
        config: The session's.
        settle: Called at the end, to wait for what is still on its way.
        problems: What went wrong on the bus, in words.
    """

    def __init__(
        self,
        bus: EventBus,
        plan: RunPlan,
        config: pytest.Config,
        settle: Callable[[], None],
        problems: list[str],
    ) -> None:
        self._bus = bus
        self._plan = plan
        self._path = plan.path
        self._config = config
        self._settle = settle
        self._problems = problems
        self._born = time.perf_counter()
        self._is_started = False
        self._resumed: RunData | None = None
        self._uncollected: list[pytest.CollectReport] = []
        self._file: EventFile | None = None
        self._builder = RunDataBuilder()
        self._recorded: RunData | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Open the file of the events, before anything can happen.

        Raises:
            UsageError: If there can be no such file.
        """
        events = self._plan.events
        try:
            if is_event_file(self._path) or self._path.is_dir():
                raise pytest.UsageError(f"--graphcodec-run: {self._path} can be no run")
            self._prepare(events)
            self._file = EventFile(events, bus=self._bus)
        except OSError as exc:
            reason = f"--graphcodec-run: {events} can't be written: {exc.strerror}"
            raise pytest.UsageError(reason) from exc
        except GraphCodecError as exc:
            raise pytest.UsageError(f"--graphcodec-run: {events}: {exc}") from exc
        self._bus.subscribe(handler=self._builder.handle)

    def _prepare(self, events: Path) -> None:
        """Remove what an earlier session left, or go on with it.

        Raises:
            UsageError: If it can't be gone on with.
        """
        if not self._plan.is_resumed:
            events.unlink(missing_ok=True)
            return
        if events.exists():
            feed(self._builder, events)
        elif self._path.exists():
            reason = f"to go on with {self._path.name}, {events} must be there, too"
            raise pytest.UsageError(f"--graphcodec-run-resume: {reason}")
        before = self._resumed = self._builder.run_data
        if before is not None and self._plan.run_id not in (None, before.run_id):
            reason = f"the run in {self._path.name} is {before.run_id}"
            raise pytest.UsageError(f"--graphcodec-run-id: {reason}")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep what could not be collected, until the run begins."""
        if report.failed:
            self._uncollected.append(report)

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
        plan, before = self._plan, self._resumed
        seed: object = self._config.getoption("randomly_seed", None)
        event = SuiteStarted(
            example_count=count,
            load_time=time.perf_counter() - self._born,
            seed=seed if type(seed) is int else None,
            run_id=before.run_id if before else plan.run_id or str(uuid4()),
            git_commit=_git_commit(self._config.rootpath),
            parent_run_id=plan.parent_run_id,
            tags=plan.tags,
            environment=describe_environment(plan.packages),
            is_resumed=before is not None,
        )
        self._bus.publish(event)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(
        self, session: pytest.Session
    ) -> Generator[None, Any, Any]:
        """End the run after its workers, and write it before the last words."""
        try:
            return (yield)
        finally:
            self._settle()
            self.start(0)
            for report in self._uncollected:
                self._fail(report)
            self._bus.publish(self._summary())
            self._bus.publish(SuiteStopped())
            self._bus.clear()
            if self._file is not None:
                self._file.close()
            self._recorded = self._builder.snapshot()
            if not self._is_written(self._recorded):
                session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

    def _fail(self, report: pytest.CollectReport) -> None:
        """Publish a file that could not be collected as an example that failed."""
        name = report.nodeid or "collection"
        began = ExampleStarted(example_id=name, description=name, location=name)
        self._bus.publish(began)
        lines = report.longreprtext.splitlines()
        failure = ExampleFailed(
            example_id=name,
            message=lines[-1].removeprefix("E").strip() if lines else None,
            exception_class="CollectError",
            backtrace=lines,
        )
        self._bus.publish(failure)

    def _is_written(self, run: RunData) -> bool:
        try:
            JsonFile.write(self._path, run)
        except (OSError, GraphCodecError) as exc:
            self._problems.append(f"the run could not be written: {exc}")
            return False
        return True

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
        if self._recorded is None:
            return
        terminalreporter.section("graphcodec run")
        count = len(self._recorded.examples)
        terminalreporter.line(f"{count} examples recorded in {self._path}")
        for anomaly in self._recorded.anomalies:
            terminalreporter.line(f"odd: {anomaly}")
        for problem in self._problems[:_SHOWN]:
            terminalreporter.line(f"problem: {problem}", red=True)
        if len(self._problems) > _SHOWN:
            terminalreporter.line(f"problems: {len(self._problems)} in all", red=True)


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
