"""Rules for what commonly should not be written.

The forms of keys are those that their issuers document, most of them for the sake of
scanners: a prefix that nothing else has, and a length. Words such as ``password`` are
looked for where they are names of fields, and not in prose.
"""

from __future__ import annotations

from typing import Final

from graphcodec._redaction._rules import Redaction

_PRIVATE_KEY: Final = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?s:.*?)(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)"
)

# AWS, GitHub, GitLab, Slack, Google, Stripe, npm, PyPI, Hugging Face, SendGrid; "sk-"
# is that of OpenAI, Anthropic and others.
_API_KEY: Final = r"""(?x)
    (?<![A-Za-z0-9_-])(?:
        (?:AKIA|ASIA)[A-Z0-9]{16}
      | gh[oprsu]_[A-Za-z0-9]{36,255} | github_pat_[A-Za-z0-9_]{22,255}
      | glpat-[A-Za-z0-9_-]{20,255}
      | xox[abeoprs]-[A-Za-z0-9-]{10,255} | xapp-[A-Za-z0-9-]{10,255}
      | AIza[A-Za-z0-9_-]{35}
      | [prs]k_(?:live|test)_[A-Za-z0-9]{16,255} | whsec_[A-Za-z0-9]{24,255}
      | npm_[A-Za-z0-9]{36} | pypi-[A-Za-z0-9_-]{16,255} | hf_[A-Za-z0-9]{30,255}
      | SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}
      | sk-[A-Za-z0-9_-]{20,255}
    )(?![A-Za-z0-9])"""

# RFC 7515: three parts in base64url, of which the first two are JSON objects.
_JWT: Final = (
    r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"
)

# RFC 6750 and 7617: a scheme and a token.
# A word that follows "basic" is no token: one has more than small letters.
_AUTHORIZATION: Final = (
    r"(?i:\b(?:bearer|basic))[ \t]+\K"
    r"(?=[A-Za-z0-9._~+/-]{12})(?=[A-Za-z][a-z.-]*[A-Z0-9_~+/]|[^A-Za-z])"
    r"[A-Za-z0-9._~+/-]+=*"
    r"|(?i:\bauthorization)[\"']?[ \t]*[:=][ \t]*[\"']?"
    r"(?!(?i:bearer|basic)\b)\K[^\s\"',;]{8,}"
)

# RFC 3986: the password of an authority; and what signs the URLs of object stores.
_URL: Final = (
    r"(?i)://[^\s/?#@:\"'<>]{0,100}:\K[^\s/?#@\"'<>]+(?=@)"
    r"|[?&](?:x-amz-(?:signature|security-token|credential)|x-goog-signature"
    r"|x-goog-credential|signature|sig|access_token|api_?key|token|password)=\K"
    r"[^\s&#\"'<>]+"
)

_FIELDS: Final = (
    *("*password*", "*passwd*", "*passphrase*", "*secret*", "*credential*"),
    *("*api_key*", "*api-key*", "*apikey*", "*private_key*", "*access_key*"),
    *("*access_token*", "*refresh_token*", "*auth_token*", "*authorization*"),
    *("cookie", "set-cookie", "set_cookie"),
)

SECRETS: Final[tuple[Redaction, ...]] = (
    Redaction("private key", pattern=_PRIVATE_KEY),
    Redaction("secret field", field=_FIELDS, pattern=r"(?s)\S.*"),
    Redaction("jwt", pattern=_JWT),
    Redaction("api key", pattern=_API_KEY),
    Redaction("authorization", pattern=_AUTHORIZATION),
    Redaction("url secret", pattern=_URL),
)
"""Rules for what opens something: keys, tokens and passwords in common forms."""


def _passes_luhn(text: str) -> bool:
    """Say whether the last digit of a number is its checksum (ISO/IEC 7812-1)."""
    digits = [int(letter) for letter in reversed(text) if letter.isdigit()]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _passes_mod_97(text: str) -> bool:
    """Say whether an account number has its checksum (ISO 13616)."""
    plain = text.replace(" ", "").upper()
    digits = "".join(str(int(letter, 36)) for letter in plain[4:] + plain[:4])
    return int(digits) % 97 == 1


# RFC 5321 allows far more than anybody uses; this is what mail providers give out.
_EMAIL: Final = (
    r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@"
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,10}[A-Za-z]{2,24}"
)
_CARD: Final = r"(?<![\w.-])[3-6](?:[ -]?[0-9]){12,18}(?![\w-])"
_IBAN: Final = (
    r"(?i)(?<!\w)[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)"
)

PERSONAL: Final[tuple[Redaction, ...]] = (
    Redaction("email", pattern=_EMAIL),
    Redaction("card", pattern=_CARD, check=_passes_luhn),
    Redaction("iban", pattern=_IBAN, check=_passes_mod_97),
)
"""Rules for what names somebody: e-mail addresses, numbers of cards and accounts."""
