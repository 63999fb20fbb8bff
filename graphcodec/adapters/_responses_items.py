"""The items of the Responses API that are calls of tools, and answers to them."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

FUNCTION: Final = "function_call"


@frozen(kw_only=True)
class CallKind:
    """How one type of item says what is called.

    Attributes:
        tool: The name of the tool; empty if the item has a ``name``.
        text: The key of arguments that are JSON in a str.
        args: The keys of arguments that are not.
        given: The key of the id.
        result: The key of the results, for what the vendor calls by itself.
        is_hosted: Whether the vendor calls it, so that no other item answers.
    """

    tool: str = ""
    text: str = ""
    args: tuple[str, ...] = ()
    given: str = "call_id"
    result: str = ""
    is_hosted: bool = False

    @property
    def placed(self) -> tuple[str, ...]:
        """The keys whose values a `ToolCall` holds, but for the results."""
        name = () if self.tool else ("name",)
        text = (self.text,) if self.text else ()
        return ("type", self.given, *name, *text, *self.args)


CALLS: Final[Mapping[str, CallKind]] = MappingProxyType(
    {
        FUNCTION: CallKind(text="arguments"),
        "custom_tool_call": CallKind(args=("input",)),
        "computer_call": CallKind(tool="computer", args=("action", "actions")),
        "local_shell_call": CallKind(tool="local_shell", args=("action",)),
        "shell_call": CallKind(tool="shell", args=("action",)),
        "apply_patch_call": CallKind(tool="apply_patch", args=("operation",)),
        "program": CallKind(tool="program", args=("code",)),
        "tool_search_call": CallKind(tool="tool_search", args=("arguments",)),
        "mcp_call": CallKind(
            text="arguments", given="id", result="output", is_hosted=True
        ),
        "web_search_call": CallKind(
            tool="web_search", args=("action",), given="id", is_hosted=True
        ),
        "file_search_call": CallKind(
            tool="file_search",
            args=("queries",),
            given="id",
            result="results",
            is_hosted=True,
        ),
        "code_interpreter_call": CallKind(
            tool="code_interpreter",
            args=("code",),
            given="id",
            result="outputs",
            is_hosted=True,
        ),
        "image_generation_call": CallKind(
            tool="image_generation", given="id", result="result", is_hosted=True
        ),
    }
)

# Each with the key of the answer.
ANSWERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "function_call_output": "output",
        "custom_tool_call_output": "output",
        "computer_call_output": "output",
        "local_shell_call_output": "output",
        "shell_call_output": "output",
        "apply_patch_call_output": "output",
        "program_output": "result",
        "tool_search_output": "tools",
    }
)

IDS: Final = ("call_id", "id")
"""Where answers name the call. The second is for a type that has no ``call_id``."""

ANSWER_OF: Final[Mapping[str, str]] = MappingProxyType(
    {
        FUNCTION: "function_call_output",
        "program": "program_output",
        "tool_search_call": "tool_search_output",
    }
)

PENDING: Final = frozenset(
    {"queued", "in_progress", "searching", "interpreting", "generating", "calling"}
)
"""The states of calls that are not done yet."""

REASONING: Final = "openai-responses-reasoning-v1"
"""The wire shape of what only the vendor can read of a thought."""
