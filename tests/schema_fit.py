"""Hold every document of a test run against the JSON Schema of its codec.

``python -m pytest -p tests.schema_fit [TESTS]`` runs tests as usual and looks at each
document that they write or read in this process: whatever a codec reads must fit its
`Codec.json_schema`. At the end it says how many documents were seen and which did not
fit; one of those makes the run fail.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest
from jsonschema_rs import Draft202012Validator

from graphcodec import Codec, _formats, _frames
from graphcodec._documents._converting import as_json
from graphcodec._paths import format_path
from graphcodec.errors import GraphCodecError

_SHOWN: Final = 400
_EXCUSED: Final = "test_opaque_owner_need_not_fit_its_class"
"""What `docs/evolution.md` says that a schema can't."""


class SchemaFit:
    """The documents of one run."""

    def __init__(self) -> None:
        self.seen: set[bytes] = set()
        self.misfits: list[str] = []
        self._calls: list[tuple[Codec, bytes, bytes]] = []
        self._validators: dict[str, Draft202012Validator] = {}
        self._asked = False

    def watched(self, function: Callable[..., Any], *, out: bool) -> Callable[..., Any]:
        """Return a method of `Codec` that also keeps the documents it succeeds with.

        Args:
            function: The method.
            out: Whether it writes them.
        """

        def watching(codec: Codec, given: Any, *args: Any, **options: Any) -> Any:
            result = function(codec, given, *args, **options)
            if not self._asked:
                data = result if out else given
                raw = data.encode() if isinstance(data, str) else bytes(data)
                self._calls.append((codec, raw, options.get("context", b"")))
            return result

        return watching

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        """Look at what a test has written and read, before its fixtures are gone."""
        calls, self._calls = self._calls, []
        self._asked = True
        schemas: dict[int, str] = {}
        for codec, data, context in calls:
            if id(codec) not in schemas:
                schemas[id(codec)] = json.dumps(codec.json_schema())
            self._look(codec, schemas[id(codec)], data, context, item.nodeid)
        self._asked = False
        yield

    def _look(
        self, codec: Codec, schema: str, data: bytes, context: bytes, test: str
    ) -> None:
        key = hashlib.sha256(schema.encode() + data).digest()
        if key in self.seen:
            return
        try:
            # A codec writes what is marked, whether or not it reads it.
            codec.decode(data, context=context)
        except GraphCodecError:
            return
        self.seen.add(key)
        opened = bytes(_frames.opened(data, codec.limits, codec.seal, context))
        document: Any = _formats.read(opened)
        if _formats.is_binary(opened):
            document = as_json(document)
        fault = self._fault(schema, document)
        if fault is not None and _EXCUSED not in test:
            where, message = fault
            told = f"{test}: {where}: {message[:_SHOWN]}\n  in {document!r:.{_SHOWN}}"
            self.misfits.append(told)

    def _fault(self, schema: str, document: Any) -> tuple[str, str] | None:
        # Not the library that the other tests use: it is fast, and the two must agree.
        validator = self._validators.get(schema)
        if validator is None:
            validator = Draft202012Validator(json.loads(schema))
            self._validators[schema] = validator
        if validator.is_valid(document):
            return None
        error = next(validator.iter_errors(document))
        return format_path(error.instance_path), error.message

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Let the run fail if a document did not fit."""
        if self.misfits:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        """Say how many documents there were, and what did not fit."""
        terminalreporter.section("documents and their schemas")
        for line in self.misfits:
            terminalreporter.write_line(line)
        count = len(self.seen)
        schemas, bad = len(self._validators), len(self.misfits)
        terminalreporter.write_line(
            f"{count:,} documents, {schemas:,} schemas, {bad:,} that do not fit"
        )


def pytest_configure(config: pytest.Config) -> None:
    """Watch every codec."""
    fit = SchemaFit()
    patch = pytest.MonkeyPatch()
    for name in ("encode", "encode_text", "decode"):
        function = getattr(Codec, name)
        patch.setattr(Codec, name, fit.watched(function, out=name != "decode"))
    config.pluginmanager.register(fit, "schema-fit")
    config.add_cleanup(patch.undo)
