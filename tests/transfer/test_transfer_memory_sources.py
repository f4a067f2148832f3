"""What a file may name as the source of an entry (memory.md §4, §7)."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schemory.errors import InvalidParamError

if TYPE_CHECKING:
    from tests.transfer.conftest import Box, BoxMaker

SUM = "0" * 64


def file_of(box: "Box", *paths: str, **more: Any) -> None:
    """Write an export whose entries name these source paths."""
    entries = [
        {
            "id": f"e{number}",
            "scope": "s",
            "topic": "t",
            "content": f"Note {number}.",
            "source_type": "file_observation",
            "created_at": "2026-01-01T00:00:00.000Z",
            "source_path": path,
            "source_sha256": SUM,
            "source_bytes": 3,
            **more,
        }
        for number, path in enumerate(paths)
    ]
    head = {"format": "memory-node.project-export", "version": 1, "entries": entries}
    box.write("out.json", json.dumps(head))


@pytest.mark.covers("memory.transfer.import.source-path")
@pytest.mark.parametrize(
    "path", ["../secret.txt", "src/../../x", "..", "..\\x", "src\\..\\..\\x", "C:x", "\\x"]
)
def test_a_source_that_climbs_out_of_the_project_refuses_the_file(box: "Box", path: str) -> None:
    file_of(box, "src/fine.py", path)
    with pytest.raises(InvalidParamError) as refused:
        box.take()
    assert [problem.path for problem in refused.value.problems] == ["$.entries[1].source_path"]
    assert box.held().entries == {}


@pytest.mark.covers("memory.transfer.import.source-path")
def test_a_source_inside_the_project_is_kept_with_its_fingerprint(box: "Box") -> None:
    inside = str(box.folder / "docs" / "a.md")
    file_of(box, "src/../docs/a.md", inside)
    report = box.take()
    assert report.warnings == ()
    assert [entry.source_path for entry in box.held().entries.values()] == [
        "src/../docs/a.md",
        inside,
    ]
    assert {entry.source_sha256 for entry in box.held().entries.values()} == {SUM}


@pytest.mark.covers("memory.transfer.import.source-path")
@pytest.mark.parametrize("path", ["/etc/passwd", "C:\\Users\\ann\\x.md", "\\\\host\\share\\x"])
def test_a_full_path_of_another_machine_stays_as_words_only(box: "Box", path: str) -> None:
    file_of(box, path, metadata={"mine": 1})
    report = box.take()
    (warning,) = report.warnings
    assert warning.startswith("The source files of some entries (1) lie outside")
    entry = box.entry("e0")
    assert (entry.source_path, entry.source_sha256, entry.source_bytes) == (None, None, None)
    assert entry.metadata == {"mine": 1, "source_path_elsewhere": path}
    again = box.take(mode="merge")
    assert again.counts.unchanged == 1


@pytest.mark.covers("memory.transfer.import.source-path")
def test_a_full_path_in_an_allowed_root_is_kept(open_box: "BoxMaker", tmp_path: Path) -> None:
    root = tmp_path / "shared"
    root.mkdir()
    box = open_box(allowed_roots=(str(root), str(tmp_path / "project")))
    file_of(box, str(root / "guide.md"), str(tmp_path / "elsewhere.md"))
    box.take()
    assert [entry.source_path for entry in box.held().entries.values()] == [
        str(root / "guide.md"),
        None,
    ]
