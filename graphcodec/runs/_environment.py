"""Where a run takes place, as far as that may explain what became of it."""

import platform
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from graphcodec.runs._metadata import Metadata

__all__ = ["describe_environment"]


def describe_environment(packages: Iterable[str] = ()) -> Metadata:
    """Return what `SuiteStarted.environment` says: ``python``, ``platform``, packages.

    ::

        SuiteStarted(environment=describe_environment(["openai"]))

    Args:
        packages: The names of distributions whose versions matter, beside graphcodec's
            own. The version of one that is not installed is None.
    """
    names = sorted({"graphcodec", *packages})
    return Metadata(
        python=platform.python_version(),
        implementation=sys.implementation.name,
        platform=platform.platform(),
        packages={name: _version(name) for name in names},
    )


def _version(name: str) -> str | None:
    # Slow to load, and events can be published without it.
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

    try:
        return version(name)
    except (PackageNotFoundError, ValueError):
        # No such package, or a name that none can have.
        return None


def environment_moves(
    old: Mapping[str, object], new: Mapping[str, object]
) -> dict[str, tuple[object, object]]:
    """Return in what two environments differ: the old and the new value by name.

    The names of inner maps are joined by dots; what is not there is None.

    Args:
        old: An environment.
        new: A later one.
    """
    before, after = dict(_flat(old)), dict(_flat(new))
    return {
        name: (before.get(name), after.get(name))
        for name in (*before, *(name for name in after if name not in before))
        if before.get(name) != after.get(name)
    }


def _flat(environment: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for key, value in environment.items():
        if isinstance(value, Mapping):
            inner = _flat(cast("Mapping[str, object]", value))
            yield from ((f"{key}.{name}", entry) for name, entry in inner)
        else:
            yield key, value


def common_environment(environments: Iterable[Mapping[str, object]]) -> Metadata:
    """Return what all environments have in common.

    Args:
        environments: At least one.
    """
    first, *others = environments
    common = Metadata()
    for key, value in first.items():
        theirs = [other.get(key) for other in others]
        if isinstance(value, Mapping):
            if all(isinstance(one, Mapping) for one in theirs):
                maps = cast("list[Mapping[str, object]]", [value, *theirs])
                common[key] = common_environment(maps)
        elif all(one == value for one in theirs):
            common[key] = value
    return common


def environment_facts(environment: Mapping[str, object]) -> list[str]:
    """Return what an environment says, in few words each: ``python 3.12.1``.

    Args:
        environment: The environment.
    """
    return [
        f"{name.removeprefix('packages.')} {'none' if value is None else value}"
        for name, value in _flat(environment)
    ]
