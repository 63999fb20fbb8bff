"""What a model may ask for: a name, a schema, and the function behind them."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from datetime import UTC, datetime
from typing import Annotated, ClassVar, Literal, Self, SupportsIndex, cast

from attrs import field, frozen

from graphcodec._callables import name_of, type_name, why_nameless
from graphcodec.errors import (
    HandlerNotEncodableError,
    InvalidValueError,
    NoHandlerError,
    ToolArgsError,
)
from graphcodec.primitives._artifact import SpooledArtifact
from graphcodec.primitives._base import Primitive
from graphcodec.primitives._checks import checked, excerpt, hinted
from graphcodec.primitives._containers import copy_containers, is_dict
from graphcodec.primitives._registry import Registry
from graphcodec.primitives._schema import ArgsSchema
from graphcodec.primitives._tool_call import ToolCall
from graphcodec.primitives._tool_runs import (
    Handler,
    OnEvent,
    Results,
    ToolStarted,
    run,
    run_async,
    text_results,
    to_results,
)

__all__ = ["ArtifactTool", "Tool"]

OnCollision = Literal["throw", "replace", "keep"]


def _artifact_hint(value: object) -> str:
    if isinstance(value, SpooledArtifact):
        return f"give its class: {type(value).__name__}"
    return "give the class itself, not a function that makes one"


@checked
@frozen(eq=False, repr=False)
class Tool(Primitive):
    """Something that a model may ask for, and what is run when it does.

    A tool can be called with arguments that fit its schema. On the wire it has the
    *name* of its handler; who decodes it says which function that is.

    Attributes:
        name: What a model calls it.
        description: What a model is told about it.
        input_schema: The arguments as a JSON Schema, whose type is ``object``. It is
            neither copied nor frozen; changes after the first call may go unseen.
        handler: The function, plain or asynchronous. It is called with the arguments,
            the context and the meta data, as many of them as it takes, and gives text,
            bytes, a `Media` or a list of media. None makes a mere definition.
        artifact: The class that wraps text or bytes that the handler gives.
        meta: What else belongs to it.
        ephemeral: Whether it is for one turn only.
        trusted: Whether what it gives is as good as the developer's own words.
        on_collision: What `ToolRegistry.merge` does if another tool has its name:
            ``throw``, ``replace`` the other one, or ``keep`` it.
    """

    __graphcodec_tag__: ClassVar[str] = "Tool"

    name: str
    description: str
    input_schema: Annotated[Mapping[str, object], "graphcodec-json"] = field(
        metadata=hinted("such as {'type': 'object', 'properties': {}}")
    )
    handler: Annotated[Callable[..., object], "graphcodec-handler"] | None = field(
        metadata=hinted("None makes a mere definition")
    )
    artifact: type[SpooledArtifact] | None = field(
        default=None, kw_only=True, metadata=hinted(_artifact_hint)
    )
    meta: Registry = field(
        factory=Registry, kw_only=True, metadata=hinted("wrap it: Registry(mapping)")
    )
    ephemeral: bool = field(default=False, kw_only=True)
    trusted: bool = field(default=False, kw_only=True)
    on_collision: Literal["throw", "replace", "keep"] = field(
        default="throw", kw_only=True
    )
    _schema: ArgsSchema | None = field(
        default=None,
        init=False,
        eq=False,
        repr=False,
        metadata={"graphcodec": "skip"},
    )

    def validate(self, args: Mapping[str, object]) -> None:
        """Verify that *args* fit the schema; nothing is converted.

        Args:
            args: The arguments: a dict of what JSON has.

        Raises:
            ToolArgsError: If they don't; its path is that of the first bad one.
            InvalidValueError: If the schema is no JSON Schema, or refers to something
                outside of itself.
            LimitExceededError: If that takes more than 0.25 seconds of processor time.
            ModuleNotFoundError: If jsonschema is not installed.
        """
        self._call_id(args)
        schema = self._schema
        if schema is None:
            # Two threads may both make one; either will do.
            schema = ArgsSchema.of(self.input_schema)
            object.__setattr__(self, "_schema", schema)
        problems = schema.problems(args)
        if problems:
            told = "; ".join(f"{each.path}: {each.text}" for each in problems)
            raise ToolArgsError(
                f"the arguments do not fit {excerpt(self.name)}: {told}",
                path=problems[0].path,
                type_name="Tool",
                value=len(problems),
            )

    def call(
        self,
        args: Mapping[str, object],
        *,
        ctx: object = None,
        turn_id: str | None = None,
        on_event: OnEvent | None = None,
    ) -> Results:
        """Run the handler and return what a `ToolCall` holds as its results.

        Text becomes a `Tokenizable`, or what `artifact` says; bytes become an artifact
        in any case. The handler gets a copy of the arguments.

        Args:
            args: The arguments.
            ctx: What the handler gets as its context: whatever your program has.
            turn_id: The turn, for the events.
            on_event: Called with a `ToolStarted` and, whatever happens then, with a
                `ToolEnded`.

        Raises:
            NoHandlerError: If the tool is a mere definition.
            ToolArgsError: If the arguments do not fit; the handler is not called.
            ToolError: If the handler raises, which is the cause then; if it gives what
                can't be a result; or if it is asynchronous and an event loop runs here.
        """
        handler, started = self._begun(args, turn_id)
        given = copy_containers(args), ctx, self.meta
        return run(handler, given, started, on_event, self._results)

    async def acall(
        self,
        args: Mapping[str, object],
        *,
        ctx: object = None,
        turn_id: str | None = None,
        on_event: OnEvent | None = None,
    ) -> Results:
        """Do what `call` does in an event loop.

        A handler that is a plain function runs in a worker thread.

        Args:
            args: See `call`.
            ctx: See `call`.
            turn_id: See `call`.
            on_event: See `call`.

        Raises:
            NoHandlerError: See `call`.
            ToolArgsError: See `call`.
            ToolError: See `call`.
        """
        handler, started = self._begun(args, turn_id)
        given = copy_containers(args), ctx, self.meta
        return await run_async(handler, given, started, on_event, self._results)

    def describe(self) -> dict[str, object]:
        """Return what a model is told: the name, the description, the schema."""
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": copy_containers(self.input_schema),
        }

    def _begun(
        self, args: Mapping[str, object], turn_id: str | None
    ) -> tuple[Handler, ToolStarted]:
        """Return the handler, and the event that says that it starts."""
        if self.handler is None:
            raise NoHandlerError(
                f"the tool {excerpt(self.name)} is a mere definition, without handler",
                hint="give it one: tool.replace(handler=function)",
                type_name=type(self).__name__,
            )
        self.validate(args)
        started = ToolStarted(
            tool_name=self.name,
            turn_id=turn_id,
            call_id=self._call_id(args),
            args=args,
            started_at=datetime.now(UTC),
        )
        return self.handler, started

    def _call_id(self, args: object) -> str:
        if not is_dict(args):
            text = isinstance(args, str)
            raise ToolArgsError(
                f"the arguments of a tool must be a dict, not {excerpt(args)}",
                path="$",
                hint="parse them first: json.loads(text)" if text else "",
                type_name="Tool",
            )
        try:
            named = cast("Mapping[str, object]", args)
            return ToolCall.compute_checksum(self.name, named)
        except InvalidValueError as exc:
            raise ToolArgsError(
                "the arguments hold what JSON has not", path="$", hint=exc.hint
            ) from exc

    def _results(self, value: object) -> Results:
        return to_results(value, self.name, self.artifact)

    def __hash__(self) -> int:
        return hash(self.name)

    def __copy__(self) -> Self:
        return self.replace()

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        # Pickle, which would be asked otherwise, wants a name for the handler.
        return self.replace(
            input_schema=deepcopy(self.input_schema, memo),
            meta=deepcopy(self.meta, memo),
        )

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[object, ...]:
        handler: object = self.handler
        if handler is not None and name_of(handler) is None:
            raise HandlerNotEncodableError(
                f"{why_nameless(handler)}, so the tool {excerpt(self.name)} can't be"
                " pickled",
                path="$.handler",
                hint="define the function at the top of a module",
                type_name=type_name(type(handler)),
            )
        made, args, state, *rest = cast("tuple[object, ...]", super().__reduce_ex__(4))
        del protocol
        kept = {**cast("dict[str, object]", state), "_schema": None}
        return made, args, kept, *rest

    def _summary(self) -> str:
        return f"name={excerpt(self.name)}"

    def _check_together(self) -> None:
        if self.input_schema.get("type") != "object":
            raise InvalidValueError(
                f"{type(self).__name__}.input_schema must have the type 'object'",
                path="$.input_schema",
                hint="such as {'type': 'object', 'properties': {}}",
                type_name=type(self).__name__,
            )


@checked
@frozen(eq=False, repr=False)
class ArtifactTool(Tool):
    """A tool that looks into an artifact; what it gives is text, never an artifact.

    So a search in the result of a search does not pile up handles.

    Attributes:
        artifact: Always None.
    """

    __graphcodec_tag__: ClassVar[str] = "ArtifactTool"

    def _results(self, value: object) -> Results:
        return text_results(value, self.name)

    def _check_together(self) -> None:
        super()._check_together()
        if self.artifact is not None:
            raise InvalidValueError(
                "ArtifactTool.artifact must be None: what it gives is text",
                path="$.artifact",
                hint="use Tool for what gives an artifact",
                type_name="ArtifactTool",
            )
