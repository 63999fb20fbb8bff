"""A run as one page that needs nothing but a browser."""

import base64
import hashlib
import html
import json
from importlib import resources
from string import Template

from graphcodec.runs._data import RunData
from graphcodec.runs._readable import readable

__all__ = ["report_html"]


def report_html(run: RunData, *, title: str = "") -> str:
    """Return a page that shows a run: one file, which loads nothing from anywhere.

    What was recorded is in it as data and is shown as text; the page's own policy
    forbids any script but its own, and any request.

    Args:
        run: The run.
        title: What the page is called.

    Raises:
        UnencodableValueError: If a value in the run has no wire form.
    """
    script = _part("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template(_part("report.html")).substitute(
        title=html.escape(title or "Agent test run"),
        style=_part("report.css"),
        script=script,
        script_hash=f"sha256-{digest}",
        run=_as_text(readable(run)),
    )


def _part(name: str) -> str:
    return resources.files("graphcodec.runs").joinpath("page", name).read_text("utf-8")


def _as_text(form: dict[str, object]) -> str:
    """Return JSON that can't end the element it stands in, whatever it holds."""
    text = json.dumps(form, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
