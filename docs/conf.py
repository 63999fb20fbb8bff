"""How the documentation is built: ``sphinx-build -W -n -b html docs docs/_build``."""

from __future__ import annotations

import sys
from importlib import metadata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils.nodes import Element, TextElement
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

project = "graphcodec"
author = "The graphcodec authors"
copyright = f"2025, {author}"  # noqa: A001 - Sphinx's name for it
release = metadata.version("graphcodec")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
nitpicky = True

myst_heading_anchors = 3

# The sections of the reference say where their names are imported from.
add_module_names = False
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
napoleon_numpy_docstring = False
# Attributes are told of in the text of their class: as objects of their own they would
# be there twice.
napoleon_use_ivar = True
python_maximum_signature_line_length = 80
# What stands in single backticks in a docstring is a name of ours, if there is one.
default_role = "py:obj"

html_theme = "furo"
html_title = f"graphcodec {release}"
html_static_path = ["_static"]
html_css_files = ["tables.css"]

nitpick_ignore_regex = [
    # The documentation is built without a network: nothing outside can be linked to.
    (r"py:.*", rf"({'|'.join(sorted(sys.stdlib_module_names))})(\..*)?"),
    (r"py:.*", r"(attrs|attr|cattrs|distributed|fsspec|httpx|msgspec)(\..*)?"),
    (r"py:.*", r"(AbstractFileSystem|BaseContext)"),
    (r"py:.*", r"(pydantic_ai\..*|ConversationConflict)"),
    (r"py:.*", r"(agents\..*|messages\.(BaseMessage|ModelMessage)|TResponseInputItem)"),
    # Type variables, and aliases that are told of where they are used.
    (r"py:.*", r"(graphcodec\.(\w+\.)*)?[A-Z]"),
    (
        r"py:.*",
        r"(.*\.)?(CodecConverter|Difference|GivenCodec|JSON|MediaParts|OnError|Options|Primitive)",
    ),
    (r"py:.*", r"(.*\.)?(Cluster|Mailbox|Progress|Scalar|Stores?)"),
    # What a codec is told with names that are loaded only when they are needed.
    (r"py:.*", r"(Types|Format|Compression|_regex\.Pattern)"),
    # Parameters that begin with an underscore are for tests.
    (r"py:.*", r"(Fetcher|Network)"),
]

_HOMES = (
    "graphcodec",
    "graphcodec.cache",
    "graphcodec.errors",
    "graphcodec.log",
    "graphcodec.primitives",
    "graphcodec.queues",
    "graphcodec.redaction",
    "graphcodec.runs",
    "graphcodec_resolvers",
)


def _resolve(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: TextElement
) -> Element | None:
    """Lead a reference to where a class is defined on to where it is documented."""
    if node.get("refdomain") != "py":
        return None
    name = node["reftarget"].rpartition(".")[2]
    domain: Any = env.get_domain("py")
    for package in _HOMES:
        found: Element | None = domain.resolve_xref(
            env, node["refdoc"], app.builder, "obj", f"{package}.{name}", node, content
        )
        if found is not None:
            return found
    return None


def _is_private(app: Sphinx, domain: Any, node: pending_xref) -> bool | None:
    """Allow single backticks around names that have no page of their own."""
    del app, domain
    return True if node["reftype"] == "obj" else None


def setup(app: Sphinx) -> None:
    """Connect the functions above."""
    app.connect("missing-reference", _resolve)
    app.connect("warn-missing-reference", _is_private)
