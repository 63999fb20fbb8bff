from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.s3_server import S3Server, Wire


def test_the_server_denies(s3_server: S3Server) -> None:
    """The identities may do what they are said to."""
    bucket = s3_server.bucket()
    s3_server.client().put_object(Bucket=bucket, Key="a", Body=b"1")

    found = s3_server.client("reader").get_object(Bucket=bucket, Key="a")
    assert found["Body"].read() == b"1"
    for who, call in (("reader", "put_object"), ("stranger", "get_object")):
        with pytest.raises(Exception, match="AccessDenied"):
            getattr(s3_server.client(who), call)(Bucket=bucket, Key="a")


def test_the_wire_disturbs(s3_server: S3Server, s3_wire: Wire) -> None:
    """It answers in place of the server, and cuts answers off."""
    bucket = s3_server.bucket()
    body = secrets.token_bytes(100_000)
    client = s3_server.client(endpoint=s3_wire.endpoint)
    client.put_object(Bucket=bucket, Key="a", Body=body)

    assert client.get_object(Bucket=bucket, Key="a")["Body"].read() == body
    s3_wire.cut(1000)
    with pytest.raises(Exception, match="1000 bytes read"):
        client.get_object(Bucket=bucket, Key="a")["Body"].read()
    s3_wire.answer(b"HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\n\r\n")
    with pytest.raises(Exception, match="503"):
        client.get_object(Bucket=bucket, Key="a")
    assert [line.split()[0] for line in s3_wire.requests] == ["PUT"] + ["GET"] * 3
