"""How long a writer waits for SQLite's own lock."""

import time

import pytest

from schemory.storage.sqlite.locks import patience


@pytest.mark.covers("storage.busy.patience")
def test_waiting_ends_by_the_clock_however_slow_the_machine_sleeps() -> None:
    wait = patience(0.05)
    started = time.monotonic()
    assert wait(0)
    while time.monotonic() < started + 0.06:  # as on a machine with more to do than it can
        pass
    assert not wait(1)
    assert wait(0)  # another statement, which waits anew
    assert not patience(0.0)(0)
