"""A job over many documents, here and in a Dask cluster."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from graphcodec import errors
from graphcodec._bulk import Failure, Report, run
from tests.bulk.works import Deadly, Number, fails_at_odd, fails_oddly

if TYPE_CHECKING:
    from collections.abc import Iterator


def numbers(count: int) -> list[Number]:
    """Return jobs."""
    return [Number(f"n{value}", value) for value in range(count)]


@pytest.fixture(params=["here", "dask"])
def cluster(request: pytest.FixtureRequest) -> Any:
    """Where jobs run."""
    if request.param == "here":
        return None
    return request.getfixturevalue("dask_client")


def test_counts_everything(cluster: Any) -> None:
    """What was done, was done before, and failed add up; each failure has a name."""
    report = run(fails_at_odd, numbers(50), cluster=cluster, batch=7)

    assert (report.done, report.skipped, report.total) == (24, 1, 50)
    assert {failure.name for failure in report.failures} == {
        f"n{value}" for value in range(1, 50, 2)
    }


def test_failure_tells_all(cluster: Any) -> None:
    """A failure has the exception itself and the place in the code."""
    report = run(fails_at_odd, [Number("three", 3)], cluster=cluster)

    (failure,) = report.failures
    assert isinstance(failure.error, ValueError)
    assert str(failure) == "three: 3 is odd"
    assert "raise ValueError(msg)" in failure.traceback


def test_exceptions_that_do_not_travel(cluster: Any) -> None:
    """Of an exception that can't be pickled, its text arrives."""
    report = run(fails_oddly, numbers(3), cluster=cluster)

    assert sorted(report.failures, key=str) == [
        Failure(name=f"n{value}", error=RuntimeError()) for value in range(3)
    ]
    assert all("no reason" in str(failure) for failure in report.failures)


def test_tells_how_far_it_is(cluster: Any) -> None:
    """Progress counts up to all jobs, those that failed included."""
    told: list[tuple[int, int]] = []

    run(
        fails_at_odd,
        numbers(20),
        cluster=cluster,
        batch=6,
        progress=lambda done, total: told.append((done, total)),
    )

    assert told[-1] == (20, 20)
    assert told == sorted(told)


def test_nothing_to_do(cluster: Any) -> None:
    """No jobs are no error."""
    assert run(fails_at_odd, [], cluster=cluster) == Report()


@pytest.fixture
def impatient(dask_client: Any) -> Iterator[Any]:
    """The cluster, giving a task up with the first worker that it ends."""
    scheduler = dask_client.cluster.scheduler
    usual, scheduler.allowed_failures = scheduler.allowed_failures, 0
    yield dask_client
    scheduler.allowed_failures = usual


def test_a_job_that_kills_its_process(impatient: Any, tmp_path: Path) -> None:
    """Only the job that ends every process it comes to is reported."""
    report = run(Deadly(tmp_path, 13), numbers(20), cluster=impatient, batch=10)

    (failure,) = report.failures
    assert failure.name == "n13"
    assert type(failure.error).__name__ == "KilledWorker"
    assert len(list(tmp_path.iterdir())) == 19
    assert report.total == 20


def test_batch_is_a_number() -> None:
    """A batch of no documents would never end."""
    with pytest.raises(errors.InvalidValueError, match="batch must be a number of"):
        run(fails_at_odd, [], batch=0)


def test_work_that_can_not_be_sent(dask_client: Any) -> None:
    """What holds a lock stays in its process."""
    lock = threading.Lock()

    with pytest.raises(
        errors.InvalidValueError, match="the work can't be sent"
    ) as info:
        run(lambda _: lock.locked(), numbers(1), cluster=dask_client)
    assert "package.module:name" in info.value.hint


@pytest.mark.parametrize("address", ["nowhere", "tcp://127.0.0.1:1", "", 3])
def test_no_such_cluster(address: Any) -> None:
    """An address at which no scheduler listens is told as what it is."""
    dask = pytest.importorskip("dask")

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "500ms"}),
        pytest.raises(errors.InvalidValueError, match=r"scheduler at|must be a Client"),
    ):
        run(fails_at_odd, numbers(1), cluster=address)
