"""One use of a tool: what was asked and what came back."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import ClassVar, Final, cast

from attrs import field, frozen

from graphcodec.errors import InvalidValueError
from graphcodec.primitives._artifact import SpooledArtifact
from graphcodec.primitives._base import Primitive
from graphcodec.primitives._checks import ALLOW_EMPTY, checked, excerpt, hinted
from graphcodec.primitives._containers import is_dict, is_list, unfolded
from graphcodec.primitives._convert import to_moment, to_optional_moment
from graphcodec.primitives._media import Media
from graphcodec.primitives._registry import Registry
from graphcodec.primitives._tokenizable import Tokenizable

__all__ = ["ToolCall"]

_MOST_CONTAINERS: Final = 1_000_000
"""How many lists and dicts may be summed, those that are shared counted each time."""

Results = (
    Tokenizable | SpooledArtifact | Media | tuple[SpooledArtifact | Media, ...] | None
)


def _to_results(
    value: Results | str | Sequence[SpooledArtifact] | Sequence[Media],
) -> Results:
    if type(value) is str:
        return Tokenizable(value)
    entries: object = value
    return cast("Results", tuple(entries) if is_list(entries) else entries)


def _args_hint(value: object) -> str:
    if isinstance(value, str):
        return "parse it first: json.loads(text)"
    return "a call without arguments has {}" if value is None else ""


@checked
@frozen(kw_only=True, eq=False, repr=False)
class ToolCall(Primitive):
    """One use of a tool, pending or complete.

    Attributes:
        id: A name of its own.
        tool: The name of the tool.
        args: The arguments: a dict with str keys. It is neither copied nor frozen.
        checksum: What `compute_checksum` gave, if it was kept.
        is_complete: Whether the tool has answered.
        is_error: Whether the answer says that it failed.
        results: The answer: text (which may be empty), an artifact, a media, or a
            non-empty tuple of artifacts or of media; None exactly while pending.
        from_artifact_tool: Whether the tool was one that queries an artifact.
        inline: Whether an artifact is shown to the model whole, not as a handle.
        created_at: When it was asked.
        updated_at: When it was last changed.
        completed_at: When the tool had answered; None exactly while pending.
        stash: What else belongs to it.
    """

    __graphcodec_tag__: ClassVar[str] = "ToolCall"

    id: str
    tool: str
    args: Mapping[str, object] = field(metadata=hinted(_args_hint))
    checksum: str | None = None
    is_complete: bool
    is_error: bool
    results: (
        Tokenizable
        | SpooledArtifact
        | Media
        | tuple[SpooledArtifact | Media, ...]
        | None
    ) = field(default=None, converter=_to_results, metadata=ALLOW_EMPTY)
    from_artifact_tool: bool = False
    inline: bool = True
    created_at: datetime = field(converter=to_moment)
    updated_at: datetime = field(converter=to_moment)
    completed_at: datetime | None = field(default=None, converter=to_optional_moment)
    stash: Registry = field(
        factory=Registry, metadata=hinted("wrap it: Registry(mapping)")
    )

    @staticmethod
    def compute_checksum(tool: str, args: Mapping[str, object]) -> str:
        """Return the SHA-256 of a call, in hexadecimal.

        It is over the canonical JSON of ``{"tool": tool, "args": args}``: keys sorted
        by code point, no white space, text in UTF-8, numbers as Python writes them.

        Args:
            tool: The name of the tool.
            args: The arguments, of values that JSON has.

        Raises:
            InvalidValueError: If the arguments hold something that JSON has not.
        """
        try:
            _require_tree(args)
            text = json.dumps(
                {"tool": tool, "args": args},
                allow_nan=False,
                ensure_ascii=False,
                separators=(",", ":"),
                sort_keys=True,
            )
        except (TypeError, ValueError, RecursionError) as exc:
            raise InvalidValueError(
                "ToolCall.args can't be summed: they hold what JSON has not",
                path="$.args",
                hint="sum over str, numbers, bool, None, lists and dicts",
                type_name="ToolCall",
            ) from exc
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def verify_checksum(self) -> bool:
        """Say whether the checksum is there and is that of the tool and its arguments.

        Raises:
            InvalidValueError: If the arguments hold something that JSON has not.
        """
        return self.checksum == self.compute_checksum(self.tool, self.args)

    def __hash__(self) -> int:
        return hash(self.id)

    def _summary(self) -> str:
        state = "complete" if self.is_complete else "pending"
        if self.is_error:
            state = "failed"
        return f"id={excerpt(self.id)}, tool={excerpt(self.tool)}, <{state}>"

    def _check_together(self) -> None:
        results = self.results
        if self.is_complete:
            if results is None or self.completed_at is None:
                missing = "results" if results is None else "completed_at"
                raise _refusal(missing, "is required once is_complete is true")
        elif results is not None or self.completed_at is not None:
            extra = "completed_at" if results is None else "results"
            raise _refusal(extra, "must be None while is_complete is false")
        if type(results) is tuple:
            _check_list(results)


def _require_tree(args: object) -> None:
    """Refuse what `json` would turn into text, or unfold for ever.

    Raises:
        TypeError: If a key is no text.
        ValueError: If there are too many containers, counted as often as they are met.
    """
    for item in unfolded(args, _MOST_CONTAINERS):
        if is_dict(item) and any(type(key) is not str for key in item):
            msg = "a key is no text"
            raise TypeError(msg)


def _check_list(results: tuple[SpooledArtifact | Media, ...]) -> None:
    """Verify that several results are some, and of one family.

    Raises:
        InvalidValueError: If they are not.
    """
    if not results:
        raise _refusal("results", "must not be an empty tuple")
    media = [isinstance(result, Media) for result in results]
    if any(media) and not all(media):
        raise _refusal("results", "must be all artifacts or all media")


def _refusal(name: str, reason: str) -> InvalidValueError:
    return InvalidValueError(
        f"ToolCall.{name} {reason}", path=f"$.{name}", type_name="ToolCall"
    )
