"""The group of commands, and how their errors become exit codes."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Final

import click

from graphcodec import __version__
from graphcodec.errors import GraphCodecError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Strings, not imports: a command nobody asks for must cost nothing.
_COMMANDS: Final[Mapping[str, str]] = {
    "demo": "graphcodec.cli._demo:demo",
    "inspect": "graphcodec.cli._inspect:inspect",
    "view": "graphcodec.cli._view:view",
    "doctor": "graphcodec.cli._doctor:doctor",
    "validate": "graphcodec.cli._validate:validate",
    "convert": "graphcodec.cli._convert:convert",
    "upgrade": "graphcodec.cli._upgrade:upgrade",
    "diff": "graphcodec.cli._diff:diff",
    "import": "graphcodec.cli._import:import_",
    "export": "graphcodec.cli._export:export",
    "schema": "graphcodec.cli._schema:schema",
    "log": "graphcodec.cli._log:log",
    "cache": "graphcodec.cli._cache:cache",
    "run": "graphcodec.cli._run:run",
}


class _Commands(click.Group):
    """A group that imports a command when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        del ctx
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, None if there is none of that name."""
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is asked for; what is near it, if there is none."""
        near = get_close_matches(args[0], _COMMANDS, 1)
        if near and near[0] != args[0] and not ctx.resilient_parsing:
            ctx.fail(f"No such command {args[0]!r}. (Did you mean {near[0]!r}?)")
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="graphcodec")
def app() -> None:
    """Conversation graphs in, bytes out, the same typed graph back."""


def run(args: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code.

    Args:
        args: What stands behind the name of the program.
    """
    try:
        code: object = app.main(args, prog_name="graphcodec", standalone_mode=False)
    except click.ClickException as exc:
        exc.show()
        return exc.exit_code
    except click.Abort:
        return 1
    except GraphCodecError as exc:
        click.echo(f"graphcodec: {' '.join(str(exc).split())}", err=True)
        return 1
    except ModuleNotFoundError as exc:
        # An extra that is not installed; the message says which.
        click.echo(f"graphcodec: {exc}", err=True)
        return 1
    except BrokenPipeError:
        # Whoever reads has seen enough, as `head` does.
        _leave_stdout()
        return 1
    except OSError as exc:
        # A disk that is full, or a file that can't be had.
        told = ": ".join(
            filter(None, [str(exc.filename or ""), exc.strerror or str(exc)])
        )
        click.echo(f"graphcodec: {told}", err=True)
        _leave_stdout()
        return 1
    return code if isinstance(code, int) else 0


def _leave_stdout() -> None:
    """Write no more there: Python would try it once more at exit, and complain."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
