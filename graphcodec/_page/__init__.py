"""What all pages share: each is one file, which loads nothing and runs nothing foreign.

A page has a body, styles and a script of its own, which stand behind those of all pages
(``base.css``, ``base.js``, ``markdown.js``), and data, which the script shows as text.
"""

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from string import Template
from typing import Final

__all__ = ["EMBEDDED", "made"]

EMBEDDED: Final = {"img-src": "data:"}
"""The sources of a page that asks for nothing: pictures that are in it."""


def made(
    package: str,
    name: str,
    data: object,
    *,
    title: str,
    scripts: Sequence[str] = (),
    sources: Mapping[str, str] = EMBEDDED,
) -> str:
    """Return a page.

    Args:
        package: The package in whose folder ``page`` the parts of the page are.
        name: What their names begin with: ``report`` for ``report.html``,
            ``report.css``, ``report.js``.
        data: What the script finds in the page, as JSON has it.
        title: What the page is called.
        scripts: The names of more scripts, which stand before its own.
        sources: What the page may ask for, besides its own styles and script: the
            sources of directives of a content security policy.
    """
    own = [_part(package, f"page/{part}.js") for part in (*scripts, name)]
    shared = [_part(__name__, name) for name in ("base.js", "markdown.js")]
    script = "\n".join([*shared, *own])
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    escaped = html.escape(title)
    return Template(_part(__name__, "page.html")).substitute(
        title=escaped,
        policy=_policy({**sources, "script-src": f"'sha256-{digest}'"}),
        style=_part(__name__, "base.css") + _part(package, f"page/{name}.css"),
        body=Template(_part(package, f"page/{name}.html")).substitute(title=escaped),
        data=_as_text(data),
        script=script,
    )


def _policy(sources: Mapping[str, str]) -> str:
    always = {
        "default-src": "'none'",
        "style-src": "'unsafe-inline'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {what}" for name, what in {**always, **sources}.items())


def _part(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text("utf-8")


def _as_text(data: object) -> str:
    """Return JSON that can't end the element it stands in, whatever it holds."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
