"""A run as one page that needs nothing but a browser."""

from graphcodec import _page
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
    name = title or "Agent test run"
    return _page.made("graphcodec.runs", "report", readable(run), title=name)
