from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from graphcodec._process import PerProcess


def test_a_value_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads share it, processes do not."""
    made: list[int] = []

    def make() -> int:
        made.append(os.getpid())
        return len(made)

    value = PerProcess(make)
    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(value.get) for _ in range(50)]
        assert {answer.result() for answer in answers} == {1}
    monkeypatch.setattr("os.getpid", lambda: -1)
    assert value.get() == 2
    monkeypatch.undo()
    assert value.get() == 1


def test_a_failure_is_not_kept() -> None:
    """What could not be made is tried again the next time."""
    answers = iter([RuntimeError("not yet"), None])

    def make() -> int:
        if (error := next(answers)) is not None:
            raise error
        return 5

    value = PerProcess(make)
    with pytest.raises(RuntimeError, match="not yet"):
        value.get()
    assert value.get() == 5


def test_a_value_can_be_taken_back() -> None:
    """Then the next call makes another one."""
    value = PerProcess(object)

    assert value.take() is None
    first = value.get()
    assert value.take() is first
    assert value.get() is not first


def run(program: str) -> None:
    """Run a program with the same path as this one, warnings being errors."""
    result = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr.decode()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_lock_held_at_a_fork_does_not_hang_the_child() -> None:
    """Neither ours nor that of fsspec, whichever thread of the parent held it."""
    run("""
import os, threading, fsspec.asyn
from graphcodec_resolvers import FsspecStore
from graphcodec._process import PerProcess

FsspecStore("memory://x", alias="m").write(b"hi")
held, done = threading.Event(), threading.Event()
def make():
    held.set()
    done.wait()
    return 1
def hold():
    with fsspec.asyn.get_lock():
        value.get()
value = PerProcess(make)
thread = threading.Thread(target=hold)
thread.start()
held.wait()
pid = os.fork()
if pid == 0:
    done.set()
    with fsspec.asyn.get_lock():
        os._exit(0 if value.get() == 1 else 1)
status = os.waitpid(pid, 0)[1]
done.set()
thread.join()
assert status == 0, status
""")


def test_importing_the_package_loads_no_backend() -> None:
    """Nor does making, describing and resolving: only an open does."""
    run("""
import sys
import graphcodec_resolvers as resolvers
assert set(resolvers.__all__) <= set(dir(resolvers))
assert not {"fsspec", "httpx", "httpcore"} & set(sys.modules)
store = resolvers.FsspecStore("memory://x", alias="m")
resolvers.FsspecResolver({"m": store})
reader = resolvers.HttpReader("https://h.example/a")
assert resolvers.HttpResolver().resolve(reader.describe()) == reader
assert resolvers.HttpResolver.__module__ == "graphcodec_resolvers"
try:
    resolvers.nothing
except AttributeError:
    pass
else:
    raise AssertionError
assert not {"fsspec", "httpx", "httpcore", "asyncio"} & set(sys.modules)
""")
