"""Moving in a folder of basic-memory: notes, tags of their observations, relations as links."""

from pathlib import Path
from typing import Any

import pytest

from schemory.model.entry import Status
from schemory.transfer.foreign.basic_memory import semantics_of

_COFFEE = """---
title: Coffee Brewing
type: decision
permalink: coffee-brewing
tags: [coffee, Brewing]
created: 2026-01-02
---
# Coffee Brewing

## Observations
- [method] Pour over gives more clarity #pour-over (tested twice)
- [temperature] Use 94 degrees #water
- [ ] buy filters
- [x] buy beans

```
- [code] is no observation [[Nothing]]
```

## Relations
- relates_to [[Grinder]]
- supersedes [[old-coffee]]
- requires [[specs/grinder|the grinder]] (since 2025)
- [[Nowhere]]
"""


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """Three notes outside the project."""
    folder = tmp_path / "vault"
    (folder / "specs").mkdir(parents=True)
    (folder / "Coffee.md").write_text(_COFFEE, encoding="utf-8")
    (folder / "specs" / "grinder.md").write_text(
        "---\ntitle: Grinder\npermalink: specs/grinder\n---\n\n- [spec] Burr grinder #tool\n",
        encoding="utf-8",
    )
    (folder / "old.md").write_text(
        "---\ntitle: Old Coffee\npermalink: old-coffee\n---\n# Old Coffee\n\nFrench press.\n",
        encoding="utf-8",
    )
    return folder


@pytest.mark.covers("transfer.basic_memory.notes")
def test_a_note_is_an_entry_with_its_tags_and_everything_it_said(
    mover: Any, entries: Any, counts_of: Any, vault: Path
) -> None:
    moved = mover(vault)
    assert (moved.kind.value, counts_of(moved).new) == ("basic-memory", 3)
    found = {entry.title: entry for entry in entries()}
    coffee = found["Coffee Brewing"]
    assert coffee.content == _COFFEE.partition("---\n")[2].partition("---\n")[2]
    assert coffee.tags == ("brewing", "coffee", "method", "pour-over", "temperature", "water")
    assert (coffee.source_type.value, coffee.created_at) == ("decision", "2026-01-02T00:00:00.000Z")
    assert coffee.metadata["import"]["permalink"] == "coffee-brewing"
    assert "type: decision" in coffee.metadata["front_matter"]
    assert (found["Grinder"].scope, found["Grinder"].tags) == ("specs", ("spec", "tool"))
    assert moved.notes["observations, as parts of their notes"] == 3


@pytest.mark.covers("transfer.basic_memory.links")
def test_relations_are_links_between_the_notes_they_name(
    box: Any, mover: Any, entries: Any, vault: Path
) -> None:
    moved = mover(vault)
    titles = {entry.id: entry.title for entry in entries()}
    told = {
        (titles[link.source_entry_id], link.relation.value, titles[link.target_entry_id])
        for link in box.held().links.values()
    }
    assert told == {
        ("Coffee Brewing", "related_to", "Grinder"),
        ("Coffee Brewing", "supersedes", "Old Coffee"),
    }
    old = next(entry for entry in entries() if entry.title == "Old Coffee")
    assert old.status is Status.SUPERSEDED
    assert [each.what for each in moved.unresolved] == ["related_to 'Nowhere'"]
    assert not mover(vault).has_changes


@pytest.mark.covers("transfer.basic_memory.outside")
def test_files_outside_the_project_are_named_in_the_metadata_only(
    mover: Any, entries: Any, vault: Path
) -> None:
    mover(vault)
    for entry in entries():
        assert (entry.source_path, entry.source_sha256) == (None, None)
        assert entry.metadata["import"]["file"].startswith(str(vault))


@pytest.mark.covers("transfer.basic_memory.notes")
def test_a_long_note_is_cut_at_headings_and_its_first_entry_has_links_and_all_tags(
    box: Any, mover: Any, entries: Any, vault: Path
) -> None:
    text = _COFFEE + "".join(f"\n## Part {n}\n\n" + "word " * 900 + "\n" for n in range(3))
    (vault / "Coffee.md").write_text(text, encoding="utf-8")
    mover(vault)
    parts = [entry for entry in entries() if entry.topic == "Coffee Brewing"]
    assert len(parts) > 3
    first = next(entry for entry in parts if entry.source_ref.endswith("Coffee.md"))
    assert "method" in first.tags
    sources = {link.source_entry_id for link in box.held().links.values()}
    assert sources == {first.id}


@pytest.mark.covers("transfer.basic_memory.links")
def test_words_of_relations_become_ours_and_keep_what_they_said() -> None:
    links = semantics_of(
        '- "part of" [[A#Top]]\n- Based on [[B]]\n- blocks [[C]] (until May)\n'
    ).links
    assert [(each.relation.value, each.target, each.label) for each in links] == [
        ("related_to", "A", "part of"),
        ("derived_from", "B", "Based on"),
        ("blocks", "C", "blocks (until May)"),
    ]
