import json
from collections.abc import Callable
from pathlib import Path

import pytest

from schemory.errors import InvalidParamError, SchemaFaultError
from schemory.model.jsonvalue import Json
from schemory.schemas.jsonfile import parse_json
from schemory.schemas.load import load_folder, load_pack, load_schema, load_schemas, pack_names
from schemory.tools.parts import VERBS

Document = Callable[..., dict[str, Json]]
Write = Callable[[Path, str, Json], Path]


@pytest.mark.covers("schemas.load.real-folders")
@pytest.mark.parametrize("folder", ["memorymesh", "old-crlf"])
def test_real_folders_load_unchanged_and_give_33_tools(folders: Path, folder: str) -> None:
    report = load_folder(folders / folder)
    assert report.faults == report.warnings == report.notes == ()
    tools = [f"{verb}_{schema.node_type}" for schema in report.schemas for verb in VERBS]
    assert len(set(tools)) == 33


@pytest.mark.covers("schemas.load.type-from-name")
def test_the_type_comes_from_the_name_in_the_file_not_from_the_file_name(folders: Path) -> None:
    schema = load_schema(folders / "old-crlf" / "temporalNode.schema.json")
    assert schema.node_type == "temporal_node"
    assert (folders / "old-crlf" / "temporalNode.schema.json").read_bytes().count(b"\r\n") > 10


@pytest.mark.covers("schemas.load.skip-bad-files")
def test_a_bad_file_is_skipped_and_the_others_load(folders: Path) -> None:
    report = load_folder(folders / "japanese")
    assert len(report.schemas) == 11
    assert "scene" not in {schema.node_type for schema in report.schemas}
    [fault] = report.faults
    assert Path(fault.file).name == "scene.schema.json"
    assert fault.problem.path == "/properties/scenes/items/type"
    assert fault.problem.suggestion
    assert [(Path(n.file).name, n.problem.path) for n in report.notes] == [
        ("scene.schema.json", "/required")
    ]
    assert str(fault).startswith(f"{fault.file} at /properties/scenes/items/type: ")


@pytest.mark.covers("schemas.load.raise-on-first")
def test_the_loader_raises_for_the_first_bad_file_with_all_that_is_wrong_in_it(
    tmp_path: Path, document: Document, write_schema: Write
) -> None:
    write_schema(tmp_path, "a.schema.json", document("good"))
    bad = write_schema(tmp_path, "b.schema.json", {"name": "bad", "properties": {"x": 1}})
    write_schema(tmp_path, "c.schema.json", {"name": "worse"})
    with pytest.raises(SchemaFaultError) as raised:
        load_schemas(tmp_path)
    assert str(bad) in raised.value.message
    assert raised.value.context == {"file": str(bad)}
    assert [p.path for p in raised.value.problems] == ["/name", "/properties/x"]
    assert 'write "add_bad"' in raised.value.suggestions


def test_the_loader_returns_all_schemas_of_a_good_folder(
    tmp_path: Path, document: Document, write_schema: Write
) -> None:
    for name in ("b", "a", "c"):
        write_schema(tmp_path, f"{name}.schema.json", document(name))
    assert [schema.node_type for schema in load_schemas(tmp_path)] == ["a", "b", "c"]


@pytest.mark.covers("schemas.load.duplicate-type")
def test_a_type_in_two_files_stays_with_the_first_and_the_later_is_at_fault(
    tmp_path: Path, document: Document, write_schema: Write
) -> None:
    write_schema(tmp_path, "one.schema.json", {**document("npc"), "description": "first"})
    later = write_schema(tmp_path, "two.schema.json", {**document("npc"), "description": "later"})
    report = load_folder(tmp_path)
    assert [schema.description for schema in report.schemas] == ["first"]
    [fault] = report.faults
    assert (fault.file, fault.problem.path) == (str(later), "/name")
    assert "one.schema.json" in fault.problem.message


@pytest.mark.covers("schemas.load.tolerance")
@pytest.mark.parametrize("prefix", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_a_byte_order_mark_and_any_line_ends_are_fine(
    tmp_path: Path, document: Document, prefix: bytes, line_end: bytes
) -> None:
    text = json.dumps(document("npc"), indent=1).encode().replace(b"\n", line_end)
    path = tmp_path / "npc.schema.json"
    path.write_bytes(prefix + text)
    assert load_schema(path).node_type == "npc"


@pytest.mark.covers("schemas.load.not-json")
@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"{", "cut off"),
        (b'{"a": 1,}', "comma"),
        (b'{"a": 1},', "comma"),
        (b'{"a": [1,]}', "comma"),
        (b'{"a": 1} // note', "comments"),
        (b'{"a": 1}\n{"b": 2}', "one schema"),
        (b"{'a': 1}", "double quotes"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": -Infinity}', "-Infinity"),
        (b"\xff\xfe{\x00}\x00", "UTF-16"),
        (b'{"a": "\xe9"}', "UTF-8"),
        (b"[" * 100_000, "deeply"),
        (b"1" * 5_000, "not JSON"),
        (b" " * 1_048_577, "bytes"),
    ],
)
def test_a_file_that_is_no_json_is_told_with_what_is_meant_most_often(
    raw: bytes, said: str
) -> None:
    read = parse_json(raw)
    assert read.value is None
    [fault] = read.faults
    assert said in f"{fault.message} {fault.suggestion}"


def test_a_json_fault_names_line_and_column() -> None:
    [fault] = parse_json(b'{\n  "a": x\n}').faults
    assert "line 2, column 8" in fault.message


def test_a_number_beyond_every_double_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "npc.schema.json"
    path.write_text('{"name": "add_npc", "description": "d", "properties": {}, "x": 1e999}')
    assert "/x" in [fault.problem.path for fault in load_folder(tmp_path).faults]


@pytest.mark.covers("schemas.load.repeated-keys")
def test_a_key_that_stands_twice_in_one_object_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "npc.schema.json"
    path.write_text(
        '{"name": "add_npc", "description": "d", "properties": '
        '{"role": {"type": "string", "description": "d", "type": "array"}, "role": {}}}'
    )
    with pytest.raises(SchemaFaultError) as raised:
        load_schema(path)
    places = [problem.path for problem in raised.value.problems]
    assert places[0] == "/properties/role"


def test_what_cannot_be_read_is_told_and_does_not_stop_the_rest(
    tmp_path: Path, document: Document, write_schema: Write
) -> None:
    (tmp_path / "folder.schema.json").mkdir()
    (tmp_path / "gone.schema.json").symlink_to(tmp_path / "nowhere")
    write_schema(tmp_path, "npc.schema.json", document("npc"))
    report = load_folder(tmp_path)
    assert [schema.node_type for schema in report.schemas] == ["npc"]
    assert [Path(f.file).name for f in report.faults] == [
        "folder.schema.json",
        "gone.schema.json",
    ]


def test_hidden_files_are_passed_over_and_other_json_files_are_noted(
    tmp_path: Path, document: Document, write_schema: Write
) -> None:
    write_schema(tmp_path, ".#npc.schema.json", {"broken": True})
    write_schema(tmp_path, "npc.json", document("npc"))
    (tmp_path / "readme.md").write_text("text")
    report = load_folder(tmp_path)
    assert (report.schemas, report.faults) == ((), ())
    assert [Path(note.file).name for note in report.notes] == ["npc.json"]


def test_a_missing_folder_is_a_fault_of_its_own(tmp_path: Path) -> None:
    [fault] = load_folder(tmp_path / "nowhere").faults
    assert fault.file == str(tmp_path / "nowhere")


@pytest.mark.covers("schemas.packs.named")
def test_a_pack_that_does_not_exist_is_refused_with_the_nearest() -> None:
    assert pack_names() == ("rpg", "software")
    with pytest.raises(InvalidParamError) as raised:
        load_pack("sofware")
    assert raised.value.problems[0].nearest == ("software",)


def test_the_schemas_of_a_pack_say_where_they_come_from() -> None:
    assert {schema.origin for schema in load_pack("rpg").schemas} == {"pack:rpg"}
