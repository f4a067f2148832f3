import json
from pathlib import Path

import pytest

from schemory.errors import InvalidParamError
from schemory.schemas.load import load_folder, pack_files
from schemory.schemas.parse import parse_schema
from schemory.schemas.starter import copy_pack, new_schema_text


@pytest.mark.covers("schemas.starter.new")
@pytest.mark.parametrize("node_type", ["book", "player_character", "a" * 41])
def test_a_new_schema_loads_as_it_is_without_a_warning(node_type: str) -> None:
    parsed = parse_schema(json.loads(new_schema_text(node_type, "A thing to read")))
    assert parsed.faults == parsed.warnings == parsed.notes == ()
    assert parsed.schema is not None
    assert (parsed.schema.node_type, parsed.schema.description) == (node_type, "A thing to read")


@pytest.mark.parametrize(
    ("node_type", "nearest"), [("Book", ("book",)), ("add_book", ()), ("node", ()), ("", ())]
)
def test_a_type_that_cannot_name_tools_is_refused(node_type: str, nearest: tuple[str, ...]) -> None:
    if node_type == "add_book":
        assert '"add_add_book"' in new_schema_text(node_type)
        return
    with pytest.raises(InvalidParamError) as raised:
        new_schema_text(node_type)
    assert raised.value.problems[0].nearest == nearest


@pytest.mark.covers("schemas.starter.pack")
def test_a_copied_pack_can_be_edited_and_edits_are_kept(tmp_path: Path) -> None:
    names = [file.name for file in pack_files("rpg")]
    first = copy_pack("rpg", tmp_path / "own")
    assert [path.name for path in first.written] == names
    assert len(load_folder(tmp_path / "own").schemas) == 11
    edited = tmp_path / "own" / "npc.schema.json"
    edited.write_text("edited")
    (tmp_path / "own" / "quest.schema.json").unlink()
    again = copy_pack("rpg", tmp_path / "own")
    assert [path.name for path in again.written] == ["quest.schema.json"]
    assert again.kept == (edited,)
    assert len(again.unchanged) == 9
    assert edited.read_text() == "edited"
    forced = copy_pack("rpg", tmp_path / "own", overwrite=True)
    assert forced.written == (edited,)
    assert load_folder(tmp_path / "own").faults == ()


def test_a_pack_that_does_not_exist_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(InvalidParamError):
        copy_pack("nothing", tmp_path / "own")
    assert not (tmp_path / "own").exists()
