"""Judges whether a text that stands where a secret is due is one."""

import math
import re
from collections import Counter
from functools import cache
from itertools import pairwise

from schemory.safety.placeholders import is_stand_in

_FEWEST_CHARS = 6
_FEWEST_SET_TOKEN_CHARS = 8
_FEWEST_FREE_TOKEN_CHARS = 16
_FEWEST_DIGITS = 3
_FEWEST_RANDOM_BITS = 3.7
_CLASS_CHANGES_PER_CHAR = 0.25


@cache
def _code() -> re.Pattern[str]:
    """Paths, addresses, variables, calls, attribute chains, e-mail, sizes, dates, algorithms."""
    return re.compile(
        r"""(?ix)
        ^(?:[~.]{0,2}/|[a-z]:\\|https?:|@|\#|--|&|!|\?)
        | [(){}\[\]] | :: | -> | =>
        | ^[a-z_]\w*(?:\.[a-z_]\w*)+$
        | ^[\w.+-]+@[\w-]+\.[a-z]{2,}$
        | ^[\d.,_]+\s?(?:ms|s|sec|seconds|m|min|minutes|h|hours|d|days|k|kb|mb|gb|bytes|bits|%)$
        | ^v?\d+(?:\.\d+)+ | ^\d{4}-\d\d-\d\d
        | ^(?:sha|md|hs|rs|es|ps|utf|base|aes|oauth|rfc|argon|pbkdf|bcrypt|p|x|ed|hmac)[-_]?\d+
        | ^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$
        | ^[\w.-]+\.(?:py|js|ts|go|rs|java|json|ya?ml|toml|txt|md|env|pem|key|crt|html?|css|sh|sql)$
        """
    )


def looks_like_code(value: str, *, is_quoted: bool) -> bool:
    """Return whether `value` is too short, a stand-in, code or prose rather than a secret."""
    if len(value) < _FEWEST_CHARS:
        return True
    if not is_quoted and "=" in value.rstrip("="):
        return True
    if is_stand_in(value):
        return True
    if is_quoted:
        return any(char.isspace() for char in value) or _is_quoted_code(value)
    return _code().search(value) is not None


def _is_quoted_code(value: str) -> bool:
    lowered = value.casefold()
    if any(
        word in lowered for word in ("password", "passwd", "token", "secret", "api-key", "api_key")
    ):
        return not any(char.isdigit() for char in value)
    is_reference = lowered.startswith(("/", "./", "~/", "http:", "https:", "--", "@", "#"))
    return is_reference or re.fullmatch(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+", value) is not None


def looks_typed_in(value: str) -> bool:
    """Return whether an unquoted password is more than a plain word: it has digits or signs.

    >>> [looks_typed_in(v) for v in ("hunter2", "moonlight", "reset-flow", "Tr0ub4dor&3")]
    [True, False, False, True]
    """
    has_letter = any(char.isalpha() for char in value)
    has_digit = any(char.isdigit() for char in value)
    has_sign = any(not char.isalnum() and char not in "-_./'\u2019:" for char in value)
    return has_digit or (has_sign and has_letter)


def is_hard_token(value: str, *, is_set: bool) -> bool:
    """Return whether `value` could be a token: letters and digits without a break, long enough.

    `is_set` says that an assignment leaves no doubt that it is a value; then it may be shorter.
    """
    least = _FEWEST_SET_TOKEN_CHARS if is_set else _FEWEST_FREE_TOKEN_CHARS
    if len(value) < least or is_stand_in(value) or looks_like_code(value, is_quoted=False):
        return False
    digits = sum(char.isdigit() for char in value)
    letters = sum(char.isalpha() for char in value)
    return bool(letters) and digits >= (1 if is_set else _FEWEST_DIGITS)


def looks_random(value: str) -> bool:
    """Return whether `value` mixes upper case, lower case and digits as chance does, not names.

    Pure hexadecimal text (hashes, ids) is not counted: too much of it is innocent.
    """
    bare = value.rstrip("=")
    if bare.startswith(("sha1-", "sha256-", "sha384-", "sha512-")):
        return False
    digits = sum(char.isdigit() for char in bare)
    if digits < _FEWEST_DIGITS or bare == bare.lower() or bare == bare.upper() or is_stand_in(bare):
        return False
    classes = [char.isdigit() * 2 + char.isupper() for char in bare]
    changes = sum(one != other for one, other in pairwise(classes))
    return changes >= _CLASS_CHANGES_PER_CHAR * len(bare) and entropy(bare) >= _FEWEST_RANDOM_BITS


def entropy(text: str) -> float:
    """Return the Shannon entropy of `text`'s own characters, in bits a character; 0 when empty.

    >>> entropy("abab")
    1.0
    """
    total = len(text)
    counts = Counter(text).values()
    return -sum(count / total * math.log2(count / total) for count in counts) if total else 0.0


def is_basic_credential(value: str) -> bool:
    """Return whether `value` is base64 of `user:password`, as an HTTP Basic header has it."""
    import binascii  # noqa: PLC0415 (only where a text speaks of Basic)

    try:
        decoded = binascii.a2b_base64(value, strict_mode=True)
    except (binascii.Error, ValueError):
        return False
    user, separator, password = decoded.partition(b":")
    if not separator or len(password) < 3 or not decoded.isascii():  # noqa: PLR2004 (as in connection strings)
        return False
    return user != password and not is_stand_in(password.decode("ascii"))
