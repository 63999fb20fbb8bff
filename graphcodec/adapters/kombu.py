"""Celery, and whatever else uses kombu: messages and results as documents.

::

    app = Celery("shop", broker=..., backend=...)
    install(app, codec="shop.codecs:codec")

Tasks then take and give graphs, handles included; nothing is unpickled on either side;
and exceptions arrive with what they say.
"""

from __future__ import annotations

from graphcodec._extras import from_extra

with from_extra("celery", "graphcodec.adapters.kombu needs celery"):
    from graphcodec.adapters._kombu_errors import WholeBackend
    from graphcodec.adapters._kombu_wire import CONTENT_TYPE, NAME, Wire, add_to_kombu

from typing import TYPE_CHECKING, Any, TypeVar

from graphcodec.codec import Codec
from graphcodec.errors import InvalidValueError
from graphcodec.queues._workers import CodecSource

if TYPE_CHECKING:
    from graphcodec.queues._workers import GivenCodec

__all__ = ["CONTENT_TYPE", "NAME", "install", "register"]

T = TypeVar("T")


def register(codec: GivenCodec = None) -> None:
    """Make the serializer ``graphcodec`` known to kombu, in this process.

    There is one of that name: registering again puts another codec in its place.

    Args:
        codec: A codec; a function that makes one, called once in each process that
            needs it; where to import either from, as ``package.module:name``; None for
            the built-in classes.

    Raises:
        InvalidValueError: If it is none of these.
    """
    # What waits in a queue is looked at by people: JSON, if nothing else is said.
    add_to_kombu(Wire(CodecSource(Codec if codec is None else codec)))


def install(app: T, *, codec: GivenCodec = None) -> T:
    """Let a Celery app send, take and keep graphs, and nothing else.

    Call it where the app is made, before it is used, so that those who send tasks and
    the workers that run them agree. It registers the serializer, makes it that of
    tasks and results, and lets the app accept nothing else: no pickle, and where the
    codec has a seal, nothing that is not sealed. The app's result backend is extended
    so that exceptions keep their facts, causes and notes.

    Args:
        app: An app, whose result backend was not used yet.
        codec: See `register`.

    Returns:
        The app.

    Raises:
        InvalidValueError: If it is no app, or the codec can't be used.
    """
    given: Any = app
    if not hasattr(given, "backend_cls") or not hasattr(given, "conf"):
        msg = f"app must be a Celery app, not {type(app).__name__}"
        raise InvalidValueError(msg, hint="install(Celery('shop'), codec=...)")
    register(codec)
    given.conf.update(
        task_serializer=NAME,
        result_serializer=NAME,
        accept_content=[NAME],
        result_accept_content=[NAME],
    )
    given.backend_cls = WholeBackend(given.backend_cls)
    return app
