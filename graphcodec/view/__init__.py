"""Documents looked at in a browser, without their classes and without opening handles.

`view_html` makes one page of a document, `ViewServer` serves one whose handles are
opened when the reader asks for them.
"""

from graphcodec.view._html import view_html
from graphcodec.view._server import ViewServer

__all__ = ["ViewServer", "view_html"]
