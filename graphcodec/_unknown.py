"""What a newer writer knew and this reader does not: kept, and written back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import field, frozen

from graphcodec._values import write_text
from graphcodec.errors import InvalidValueError


@frozen(repr=False)
class Kept:
    """A kept value whose form on the wire says more than the value would.

    A list of objects, say, stands bare in a typed slot and wrapped in an untyped one;
    which of the two it was can't be seen from the list.

    Attributes:
        tree: The form on the wire, with every object, reader and reference decoded.
    """

    tree: object


@frozen(repr=False)
class Shared:
    """A container inside a kept value that is also met elsewhere in the document."""

    value: object


@frozen(repr=False)
class Spooled:
    """A reader inside a kept value that stood there as that of an artifact."""

    value: object


@frozen
class OpaqueNode:
    """An object whose tag, or version, the codec that read it does not know.

    It is written back as it was. Made by ``Codec(unknown_types="keep")``.

    Attributes:
        tag: The tag it was written with.
        version: The version it was written with, from 1.
        fields: Its fields: values where the wire says enough, else `Kept`.
    """

    tag: str
    version: int
    fields: Mapping[str, object] = field(repr=False, hash=False)

    def __attrs_post_init__(self) -> None:
        tag: object = self.tag
        if type(tag) is not str or not tag or tag.startswith("$"):
            msg = "OpaqueNode.tag must be text without a leading '$'"
            raise InvalidValueError(msg, path="$.tag", type_name="OpaqueNode")
        if type(self.version) is not int or self.version < 1:
            msg = f"OpaqueNode.version must be an int from 1, not {self.version!r:.40}"
            raise InvalidValueError(msg, path="$.version", type_name="OpaqueNode")
        names: Iterable[object] = self.fields
        for name in names:
            if type(name) is not str or (name[:1] == "$" and name != "$value"):
                msg = f"OpaqueNode.fields has the impossible name {name!r:.40}"
                raise InvalidValueError(msg, path="$.fields", type_name="OpaqueNode")


@frozen
class OpaqueMember:
    """A member of an Enum that the codec that read it does not know.

    It is written back as it was. Made by ``Codec(unknown_types="keep")`` where any
    value may stand; where a field is for members of the Enum, its owner becomes an
    `OpaqueNode`.

    Attributes:
        tag: The tag of the Enum.
        member: The name of the member; for members of a Flag, the int of their bits.
    """

    tag: str
    member: str | int

    def __attrs_post_init__(self) -> None:
        tag: object = self.tag
        if type(tag) is not str or not tag or tag.startswith("$"):
            msg = "OpaqueMember.tag must be text without a leading '$'"
            raise InvalidValueError(msg, path="$.tag", type_name="OpaqueMember")
        named = type(self.member) is str and write_text(self.member) is self.member
        if not named and type(self.member) is not int:
            msg = f"OpaqueMember.member must be text or an int, not {self.member!r:.40}"
            raise InvalidValueError(msg, path="$.member", type_name="OpaqueMember")
