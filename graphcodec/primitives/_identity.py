"""Who speaks."""

from typing import ClassVar, cast

from attrs import field, frozen

from graphcodec.primitives._base import Primitive
from graphcodec.primitives._checks import checked, excerpt
from graphcodec.primitives._tokenizable import Tokenizable, to_text

__all__ = ["Identity", "to_identity"]


@checked
@frozen(kw_only=True, eq=False, repr=False)
class Identity(Primitive):
    """Somebody who takes part: a key for the system and a name for the model.

    Attributes:
        identifier: The key, never shown to a model: a non-empty str or a finite number.
            ``"42"`` and ``42`` are two identifiers.
        representation: What the model sees.
    """

    __graphcodec_tag__: ClassVar[str] = "Identity"

    identifier: str | int | float
    representation: Tokenizable = field(converter=to_text)

    def __hash__(self) -> int:
        return hash(self.identifier)

    def _summary(self) -> str:
        return f"identifier={excerpt(self.identifier)}"


def to_identity(value: str | Identity) -> Identity:
    """Turn a non-empty str into an `Identity` that has it as key and as name."""
    if type(value) is str and value:
        return Identity(identifier=value, representation=value)
    return cast("Identity", value)
