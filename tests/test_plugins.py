from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

GREETINGS = """
import io
from graphcodec import Reader, ReaderDescriptor
from graphcodec.errors import UndecodableValueError

class GreetingReader(Reader):
    def __init__(self, name, by):
        self.name, self.by = name, by
    def open(self):
        return io.BytesIO(f"Hello, {self.name}, from {self.by}".encode())
    def describe(self):
        return ReaderDescriptor("greeting", {"name": self.name})

class GreetingResolver:
    tags = ("media:greeting", "spool:greeting", "media:http", "spool:http")
    def __init__(self, by="a plug-in"):
        self.by = by
    def resolve(self, descriptor):
        if descriptor.scheme != "greeting":
            return None
        return GreetingReader(descriptor.locator["name"], self.by)

def make():
    return GreetingResolver("a function")

ready = GreetingResolver("an object")
no_resolver = object()

def fails():
    raise RuntimeError("no disk left")
"""


def install(site: Path, package: str, *points: str) -> None:
    """Put a package there as an installer would, with entry points."""
    info = site / f"{package.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    name = package.replace("-", "_")
    (site / f"{name}.py").write_text(GREETINGS)
    metadata = f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
    (info / "METADATA").write_text(metadata)
    listed = "\n".join(points)
    (info / "entry_points.txt").write_text(f"[graphcodec.resolvers]\n{listed}\n")
    (info / "RECORD").write_text(f"{name}.py,,\n{info.name}/METADATA,,\n")


def run(program: str, site: Path) -> str:
    """Run a program where the packages of a folder are installed."""
    path = os.pathsep.join([str(site), *sys.path])
    result = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-W", "error", "-c", textwrap.dedent(program)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


HELLO = """
    from graphcodec import Codec, Reader, errors
    data = b'{"graphcodec": 1, "root": {"$type": "media:greeting", "name": "Ada"}}'
"""


@pytest.mark.parametrize(
    ("where", "by"),
    [
        ("greetings:GreetingResolver", "a plug-in"),
        ("greetings:make", "a function"),
        ("greetings:ready", "an object"),
    ],
)
def test_the_resolver_of_an_installed_package_is_found(
    tmp_path: Path, where: str, by: str
) -> None:
    """An entry point names a class, a function or the resolver itself."""
    install(tmp_path, "greetings", f"hello = {where}")

    out = run(
        """
        from graphcodec import Codec
        from greetings import GreetingReader
        codec = Codec(plugins=True)
        print(codec.decode(codec.encode(GreetingReader("Ada", ""))).open().read())
        """,
        tmp_path,
    )

    assert f"Hello, Ada, from {by}" in out


def test_nothing_is_looked_for_unless_asked(tmp_path: Path) -> None:
    """A codec without plug-ins asks for no entry points, and imports no package."""
    install(tmp_path, "greetings", "hello = greetings:GreetingResolver")

    run(
        """
        import importlib.metadata, sys
        def forbidden(*args, **kwargs):
            raise AssertionError("somebody looked for entry points")
        importlib.metadata.entry_points = importlib.metadata.distributions = forbidden
        from graphcodec import Codec, decode, encode
        from graphcodec.errors import NoReaderResolverError
        from greetings import GreetingReader
        data = encode(GreetingReader("Ada", ""))
        for codec in (Codec(), Codec().replace(format="msgpack")):
            try:
                codec.decode(data)
            except NoReaderResolverError:
                pass
            else:
                raise AssertionError
        assert "graphcodec._plugins" not in sys.modules
        """,
        tmp_path,
    )


def test_the_users_own_resolvers_come_first_and_the_built_in_last(
    tmp_path: Path,
) -> None:
    """A plug-in adds places; it takes none away."""
    install(tmp_path, "greetings", "hello = greetings:GreetingResolver")

    out = run(
        """
        from graphcodec import Codec, encode
        from graphcodec_resolvers import HttpReader
        from greetings import GreetingReader, GreetingResolver
        hello = encode(GreetingReader("Ada", ""))
        url = encode(HttpReader("https://example.org/"))

        class Silent:
            tags = ("media:greeting", "spool:greeting")
            def resolve(self, descriptor):
                return None

        own = GreetingResolver("the user")
        def said(codec):
            print(codec.decode(hello).open().read().decode())
        said(Codec(plugins=True, resolvers=[own]))
        later = Codec(plugins=True)
        later.register_resolver(own)
        said(later)
        said(Codec(plugins=True, resolvers=[Silent()]))
        said(Codec(plugins=True, builtin_resolvers=False))
        # The plug-in takes the tag, but not this handle.
        print(type(Codec(plugins=True).decode(url)).__name__)
        """,
        tmp_path,
    )

    assert out.splitlines() == [
        "Hello, Ada, from the user",
        "Hello, Ada, from the user",
        "Hello, Ada, from a plug-in",
        "Hello, Ada, from a plug-in",
        "HttpReader",
    ]


def test_packages_are_asked_in_the_order_of_their_names(tmp_path: Path) -> None:
    """Not in that of their installation."""
    for package in ("b-greetings", "a-greetings"):
        install(tmp_path, package, f"hello = {package.replace('-', '_')}:make")

    out = run(
        """
        from graphcodec import Codec
        from b_greetings import GreetingReader
        codec = Codec(plugins=True)
        print(type(codec.decode(codec.encode(GreetingReader("Ada", "")))).__module__)
        """,
        tmp_path,
    )

    assert out.strip() == "a_greetings"


def test_a_codec_with_plug_ins_travels(tmp_path: Path) -> None:
    """Another process loads its own; a copy with other options keeps them."""
    install(tmp_path, "greetings", "hello = greetings:GreetingResolver")

    out = run(
        """
        import pickle, subprocess, sys
        from graphcodec import Codec, encode
        from greetings import GreetingReader
        codec = Codec(plugins=True)
        data = encode(GreetingReader("Ada", ""))
        assert b"greetings" not in pickle.dumps(codec)
        there = '''
        import pickle, sys
        codec, data = pickle.load(sys.stdin.buffer)
        print(codec.decode(data).open().read().decode())
        '''
        print(codec.replace(format="msgpack").decode(data).open().read().decode())
        command = [sys.executable, "-c", there.replace(" " * 8, "")]
        sys.stdout.flush()
        subprocess.run(command, input=pickle.dumps((codec, data)), check=True)
        """,
        tmp_path,
    )

    assert out.splitlines() == ["Hello, Ada, from a plug-in"] * 2


@pytest.mark.parametrize(
    ("point", "why"),
    [
        ("x = not_there:X", "ModuleNotFoundError: No module named 'not_there'"),
        ("x = greetings:NotThere", "AttributeError: module 'greetings' has no"),
        ("x = greetings:fails", "RuntimeError: no disk left"),
        ("x = greetings:no_resolver", "object is no resolver"),
        ("x = greetings:GreetingReader", "TypeError"),
    ],
)
def test_a_broken_plug_in_is_named(tmp_path: Path, point: str, why: str) -> None:
    """The error says which package it is of, and what to do."""
    install(
        tmp_path, "broken-greetings", point.replace("greetings", "broken_greetings")
    )

    out = run(
        """
        from graphcodec import Codec
        from graphcodec.errors import InvalidValueError
        try:
            Codec(plugins=True)
        except InvalidValueError as exc:
            print(exc, repr(exc.__cause__))
        """,
        tmp_path,
    )

    assert "the plug-in 'x' of broken-greetings" in out
    assert why.replace("'greetings'", "'broken_greetings'") in out
    assert "update or uninstall broken-greetings, or leave out plugins=True" in out
