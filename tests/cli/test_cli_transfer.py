"""Files and history on the command line: import, export, undo, purge."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

LINES = (
    '{"type":"node","name":"A","nodeType":"t","metadata":["k: v"]}\n'
    '{"type":"node","name":"B","nodeType":"t","metadata":[]}\n'
    '{"type":"edge","from":"A","to":"B","edgeType":"knows","weight":1}\n'
)


@pytest.fixture
def file(home: Path) -> Path:
    path = home / "g.jsonl"
    path.write_text(LINES, encoding="utf-8")
    return path


@pytest.mark.covers("cli.import")
def test_an_import_reports_what_it_did_and_a_second_one_changes_nothing(
    cli: Callable[..., Any], file: Path
) -> None:
    first = cli("import-graph", str(file), "--json")
    assert first.code == 0
    report = first.data
    assert (report["nodes"], report["edges"], report["rejected"]) == (2, 1, [])
    assert report["transaction"] == 1
    second = cli("import-graph", str(file), "--json").data
    assert (second["changed"], second["transaction"]) == (False, None)
    assert "nothing changed" in cli("import-graph", str(file)).out


@pytest.mark.covers("cli.import")
def test_what_cannot_be_taken_is_listed_and_the_exit_code_is_1(
    cli: Callable[..., Any], home: Path
) -> None:
    done = cli("import-graph", "-", "--rejected", "bad.jsonl", stdin=LINES.encode() + b"{broken\n")
    assert done.code == 1
    assert "line 4" in done.out
    assert "{broken" in (home / "bad.jsonl").read_text(encoding="utf-8")
    without = cli("import-graph", "-", stdin=b"{broken\n" + LINES.encode())
    assert without.code == 1
    assert "--rejected" in without.err


@pytest.mark.covers("cli.import")
def test_an_import_that_changed_nothing_says_why(cli: Callable[..., Any], file: Path) -> None:
    secret = b'{"type":"node","name":"S","nodeType":"t","metadata":["ghp_' + b"a1B2" * 9 + b'"]}\n'
    refused = cli("import-graph", "-", "--rejected", "bad.jsonl", stdin=secret)
    assert refused.out.endswith("nothing changed: no record could be taken\n")
    cli("import-graph", str(file))
    assert cli("import-graph", str(file)).out.endswith("nothing changed: all is stored already\n")
    both = cli("import-graph", "-", "--rejected", "bad.jsonl", stdin=LINES.encode() + secret)
    assert both.out.endswith("nothing changed: the other records are stored already\n")


@pytest.mark.covers("cli.undo")
def test_undo_says_in_words_what_it_took_back(cli: Callable[..., Any], file: Path) -> None:
    cli("import-graph", str(file))
    told = cli("undo", "1").out
    assert told == "undone: transaction 1 (import-graph): 2 nodes inserted, 1 edge inserted\n"


@pytest.mark.covers("cli.import")
def test_a_dry_run_writes_nothing(cli: Callable[..., Any], file: Path) -> None:
    assert "would import" in cli("import-graph", str(file), "--dry-run").out
    assert cli("nodes").out == ""


@pytest.mark.covers("cli.export")
def test_an_export_to_stdout_is_the_graph_and_nothing_else(
    cli: Callable[..., Any], file: Path, home: Path
) -> None:
    cli("import-graph", str(file))
    shown = cli("export-graph")
    assert shown.out == LINES
    assert "2 nodes, 1 edge" in shown.err
    assert cli("export-graph", "out.jsonl", "--json").data["nodes"] == 2
    assert (home / "out.jsonl").read_text(encoding="utf-8") == LINES
    assert "knows" in cli("export-graph", "--format", "mermaid").out
    assert cli("export-graph", "--format", "pdf").code == 2


@pytest.mark.covers("cli.export.overwrite")
def test_an_export_replaces_a_file_only_when_it_is_told_to(
    cli: Callable[..., Any], file: Path, home: Path
) -> None:
    cli("import-graph", str(file))
    target = home / "notes.md"
    target.write_text("precious", encoding="utf-8")
    refused = cli("export-graph", "notes.md")
    assert (refused.code, target.read_text(encoding="utf-8")) == (1, "precious")
    assert "--overwrite" in refused.err
    assert cli("export-graph", "notes.md", "--overwrite").code == 0
    assert target.read_text(encoding="utf-8") == LINES
    target.write_bytes(b"")
    assert cli("export-graph", "notes.md").code == 0


@pytest.mark.covers("cli.undo")
def test_undo_takes_an_import_back_unless_it_was_built_upon(
    cli: Callable[..., Any], file: Path
) -> None:
    number = str(cli("import-graph", str(file), "--json").data["transaction"])
    undone = cli("undo", number, "--json")
    assert undone.code == 0
    assert undone.data["undone"] == int(number)
    assert cli("nodes").out == ""
    again = str(cli("import-graph", str(file), "--json").data["transaction"])
    lines = json.dumps({"nodeName": "A", "metadata": ["new: line"]})
    assert cli("call", "add_metadata", lines).code == 0
    refused = cli("undo", again)
    assert refused.code == 1
    assert "A" in refused.err
    assert cli("undo", "999").code == 1


@pytest.mark.covers("cli.purge")
def test_purge_leaves_no_trace_in_the_file(cli: Callable[..., Any], home: Path) -> None:
    node = {"name": "Vermilion", "nodeType": "t", "metadata": ["Word: quetzalcoatl"]}
    cli("call", "add_nodes", json.dumps({"nodes": [node]}), "--db", "p.sqlite")
    assert cli("purge", "Vermilion", "--db", "p.sqlite", "--json").data["purged"] == "Vermilion"
    left = b"".join(path.read_bytes() for path in home.glob("p.sqlite*"))
    assert b"quetzalcoatl" not in left
    assert b"ermilion" not in left
    assert cli("purge", "Vermilion", "--db", "p.sqlite").code == 1


@pytest.mark.covers("cli.graph_file")
def test_every_command_works_on_a_graph_file(cli: Callable[..., Any], file: Path) -> None:
    assert cli("nodes", "--graph-file", str(file)).out == "A\tt\tk: v\nB\tt\t\n"
    more = json.dumps({"nodes": [{"name": "C", "nodeType": "t", "metadata": []}]})
    assert cli("call", "add_nodes", more, "--graph-file", str(file)).code == 0
    assert '"name":"C"' in file.read_text(encoding="utf-8")
    assert cli("status", "--graph-file", str(file), "--json").data["graph"]["nodes"] == 3
    imported = cli("import-graph", "-", "--graph-file", str(file), stdin=LINES.encode())
    assert "undo" not in imported.out
    refused = cli("undo", "1", "--graph-file", str(file))
    assert refused.code == 1
    assert "git" in refused.err
    assert len(cli("nodes", "--graph-file", str(file)).out.splitlines()) == 3
