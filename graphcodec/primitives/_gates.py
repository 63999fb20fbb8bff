"""A turn that waits for somebody, and the part of it that can be written down."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Generator
from datetime import UTC, datetime
from typing import ClassVar, NoReturn, SupportsIndex, cast
from uuid import uuid4

from attrs import define, field, frozen

from graphcodec.errors import (
    GateAbortedError,
    GateNotEncodableError,
    GateTimeoutError,
    InvalidValueError,
)
from graphcodec.primitives._base import Primitive
from graphcodec.primitives._checks import POSITIVE, checked, excerpt
from graphcodec.primitives._convert import to_moment

__all__ = ["GateRecord", "TurnGate"]

Schema = Callable[[object], object]


@define(eq=False, repr=False)
class Outcome:
    """How a gate was settled: with a value, or with an error to raise."""

    value: object = None
    error: BaseException | None = None


@define(eq=False, repr=False)
class Settlement:
    """The live half of a gate: what came out of it, and who waits for that."""

    _lock: threading.Lock = field(factory=threading.Lock)
    _waiters: list[asyncio.Future[None]] = field(factory=list[asyncio.Future[None]])
    outcome: Outcome | None = None

    def settle(self, outcome: Outcome) -> bool:
        """Keep the first outcome and wake everybody; say whether it was the first."""
        with self._lock:
            if self.outcome is not None:
                return False
            self.outcome = outcome
            waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            # A loop that was closed meanwhile has nobody left to wake.
            with contextlib.suppress(RuntimeError):
                waiter.get_loop().call_soon_threadsafe(waiter.set_result, None)
        return True

    async def wait(self, seconds: float | None) -> None:
        """Return once there is an outcome, or after some *seconds*."""
        waiter = asyncio.get_running_loop().create_future()
        with self._lock:
            if self.outcome is not None:
                return
            self._waiters.append(waiter)
        try:
            await asyncio.wait({waiter}, timeout=seconds)
        finally:
            with self._lock, contextlib.suppress(ValueError):
                self._waiters.remove(waiter)


def _new_id(value: str | None) -> str:
    return uuid4().hex if value is None else value


def _now(value: datetime | None) -> datetime:
    return datetime.now(UTC) if value is None else to_moment(value)


@checked
@frozen(eq=False, repr=False)
class TurnGate:
    """A live point at which a turn waits for a decision from outside.

    ``await gate`` gives the value that `resolve` was called with, or raises what
    `reject`, `abort` or the timeout say. The first of them settles the gate, later ones
    do nothing. They may be called from any thread, and any number of tasks may wait.

    A gate lives in one process. What can be written down of it is its `record`.

    Attributes:
        turn_id: The turn that waits.
        reason: What it waits for.
        payload: What whoever decides needs to know.
        id: A name of its own; made if there is none.
        schema: Takes the value of `resolve` and returns the one to use, or raises.
        timeout: After how many seconds, from now, the gate times out; None for never.
        created_at: When it was made.
    """

    __graphcodec_live__: ClassVar[bool] = True
    __graphcodec_hint__: ClassVar[str] = (
        "write down gate.record(), and reopen() that on the other side"
    )

    turn_id: str
    reason: str
    payload: object = None
    id: str = field(default=None, converter=_new_id, kw_only=True)
    schema: Schema | None = field(default=None, kw_only=True)
    timeout: int | float | None = field(default=None, kw_only=True, metadata=POSITIVE)
    created_at: datetime = field(default=None, converter=_now, kw_only=True)
    _born: float = field(
        init=False, factory=time.monotonic, metadata={"graphcodec": "skip"}
    )
    _settlement: Settlement = field(
        init=False, factory=Settlement, metadata={"graphcodec": "skip"}
    )

    def __attrs_post_init__(self) -> None:
        self.__graphcodec_check__()

    def __graphcodec_check__(self) -> None:
        """Verify the values of all fields; `checked` puts a generated one here.

        Raises:
            InvalidValueError: If a field breaks a rule.
        """

    @property
    def is_settled(self) -> bool:
        """Whether the gate is resolved, rejected, aborted or timed out."""
        return self._outcome() is not None

    def resolve(self, value: object) -> bool:
        """Let the turn go on with *value*, and say whether this settled the gate.

        Args:
            value: What the schema, if there is one, is called with.

        Raises:
            InvalidValueError: If the schema raises; the gate stays open.
        """
        if self.is_settled:
            return False
        if self.schema is not None:
            try:
                value = self.schema(value)
            except Exception as exc:
                raise InvalidValueError(
                    f"the schema of the gate refuses {excerpt(value)}",
                    hint="the gate is still open: resolve it with another value",
                    type_name="TurnGate",
                    value=excerpt(value),
                ) from exc
        return self._settlement.settle(Outcome(value=value))

    def reject(self, exc: BaseException) -> bool:
        """Make the turn raise *exc*, and say whether this settled the gate.

        Args:
            exc: The exception, as an instance.

        Raises:
            InvalidValueError: If it is none.
        """
        if not isinstance(cast("object", exc), BaseException):
            raise InvalidValueError(
                f"a gate is rejected with an exception, not {excerpt(exc)}",
                type_name="TurnGate",
                value=excerpt(exc),
            )
        return not self.is_settled and self._settlement.settle(Outcome(error=exc))

    def abort(self, reason: str = "") -> bool:
        """Make the turn raise `GateAbortedError`; say whether this settled the gate.

        Args:
            reason: Why, for the message.
        """
        why = f": {reason}" if reason else ""
        return self.reject(
            GateAbortedError(
                f"the gate {excerpt(self.id)} was aborted{why}", type_name="TurnGate"
            )
        )

    def record(self) -> "GateRecord":
        """Return what can be written down: everything but who waits and how long."""
        return GateRecord(
            id=self.id,
            turn_id=self.turn_id,
            reason=self.reason,
            payload=self.payload,
            created_at=self.created_at,
        )

    def __await__(self) -> Generator[object, None, object]:
        return self._wait().__await__()

    async def _wait(self) -> object:
        while (outcome := self._outcome()) is None:
            await self._settlement.wait(self._remaining())
        if outcome.error is not None:
            raise outcome.error
        return outcome.value

    def _remaining(self) -> float | None:
        """Return the seconds until the timeout, None if there is none."""
        if self.timeout is None:
            return None
        return self._born + self.timeout - time.monotonic()

    def _outcome(self) -> Outcome | None:
        """Return how the gate was settled, after a look at the clock."""
        remaining = self._remaining()
        if (
            self._settlement.outcome is None
            and remaining is not None
            and remaining <= 0
        ):
            error = GateTimeoutError(
                f"nobody settled the gate {excerpt(self.id)} in {self.timeout} seconds",
                type_name="TurnGate",
                value=self.timeout,
            )
            self._settlement.settle(Outcome(error=error))
        return self._settlement.outcome

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise GateNotEncodableError(
            "a TurnGate is live and can't be copied or leave its process",
            hint=self.__graphcodec_hint__,
            type_name="TurnGate",
        )

    def __repr__(self) -> str:
        state = "settled" if self.is_settled else "open"
        ids = f"id={excerpt(self.id)}, turn_id={excerpt(self.turn_id)}"
        return f"TurnGate({ids}, <{state}>)"


@checked
@frozen(kw_only=True, eq=False, repr=False)
class GateRecord(Primitive):
    """What can be written down of a `TurnGate`.

    Attributes:
        id: The name of the gate.
        turn_id: The turn that waited.
        reason: What it waited for.
        payload: What whoever decides needs to know.
        created_at: When the gate was made.
    """

    __graphcodec_tag__: ClassVar[str] = "GateRecord"

    id: str
    turn_id: str
    reason: str
    payload: object = None
    created_at: datetime = field(converter=to_moment)

    def reopen(
        self, *, schema: Schema | None = None, timeout: float | None = None
    ) -> TurnGate:
        """Return a new, open gate by the same id.

        Args:
            schema: As for `TurnGate`; functions are not written down.
            timeout: In seconds from now.

        Raises:
            InvalidValueError: If the timeout is not above 0.
        """
        return TurnGate(
            self.turn_id,
            self.reason,
            self.payload,
            id=self.id,
            schema=schema,
            timeout=timeout,
            created_at=self.created_at,
        )

    def __hash__(self) -> int:
        return hash(self.id)

    def _summary(self) -> str:
        return f"id={excerpt(self.id)}, turn_id={excerpt(self.turn_id)}"
