"""Bytes and addresses inside of conversations, as readers and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from attrs import field, frozen

from graphcodec.adapters import _data_urls as data_urls
from graphcodec.adapters._notes import Fields, Note, as_name
from graphcodec.errors import InvalidValueError
from graphcodec.readers import BytesReader, Reader
from graphcodec_resolvers import HttpReader

if TYPE_CHECKING:
    from graphcodec.primitives import Media

PLAIN: Final = "text/plain"

_WEB: Final = ("https://", "http://")


@frozen
class Place:
    """Where the bytes of a part are.

    Attributes:
        kind: What a model would take them as.
        reader: Opens them.
        mime_type: What they are.
        filename: What to call them.
        note: How it is written, if that is not the usual way.
    """

    kind: str
    reader: Reader
    mime_type: str
    filename: str
    note: Note = field(factory=dict[str, object])


class Sources:
    """Makes readers for one conversation; the same bytes become one reader."""

    def __init__(self) -> None:
        self._readers: dict[str, Reader] = {}

    def url(self, kind: str, url: str, filename: str | None = None) -> Place:
        """Return the place that a URL leads to: its bytes, or an address.

        Args:
            kind: What a model would take it as.
            url: A data URL or one of http and https. Nothing is requested.
            filename: What to call it, if somebody says.

        Raises:
            GraphCodecError: If it makes no sense, or carries a secret.
            ValueError: If it makes even less.
        """
        if data_urls.is_data_url(url):
            return self._inline(kind, url, filename)
        if not url.lower().startswith(_WEB):
            raise InvalidValueError("it is neither a data URL nor one of http or https")
        reader = HttpReader(url)
        # Refused here and not when the graph is encoded: a URL with a signature.
        reader.describe()
        name = filename or urlsplit(url).path.rpartition("/")[2] or kind
        shared = self._readers.setdefault(url, reader)
        return Place(kind, shared, data_urls.type_of(name), name)

    def _inline(self, kind: str, url: str, filename: str | None) -> Place:
        found = data_urls.parsed(url)
        if found is None:
            raise InvalidValueError("the data URL makes no sense")
        note: Note = {}
        if not found.exact:
            note["url"] = url
        elif found.head != data_urls.head_of(found.mime_type):
            note["head"] = found.head
        name = filename or f"{kind}{data_urls.ending_of(found.mime_type)}"
        reader = self._reader(url, found.content)
        return Place(kind, reader, found.mime_type, name, note)

    def base64(
        self, kind: str, text: str, mime_type: str, filename: str | None = None
    ) -> Place:
        """Return the place that bytes in base64 are.

        Args:
            kind: What a model would take them as.
            text: The base64.
            mime_type: What they are.
            filename: What to call them, if somebody says.

        Raises:
            InvalidValueError: If it is not strict base64.
        """
        content = data_urls.unbased(text)
        if content is None:
            raise InvalidValueError(f"the {kind} is not base64")
        name = filename or f"{kind}{data_urls.ending_of(mime_type)}"
        return Place(kind, self._reader(text, content), mime_type, name)

    def text(self, text: str, filename: str) -> Place:
        """Return the place that a text is, as a document.

        Args:
            text: The text.
            filename: What to call it.

        Raises:
            UnicodeEncodeError: If it has half a character, which has no bytes.
        """
        reader = self._reader(f"text:{text}", text.encode())
        return Place("document", reader, PLAIN, filename)

    def _reader(self, key: str, content: bytes) -> Reader:
        return self._readers.setdefault(key, BytesReader(content))


def web_address(media: Media) -> str | None:
    """Return the address that a media is a handle on, None if it is none.

    Args:
        media: The media.
    """
    handle = media.reader.describe()
    if handle is None or handle.scheme != "http":
        return None
    return str(handle.locator["url"])


def url_of(media: Media, note: Fields) -> str:
    """Return the address of a media, or a data URL with its bytes.

    Args:
        media: The media.
        note: How the URL was written, or nothing.

    Raises:
        HandleError: If the bytes are gone, changed or out of reach.
    """
    return web_address(media) or data_url(media, note)


def data_url(media: Media, note: Fields) -> str:
    """Return a data URL with the bytes of a media.

    Args:
        media: The media.
        note: How the URL was written, or nothing.

    Raises:
        HandleError: If the bytes are gone, changed or out of reach.
    """
    content = media.read()
    url = as_name(note.get("url"))
    # The URL as it was serves as long as it gives the bytes of the media.
    if url and (found := data_urls.parsed(url)) and found.content == content:
        return url
    head = as_name(note.get("head")) or data_urls.head_of(media.mime_type)
    return data_urls.written(head, content)
