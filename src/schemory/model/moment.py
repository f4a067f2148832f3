"""Points in time as the product writes them: UTC, ISO 8601, milliseconds, `Z`."""

from __future__ import annotations

from collections.abc import Callable

from schemory.hints import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from typing import TypeAlias

Clock: TypeAlias = "Callable[[], datetime]"
"""Returns the current time, timezone-aware; chosen in `app.py`, an argument everywhere else."""

IdMaker: TypeAlias = Callable[[], str]
"""Returns a new unique text id; chosen in `app.py`."""


def moment_text(moment: datetime) -> str:
    """Return a timezone-aware `moment` as stored text.

    >>> from datetime import UTC, datetime
    >>> moment_text(datetime(2026, 3, 8, 9, 5, 7, 123456, tzinfo=UTC))
    '2026-03-08T09:05:07.123Z'
    """
    from datetime import UTC  # noqa: PLC0415 (a start-up writes no times)

    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
