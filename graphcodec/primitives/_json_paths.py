"""JSONPath expressions that a stranger wrote, such as a model.

`python-jsonpath` reads RFC 9535 and evaluates nothing but that: in its strict mode
there are five functions, of which two take regular expressions. What it lacks are
bounds. ``$[*,*][*,*]`` visits each value as often as there are ways to it, and the two
functions backtrack as long as they like. So here, a query looks at the clock on its
way, and both functions run on an engine that can be stopped.

This module needs the package; who imports it says so if it is missing.
"""

# python-jsonpath annotates with bare containers.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from itertools import islice
from time import thread_time
from typing import TYPE_CHECKING, Any, Final, cast

from jsonpath import JSONPath, JSONPathEnvironment, JSONPathMatch
from jsonpath.exceptions import JSONPathRecursionError
from jsonpath.filter import RelativeFilterQuery, RootFilterQuery
from jsonpath.function_extensions import Match, Search
from jsonpath.parse import Parser
from jsonpath.segments import JSONPathChildSegment
from jsonpath.selectors import Filter
from jsonpath.token import TOKEN_SELF

from graphcodec.errors import InvalidValueError, LimitExceededError
from graphcodec.readers._patterns import check_size, compiled

if TYPE_CHECKING:
    from collections.abc import Iterable

    import regex
    from jsonpath.filter import BaseExpression
    from jsonpath.match import FilterContextVars
    from jsonpath.stream import TokenStream

__all__ = ["Query"]

LONGEST_PATH: Final = 1000
"""How many characters a path may have."""

PER_COST: Final = 150_000
"""For how much text the time is, as `Sized.cost` has it, begun ones counted."""

PER_ROOT: Final = 2
"""What each value that is asked costs on top: the smallest one takes time too."""

_STEPS: Final = 64
"""How many values are visited between two looks at the clock, which take time too."""

_FOR_EVER: Final = 1e6


class Query:
    """A path, to be asked of one value or of many, within a budget of time.

    Args:
        path: The path, from ``$`` on.
        timeout: How many seconds of computing it may take for each 150,000 values;
            None for no limit.

    Raises:
        InvalidValueError: If *path* is no JSONPath or is too long.
    """

    def __init__(self, path: str, timeout: float | None) -> None:
        if not isinstance(path, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise _refused("a path must be a str", path)
        if len(path) > LONGEST_PATH:
            reason = f"the path has {len(path)} characters, {LONGEST_PATH} are allowed"
            raise _refused(reason, path)
        self._clock = _Clock(timeout)
        self._path = _compiled(path, self._clock)
        self._begins_with_filter = _begins_with_filter(self._path)

    def values(self, root: object, cost: float) -> list[object]:
        """Return what the path finds in *root*.

        Args:
            root: The value that ``$`` stands for.
            cost: What to expect of it, as `Sized.cost` has it.

        Raises:
            LimitExceededError: If that takes too long or *root* nests too deep.
        """
        return self._found(root, root, cost, None)

    def chooses(self, record: object, cost: float) -> bool:
        """Say whether the path finds anything in *record*.

        A path that begins with a filter, as ``$[?@.age > 18]``, is asked of the record
        itself, as if it were the only one in a list.

        Args:
            record: The value that ``$`` stands for.
            cost: What to expect of it, as `Sized.cost` has it.

        Raises:
            LimitExceededError: If that takes too long or *record* nests too deep.
        """
        start = [record] if self._begins_with_filter else record
        return bool(self._found(start, record, cost, 1))

    def _found(
        self, start: object, root: object, cost: float, most: int | None
    ) -> list[object]:
        self._clock.start(cost)
        try:
            return [node.obj for node in islice(self._path.search(start, root), most)]
        except RecursionError as exc:
            raise LimitExceededError(
                "the value nests too deep for this path",
                hint="ask for a part of it by name, without '..' and '=='",
                limit="max_depth",
            ) from (exc if isinstance(exc, JSONPathRecursionError) else None)
        finally:
            self._clock.stop()


class _Clock:
    """The time that a query may still take; it grows with what is queried.

    It is that of this thread: a busy machine is no fault of the path.
    """

    __slots__ = ("_left", "_seen", "_timeout", "deadline", "steps")

    def __init__(self, timeout: float | None) -> None:
        self._timeout = timeout or _FOR_EVER
        self._left = self._timeout
        self._seen = 0.0
        self.deadline = 0.0
        self.steps = _STEPS

    def start(self, cost: float) -> None:
        before, self._seen = self._seen, self._seen + cost + PER_ROOT
        self._left += self._timeout * (self._seen // PER_COST - before // PER_COST)
        self.deadline = thread_time() + self._left

    def stop(self) -> None:
        self._left = self.deadline - thread_time()

    def tick(self) -> float:
        """Return how many seconds are left.

        Raises:
            LimitExceededError: If none are.
        """
        self.steps = _STEPS
        left = self.deadline - thread_time()
        if left <= 0:
            raise self.spent()
        return left

    def spent(self) -> LimitExceededError:
        return LimitExceededError(
            f"matching the path took more than {self._timeout:g} seconds for each"
            f" {PER_COST:,} values",
            hint="name the way instead of repeating '..' and '*', simplify patterns"
            " such as (a+)+, or give more timeout",
            limit="path_timeout",
            value=self._timeout,
        )


class _Node(JSONPathMatch):
    """A place in the value; it keeps neither its path nor its children."""

    __slots__ = ("_clock",)

    def __init__(self, obj: object, root: Any, clock: _Clock) -> None:
        # The base would also take, and hold, what nobody asks for here.
        self.obj = obj
        self.root = root
        self.parent = None
        self.parts = ()
        self.path = ""
        self._clock = clock

    def new_child(self, obj: object, key: int | str) -> JSONPathMatch:
        del key
        clock = self._clock
        clock.steps -= 1
        if not clock.steps:
            clock.tick()
        return _Node(obj, self.root, clock)

    def add_child(self, *children: JSONPathMatch) -> None:
        """Forget them: a query over a large value would hold all it has seen."""

    def filter_context(self) -> FilterContextVars:
        return {}


class _Path(JSONPath):
    """A path whose nodes look at the clock; also for the paths within filters."""

    env: _Environment

    def finditer(
        self, data: Any, *, filter_context: FilterContextVars | None = None
    ) -> Iterable[JSONPathMatch]:
        del filter_context
        return self.search(data, data)

    def search(self, start: object, root: object) -> Iterable[JSONPathMatch]:
        nodes: Iterable[JSONPathMatch] = [_Node(start, root, self.env.clock)]
        for segment in self.segments:
            nodes = segment.resolve(nodes)
        return nodes


class _Parser(Parser):
    env: _Environment

    def parse_absolute_query(self, stream: TokenStream) -> BaseExpression:
        stream.next()
        return RootFilterQuery(_Path(env=self.env, segments=self.parse_query(stream)))

    def parse_relative_query(self, stream: TokenStream) -> BaseExpression:
        stream.eat(TOKEN_SELF)
        path = _Path(env=self.env, segments=self.parse_query(stream))
        return RelativeFilterQuery(path)


class _Environment(JSONPathEnvironment):
    parser_class = _Parser

    def __init__(self, clock: _Clock) -> None:
        self.clock = clock
        super().__init__(strict=True)

    def setup_function_extensions(self) -> None:
        super().setup_function_extensions()
        self.function_extensions["match"] = _Match(self.clock)
        self.function_extensions["search"] = _Search(self.clock)

    def getitem(self, obj: Any, key: Any) -> Any:
        # The package would take the slices of a str for those of an array.
        return () if isinstance(obj, str) else super().getitem(obj, key)

    def compare(self, left: object, operator: str, right: object) -> bool:
        self.clock.tick()
        return super().compare(left, operator, right)


class _Match(Match):
    def __init__(self, clock: _Clock) -> None:
        super().__init__()
        self._clock = clock

    def check_cache(self, pattern: str) -> Any:
        return _bounded(self.cache, pattern, self._clock)


class _Search(Search):
    def __init__(self, clock: _Clock) -> None:
        super().__init__()
        self._clock = clock

    def check_cache(self, pattern: str) -> Any:
        return _bounded(self.cache, pattern, self._clock)


class _Bounded:
    """A compiled pattern that stops when the time is up."""

    __slots__ = ("_clock", "_pattern")

    def __init__(self, pattern: regex.Pattern[str], clock: _Clock) -> None:
        self._pattern = pattern
        self._clock = clock

    def fullmatch(self, value: str) -> object:
        return self._try(self._pattern.fullmatch, value)

    def search(self, value: str) -> object:
        return self._try(self._pattern.search, value)

    def _try(self, method: Any, value: str) -> object:
        try:
            return method(value, timeout=self._clock.tick())
        except TimeoutError:
            raise self._clock.spent() from None


def _bounded(cache: Any, pattern: str, clock: _Clock) -> _Bounded | None:
    """Return a pattern of the path, or of the data, that looks at the clock.

    RFC 9535 wants one that is none to match nothing.
    """
    clock.tick()
    try:
        return cast("_Bounded | None", cache[pattern])
    except KeyError:
        pass
    try:
        check_size(pattern)
        found = _Bounded(compiled(pattern), clock)
    except InvalidValueError:
        found = None
    cache[pattern] = found
    return found


def _compiled(path: str, clock: _Clock) -> _Path:
    env = _Environment(clock)
    try:
        # In strict mode there is no other kind of path.
        found = cast("JSONPath", env.compile(path))
        return _Path(env=env, segments=found.segments)
    except RecursionError:
        raise _refused("the path nests too deep", path) from None
    except Exception as exc:  # noqa: BLE001 - whatever its parser raises for a bad path
        # The text of its errors shows the whole path again.
        reason = exc.args[0] if exc.args else type(exc).__name__
        raise _refused(f"not a JSONPath ({reason!s:.80})", path) from None


def _begins_with_filter(path: JSONPath) -> bool:
    first = path.segments[0] if path.segments else None
    return isinstance(first, JSONPathChildSegment) and all(
        isinstance(selector, Filter) for selector in first.selectors
    )


def _refused(reason: str, path: object) -> InvalidValueError:
    shown = path[:80] if isinstance(path, str) else path
    return InvalidValueError(
        reason,
        hint="a path is like $.user.name, $.items[0], $..name or $[?@.age > 18]",
        value=f"{shown!r:.80}",
    )
