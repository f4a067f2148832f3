"""How many results a call gets: what it asks for, within the cap of the settings."""

from schemory.memory.faults import invalid, refuse
from schemory.memory.settings import DEFAULT_LIMIT
from schemory.memory.work import Reading


def limited(asked: int | None, reading: Reading) -> int:
    """Return the limit that holds; over the cap it is lowered with a warning.

    Raises:
        InvalidParamError: It is below 1.
    """
    cap = reading.place.limits.max_search_results
    return clamped(asked, cap, reading.warnings, default=DEFAULT_LIMIT)


def clamped(asked: int | None, cap: int, warnings: list[str], *, default: int) -> int:
    """Return `asked`, or `default`, but `cap` at most."""
    if asked is None:
        return min(default, cap)
    if asked < 1:
        raise refuse(invalid("limit", "must be 1 or more"))
    if asked > cap:
        warnings.append(f"limit is lowered from {asked} to {cap}, the most that is allowed.")
    return min(asked, cap)
