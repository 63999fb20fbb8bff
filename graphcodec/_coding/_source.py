"""Generated source: names for the objects it uses, and a place in tracebacks."""

from __future__ import annotations

import linecache
import threading
import weakref
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

Build: TypeAlias = Literal["fast", "careful"]
"""Which of the two builds of a function: without a path, or with one."""


def _forget(filenames: list[str]) -> None:
    for filename in filenames:
        linecache.cache.pop(filename, None)


class Namespace:
    """The globals of generated functions.

    All functions of one program share one, so that they find each other by name and a
    class may refer to one that is compiled later.
    """

    def __init__(self, purpose: str) -> None:
        self.names: dict[str, Any] = {}
        self._purpose = purpose
        self._known: dict[int, str] = {}
        self._lock = threading.RLock()
        self._begun: dict[str, Callable[[], None]] = {}
        self._depth = 0
        self._files: list[str] = []
        # Codecs may be made by the request; their sources need not outlive them.
        weakref.finalize(self, _forget, self._files)

    @contextmanager
    def together(self) -> Generator[None]:
        """Compile functions that refer to each other, and publish them when all exist.

        Other threads go on meanwhile with what was published before. If one fails,
        none is published, and the next who needs them tries again.
        """
        with self._lock:
            self._depth += 1
            try:
                yield
                if self._depth == 1:
                    for publish in self._begun.values():
                        publish()
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._begun.clear()

    def once(self, name: str, source: Callable[[], str]) -> Any:
        """Return the function *name*, compiled when it is first asked for.

        Args:
            name: Its name.
            source: Gives its definition.
        """
        if name not in self.names:
            with self.together():
                self.compile(name, source())
        return self.names[name]

    def begin(self, name: str, publish: Callable[[], None]) -> bool:
        """Say whether the function *name* is still to be compiled.

        Args:
            name: Its name.
            publish: Called when all that is compiled together exists.
        """
        if name in self._begun:
            return False
        self._begun[name] = publish
        return True

    def name(self, obj: object, prefix: str) -> str:
        """Return the name under which *obj* stands in the namespace.

        Args:
            obj: What the source needs.
            prefix: What its name starts with, for people who read a traceback.
        """
        name = self._known.get(id(obj))
        if name is None:
            name = f"{prefix}_{len(self.names)}"
            self.names[name] = obj
            self._known[id(obj)] = name
        return name

    def compile(self, label: str, source: str) -> None:
        """Run *source* in the namespace and let tracebacks and debuggers show it.

        Args:
            label: What the source is about, such as a tag.
            source: Function definitions.
        """
        filename = f"<graphcodec {self._purpose} {label} {id(self):x}>"
        self._files.append(filename)
        exec(compile(source, filename, "exec"), self.names)  # noqa: S102 - our own text
        lines = source.splitlines(keepends=True)
        linecache.cache[filename] = (len(source), None, lines, filename)
