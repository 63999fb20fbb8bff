"""The rules for common secrets: what they find, and what they leave alone."""

from __future__ import annotations

import time
from typing import Final

import pytest

from graphcodec import Redaction, redact
from graphcodec.redaction import PERSONAL, SECRETS

RULES: Final = {rule.name: rule for rule in (*SECRETS, *PERSONAL)}

# Made up, in parts, so that no scanner takes them for real ones.
FOUND: Final = [
    (
        "private key",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    ),
    ("private key", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXkt"),
    (
        "private key",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n-----END PGP PRIVATE KEY BLOCK-----",
    ),
    ("jwt", "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0." + "c2lnbmF0dXJl"),
    ("jwt", "eyJhbGciOiJub25lIn0." + "eyJzdWIiOiIxMjM0In0."),
    ("api key", "AKIA" + "ABCDEFGHIJKLMNOP"),
    ("api key", "ghp_" + "a1B2" * 9),
    ("api key", "github_pat_" + "a1B2_" * 12),
    ("api key", "glpat-" + "a1B2-" * 4),
    ("api key", "xoxb-" + "123456789012-abcdef"),
    ("api key", "AIza" + "a1B2c3D" * 5),
    ("api key", "sk_live_" + "a1B2" * 6),
    ("api key", "npm_" + "a1B2" * 9),
    ("api key", "pypi-" + "AgEIcHlwaS5vcmc" * 3),
    ("api key", "hf_" + "a1B2" * 9),
    ("api key", "SG." + "a1B2" * 5 + "." + "a1B2" * 10),
    ("api key", "sk-" + "proj-a1B2_" * 5),
    ("api key", "sk-ant-" + "api03-a1B2" * 5),
    ("email", "ada.lovelace+x@mail.example.co.uk"),
    ("email", "ada@example.org"),
    ("card", "4111 1111 1111 1111"),
    ("card", "4111-1111-1111-1111"),
    ("card", "378282246310005"),
    ("iban", "DE89 3704 0044 0532 0130 00"),
    ("iban", "GB82WEST12345698765432"),
]

INSIDE: Final = [
    ("authorization", "Authorization: Bearer ", "abcDEF123._-~", ""),
    ("authorization", "curl -H 'authorization: basic ", "dXNlcjpwYXNzd29yZA==", "' x"),
    ("authorization", '"Authorization": "', "token-1234567", '"'),
    ("url secret", "postgres://ada:", "hunter2!", "@db.example.org/x"),
    ("url secret", "https://x.org/a?b=1&X-Amz-Signature=", "0a1b2c", "&c=2"),
    ("url secret", "https://x.org/a?sig=", "a%2Fb", "#x"),
]

LEFT: Final = [
    ("api key", "sk-learn and task-abcdefghijklmnopqrstuvwxyz, risk-free"),
    ("api key", "the prefix AKIA and the word ghp_ alone"),
    ("jwt", "eyJ is how base64 of JSON begins: eyJhIjoxfQ"),
    ("authorization", "the bearer of this letter; a basic understanding of tokens"),
    ("url secret", "see http://example.org:8080/a?key=b and mailto:a@b"),
    ("email", "a @ b, @decorator, user@localhost, 3@4"),
    ("card", "4111 1111 1111 1112 fails its checksum"),
    ("card", "550e8400-e29b-41d4-a716-446655440000"),
    ("card", "1748779200000000000 is a time in nanoseconds"),
    ("iban", "DE00 3704 0044 0532 0130 00 fails its checksum"),
    ("secret field", "my password is long, and no secret"),
]


@pytest.mark.parametrize(("name", "secret"), FOUND)
def test_found(name: str, secret: str) -> None:
    """Each form is found as a whole, between whatever stands around it."""
    for before, after in (("", ""), ("see ", ", and"), ("(", ")"), ("=", "\n")):
        # A key that is cut short goes to the end of the text.
        rest = "" if secret.endswith("rZXkt") else after
        made, _ = redact(f"{before}{secret}{rest}", [RULES[name]])

        assert made == f"{before}[{name}]{rest}"


@pytest.mark.parametrize(("name", "before", "secret", "after"), INSIDE)
def test_found_inside(name: str, before: str, secret: str, after: str) -> None:
    """What says that a secret follows stays."""
    made, _ = redact(f"{before}{secret}{after}", [RULES[name]])

    assert made == f"{before}[{name}]{after}"


@pytest.mark.parametrize(("name", "text"), LEFT)
def test_left_alone(name: str, text: str) -> None:
    """What only looks alike stays."""
    assert redact(text, [RULES[name]])[0] == text


@pytest.mark.parametrize(
    "field", ["password", "DB_PASSWORD", "client_secret", "X-Api-Key", "Authorization"]
)
def test_secret_fields(field: str) -> None:
    """The text of a field with a telling name goes, and no flag or number does."""
    graph = {field: "hunter2", "headers": {field: ["a", True, None, ""]}, "x": "y"}

    made, _ = redact(graph, [RULES["secret field"]])

    mask = "[secret field]"
    assert made == {field: mask, "headers": {field: [mask, True, None, ""]}, "x": "y"}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "a.",
        "1 ",
        "-",
        "eyJ",
        "a@",
        "://",
        "bearer ",
        "AB12 ",
        "5",
        "a:",
        "?sig=",
        "&",
    ],
)
def test_hostile_texts(rule: Redaction, unit: str) -> None:
    """No text makes a rule take more than time linear in it."""

    def spent(size: int) -> float:
        text = unit * (size // len(unit))
        start = time.process_time()
        redact(text, [rule])
        return time.process_time() - start

    spent(1_000)

    # Ten times the text: a quadratic pattern would take a hundred times as long.
    assert spent(200_000) < 40 * spent(20_000) + 0.2


def test_names_are_told_apart() -> None:
    """Both lists together have no name twice."""
    assert len(RULES) == len(SECRETS) + len(PERSONAL)
