"""What it costs to refuse hostile documents: ``python -m tests.bench.hostile``.

Each is refused in a process of its own, since memory is measured at its peak. The aim
is less than 50 ms and 50 MB more than before the document was there.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Mapping
from typing import Final

from graphcodec import Codec
from graphcodec._frames import Layer, header_of
from graphcodec.errors import GraphCodecError

_SIZE = 8


def _json(root: str, nodes: str = "") -> bytes:
    shared = f'"nodes":[{nodes}],' if nodes else ""
    return f'{{"graphcodec":1,{shared}"root":{root}}}'.encode()


def _doubling() -> bytes:
    """Return a set of tuples that are shared thirty levels deep."""
    pair = '{{"$tuple":[{{"$type":"$ref","n":{0}}},{{"$type":"$ref","n":{0}}}]}}'
    nodes = ['{"$tuple":[1]}', *(pair.format(n) for n in range(30))]
    return _json('{"$any":{"$set":[{"$type":"$ref","n":30}]}}', ",".join(nodes))


def _bomb(claimed: int) -> bytes:
    """Return a frame of 400 MB of zeros that says it holds *claimed* bytes."""
    packer = zlib.compressobj(9, wbits=31)
    block = bytes(1 << 20)
    first, second = (
        packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2)
    )
    # A block that was flushed stands for itself: nobody has to compress the others.
    packed = first + second * 399 + packer.flush()
    return header_of((Layer(1, claimed.to_bytes(_SIZE, "big")),)) + packed


DOCUMENTS: Final[Mapping[str, Callable[[], bytes]]] = {
    "'[' ten million times": lambda: b"[" * 10_000_000,
    "'{\"a\":' 100,000 times": lambda: b'{"a":' * 100_000,
    "a list nested 100,000 deep": lambda: _json("[" * 100_000 + "]" * 100_000),
    "a set of doubling tuples": _doubling,
    "nothing": lambda: b"",
    "null": lambda: b"null",
    "a cut document": lambda: _json('{"$type":"Tokenizable","text":"a"}')[:-3],
    "trailing bytes": lambda: _json("null") + b"x",
    "a byte order mark": lambda: b"\xef\xbb\xbf" + _json("null"),
    "no UTF-8": lambda: b'{"graphcodec":1,"root":"\xff"}',
    "wrong base64": lambda: _json('{"$any":{"$bytes":"a"}}'),
    "a reference out of range": lambda: _json('{"$type":"$ref","n":7}'),
    "a negative reference": lambda: _json('{"$type":"$ref","n":-1}'),
    "a reference of a bool": lambda: _json('{"$type":"$ref","n":true}'),
    "a reference of the wrong class": lambda: _json(
        '{"$type":"Identity","identifier":1,"representation":{"$type":"$ref","n":0}}',
        '{"$type":"Registry","data":{}}',
    ),
    "MessagePack of 2³²-1 items": lambda: b"\xdd\xff\xff\xff\xff",
    "MessagePack with 2³²-1 keys": lambda: b"\xdf\xff\xff\xff\xff",
    "an unknown extension": lambda: b"\x82\xaagraphcodec\x01\xa4root\xd4\x07\x00",
    "a bomb that says its size": lambda: _bomb(1 << 40),
    "a bomb that lies": lambda: _bomb(1000),
    "a cut list of objects": lambda: _json(
        "[" + ",".join(['{"$any":{"x":1}}'] * 1_000) + "]"
    )[:-1],
}


def refuse(name: str) -> tuple[float, float, str]:
    """Return the milliseconds and megabytes that a refusal costs, and the error.

    Args:
        name: Of the document.
    """
    codec = Codec()
    codec.decode(codec.encode({"warm": (1, 2)}))
    data = DOCUMENTS[name]()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    try:
        codec.decode(data)
    except GraphCodecError as exc:
        code = exc.code
    else:
        code = "ACCEPTED"
    spent = time.perf_counter() - start
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return spent * 1000, grown / 1024, code


def main() -> None:
    """Print the table."""
    if len(sys.argv) > 1:
        spent, grown, code = refuse(sys.argv[1])
        sys.stdout.write(f"{spent} {grown} {code}\n")
        return
    for name in DOCUMENTS:
        done = subprocess.run(  # noqa: S603 - our own code
            [sys.executable, "-m", "tests.bench.hostile", name],
            capture_output=True,
            check=True,
            text=True,
        )
        took, more, outcome = done.stdout.split()
        sys.stdout.write(
            f"{name:34} {float(took):8.1f} ms {float(more):8.1f} MB  {outcome}\n"
        )


if __name__ == "__main__":
    main()
