"""Who re-opens a handle: the resolvers of a codec, and the built-in ones by name."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from graphcodec._live import type_name
from graphcodec._paths import excerpt
from graphcodec.errors import (
    GraphCodecError,
    InvalidValueError,
    NoReaderResolverError,
    UndecodableValueError,
)
from graphcodec.readers._contracts import Reader, ReaderDescriptor, Resolver

# Strings, not imports: a scheme that nobody uses costs nothing.
_BUILTIN: Final[Mapping[str, str]] = MappingProxyType(
    {
        "media:in-memory": "graphcodec.readers:InMemoryResolver",
        "spool:in-memory": "graphcodec.readers:InMemoryResolver",
        "media:http": "graphcodec_resolvers:HttpResolver",
        "spool:http": "graphcodec_resolvers:HttpResolver",
    }
)

_NEEDS_STORE: Final = (
    "bind the alias: Codec(resolvers=[FsspecResolver({alias: store})])"
)


def _resolved(resolver: Resolver, tag: str, descriptor: ReaderDescriptor) -> object:
    try:
        return resolver.resolve(descriptor)
    except GraphCodecError:
        raise
    except Exception as exc:  # a user's resolver may raise anything
        name = type_name(type(resolver))
        msg = f"{name} can't take the locator of {excerpt(tag)}: {type(exc).__name__}"
        raise UndecodableValueError(msg, tag=tag, type_name=name) from exc


_ByTag: TypeAlias = dict[str, list[Resolver]]


def _add(by_tag: _ByTag, resolver: Resolver) -> None:
    for tag in tags_of(resolver):
        by_tag.setdefault(tag, []).append(resolver)


def tags_of(resolver: object) -> Collection[str]:
    """Return the tags that *resolver* takes, if it is a resolver.

    Args:
        resolver: Whatever somebody gave as one.

    Raises:
        InvalidValueError: If it is none.
    """
    tags = getattr(resolver, "tags", None)
    name = type_name(type(resolver))
    if tags is None or not callable(getattr(resolver, "resolve", None)):
        msg = f"{name} is no resolver"
        hint = "a resolver has tags and resolve(descriptor); a store needs one: "
        hint += "FsspecResolver({alias: store})"
        raise InvalidValueError(msg, hint=hint)
    if isinstance(tags, str) or any(":" not in str(tag) for tag in tags):
        msg = f"the tags of {name} must be several, each with its family"
        hint = "such as ('media:zip', 'spool:zip')"
        raise InvalidValueError(msg, hint=hint)
    found: Collection[str] = tags
    return found


class Resolvers:
    """The resolvers of one codec: the user's, those of plug-ins, the built-in ones.

    Where the user has a resolver for a tag, the built-in one is not asked.

    Args:
        resolvers: The user's.
        plugged: Those of plug-ins.
        builtin: Whether in-memory and http handles work without set-up.
    """

    def __init__(
        self,
        resolvers: Iterable[Resolver],
        plugged: Iterable[Resolver] = (),
        *,
        builtin: bool,
    ) -> None:
        self._own: _ByTag = {}
        self._plugged: _ByTag = {}
        self._builtin = builtin
        self._made: dict[str, Resolver] = {}
        self._asked: dict[str, list[Resolver]] = {}
        for resolver in resolvers:
            self.add(resolver)
        for resolver in plugged:
            _add(self._plugged, resolver)

    def add(self, resolver: Resolver) -> None:
        """Ask *resolver* for its tags, after those added earlier.

        Args:
            resolver: What turns descriptors of its tags into readers.

        Raises:
            InvalidValueError: If it is no resolver.
        """
        _add(self._own, resolver)
        # Replaced, not emptied: another thread may just be adding what is outdated.
        self._asked = {}

    def resolve(self, tag: str, descriptor: ReaderDescriptor) -> Reader:
        """Return a reader for a descriptor; nothing is opened.

        Args:
            tag: The family and the scheme.
            descriptor: The scheme and the locator.

        Raises:
            NoReaderResolverError: If no resolver takes it.
            UndecodableValueError: If its locator is malformed.
        """
        for resolver in self._candidates(tag):
            reader = _resolved(resolver, tag, descriptor)
            if isinstance(reader, Reader):
                return reader
            if reader is not None:
                name = type_name(type(resolver))
                msg = f"{name} made a {type_name(type(reader))}, which is no Reader"
                raise UndecodableValueError(msg, tag=tag, type_name=name)
        raise self._nobody(tag, descriptor)

    def _candidates(self, tag: str) -> list[Resolver]:
        known = self._asked
        found = known.get(tag)
        if found is None:
            found = self._chosen(tag)
            # What documents name is not kept, only what there is.
            if found:
                known[tag] = found
        return found

    def _chosen(self, tag: str) -> list[Resolver]:
        own = self._own.get(tag, [])
        asked = [*own, *self._plugged.get(tag, [])]
        if own or not self._builtin or tag not in _BUILTIN:
            return asked
        where = _BUILTIN[tag]
        if where not in self._made:
            module, _, name = where.partition(":")
            self._made[where] = getattr(importlib.import_module(module), name)()
        return [*asked, self._made[where]]

    def _nobody(self, tag: str, descriptor: ReaderDescriptor) -> NoReaderResolverError:
        alias = descriptor.locator.get("store")
        if isinstance(alias, str):
            alias = alias[:80]
            msg = f"no resolver for {excerpt(tag)} knows the store {alias!r}"
            return NoReaderResolverError(msg, tag=tag, alias=alias, hint=_NEEDS_STORE)
        msg = f"no resolver takes {excerpt(tag)}"
        hint = "pass one that does: Codec(resolvers=[...])"
        return NoReaderResolverError(msg, tag=tag[:80], hint=hint)
