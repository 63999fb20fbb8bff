"""Resolvers that installed packages publish; they are loaded on request alone."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Final, cast

from graphcodec._live import type_name
from graphcodec._resolving import tags_of
from graphcodec.errors import GraphCodecError, InvalidValueError
from graphcodec.readers._contracts import Resolver

GROUP: Final = "graphcodec.resolvers"
"""The group of entry points in which packages name their resolvers."""


def published_resolvers() -> list[Resolver]:
    """Return the resolvers of all installed packages, ordered by package and name.

    An entry point leads to a resolver, or to a class or function that makes one
    without arguments.

    Raises:
        InvalidValueError: If one can't be loaded; names the package.
    """
    points = {
        (_package(point), point.name): point for point in entry_points(group=GROUP)
    }
    return [_loaded(points[key]) for key in sorted(points)]


def _loaded(point: EntryPoint) -> Resolver:
    try:
        found: object = point.load()
        made = found() if callable(found) else found
        tags_of(made)
    except Exception as exc:  # whatever a stranger's module raises when imported
        why = exc.message if isinstance(exc, GraphCodecError) else _told(exc)
        package = _package(point)
        raise InvalidValueError(
            f"the plug-in {point.name!r} of {package} ({point.value}) is broken: {why}",
            hint=f"update or uninstall {package}, or leave out plugins=True",
            type_name=point.value,
        ) from exc
    return cast("Resolver", made)


def _told(exc: Exception) -> str:
    return f"{type_name(type(exc))}: {exc}"[:200]


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "an unknown package"
