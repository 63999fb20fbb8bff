"""Conversations from, and to, the formats that other tools write.

Each adapter is a pair of functions. What a format says and a primitive has no field for
lies in the stash of the primitive, so that the way back gives what came in.
"""

from graphcodec.adapters._anthropic import from_anthropic as from_anthropic
from graphcodec.adapters._anthropic import to_anthropic as to_anthropic
from graphcodec.adapters._homeless import LeftOut as LeftOut
from graphcodec.adapters._homeless import fitted as fitted
from graphcodec.adapters._langchain import from_langchain as from_langchain
from graphcodec.adapters._langchain import to_langchain as to_langchain
from graphcodec.adapters._openai_chat import from_openai_chat as from_openai_chat
from graphcodec.adapters._openai_chat import to_openai_chat as to_openai_chat
from graphcodec.adapters._openai_responses import (
    from_openai_responses as from_openai_responses,
)
from graphcodec.adapters._openai_responses import (
    to_openai_responses as to_openai_responses,
)
from graphcodec.adapters._pydantic_ai import from_pydantic_ai as from_pydantic_ai
from graphcodec.adapters._pydantic_ai import to_pydantic_ai as to_pydantic_ai
from graphcodec.adapters._report import Kept as Kept
from graphcodec.adapters._report import kept_aside as kept_aside

__all__ = [
    "Kept",
    "LeftOut",
    "fitted",
    "from_anthropic",
    "from_langchain",
    "from_openai_chat",
    "from_openai_responses",
    "from_pydantic_ai",
    "kept_aside",
    "to_anthropic",
    "to_langchain",
    "to_openai_chat",
    "to_openai_responses",
    "to_pydantic_ai",
]

# Tracebacks, pickles and docs should show the public path of a name.
for _name in __all__:
    globals()[_name].__module__ = __name__
