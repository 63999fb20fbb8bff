"""Conversations from, and to, the formats that other tools write.

Each adapter is a pair of functions. What a format says and a primitive has no field for
lies in the stash of the primitive, so that the way back gives what came in.
"""

from graphcodec.adapters._anthropic import from_anthropic as from_anthropic
from graphcodec.adapters._anthropic import to_anthropic as to_anthropic
from graphcodec.adapters._openai_chat import from_openai_chat as from_openai_chat
from graphcodec.adapters._openai_chat import to_openai_chat as to_openai_chat
from graphcodec.adapters._openai_responses import (
    from_openai_responses as from_openai_responses,
)
from graphcodec.adapters._openai_responses import (
    to_openai_responses as to_openai_responses,
)
from graphcodec.adapters._report import Kept as Kept
from graphcodec.adapters._report import kept_aside as kept_aside

__all__ = [
    "Kept",
    "from_anthropic",
    "from_openai_chat",
    "from_openai_responses",
    "kept_aside",
    "to_anthropic",
    "to_openai_chat",
    "to_openai_responses",
]

# Tracebacks, pickles and docs should show the public path of a name.
for _name in __all__:
    globals()[_name].__module__ = __name__
