"""Schemas on the command line: check, list, show, new, pack, and `init`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def write(folder: Path, name: str, data: object) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / f"{name}.schema.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    return file


BOOK = {
    "name": "add_book",
    "description": "A book on the shelf",
    "properties": {"name": {"type": "string", "description": "Title", "required": True}},
}


@pytest.mark.covers("cli.schema.check")
def test_check_exits_1_on_a_fault_and_says_where(cli: Callable[..., Any], home: Path) -> None:
    write(home / "s", "book", BOOK)
    assert cli("schema", "check", "s").code == 0
    bad = write(home / "s", "bad", {"name": "bad", "properties": {}})
    checked = cli("schema", "check", "s", "--json")
    assert checked.code == 1
    assert checked.data["types"] == ["book"]
    assert {fault["file"] for fault in checked.data["faults"]} == {str(Path("s") / bad.name)}
    plain = cli("schema", "check", str(bad))
    assert plain.code == 1
    assert "add_" in plain.out


@pytest.mark.covers("cli.schema.check")
def test_check_without_a_path_looks_at_the_schemas_in_use(
    cli: Callable[..., Any], home: Path
) -> None:
    assert cli("schema", "check", "--pack", "rpg").code == 0
    write(home / "s", "bad", {"name": "bad"})
    assert cli("schema", "check", "--schemas", "s").code == 1


@pytest.mark.covers("cli.schema.list")
def test_list_names_types_with_their_origin(cli: Callable[..., Any], home: Path) -> None:
    file = write(home / "s", "book", BOOK)
    line = cli("schema", "list", "--schemas", "s").out
    assert line == f"book\t1\tA book on the shelf\t{file}\n"
    assert cli("schema", "list").out == ""


@pytest.mark.covers("cli.schema.show")
def test_show_prints_properties_values_and_edges(cli: Callable[..., Any]) -> None:
    lines = cli("schema", "show", "npc", "--pack", "rpg").out.splitlines()
    assert lines[0].startswith("npc  ")
    assert "name *\tstring\t\t" in lines
    assert "currentLocation\tstring\t\t-> located_in location" in lines
    assert any(line.startswith("status *\tstring\tActive | ") for line in lines)
    assert "traits\tstring[]\t\t" in lines
    document = cli("schema", "show", "npc", "--pack", "rpg", "--json").data
    assert document["name"] == "add_npc"


@pytest.mark.covers("cli.schema.new")
def test_new_writes_a_schema_that_loads_without_a_warning(
    cli: Callable[..., Any], home: Path
) -> None:
    made = cli(
        *("schema", "new", "book", "--to", "s", "--description", "A book"),
        *("--property", "pages:integer", "--property", "state!=read,unread"),
        *("--relation", "author=written_by:person"),
    )
    assert made.code == 0
    assert made.out.strip() == str(home / "s" / "book.schema.json")
    checked = cli("schema", "check", "s", "--json").data
    assert (checked["types"], checked["faults"], checked["warnings"]) == (["book"], [], [])
    shown = cli("schema", "show", "book", "--schemas", "s", "--json").data["properties"]
    assert shown["pages"]["type"] == "integer"
    assert shown["state"]["enum"] == ["read", "unread"]
    assert shown["state"]["required"] is True
    assert shown["author"]["relationship"] == {"edgeType": "written_by", "nodeType": "person"}


@pytest.mark.covers("cli.schema.new")
def test_new_without_properties_starts_from_an_example(cli: Callable[..., Any]) -> None:
    document = json.loads(cli("schema", "new", "note", "--print").out)
    assert document["name"] == "add_note"
    assert "name" in document["properties"]


@pytest.mark.covers("cli.schema.new")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["Book"], 1),
        (["book", "--property", "state:colour"], 1),
        (["book", "--property", "!"], 2),
        (["book", "--relation", "author"], 2),
    ],
)
def test_new_refuses_what_no_schema_can_say(
    cli: Callable[..., Any], home: Path, arguments: list[str], code: int
) -> None:
    assert cli("schema", "new", *arguments, "--to", "s").code == code
    assert list((home / "s").glob("*")) == []


@pytest.mark.covers("cli.schema.new.kept")
def test_new_leaves_a_type_that_is_defined_already_unless_forced(
    cli: Callable[..., Any], home: Path
) -> None:
    file = write(home / "s", "my-books", BOOK)
    mine = file.read_text(encoding="utf-8")
    for where in (["--to", "s"], ["--schemas", "s"]):
        refused = cli("schema", "new", "book", *where)
        assert refused.code == 1
        assert str(file) in refused.err
        assert "--force" in refused.err
    assert file.read_text(encoding="utf-8") == mine
    assert cli("schema", "new", "book", "--to", "s", "--force").code == 0
    assert file.read_text(encoding="utf-8") != mine
    assert [each.name for each in (home / "s").iterdir()] == [file.name]


@pytest.mark.covers("cli.schema.pack")
def test_pack_lists_and_copies(cli: Callable[..., Any], home: Path) -> None:
    packs = cli("schema", "pack", "--json").data["packs"]
    assert set(packs) == {"rpg", "software"}
    assert len(packs["rpg"]) == 11
    assert cli("schema", "pack", "rpg", "s").code == 0
    assert len(list((home / "s").glob("*.schema.json"))) == 11


@pytest.mark.covers("cli.init")
def test_init_copies_a_pack_keeps_what_was_edited_and_tells_the_client(
    cli: Callable[..., Any], home: Path
) -> None:
    first = cli("init", "s", "--pack", "rpg", "--json")
    assert first.code == 0
    assert len(first.data["written"]) == 11
    server = first.data["client"]["mcpServers"]["schemory"]
    assert Path(server["command"]).is_absolute()
    assert server["args"] == ["-P", "-m", "schemory", "serve", "--schemas", str(home / "s")]
    again = cli("init", "s", "--pack", "rpg", "--json").data
    assert (again["written"], len(again["unchanged"])) == ([], 11)
    edited = home / "s" / "npc.schema.json"
    edited.write_text(json.dumps({**BOOK, "name": "add_npc"}), encoding="utf-8")
    kept = cli("init", "s", "--pack", "rpg", "--json")
    assert (kept.code, kept.data["kept"]) == (1, ["npc.schema.json"])
    assert cli("init", "s", "--pack", "rpg", "--force").code == 0
    assert "add_npc" in edited.read_text(encoding="utf-8")


@pytest.mark.covers("cli.init")
def test_init_without_a_folder_makes_the_users_own_which_is_then_used(
    cli: Callable[..., Any], home: Path
) -> None:
    assert cli("init", "--pack", "software").code == 0
    assert (home / ".mcp-servers" / "memory" / "schemas" / "service.schema.json").is_file()
    assert "service" in cli("schema", "list").out


@pytest.mark.covers("cli.status")
def test_status_tells_where_everything_is_and_what_is_wrong(
    cli: Callable[..., Any], home: Path
) -> None:
    write(home / "s", "bad", {"name": "bad"})
    arguments = ("status", "--schemas", "s", "--pack", "rpg", "--db", "a.sqlite")
    facts = cli(*arguments, "--json").data
    assert facts["store"]["location"] == str(home / "a.sqlite")
    assert facts["store"]["chosenBy"] == "--db"
    assert facts["project"] == {"id": "default", "chosenBy": "default", "isShared": True}
    assert (facts["graph"]["nodes"], facts["graph"]["edges"]) == (0, 0)
    assert "npc" in facts["schemas"]["types"]
    assert len(facts["schemas"]["faults"]) >= 1
    assert facts["tools"]["count"] > 33
    plain = cli(*arguments).out
    assert "empty" in plain
    assert "shared by everything" in plain
    assert "bad.schema.json" in plain
