"""What a module needs at run time to import `typing` for type checkers alone.

Loading `typing` would be a tenth of a start. Each module that a start loads therefore begins with
`from __future__ import annotations`, so that Python does not look at its annotations, and imports
their names below `if TYPE_CHECKING`; a protocol is a plain class at run time.
"""

TYPE_CHECKING = False
"""As in `typing`: type checkers take it for true."""

if TYPE_CHECKING:
    from typing import Protocol, cast
else:
    Protocol = object

    def cast(kind: object, value: object) -> object:
        """Return `value`, which type checkers take for a `kind`."""
        del kind
        return value


__all__ = ["TYPE_CHECKING", "Protocol", "cast"]
