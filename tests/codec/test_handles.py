import subprocess
import sys

import pytest

from graphcodec import BytesReader, Codec, ReaderDescriptor, errors

SCRIPT = """
import sys
from datetime import UTC, datetime

from graphcodec import Codec
from graphcodec.primitives import Media
from graphcodec_resolvers import FsspecResolver, FsspecStore, HttpReader

store = FsspecResolver({"files": lambda: FsspecStore("/nowhere", alias="files")})
codec = Codec(resolvers=[store])
readers = [HttpReader(f"https://example.org/{n}.png") for n in range(COUNT)]
media = [
    Media.user_attachment(
        kind="image", mime_type="image/png", filename="a.png", reader=reader
    )
    for reader in readers
]
data = codec.encode(media)
small = codec.encode(media[:1])
codec.decode(small)

events = []
watched = ("open", "socket.", "os.", "subprocess.", "urllib.", "import", "pathlib.")
sys.addaudithook(
    lambda event, args: events.append(event) if event.startswith(watched) else None
)
again = codec.decode(data)
seen = list(events)
assert again == media
print(len(again), seen)
"""


def test_ten_thousand_handles_are_decoded_without_opening_any() -> None:
    """No file, no socket, no process, no import."""
    script = SCRIPT.replace("COUNT", "10_000")
    done = subprocess.run(  # noqa: S603 - our own script
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert (done.stdout, done.stderr) == ("10000 []\n", "")


def test_codec_resolves_a_single_handle() -> None:
    """What decoding makes of a descriptor, without a document."""
    described = BytesReader(b"abc").describe()

    again = Codec().resolve("spool:in-memory", described)

    assert again.describe() == described


def test_codec_says_that_it_knows_no_resolver() -> None:
    """With the alias that nobody bound."""
    where = ReaderDescriptor("fsspec", {"store": "reports", "key": "a.txt"})

    with pytest.raises(errors.NoReaderResolverError, match="knows the store 'reports'"):
        Codec().resolve("media:fsspec", where)
