"""What is remembered and what was looked up."""

from datetime import datetime
from typing import ClassVar, cast

from attrs import field, frozen

from graphcodec.primitives._artifact import SpooledArtifact
from graphcodec.primitives._base import Primitive
from graphcodec.primitives._checks import SHARE, checked, excerpt, hinted
from graphcodec.primitives._convert import to_moment
from graphcodec.primitives._registry import Registry
from graphcodec.primitives._tokenizable import Tokenizable, to_text
from graphcodec.primitives._trust import TrustTier, to_tier

__all__ = ["Memory", "Retrievable"]


@checked
@frozen(kw_only=True, eq=False, repr=False)
class Memory(Primitive):
    """Something to keep in mind beyond one conversation.

    Attributes:
        id: A name of its own.
        content: The text.
        confidence: How sure it is, from 0 to 1.
        importance: How much it matters, from 0 to 1.
        created_at: When it was first noted.
        updated_at: When it was last changed.
    """

    __graphcodec_tag__: ClassVar[str] = "Memory"

    id: str
    content: Tokenizable = field(converter=to_text)
    confidence: int | float = field(metadata=SHARE)
    importance: int | float = field(metadata=SHARE)
    created_at: datetime = field(converter=to_moment)
    updated_at: datetime = field(converter=to_moment)

    def __hash__(self) -> int:
        return hash(self.id)

    def _summary(self) -> str:
        return f"id={excerpt(self.id)}"


def _to_passage(
    value: str | Tokenizable | SpooledArtifact,
) -> Tokenizable | SpooledArtifact:
    return Tokenizable(value) if type(value) is str else cast("Tokenizable", value)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class Retrievable(Primitive):
    """A passage that was looked up for the model.

    Attributes:
        id: A name of its own. Prompts close the passage with it, so it must not be
            guessable from the content.
        content: The text, or the artifact that holds it.
        trust_tier: Where it comes from; there is no default, and it is never inferred
            from the source.
        source: Where it was found.
        kind: What it is, in the words of the collection.
        score: How well it fits, from 0 to 1.
        created_at: When it was made.
        updated_at: When it was last changed.
        stash: What else belongs to it, such as citations.
    """

    __graphcodec_tag__: ClassVar[str] = "Retrievable"

    id: str
    content: Tokenizable | SpooledArtifact = field(converter=_to_passage)
    trust_tier: TrustTier = field(converter=to_tier)
    source: str | None = None
    kind: str | None = None
    score: int | float | None = field(default=None, metadata=SHARE)
    created_at: datetime = field(converter=to_moment)
    updated_at: datetime = field(converter=to_moment)
    stash: Registry = field(
        factory=Registry, metadata=hinted("wrap it: Registry(mapping)")
    )

    def __hash__(self) -> int:
        return hash(self.id)

    def _summary(self) -> str:
        return f"id={excerpt(self.id)}, trust_tier={self.trust_tier.value!r}"
