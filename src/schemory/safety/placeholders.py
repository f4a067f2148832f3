"""Tells a credential from what documentation and code write in its place."""

import re
from functools import cache

_STAND_INS = frozenset(
    {
        *(
            "password",
            "passwd",
            "passphrase",
            "pass",
            "pwd",
            "secret",
            "secrets",
            "token",
            "tokens",
        ),
        *("key", "apikey", "api_key", "api-key", "credential", "credentials", "user", "username"),
        *("changeme", "change_me", "change-me", "dummy", "fake", "redacted", "masked", "hidden"),
        *("removed", "todo", "tbd", "fixme", "none", "null", "nil", "undefined", "true", "false"),
        *("yes", "no", "on", "off", "required", "optional", "string", "str", "bytes", "bytearray"),
        *(
            "int",
            "integer",
            "number",
            "bool",
            "boolean",
            "text",
            "any",
            "object",
            "unknown",
            "void",
        ),
        *("default", "empty", "unset", "value", "guest", "testing", "foobar", "secretstr"),
        *("mypassword", "my_password", "my-password", "yourpassword", "yoursecret", "yourtoken"),
        *("passwort", "kennwort", "contraseña", "contrasena", "senha", "mot de passe"),
        *("mysecret", "my-secret", "my_secret", "mytoken", "my-token", "my_token"),
    }
)
_FEWEST_DIFFERENT_CHARACTERS = 3


@cache
def _marks() -> re.Pattern[str]:
    """What never stands in a real value: variables, angle brackets, dots, `x` runs, references."""
    return re.compile(
        r"""(?ix)
        \$\{ | \$\( | ^\$[a-z_] | \{\{ | ^\{ | ^%[a-z_]+%$ | <[^<>]*> | ^[<\[(]
        | \*{3} | \.\.\. | … | ••  | x{4} | \byour[\s_-] | [_-]here\b
        | replace[\s_-]?me | change[\s_-]?(?:me|this) | example | placeholder | redacted
        | ^(?:process|import\.meta)\.env | \bos\.environ | getenv | ^env[.(:\[]
        | ^(?:ref|vault|op|ssm|file|arn|kms|keyring|secret|secrets|env|sops):
        | ^enc\[ | secretkeyref | valuefrom
        """
    )


@cache
def _known_form_marks() -> re.Pattern[str]:
    return re.compile(r"(?i:example|placeholder|redacted|x{6}|\.\.\.|\*{3})|YOUR[_-]|your[_-]")


def is_stand_in(value: str) -> bool:
    """Return whether `value` only holds a secret's place: `<token>`, `${X}`, `xxxx`, `changeme`.

    >>> [is_stand_in(v) for v in ("<your password>", "${DB_PASSWORD}", "changeme", "pw123456")]
    [True, True, True, False]
    """
    bare = value.strip("\"'`*_ ")
    if len(set(bare)) < _FEWEST_DIFFERENT_CHARACTERS or bare.casefold() in _STAND_INS:
        return True
    return _marks().search(bare) is not None


def is_documentation_token(value: str) -> bool:
    """Return whether a token of a known form is one that documentation shows: `…EXAMPLE`, `xxxxxx`.

    Narrower than `is_stand_in`, because the form itself is already strong evidence.
    """
    return _known_form_marks().search(value) is not None
