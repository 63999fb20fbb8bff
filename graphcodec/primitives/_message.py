"""What is said and what is thought."""

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar, Literal, cast

from attrs import Factory, field, frozen

from graphcodec.errors import InvalidValueError
from graphcodec.primitives._base import Primitive
from graphcodec.primitives._checks import ALLOW_EMPTY, checked, excerpt, hinted
from graphcodec.primitives._convert import to_moment, to_tuple
from graphcodec.primitives._identity import Identity, to_identity
from graphcodec.primitives._media import Media
from graphcodec.primitives._registry import Registry
from graphcodec.primitives._tokenizable import (
    Tokenizable,
    to_optional_text,
    to_text,
)

__all__ = ["Message", "Thought"]


def _role_identity(message: "Message") -> Identity:
    """Return the identity of somebody of whom nothing but the role is known."""
    return to_identity(cast("str", message.role))


# A generic converter would leave mypy with a type variable that nothing binds.
def _to_attachments(value: Sequence[Media]) -> tuple[Media, ...]:
    return to_tuple(value)


def _attachments_hint(value: object) -> str:
    if isinstance(value, Media):
        return "put it into a tuple: attachments=(media,)"
    reader = "BytesReader(data)" if isinstance(value, bytes) else "a reader"
    return f"make one: Media.user_attachment(kind=..., ..., reader={reader})"


@checked
@frozen(kw_only=True, eq=False, repr=False)
class Message(Primitive):
    """What the user or the assistant said.

    Attributes:
        id: A name of its own.
        role: Who said it. Instructions of the developer are not messages: they stand in
            `Conversation.instructions`.
        content: The text, if there is any.
        attachments: The media that go with it. A message has content or attachments.
        identity: Who exactly said it; by default somebody named like the role.
        created_at: When it was said.
        updated_at: When it was last changed.
        stash: What else belongs to it: the model, usage, the ids of a provider.
    """

    __graphcodec_tag__: ClassVar[str] = "Message"

    id: str
    role: Literal["user", "assistant"] = field(
        metadata=hinted("what a developer says goes to Conversation.instructions")
    )
    content: Tokenizable | None = field(
        default=None,
        converter=to_optional_text,
        metadata=hinted("leave content out if there is none"),
    )
    attachments: tuple[Media, ...] = field(
        default=(), converter=_to_attachments, metadata=hinted(_attachments_hint)
    )
    identity: Identity = field(
        default=Factory(_role_identity, takes_self=True), converter=to_identity
    )
    created_at: datetime = field(converter=to_moment)
    updated_at: datetime = field(converter=to_moment)
    stash: Registry = field(
        factory=Registry, metadata=hinted("wrap it: Registry(mapping)")
    )

    def __hash__(self) -> int:
        return hash(self.id)

    def _summary(self) -> str:
        count = len(self.attachments)
        media = f", <{count} attachment{'s'[: count > 1]}>" if count else ""
        return f"id={excerpt(self.id)}, role={self.role!r}{media}"

    def _check_together(self) -> None:
        if self.content is None and not self.attachments:
            raise InvalidValueError(
                "Message needs content or attachments",
                path="$.content",
                hint="a turn in which only tools were called has no message",
                type_name="Message",
            )


def _no_text() -> Tokenizable:
    return Tokenizable("")


def _assistant() -> Identity:
    return to_identity("assistant")


@checked
@frozen(kw_only=True, eq=False, repr=False)
class Thought(Primitive):
    """What a model reasoned, readable or in a form only its vendor can read.

    Attributes:
        id: A name of its own.
        content: The text. It may be empty if there is a payload.
        identity: Whose thought it is; by default the assistant's.
        payload: What the vendor wants back as it came (signatures, encrypted blocks);
            None if there is none.
        replay_compatibility: The wire shape that the payload fits, such as
            ``anthropic-messages-thinking-v1``. A payload needs one.
        created_at: When it was thought.
        updated_at: When it was last changed.
        stash: What else belongs to it.
    """

    __graphcodec_tag__: ClassVar[str] = "Thought"

    id: str
    content: Tokenizable = field(
        factory=_no_text, converter=to_text, metadata=ALLOW_EMPTY
    )
    identity: Identity = field(factory=_assistant, converter=to_identity)
    payload: object = None
    replay_compatibility: str | None = None
    created_at: datetime = field(converter=to_moment)
    updated_at: datetime = field(converter=to_moment)
    stash: Registry = field(
        factory=Registry, metadata=hinted("wrap it: Registry(mapping)")
    )

    def __hash__(self) -> int:
        return hash(self.id)

    def _summary(self) -> str:
        payload = "" if self.payload is None else ", <payload>"
        return f"id={excerpt(self.id)}{payload}"

    def _check_together(self) -> None:
        if self.payload is None:
            if not self.content.text:
                raise InvalidValueError(
                    "Thought needs content or a payload",
                    path="$.content",
                    hint="only a thought with a payload may have no text",
                    type_name="Thought",
                )
        elif self.replay_compatibility is None:
            raise InvalidValueError(
                "Thought.payload needs a replay_compatibility",
                path="$.replay_compatibility",
                hint="name the wire shape that the payload fits",
                type_name="Thought",
            )
