"""Importing takes what a file says, accounts for every record and touches nothing else."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemory.errors import (
    ConflictError,
    InvalidParamError,
    NotAGraphError,
    SchemoryError,
    StoreError,
)
from schemory.graph.results import Author
from schemory.model.edge import IMPORTED, Edge, EdgeKey, EdgeRecord, NewEdge
from schemory.model.lines.records import FaultKind
from schemory.model.node import NewNode, Node, NodeRecord, TypedValue
from schemory.storage.protocols import Capability, GraphStore, WriteContext
from schemory.transfer.importer import import_graph
from schemory.transfer.report import Dangling, FileForm, ImportOptions, ImportReport

A = '{"type":"node","name":"A","nodeType":"t","metadata":["k: v"]}'
B = '{"type":"entity","name":"B","entityType":"u","observations":[]}'
AB = '{"type":"edge","from":"A","to":"B","edgeType":"knows","weight":0.5}'
BA = '{"type":"relation","from":"B","to":"A","relationType":"likes"}'
TOKEN = "ghp_" + "Zq3v" * 9
"""Made up; it has the form of a provider's token."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory.json"


@pytest.fixture
def rejected(tmp_path: Path) -> Path:
    return tmp_path / "memory.json.rejected"


def text(*lines: str) -> str:
    return "\n".join(lines)


def imported(store: GraphStore, source: Path | str, **options: Any) -> ImportReport:
    """Import a file, or text that has none; check that the report adds up."""
    given_source = source if isinstance(source, Path) else source.encode()
    report = import_graph(store, "default", given_source, options=ImportOptions(**options))
    check_sums(report)
    return report


def check_sums(report: ImportReport) -> None:
    counted = (report.nodes, report.edges, report.merged, report.duplicates, report.kept)
    assert sum(counted) + len(report.rejected) == report.records
    if report.form is FileForm.LINES and not report.continued and not report.structural:
        assert report.lines - report.blank + report.glued + report.nested == report.records


def nodes(store: GraphStore) -> list[Node]:
    with store.read("default") as reader:
        return [record.node for record in reader.list_nodes(limit=9999)]


def edges(store: GraphStore) -> list[Edge]:
    with store.read("default") as reader:
        return [record.edge for record in reader.list_edges(limit=9999)]


def kept(store: GraphStore) -> list[str]:
    with store.read("default") as reader:
        return [line.text for _, line in reader.list_kept(limit=9999)]


def node(store: GraphStore, name: str) -> NodeRecord:
    with store.read("default") as reader:
        return reader.find_nodes([name])[name]


def edge(store: GraphStore, *key: str) -> EdgeRecord:
    with store.read("default") as reader:
        return reader.find_edges([EdgeKey(*key)])[EdgeKey(*key)]


def add(store: GraphStore, *new: NewNode) -> None:
    with store.transaction("default", WriteContext(operation="test")) as tx:
        tx.insert_nodes(new)


@pytest.mark.covers("graph.files.import")
def test_an_import_takes_nodes_and_edges_of_both_dialects(store: GraphStore) -> None:
    report = imported(store, text(AB, A, B, BA))
    assert nodes(store) == [Node("A", "t", ("k: v",)), Node("B", "u")]
    assert edges(store) == [Edge("A", "B", "knows", 0.5), Edge("B", "A", "likes", 1.0)]
    assert (report.nodes, report.edges, report.records, report.lines) == (2, 2, 4, 4)
    assert edge(store, "A", "B", "knows").property_name == IMPORTED
    assert report.has_changed


@pytest.mark.covers("graph.files.import")
def test_all_of_an_import_is_one_transaction_by_who_imports(store: GraphStore) -> None:
    by = Author(author="cli", client="test")
    report = import_graph(store, "default", text(A, B, AB).encode(), by=by)
    with store.read("default") as reader:
        (commit,) = reader.commits(limit=9)
    assert (commit.operation, commit.author, commit.client) == ("import-graph", "cli", "test")
    assert report.seq == (commit.seq if Capability.HISTORY in store.capabilities else None)
    assert node(store, "A").author == "cli"


@pytest.mark.covers("graph.files.undo")
def test_an_import_can_be_undone_by_its_number(store: GraphStore) -> None:
    if Capability.HISTORY not in store.capabilities:
        pytest.skip("this backend keeps no history")
    add(store, NewNode(node=Node("A", "t", ("mine",))))
    report = imported(store, text(A, B, AB, '{"type":"note"}'))
    assert report.seq is not None
    with store.transaction("default", WriteContext(operation="undo")) as tx:
        tx.undo(report.seq)
    assert (nodes(store), edges(store), kept(store)) == ([Node("A", "t", ("mine",))], [], [])


@pytest.mark.covers("graph.files.again")
def test_a_second_import_changes_nothing_and_says_so(store: GraphStore, file: Path) -> None:
    double = A.replace("k: v", "more")
    lines = [A, B, AB, BA, double, AB, '{"type":"note","n":1}', "prose"]
    file.write_text("\n".join(lines), encoding="utf-8")
    first = imported(store, file)
    assert (first.nodes, first.edges, first.merged, first.duplicates, first.kept) == (2, 2, 1, 1, 1)
    with store.read("default") as reader:
        seq = reader.last_seq()
    second = imported(store, file)
    assert not second.has_changed
    assert second.seq is None
    assert (second.nodes, second.edges, second.merged, second.kept) == (0, 0, 0, 0)
    assert (second.duplicates, len(second.rejected)) == (7, 1)
    with store.read("default") as reader:
        assert reader.last_seq() == seq


@pytest.mark.covers("graph.files.source-untouched")
def test_the_source_is_only_read(store: GraphStore, file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + A.encode() + b"\r\n{torn")
    file.chmod(0o444)
    os.utime(file, (1_000_000_000, 1_000_000_000))
    before = (file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_ino)
    imported(store, file)
    assert (file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_ino) == before


@pytest.mark.covers("graph.files.dry-run")
def test_a_dry_run_tells_the_same_and_writes_nothing(
    store: GraphStore, file: Path, rejected: Path
) -> None:
    file.write_text(text(A, B, AB, "prose"), encoding="utf-8")
    dry = imported(store, file, is_dry_run=True)
    assert (nodes(store), rejected.exists(), dry.rejected_to, dry.seq) == ([], False, None, None)
    real = imported(store, file)
    told = ("records", "nodes", "edges", "merged", "duplicates", "kept", "rejected", "has_changed")
    assert [getattr(dry, each) for each in told] == [getattr(real, each) for each in told]


@pytest.mark.covers("graph.files.rejected")
def test_what_cannot_be_taken_is_listed_with_line_and_reason(
    store: GraphStore, file: Path, rejected: Path
) -> None:
    away = AB.replace('"B"', '"nowhere"')
    heavy = AB.replace("0.5", "7")
    lines = [A, B, "prose", away, heavy, '{"type":"node"}', AB[:-4]]
    file.write_text("\n".join(lines), encoding="utf-8")
    report = imported(store, file)
    assert [(fault.line, fault.kind) for fault in report.rejected] == [
        (3, FaultKind.SYNTAX),
        (4, FaultKind.DANGLING),
        (5, FaultKind.WEIGHT),
        (6, FaultKind.RECORD),
        (7, FaultKind.SYNTAX),
    ]
    assert report.rejected_to == str(rejected)
    assert rejected.read_text(encoding="utf-8").splitlines() == [
        "# schemory: line 3: is not JSON",
        "prose",
        '# schemory: line 4: no node is named "nowhere"',
        away,
        "# schemory: line 5: weight must be from 0 to 1",
        heavy,
        "# schemory: line 6: has no name",
        '{"type":"node"}',
        "# schemory: line 7: is cut off in the middle of a record",
        AB[:-4],
    ]
    assert stat.S_IMODE(rejected.stat().st_mode) == 0o600


@pytest.mark.covers("graph.files.rejected")
def test_the_rejected_file_can_be_mended_and_imported(
    store: GraphStore, file: Path, rejected: Path
) -> None:
    file.write_text(text(A, B, AB.replace("0.5", "7")), encoding="utf-8")
    imported(store, file)
    rejected.write_text(rejected.read_text().replace(":7", ":0.7"), encoding="utf-8")
    report = imported(store, rejected)
    assert (report.edges, report.rejected, report.blank) == (1, (), 1)
    assert edges(store) == [Edge("A", "B", "knows", 0.7)]


@pytest.mark.covers("graph.files.rejected.kept")
@pytest.mark.parametrize("is_named", [False, True])
def test_a_file_of_somebody_elses_is_not_replaced_by_rejected_records(
    store: GraphStore, file: Path, rejected: Path, tmp_path: Path, *, is_named: bool
) -> None:
    place = tmp_path / "notes.md" if is_named else rejected
    place.write_text("precious", encoding="utf-8")
    file.write_text(text(A, "prose"), encoding="utf-8")
    with pytest.raises(ConflictError, match="is there already"):
        imported(store, file, rejected=place if is_named else None)
    assert place.read_text(encoding="utf-8") == "precious"
    assert nodes(store) == []


def test_a_rejected_line_keeps_its_bytes(store: GraphStore, file: Path, rejected: Path) -> None:
    file.write_bytes(A.encode() + b'\n{"name":"caf\xe9"}\n')
    imported(store, file)
    assert b'\n{"name":"caf\xe9"}\n' in rejected.read_bytes()


@pytest.mark.covers("graph.files.rejected")
def test_nothing_rejected_makes_no_file(store: GraphStore, file: Path, rejected: Path) -> None:
    file.write_text(A, encoding="utf-8")
    assert imported(store, file).rejected_to is None
    assert not rejected.exists()


@pytest.mark.covers("graph.files.stdin")
@pytest.mark.parametrize("is_dry_run", [False, True])
def test_bytes_without_a_file_need_a_place_for_what_is_rejected(
    store: GraphStore, tmp_path: Path, *, is_dry_run: bool
) -> None:
    with pytest.raises(InvalidParamError) as caught:
        imported(store, A + "\nprose\n", is_dry_run=is_dry_run)
    assert [(p.path, p.message) for p in caught.value.problems] == [("line 2", "is not JSON")]
    assert "--rejected" in caught.value.suggestions[0]
    assert nodes(store) == []
    report = imported(store, A + "\nprose\n", rejected=tmp_path / "bad", is_dry_run=is_dry_run)
    assert len(report.rejected) == 1
    assert (tmp_path / "bad").exists() is not is_dry_run


def test_the_rejected_may_not_go_into_the_source(store: GraphStore, file: Path) -> None:
    file.write_text(A + "\nprose\n", encoding="utf-8")
    with pytest.raises(InvalidParamError):
        imported(store, file, rejected=file.parent / "." / file.name)
    assert nodes(store) == []


def test_a_rejected_file_that_cannot_be_written_stops_the_import(
    store: GraphStore, file: Path, tmp_path: Path
) -> None:
    file.write_text(A + "\nprose\n", encoding="utf-8")
    (tmp_path / "taken").write_text("a file, no folder")
    with pytest.raises(StoreError):
        imported(store, file, rejected=tmp_path / "taken" / "bad")
    assert nodes(store) == []


@pytest.mark.covers("graph.files.dangling")
def test_dangling_edges_are_rejected_by_name_or_get_stubs(store: GraphStore, file: Path) -> None:
    lines = [A, AB, BA.replace("A", "C"), AB.replace('"to"', '"x":1,"to"')]
    file.write_text("\n".join(lines), encoding="utf-8")
    report = imported(store, file)
    reasons = [fault.reason for fault in report.rejected]
    assert reasons == [
        'no node is named "B"',
        'no node is named "B" and "C"',
        'no node is named "B"',
    ]
    stubbed = imported(store, file, dangling=Dangling.STUB)
    assert (stubbed.stubs, stubbed.edges, stubbed.duplicates) == (2, 2, 2)
    assert nodes(store)[1:] == [Node("B", "unknown"), Node("C", "unknown")]
    assert '"B", "C"' in " ".join(stubbed.warnings)


def test_a_stub_becomes_what_a_later_file_says(store: GraphStore) -> None:
    imported(store, text(A, AB), dangling=Dangling.STUB)
    assert node(store, "B").is_stub
    report = imported(store, B)
    assert (node(store, "B").node, node(store, "B").is_stub) == (Node("B", "u"), False)
    assert (report.merged, report.differences) == (1, ())
    assert not imported(store, B).has_changed


def test_an_end_that_is_stored_already_is_there(store: GraphStore) -> None:
    add(store, NewNode(node=Node("B", "t")))
    assert imported(store, text(A, AB)).edges == 1


@pytest.mark.covers("graph.files.weights")
def test_weights_outside_0_to_1_are_rejected_or_clamped(store: GraphStore, tmp_path: Path) -> None:
    heavy = [AB.replace("0.5", weight).replace("knows", f"w{weight}") for weight in ("-3", "1.5")]
    found = text(A, B, *heavy)
    assert len(imported(store, found, rejected=tmp_path / "bad").rejected) == 2
    report = imported(store, found, clamp_weights=True)
    assert (report.edges, report.clamped) == (2, 2)
    assert [found.weight for found in edges(store)] == [0.0, 1.0]


@pytest.mark.covers("graph.files.secrets")
@pytest.mark.parametrize(
    "line",
    [
        {"type": "node", "name": "S", "nodeType": "t", "metadata": [f"key {TOKEN}"]},
        {"type": "node", "name": TOKEN, "nodeType": "t", "metadata": []},
        {"type": "node", "name": "S", "nodeType": "t", "metadata": [], "note": {"x": [TOKEN]}},
        {"type": "node", "name": "S", "nodeType": "t", "metadata": ['"quoted" ' + TOKEN]},
        {"type": "edge", "from": "A", "to": "A", "edgeType": "t", "note": TOKEN},
        {"type": "other", "note": TOKEN},
    ],
)
def test_records_with_credentials_are_rejected_unless_allowed(
    store: GraphStore, tmp_path: Path, line: dict[str, Any]
) -> None:
    found = text(A, json.dumps(line))
    report = imported(store, found, rejected=tmp_path / "bad")
    (fault,) = report.rejected
    assert (fault.line, fault.kind) == (2, FaultKind.SECRET)
    assert TOKEN not in fault.reason
    assert len(nodes(store)) == 1
    allowed = imported(store, found, allow_secret=True)
    assert allowed.rejected == ()
    assert allowed.has_changed


def test_a_credential_in_a_nested_relation_rejects_only_that(
    store: GraphStore, tmp_path: Path
) -> None:
    found = {
        "name": "N", "entityType": "t", "observations": [],
        "relations": [
            {"relationType": "r", "to": "N", "note": TOKEN}, {"relationType": "s", "to": "N"},
        ],
    }  # fmt: skip
    report = imported(store, json.dumps(found), rejected=tmp_path / "bad")
    assert (report.nodes, report.edges, len(report.rejected), report.nested) == (1, 1, 1, 2)


def test_a_storytellers_password_passes(store: GraphStore) -> None:
    assert imported(store, A.replace("k: v", "Password: moonlight")).rejected == ()


@pytest.mark.covers("graph.files.merge-names")
def test_records_of_one_name_are_merged_and_their_differences_told(store: GraphStore) -> None:
    report = imported(store, text(A, A.replace('"t"', '"other"').replace("k: v", "new"), A))
    assert nodes(store) == [Node("A", "t", ("k: v", "new"))]
    assert (report.nodes, report.merged) == (1, 2)
    (difference,) = report.differences
    assert (difference.name, difference.fields, difference.lines) == ("A", ("nodeType",), (1, 2, 3))


@pytest.mark.covers("graph.files.merge-stored")
def test_a_stored_node_takes_what_is_new_and_keeps_the_rest(store: GraphStore) -> None:
    typed = (TypedValue(property_name="k", line="k: 1", value=1),)
    add(store, NewNode(node=Node("A", "mine", ("k: 1",)), typed=typed, extra={"x": 1}))
    report = imported(store, '{"name":"A","entityType":"t","observations":["k: v"],"y":2}')
    record = node(store, "A")
    assert record.node == Node("A", "mine", ("k: 1", "k: v"))
    assert (record.typed, record.extra, record.revision) == (typed, {"x": 1, "y": 2}, 2)
    assert (report.nodes, report.merged) == (0, 1)


@pytest.mark.covers("graph.files.merge-stored")
def test_a_stored_edge_keeps_its_weight_and_its_maker(store: GraphStore) -> None:
    add(store, NewNode(node=Node("A", "t")), NewNode(node=Node("B", "t")))
    with store.transaction("default", WriteContext(operation="test")) as tx:
        tx.insert_edges([NewEdge(edge=Edge("A", "B", "knows", 0.1), property_name="friend")])
    assert imported(store, AB).duplicates == 1
    record = edge(store, "A", "B", "knows")
    assert (record.edge.weight, record.property_name) == (0.1, "friend")


@pytest.mark.covers("graph.files.repeated-edges")
def test_the_first_of_repeated_edges_wins(store: GraphStore) -> None:
    report = imported(store, text(A, B, AB, AB.replace("0.5", "0.9")))
    assert (report.edges, report.duplicates) == (1, 1)
    assert edges(store)[0].weight == 0.5


@pytest.mark.covers("graph.files.claims")
def test_a_files_dates_are_claims_and_not_our_recording_time(store: GraphStore) -> None:
    dated = '{"name":"%s","entityType":"t","observations":[]%s}'
    lines = [
        dated % ("A", ',"createdAt":"2020-01-02","updatedAt":1600000000'),
        dated % ("B", ',"updatedAt":"2020-01-03T04:05:06Z"'),
        dated % ("C", ""),
        '{"from":"A","to":"B","relationType":"r","createdAt":"2020-01-04"}',
    ]
    imported(store, "\n".join(lines))
    times = {n: (node(store, n).created_at, node(store, n).updated_at) for n in "ABC"}
    now = "2026-03-08T09:05:07.000Z"
    assert times == {
        "A": ("2020-01-02T00:00:00.000Z", "2020-09-13T12:26:40.000Z"),
        "B": ("2020-01-03T04:05:06.000Z", "2020-01-03T04:05:06.000Z"),
        "C": (now, now),
    }
    assert edge(store, "A", "B", "r").created_at == "2020-01-04T00:00:00.000Z"
    with store.read("default") as reader:
        assert reader.commits(limit=1)[0].recorded_at == now


@pytest.mark.covers("graph.files.unknown-lines")
def test_lines_of_unknown_type_are_kept_in_order(store: GraphStore) -> None:
    notes = ['{"type": "note",  "n": 1}', '{"n":2}']
    report = imported(store, text(notes[0], A, *notes))
    assert kept(store) == notes
    assert (report.kept, report.duplicates) == (2, 1)


@pytest.mark.covers("graph.files.merge-conflict")
def test_conflict_markers_are_reported_and_both_sides_taken(
    store: GraphStore, file: Path, rejected: Path
) -> None:
    found = f"<<<<<<< HEAD\n{A}\n=======\n{A.replace('k: v', 'w')}\n{B}\n>>>>>>> topic\n"
    file.write_text(found, encoding="utf-8")
    report = imported(store, file)
    assert nodes(store) == [Node("A", "t", ("k: v", "w")), Node("B", "u")]
    assert [fault.line for fault in report.rejected] == [1, 3, 6]
    assert "merge conflict markers (lines 1, 3, 6)" in report.warnings[0]
    assert "merge conflict" in rejected.read_text(encoding="utf-8")


@pytest.mark.covers("graph.files.twins")
def test_names_that_hardly_differ_are_warned_of(store: GraphStore) -> None:
    add(store, NewNode(node=Node("data service", "t")))
    named = '{"name":"%s","entityType":"t","observations":[]}'
    report = imported(store, "\n".join(named % n for n in ("DataService", "Data Service", "Other")))
    (group,) = report.twins
    assert group[0] == "DataService"
    assert set(group) == {"DataService", "Data Service", "data service"}
    assert "Data Service" in report.warnings[0]


@pytest.mark.covers("graph.files.tolerant-names")
def test_unusual_names_are_taken_and_told(store: GraphStore) -> None:
    report = imported(store, A.replace('"A"', '" A "'))
    assert nodes(store)[0].name == " A "
    assert "white space" in report.warnings[0]


def test_a_node_without_a_type_is_told(store: GraphStore) -> None:
    report = imported(store, '{"type":"node","name":"A"}')
    assert nodes(store) == [Node("A", "unknown")]
    assert "without a type" in report.warnings[0]


@pytest.mark.covers("graph.files.not-a-graph")
@pytest.mark.parametrize(
    ("found", "told"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ('{"ts":1,"message":"m"}\n' * 6, "6 JSON objects of another kind"),
        ('{\n  "a": 1\n},\n{\n  "a": 2\n}\n', "2 JSON objects of another kind"),
        ('{"learned": {"x": [1]}}', "1 JSON object of another kind"),
        ("one\ntwo\n", "2 lines that cannot be read as JSON"),
        ("[1,2]", "1 line that cannot be read as JSON"),
        ("\x00\x01\x02", "1 line that cannot be read as JSON"),
    ],
)
def test_a_file_without_any_node_or_edge_gets_one_clear_message(
    store: GraphStore, file: Path, rejected: Path, found: str, told: str
) -> None:
    file.write_text(found, encoding="utf-8")
    with pytest.raises(NotAGraphError) as caught:
        imported(store, file)
    assert str(file) in caught.value.message
    assert told in caught.value.message
    assert caught.value.problems == ()
    assert caught.value.suggestions
    assert (kept(store), rejected.exists()) == ([], False)


def test_a_graph_of_which_nothing_can_be_taken_is_still_a_graph(
    store: GraphStore, file: Path
) -> None:
    file.write_text(AB, encoding="utf-8")
    assert [fault.kind for fault in imported(store, file).rejected] == [FaultKind.DANGLING]


def test_a_file_that_is_not_there_is_told(store: GraphStore, file: Path) -> None:
    with pytest.raises(InvalidParamError, match="no file"):
        imported(store, file)
    with pytest.raises(StoreError):
        imported(store, file.parent)


@pytest.mark.covers("graph.files.whole-object")
def test_a_whole_file_object_is_a_graph_and_its_rest_is_kept(store: GraphStore) -> None:
    found = {
        "version": 3,
        "entities": [{"name": n, "type": "module", "path": f"{n}.py"} for n in ("a", "b", "a")],
        "relations": [{"from": "a", "to": "b", "relationType": "uses"}],
    }
    report = imported(store, json.dumps(found, indent=2))
    assert report.form is FileForm.OBJECT
    assert (report.records, report.nodes, report.merged, report.edges, report.kept) == (
        5,
        2,
        1,
        1,
        1,
    )
    assert nodes(store) == [Node("a", "module"), Node("b", "module")]
    assert kept(store) == ['{"version":3}']


@pytest.mark.covers("graph.files.messy-layout")
def test_arrays_glued_lines_and_line_ends_of_any_kind_are_fine(store: GraphStore) -> None:
    texts = [f"[{A},\n{B}]", A + B, f"\ufeff{A}\r\n\r\n{B}\r\n"]
    for layout in texts:
        report = imported(store, layout)
        assert report.records == 2
    assert nodes(store) == [Node("A", "t", ("k: v",)), Node("B", "u")]


@pytest.mark.covers("graph.files.nested-relations")
def test_nested_relations_count_as_records_and_become_edges(store: GraphStore, file: Path) -> None:
    owner = {
        "name": "X",
        "entityType": "t",
        "relations": [{"relationType": "r", "to": n} for n in "AZ"],
    }
    file.write_text(text(json.dumps(owner), A), encoding="utf-8")
    report = imported(store, file)
    assert (report.records, report.nested, report.edges, len(report.rejected)) == (4, 2, 1, 1)
    assert edges(store) == [Edge("X", "A", "r")]
    assert json.loads(report.rejected[0].text) == {
        "type": "relation", "from": "X", "relationType": "r", "to": "Z",
    }  # fmt: skip


@pytest.mark.covers("graph.files.observation-objects")
def test_the_rest_of_an_observation_object_is_kept_beside_the_node(store: GraphStore) -> None:
    told = {"text": "one", "timestamp": "2025-05-06T14:09:36.202Z"}
    imported(store, json.dumps({"_type": "entity", "name": "A", "observations": [told]}))
    assert node(store, "A").node.metadata == ("one",)
    assert node(store, "A").extra == {"observations": [told]}


@pytest.mark.covers("graph.files.beside")
def test_our_own_lines_bring_types_and_origins(store: GraphStore) -> None:
    line = json.loads(A.replace("k: v", "K: v"))
    line["_schemory"] = {"typed": ["k"], "extra": {"x": 1}}
    link = json.loads(AB) | {"_schemory": {"property": "friend"}}
    imported(store, text(json.dumps(line), B, json.dumps(link)))
    assert node(store, "A").typed == (TypedValue(property_name="k", line="K: v", value="v"),)
    assert node(store, "A").extra == {"x": 1}
    assert edge(store, "A", "B", "knows").property_name == "friend"


def test_progress_is_told(store: GraphStore) -> None:
    told: list[tuple[float, float | None, str]] = []
    lines = (A.replace('"A"', f'"N{i}"') for i in range(1500))
    import_graph(
        store,
        "default",
        "\n".join(lines).encode(),
        progress=lambda done, total, what: told.append((done, total, what)),
    )
    assert told[0][2] == "reading"
    assert told[-1] == (1500.0, 1500.0, "writing")


WHOLE = [A, B, AB, BA, A + B, A.replace("k: v", "w"), '{"type":"n"}']
BROKEN = ["prose", "{", "[", "]", "", "\ufeff", "\0", "<<<<<<< a", "=======", ">>>>>>> b"]
UNFIT = [AB.replace("0.5", "7"), AB.replace('"B"', '"Z"'), '{"type":"node"}']
LARGE = [
    '{"entities":[' + A + ',5],"relations":[' + AB + "]}",
    '{\n"name":"M",\n"metadata":[]\n}',
    '{"name":"R","entityType":"t","relations":[{"relationType":"r","to":"A"},{}]}',
]
RECORDS = st.sampled_from([*WHOLE, *BROKEN, *UNFIT, *LARGE])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any")


@pytest.mark.covers("graph.files.any-bytes")
@pytest.mark.parametrize("dangling", list(Dangling))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.binary(max_size=150) | st.lists(RECORDS, max_size=12).map("\n".join))
def test_any_bytes_are_imported_or_refused_and_the_sums_hold(
    store: GraphStore, folder: Path, dangling: Dangling, data: bytes | str
) -> None:
    source = folder / "any.jsonl"
    source.write_bytes(data if isinstance(data, bytes) else data.encode())
    before = (source.read_bytes(), source.stat().st_mtime_ns)
    try:
        report = imported(store, source, dangling=dangling)
    except NotAGraphError:
        pass
    except SchemoryError as error:  # pragma: no cover
        pytest.fail(f"{error.code}: {error.message}")
    else:
        again = imported(store, source, dangling=dangling)
        assert not again.has_changed
        assert again.records == report.records
        assert again.duplicates + len(again.rejected) == again.records
    assert (source.read_bytes(), source.stat().st_mtime_ns) == before
