"""The two axes on which content is judged before a model sees it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, cast

__all__ = ["ModalityHazard", "TrustTier", "to_hazard", "to_tier"]


class TrustTier(StrEnum):
    """Where content comes from. It is never guessed from a source."""

    FIRST_PARTY = "first-party"
    THIRD_PARTY_PUBLIC = "third-party-public"
    THIRD_PARTY_PRIVATE = "third-party-private"


class ModalityHazard(StrEnum):
    """What the kind of content can do to a model, whatever its provenance."""

    INERT = "inert"
    EXTRACTABLE_INSTRUCTIONS = "extractable-instructions"
    OPAQUE_PERCEPTUAL = "opaque-perceptual"


_TIERS: Final[Mapping[str, TrustTier]] = {tier.value: tier for tier in TrustTier}
_HAZARDS: Final[Mapping[str, ModalityHazard]] = {h.value: h for h in ModalityHazard}


def to_tier(value: TrustTier | str) -> TrustTier:
    """Turn the str value of a tier into the tier; leave all else to the check."""
    return cast("TrustTier", _TIERS.get(value, value) if type(value) is str else value)


def to_hazard(value: ModalityHazard | str) -> ModalityHazard:
    """Turn the str value of a hazard into the hazard; leave all else to the check."""
    found = _HAZARDS.get(value, value) if type(value) is str else value
    return cast("ModalityHazard", found)
