"""Many entries, in every form and with every policy: bounded memory, and progress all the way."""

import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest

from schemory.transfer.memory.export import export_project
from schemory.transfer.memory.importer import import_project
from schemory.transfer.memory.options import ExportFormat, ExportOptions, ImportOptions, OnConflict

if TYPE_CHECKING:
    from tests.transfer.conftest import Box

COUNT = 500
LONG = "x" * 20_000  # 10 MB in all
LATE = "2026-02-01T00:00:00.000Z"
Step = tuple[float, float | None, str]


def fill(box: "Box", mode: OnConflict) -> None:
    """Put in what is there before an import: nothing, an older half, or as many other entries."""
    if mode is OnConflict.MERGE:
        halves = range(0, COUNT, 2)
        box.put(*(box.make(f"e{n:04}", f"{n} {LONG}", title="Earlier") for n in halves))
    elif mode is OnConflict.REPLACE:
        box.put(*(box.make(f"o{n:04}", f"other {n} {LONG}") for n in range(COUNT)))


def peak_of(work: Any) -> tuple[Any, int]:
    """Return what `work` returns, and the most memory that it needed."""
    tracemalloc.start()
    try:
        return work(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def assert_told_all_the_way(steps: list[Step]) -> None:
    done = [step[0] for step in steps]
    assert done == sorted(done)
    gaps = [later - earlier for earlier, later in zip([0.0, *done], [*done, 100.0], strict=True)]
    assert max(gaps) <= 30  # of these few pages; a phase that tells nothing would be more


@pytest.mark.covers("memory.transfer.bounded", "memory.transfer.progress")
@pytest.mark.parametrize("mode", list(OnConflict))
@pytest.mark.parametrize("form", list(ExportFormat))
def test_any_form_and_policy_streams_and_tells_how_far_it_is(
    box: "Box", other: "Box", form: ExportFormat, mode: OnConflict
) -> None:
    box.put(
        *(box.make(f"e{n:04}", f"{n} {LONG}", title="Now", updated_at=LATE) for n in range(COUNT))
    )
    fill(other, mode)
    name = f"out.{form.value}"
    steps: list[Step] = []

    def note(*step: Any) -> None:
        steps.append(step)

    options = ExportOptions(format=form)
    _, peak = peak_of(lambda: export_project(box.memory, box.ref, name, options, progress=note))
    assert_told_all_the_way(steps)
    assert peak < 8_000_000
    steps.clear()
    how = ImportOptions(on_conflict=mode, confirm_replace=True)
    report, peak = peak_of(
        lambda: import_project(other.memory, other.ref, name, how, progress=note)
    )
    assert_told_all_the_way(steps)
    assert peak < 12_000_000
    counts = report.counts
    updated = COUNT // 2 if mode is OnConflict.MERGE else 0
    removed = COUNT if mode is OnConflict.REPLACE else 0
    assert (counts.inserted, counts.updated, counts.removed) == (COUNT - updated, updated, removed)
    assert len(other.held().entries) == COUNT
    writing = {step[0] for step in steps if step[2] == "writing"}
    assert len(writing) >= 5
