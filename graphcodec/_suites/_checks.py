"""What the suites have in common; they need neither pytest nor unittest."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final, TypeVar
from unittest import SkipTest

from graphcodec.errors import GraphCodecError

T = TypeVar("T")

_THREADS: Final = 8
_OUTSIDE: Final = (
    "open",
    "os.listdir",
    "os.scandir",
    "socket.connect",
    "socket.getaddrinfo",
    "sqlite3.connect",
    "subprocess.Popen",
)


def require(holds: object, rule: str) -> None:
    """Fail with *rule* unless it holds.

    Args:
        holds: Whether it does.
        rule: What the contract says.

    Raises:
        AssertionError: If it does not hold.
    """
    if not holds:
        raise AssertionError(rule)


def skip(why: str) -> SkipTest:
    """Return what skips a test, for pytest and unittest alike.

    Args:
        why: What is missing.
    """
    return SkipTest(why)


def refused(work: Callable[[], object], kinds: type[Exception], rule: str) -> Exception:
    """Return the error that *work* must raise.

    Args:
        work: What must not go well.
        kinds: What it must raise.
        rule: What the contract says.

    Raises:
        AssertionError: If it raises nothing or something else.
    """
    try:
        work()
    except kinds as exc:
        return exc
    except Exception as exc:
        raise AssertionError(f"{rule}; it raised {exc!r}") from exc
    raise AssertionError(f"{rule}; it raised nothing")


def at_once(work: Callable[[int], T]) -> Sequence[T]:
    """Return what *work* gives when several threads call it at the same moment.

    Args:
        work: Is called with the number of each thread.
    """
    gate = threading.Barrier(_THREADS)

    def through(number: int) -> T:
        gate.wait(60)
        return work(number)

    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(through, range(_THREADS)))


class _Watch:
    """Notes what threads do outside the process; an audit hook can't be taken away."""

    def __init__(self) -> None:
        self._watched: dict[int, list[str]] = {}
        self._hooked = False

    @contextmanager
    def __call__(self) -> Generator[list[str]]:
        """Give a list that grows with what this thread opens and asks for."""
        if not self._hooked:
            self._hooked = True
            sys.addaudithook(self._note)
        seen: list[str] = []
        self._watched[threading.get_ident()] = seen
        try:
            yield seen
        finally:
            del self._watched[threading.get_ident()]

    def _note(self, event: str, args: tuple[object, ...]) -> None:
        if self._watched and event in _OUTSIDE:
            seen = self._watched.get(threading.get_ident())
            if seen is not None:
                seen.append(f"{event} {args[0]!r:.80}" if args else event)


watching: Final = _Watch()


def touches_nothing(work: Callable[[], T], rule: str) -> T:
    """Return what *work* gives, which must open no file and no connection.

    Args:
        work: What is watched; its imports were done before.
        rule: What the contract says.

    Raises:
        AssertionError: If it does.
    """
    with watching() as seen:
        result = work()
    require(not seen, f"{rule}; it did: {', '.join(seen[:3])}")
    return result


def shows_none(secrets: Sequence[str], *texts: str) -> None:
    """Require that no text holds one of the secrets.

    Args:
        secrets: What must not be seen.
        *texts: Where it must not be.

    Raises:
        AssertionError: If one does.
    """
    for secret in secrets:
        seen = any(secret in text for text in texts)
        require(not seen, "secrets are in no repr, document, pickle or error")


def told(error: BaseException) -> str:
    """Return all that an error would show.

    Args:
        error: The error, with what it came from.
    """
    texts = [str(error), repr(error)]
    if isinstance(error, GraphCodecError):
        texts.append(repr(vars(error)))
    befores = (error.__cause__, error.__context__)
    return "\n".join([*texts, *(told(each) for each in befores if each is not None)])
