"""What a pytest session is asked to record, by its options."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Self, cast

import pytest
from attrs import frozen

from graphcodec.runs._packing import plain_name

__all__ = ["RunPlan", "add_options"]

_FILE: Final = "--graphcodec-run"
_PACKAGES: Final = "graphcodec_packages"


def add_options(parser: pytest.Parser) -> None:
    """Add the options of the plug-in.

    Args:
        parser: Of pytest.
    """
    group = parser.getgroup("graphcodec", "recorded runs (graphcodec)")
    group.addoption(
        _FILE,
        metavar="FILE",
        default=None,
        help="Record the conversations of this session as a run, in FILE: run.json,"
        " or compressed, run.json.gz or run.json.zst.",
    )
    group.addoption(
        "--graphcodec-run-id", metavar="ID", default=None, help="A name for the run."
    )
    group.addoption(
        "--graphcodec-run-resume",
        action="store_true",
        default=False,
        help="Go on with the run that is in FILE, if one is, and add to it.",
    )
    group.addoption(
        "--graphcodec-run-parent",
        metavar="ID",
        default=None,
        help="The run of which this one is a part or a repetition.",
    )
    group.addoption(
        "--graphcodec-run-tag",
        metavar="WORD",
        action="append",
        default=[],
        help="A word by which to find the run; may be given several times.",
    )
    parser.addini(
        _PACKAGES,
        type="args",
        default=[],
        help="Packages whose versions a recorded run is to say.",
    )


@frozen(kw_only=True)
class RunPlan:
    """What to record.

    Attributes:
        path: Where the run is to be written, absolute: tests may go elsewhere.
        run_id: A name for it; made if there is none.
        parent_run_id: The run of which it is a part or a repetition.
        tags: Words by which to find it.
        is_resumed: Whether to go on with what is there.
        packages: The packages whose versions matter.
    """

    path: Path
    run_id: str | None
    parent_run_id: str | None
    tags: tuple[str, ...]
    is_resumed: bool
    packages: tuple[str, ...]

    @classmethod
    def of(cls, config: pytest.Config) -> Self | None:
        """Return what a session is asked to record, None if nothing.

        Args:
            config: The session's.

        Raises:
            UsageError: If it says how, and not where.
        """
        options: dict[str, Any] = {
            "run_id": config.getoption("--graphcodec-run-id") or None,
            "parent_run_id": config.getoption("--graphcodec-run-parent") or None,
            "tags": tuple(cast("list[str]", config.getoption("--graphcodec-run-tag"))),
            "is_resumed": config.getoption("--graphcodec-run-resume"),
        }
        path: str | None = config.getoption(_FILE)
        if path is None:
            if any(options.values()):
                msg = f"{_FILE}-… says how to record a run; {_FILE} FILE says where"
                raise pytest.UsageError(msg)
            return None
        return cls(
            # Wherever the tests go, and whatever they call their folder.
            path=config.invocation_params.dir / path,
            packages=(*_plugins(config), *config.getini(_PACKAGES)),
            **options,
        )

    @property
    def events(self) -> Path:
        """The file of the events, beside the run and compressed as it is."""
        plain = plain_name(self.path)
        packing = self.path.name[len(plain.name) :]
        return self.path.with_name(plain.with_suffix(".events").name + packing)


def _plugins(config: pytest.Config) -> tuple[str, ...]:
    """Return pytest and what changes how it runs."""
    found = config.pluginmanager.list_plugin_distinfo()
    return ("pytest", *(distribution.project_name for _, distribution in found))
