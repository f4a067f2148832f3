import json
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from schemory.errors import (
    ConflictError,
    SchemaFaultError,
    StoreReadonlyError,
    UnknownTypeError,
    UnsupportedError,
)
from schemory.model.jsonvalue import Json
from schemory.model.schema import NodeSchema
from schemory.schemas.catalog import (
    CatalogChange,
    FixedSource,
    FolderSource,
    PackSource,
    SchemaCatalog,
)

Document = Callable[..., dict[str, Json]]
Write = Callable[[Path, str, Json], Path]


@pytest.mark.covers("schemas.catalog.read")
def test_types_are_listed_sorted_whatever_their_source(
    tmp_path: Path, document: Document, write_schema: Write
) -> None:
    write_schema(tmp_path, "z.schema.json", document("apple"))
    write_schema(tmp_path, "a.schema.json", document("zebra"))
    data = {**document("wolf"), "version": 3, "required": ["name"]}
    write_schema(tmp_path, "wolf.schema.json", data)
    catalog = SchemaCatalog([FolderSource(tmp_path), PackSource("software")])
    assert catalog.types()[0] == "api"
    assert catalog.types() == tuple(sorted(catalog.types()))
    assert len(catalog.types()) == 13
    assert [schema.node_type for schema in catalog.schemas()] == list(catalog.types())
    zebra = catalog.get("zebra")
    assert zebra is not None
    assert zebra.origin == str(tmp_path / "a.schema.json")
    assert catalog.get("nothing") is None
    assert catalog.folders == (tmp_path,)
    assert [warning.problem.path for warning in catalog.warnings()] == ["/version"]
    assert [note.problem.path for note in catalog.notes()] == ["/required"]
    assert catalog.version == 0


@pytest.mark.covers("schemas.catalog.clash")
def test_a_type_in_two_sources_stays_with_the_first(
    tmp_path: Path, document: Document, write_schema: Write
) -> None:
    own = write_schema(tmp_path, "npc.schema.json", {**document("npc"), "description": "mine"})
    catalog = SchemaCatalog([FolderSource(tmp_path), PackSource("rpg")])
    npc = catalog.get("npc")
    assert npc is not None
    assert npc.description == "mine"
    [fault] = catalog.faults()
    assert fault.file == "pack:rpg"
    assert fault.problem.path == "/name"
    assert str(own) in fault.problem.message


def test_a_source_that_is_named_twice_is_read_once(
    tmp_path: Path, document: Document, write_schema: Write
) -> None:
    write_schema(tmp_path, "npc.schema.json", document("npc"))
    again = tmp_path / "x" / ".."
    (tmp_path / "x").mkdir()
    folders = [FolderSource(tmp_path), FolderSource(again)]
    catalog = SchemaCatalog([*folders, PackSource("rpg"), PackSource("rpg")])
    assert [fault.file for fault in catalog.faults()] == ["pack:rpg"]


def test_schemas_of_a_program_need_no_file(npc: NodeSchema) -> None:
    catalog = SchemaCatalog([FixedSource((npc,))])
    assert catalog.get("npc") is npc


def test_a_missing_folder_is_a_fault_unless_it_is_optional(tmp_path: Path) -> None:
    missing = tmp_path / "later"
    assert len(SchemaCatalog([FolderSource(missing)]).faults()) == 1
    assert SchemaCatalog([FolderSource(missing, is_optional=True)]).faults() == ()


@pytest.mark.covers("schemas.catalog.reload")
def test_a_reload_tells_what_was_added_changed_and_removed(
    tmp_path: Path, document: Document, write_schema: Write
) -> None:
    gone = write_schema(tmp_path, "gone.schema.json", document("gone"))
    write_schema(tmp_path, "kept.schema.json", document("kept"))
    catalog = SchemaCatalog([FolderSource(tmp_path)])
    heard: list[CatalogChange] = []
    unsubscribe = catalog.subscribe(heard.append)
    gone.unlink()
    write_schema(tmp_path, "new.schema.json", document("new"))
    write_schema(tmp_path, "kept.schema.json", {**document("kept"), "description": "other"})
    assert catalog.reload()
    assert heard == [CatalogChange(version=1, added=("new",), changed=("kept",), removed=("gone",))]
    assert catalog.version == 1
    unsubscribe()
    unsubscribe()
    write_schema(tmp_path, "more.schema.json", document("more"))
    assert catalog.reload()
    assert len(heard) == 1


@pytest.mark.covers("schemas.catalog.silent")
def test_a_save_that_changes_nothing_is_silent(
    tmp_path: Path, document: Document, write_schema: Write
) -> None:
    path = write_schema(tmp_path, "npc.schema.json", document("npc"))
    catalog = SchemaCatalog([FolderSource(tmp_path)])
    heard: list[CatalogChange] = []
    catalog.subscribe(heard.append)
    path.write_text(json.dumps(document("npc"), indent=4), encoding="utf-8")
    assert not catalog.reload()
    path.rename(tmp_path / "renamed.schema.json")
    assert not catalog.reload()
    assert heard == []
    assert catalog.version == 0
    npc = catalog.get("npc")
    assert npc is not None
    assert npc.origin.endswith("renamed.schema.json")


def test_a_new_order_of_properties_is_a_change(
    tmp_path: Path, document: Document, write_schema: Write
) -> None:
    text: Json = {"type": "string", "description": "d"}
    write_schema(tmp_path, "npc.schema.json", document("npc", a=text, b=text))
    catalog = SchemaCatalog([FolderSource(tmp_path)])
    write_schema(tmp_path, "npc.schema.json", document("npc", b=text, a=text))
    assert catalog.reload()


def test_faults_are_renewed_even_when_no_schema_changed(
    tmp_path: Path, document: Document, write_schema: Write
) -> None:
    write_schema(tmp_path, "npc.schema.json", document("npc"))
    catalog = SchemaCatalog([FolderSource(tmp_path)])
    bad = write_schema(tmp_path, "bad.schema.json", {"name": "bad"})
    assert not catalog.reload()
    assert {fault.file for fault in catalog.faults()} == {str(bad)}
    bad.unlink()
    assert not catalog.reload()
    assert catalog.faults() == ()


def test_a_failing_listener_does_not_keep_others_from_being_told(
    tmp_path: Path, document: Document, write_schema: Write
) -> None:
    catalog = SchemaCatalog([FolderSource(tmp_path)])
    heard: list[str] = []

    def fail(change: CatalogChange) -> None:
        raise RuntimeError(str(change.version))

    catalog.subscribe(lambda _change: heard.append("before"))
    catalog.subscribe(fail)
    catalog.subscribe(lambda _change: heard.append("after"))
    write_schema(tmp_path, "npc.schema.json", document("npc"))
    with pytest.raises(RuntimeError):
        catalog.reload()
    assert sorted(heard) == ["after", "before"]
    assert catalog.types() == ("npc",)


@pytest.mark.covers("schemas.define.writes")
def test_a_definition_is_written_as_a_file_that_loads_again(
    tmp_path: Path, document: Document
) -> None:
    folder = tmp_path / "new" / "schemas"
    catalog = SchemaCatalog([FolderSource(folder, is_optional=True), PackSource("rpg")])
    data = document("dragon", home={"type": "string", "description": "Höhle"})
    schema = catalog.define(data)
    file = folder / "dragon.schema.json"
    assert schema.origin == str(file)
    assert json.loads(file.read_text(encoding="utf-8")) == data
    assert "Höhle" in file.read_text(encoding="utf-8")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [path.name for path in folder.iterdir()] == ["dragon.schema.json"]
    assert catalog.get("dragon") == schema
    assert catalog.version == 1
    assert SchemaCatalog([FolderSource(folder)]).types() == ("dragon",)


@pytest.mark.covers("schemas.define.replaces")
def test_a_definition_replaces_the_file_that_holds_the_type(
    tmp_path: Path, document: Document, write_schema: Write
) -> None:
    file = write_schema(tmp_path, "oldName.schema.json", document("npc"))
    file.chmod(0o640)
    catalog = SchemaCatalog([FolderSource(tmp_path)])
    catalog.define({**document("npc"), "description": "new"})
    assert [path.name for path in tmp_path.iterdir()] == ["oldName.schema.json"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    npc = catalog.get("npc")
    assert npc is not None
    assert npc.description == "new"


def test_a_definition_that_is_there_already_is_silent(tmp_path: Path, document: Document) -> None:
    catalog = SchemaCatalog([FolderSource(tmp_path)])
    catalog.define(document("npc"))
    catalog.define(document("npc"))
    assert catalog.version == 1


@pytest.mark.covers("schemas.define.strict")
@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"name": "npc"}, "/name"),
        ({"description": ""}, "/description"),
        ({"description": "a <b>bold</b> word"}, "/description"),
        ({"version": 3}, "/version"),
    ],
)
def test_a_definition_is_refused_for_faults_and_warnings_alike(
    tmp_path: Path, document: Document, change: dict[str, Json], path: str
) -> None:
    catalog = SchemaCatalog([FolderSource(tmp_path)])
    with pytest.raises(SchemaFaultError) as raised:
        catalog.define({**document("npc"), **change})
    assert [problem.path for problem in raised.value.problems] == [path]
    assert raised.value.message.startswith(f"The schema at {path}: ")
    assert list(tmp_path.iterdir()) == []


def test_reserved_facets_and_root_lists_do_not_refuse_a_definition(
    tmp_path: Path, document: Document
) -> None:
    catalog = SchemaCatalog([FolderSource(tmp_path)])
    data = document("npc", home={"type": "string", "description": "d", "dated": True})
    assert catalog.define({**data, "required": ["home"]}).properties["home"].is_required


@pytest.mark.covers("schemas.define.pack")
def test_a_type_of_a_pack_can_be_neither_replaced_nor_removed(
    tmp_path: Path, document: Document
) -> None:
    catalog = SchemaCatalog([FolderSource(tmp_path), PackSource("rpg")])
    refusals: list[Callable[[], NodeSchema]] = [
        lambda: catalog.define(document("npc")),
        lambda: catalog.remove("npc"),
    ]
    for refused in refusals:
        with pytest.raises(ConflictError) as raised:
            refused()
        assert "pack:rpg" in raised.value.message
        assert "init --pack rpg" in raised.value.suggestions[0]
    assert catalog.version == 0
    assert list(tmp_path.iterdir()) == []


def test_a_type_of_another_folder_stays_with_it(
    tmp_path: Path, document: Document, write_schema: Write
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    file = write_schema(second, "npc.schema.json", document("npc"))
    catalog = SchemaCatalog([FolderSource(first), FolderSource(second)])
    with pytest.raises(ConflictError) as raised:
        catalog.remove("npc")
    assert str(file) in raised.value.suggestions[0]
    assert file.exists()


def test_a_definition_does_not_overwrite_a_file_of_another_type_or_a_broken_one(
    tmp_path: Path, document: Document, write_schema: Write
) -> None:
    write_schema(tmp_path, "npc.schema.json", document("monster"))
    (tmp_path / "item.schema.json").write_text("{")
    catalog = SchemaCatalog([FolderSource(tmp_path)])
    for node_type, said in (("npc", "monster"), ("item", "at fault")):
        with pytest.raises(ConflictError) as raised:
            catalog.define(document(node_type))
        assert said in raised.value.message
    assert (tmp_path / "item.schema.json").read_text() == "{"


def test_without_a_folder_nothing_can_be_defined(document: Document) -> None:
    catalog = SchemaCatalog([PackSource("rpg")])
    with pytest.raises(UnsupportedError) as raised:
        catalog.define(document("dragon"))
    assert "--schemas" in raised.value.suggestions[0]


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path, document: Document) -> None:
    (tmp_path / "file").write_text("")
    catalog = SchemaCatalog([FolderSource(tmp_path / "file" / "schemas", is_optional=True)])
    with pytest.raises(StoreReadonlyError):
        catalog.define(document("npc"))


@pytest.mark.covers("schemas.remove")
def test_removing_a_type_deletes_its_file_and_tells(
    tmp_path: Path, document: Document, write_schema: Write
) -> None:
    write_schema(tmp_path, "a.schema.json", document("npc"))
    write_schema(tmp_path, "b.schema.json", document("place"))
    catalog = SchemaCatalog([FolderSource(tmp_path)])
    heard: list[CatalogChange] = []
    catalog.subscribe(heard.append)
    assert catalog.remove("npc").node_type == "npc"
    assert [path.name for path in tmp_path.iterdir()] == ["b.schema.json"]
    assert heard[0].removed == ("npc",)
    assert catalog.types() == ("place",)


@pytest.mark.covers("schemas.remove")
def test_removing_an_unknown_type_names_the_nearest(tmp_path: Path, document: Document) -> None:
    catalog = SchemaCatalog([FolderSource(tmp_path)])
    catalog.define(document("character"))
    with pytest.raises(UnknownTypeError) as raised:
        catalog.remove("charcter")
    assert raised.value.suggestions == ("use character",)


def test_readers_see_whole_snapshots_while_another_thread_reloads(
    tmp_path: Path, document: Document, write_schema: Write
) -> None:
    pairs = [("a", "b"), ("c", "d")]
    for name in pairs[0]:
        write_schema(tmp_path, f"{name}.schema.json", document(name))
    catalog = SchemaCatalog([FolderSource(tmp_path)])
    seen: set[tuple[str, ...]] = set()
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            seen.add(catalog.types())

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(20):
        for path in tmp_path.iterdir():
            path.unlink()
        pairs.reverse()
        for name in pairs[0]:
            write_schema(tmp_path, f"{name}.schema.json", document(name))
        catalog.reload()
    stop.set()
    reader.join()
    assert seen <= {("a", "b"), ("c", "d")}
