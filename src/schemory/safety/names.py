"""What looks like a credential in a short name, told mostly without loading the rules for it."""

from __future__ import annotations

from schemory.hints import TYPE_CHECKING

if TYPE_CHECKING:
    from schemory.safety.secrets import Finding

_SHORTEST_SECRET = 20
"""Nothing shorter is taken for a credential, unless the text has more than words and `-._`."""

_JOINERS = str.maketrans("", "", "-._")


def find_secrets_in_name(name: str) -> tuple[Finding, ...]:
    """Return what `find_secrets` finds in the name or id of a project.

    Hardly any holds something, and each session's brief would wait for the rules to be loaded.
    """
    if len(name) < _SHORTEST_SECRET and name.translate(_JOINERS).isalnum():
        return ()
    from schemory.safety.secrets import find_secrets  # noqa: PLC0415 (see above)

    return find_secrets(name, precise_only=False)
