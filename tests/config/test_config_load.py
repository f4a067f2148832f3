"""Settings: precedence, the store choice, and complaints that say what is allowed."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from schemory.config import KEYS, Settings, load_settings, mask_url, wants_colour
from schemory.config.settings import Raw
from schemory.errors import ConfigError


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def load(
    home: Path, flags: Mapping[str, Raw] | None = None, environ: Mapping[str, str] | None = None
) -> Settings:
    return load_settings(flags or {}, environ=environ or {}, cwd=home.parent, home=home)


def complaint(home: Path, flags: Mapping[str, Raw], environ: Mapping[str, str]) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load(home, flags, environ)
    return caught.value


def write_config(folder: Path, data: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "memory.config.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    return file


@pytest.mark.covers("config.defaults")
def test_without_any_word_the_defaults_hold(home: Path) -> None:
    settings = load(home)
    assert settings.database == str(home / ".mcp-servers" / "memory" / "memory.sqlite")
    assert settings.graph_file is None
    assert settings.store_source == "default"
    assert (settings.space, settings.space_source) == ("default", "default")
    assert settings.schema_folders == (str(home / ".mcp-servers" / "memory" / "schemas"),)
    assert not settings.schemas_named
    assert settings.packs == ()
    assert settings.toolsets == ("graph", "memory")
    assert settings.tools == "full"
    assert settings.response_budget == 60_000
    assert settings.memory["MEMORY_MAX_ENTRY_BYTES"] == 200_000
    assert settings.memory["MEMORY_AUDIT_LOG"] is True
    assert settings.warnings == ()


@pytest.mark.covers("config.precedence")
def test_flags_beat_the_environment_which_beats_the_file_which_beats_defaults(home: Path) -> None:
    write_config(home / ".mcp-servers" / "memory", {"MEMORY_TOOLS": "auto", "MEMORY_DEBUG": True})
    environ = {"MEMORY_TOOLS": "compact"}
    assert load(home).tools == "auto"
    assert load(home).debug is True
    assert load(home, {}, environ).tools == "compact"
    assert load(home, {"MEMORY_TOOLS": "full"}, environ).tools == "full"


@pytest.mark.covers("config.file")
def test_a_named_config_file_replaces_the_one_beside_the_database(home: Path) -> None:
    write_config(home / ".mcp-servers" / "memory", {"MEMORY_TOOLS": "auto"})
    other = write_config(home.parent / "elsewhere", {"MEMORY_TOOLS": "compact"})
    settings = load(home, {}, {"MEMORY_CONFIG": str(other)})
    assert settings.tools == "compact"
    assert settings.config_file == str(other)


@pytest.mark.covers("config.file")
def test_the_config_file_lies_beside_the_database_that_was_chosen(home: Path) -> None:
    folder = home.parent / "data"
    write_config(folder, {"MEMORY_PACKS": ["rpg", "software"]})
    assert load(home, {"MEMORY_DB_PATH": "data/own.sqlite"}).packs == ("rpg", "software")


@pytest.mark.covers("config.file")
@pytest.mark.parametrize(
    ("content", "word"),
    [("{", "no JSON"), ("[]", "one JSON object"), ('{"MEMORY_TOOLS": {}}', "must be a text")],
)
def test_a_broken_config_file_is_named_with_its_fault(home: Path, content: str, word: str) -> None:
    file = home.parent / "c.json"
    file.write_text(content, encoding="utf-8")
    error = complaint(home, {}, {"MEMORY_CONFIG": str(file)})
    assert str(file) in error.message
    assert word in error.message


def test_a_config_file_that_is_not_there_is_an_error(home: Path) -> None:
    error = complaint(home, {}, {"MEMORY_CONFIG": "nowhere.json"})
    assert "cannot be read" in error.message


@pytest.mark.covers("config.store_choice")
def test_the_store_is_chosen_by_flag_then_file_then_file_path_then_database(home: Path) -> None:
    environ = {
        "MEMORY_FILE": "a.jsonl",
        "MEMORY_FILE_PATH": "b.jsonl",
        "MEMORY_DB_PATH": "c.sqlite",
    }
    cwd = home.parent
    by_flag = load(home, {"MEMORY_DB_PATH": "d.sqlite"}, environ)
    assert (by_flag.graph_file, by_flag.database) == (None, str(cwd / "d.sqlite"))
    assert by_flag.store_source == "--db"
    by_file_flag = load(home, {"MEMORY_FILE": "e.jsonl"}, environ)
    assert (by_file_flag.graph_file, by_file_flag.store_source) == (
        str(cwd / "e.jsonl"),
        "--graph-file",
    )
    assert load(home, {}, environ).graph_file == str(cwd / "a.jsonl")
    del environ["MEMORY_FILE"]
    assert load(home, {}, environ).graph_file == str(cwd / "b.jsonl")
    del environ["MEMORY_FILE_PATH"]
    last = load(home, {}, environ)
    assert (last.graph_file, last.database) == (None, str(cwd / "c.sqlite"))
    assert last.store_source == "MEMORY_DB_PATH"


@pytest.mark.covers("config.store_choice")
def test_two_store_flags_at_once_are_refused(home: Path) -> None:
    error = complaint(home, {"MEMORY_DB_PATH": "a.sqlite", "MEMORY_FILE": "b.jsonl"}, {})
    assert "exclude each other" in error.message


@pytest.mark.covers("config.paths")
def test_relative_paths_start_at_the_working_folder_and_a_tilde_is_home(home: Path) -> None:
    assert load(home, {}, {"MEMORY_DB_PATH": "x/../y.db"}).database == str(home.parent / "y.db")
    assert load(home, {}, {"MEMORY_DB_PATH": "~/y.db"}).database == str(home / "y.db")
    assert load(home, {}, {"MEMORY_FILE": "~/g.jsonl"}).graph_file == str(home / "g.jsonl")


@pytest.mark.covers("config.bad_value")
def test_every_bad_value_is_named_with_what_is_allowed(home: Path) -> None:
    error = complaint(
        home,
        {"MEMORY_TOOLS": "small"},
        {
            "MEMORY_RESPONSE_BUDGET": "lots",
            "MEMORY_STRICT_TYPES": "perhaps",
            "MEMORY_MAX_TAGS": "0",
        },
    )
    told = {problem.path: problem.message for problem in error.problems}
    assert "--tools is 'small'; allowed: one of full, compact, auto" in told["--tools"]
    assert "'lots'" in told["MEMORY_RESPONSE_BUDGET"]
    assert "whole number from 0" in told["MEMORY_RESPONSE_BUDGET"]
    assert "'perhaps'" in told["MEMORY_STRICT_TYPES"]
    assert "whole number from 1" in told["MEMORY_MAX_TAGS"]
    assert "4 settings" in error.message


@pytest.mark.covers("config.bad_value")
def test_the_password_of_a_url_is_masked_in_complaints(home: Path) -> None:
    error = complaint(home, {}, {"MEMORY_DB_PATH": "mysql://app:hunter2@db/x"})
    assert "hunter2" not in error.message
    assert "mysql://app:***@db/x" in error.message


def test_a_postgresql_url_is_taken_and_shown_without_its_password(home: Path) -> None:
    settings = load(home, {}, {"MEMORY_DB_PATH": "postgresql://app:p%40ss@db/x"})
    assert settings.database == "postgresql://app:p%40ss@db/x"
    assert settings.store_location == "postgresql://app:***@db/x"


@pytest.mark.covers("config.project")
def test_a_project_is_named_by_its_folder_or_by_its_id(home: Path) -> None:
    folder = home.parent / "api"
    folder.mkdir()
    by_path = load(home, {"MEMORY_PROJECT": "./api"})
    assert by_path.space.startswith("pathhash:")
    assert by_path.project is not None
    assert by_path.project.canonical_path == str(folder)
    assert load(home, {"MEMORY_PROJECT": "api"}).space == by_path.space
    assert load(home, {"MEMORY_PROJECT": "acme"}).space == "acme"
    assert load(home, {"MEMORY_PROJECT": "git:host/a/b"}).space == "git:host/a/b"
    environ = {"MEMORY_PROJECT_ID": "acme"}
    assert load(home, {}, environ).space == "acme"
    assert load(home, {"MEMORY_PROJECT": "./api"}, environ).space == by_path.space


@pytest.mark.covers("config.project")
def test_a_repository_is_a_project_by_its_remote_and_its_env_may_name_it(home: Path) -> None:
    folder = home.parent / "repo"
    for part in ("objects", "refs"):
        (folder / ".git" / part).mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    config = '[remote "origin"]\n\turl = https://user:tok@example.org/org/api.git\n'
    (folder / ".git" / "config").write_text(config)
    (folder / "src").mkdir()
    assert load(home, {"MEMORY_PROJECT": "repo/src"}).space == "git:example.org/org/api"
    (folder / ".env").write_text("MEMORY_PROJECT_ID=own\n")
    assert load(home, {"MEMORY_PROJECT": "repo"}).space == "own"


@pytest.mark.covers("config.project")
@pytest.mark.parametrize("text", ["./nowhere", "bad\x07id", "x" * 201])
def test_a_project_that_cannot_be_is_an_error(home: Path, text: str) -> None:
    error = complaint(home, {"MEMORY_PROJECT": text}, {})
    assert error.problems[0].path == "--project"


@pytest.mark.covers("config.unknown_key")
def test_unknown_memory_keys_are_warnings_with_the_nearest_name(home: Path) -> None:
    settings = load(home, {}, {"MEMORY_TOLS": "full", "MEMORYX": "1", "PATH": "/bin"})
    assert settings.warnings == (
        "MEMORY_TOLS (environment) is no setting; did you mean MEMORY_TOOLS?",
    )


@pytest.mark.covers("config.twins")
def test_every_serve_flag_has_an_environment_twin(home: Path) -> None:
    (home / "s").mkdir()
    settings = load(
        home,
        {},
        {
            "MEMORY_DB_PATH": "m.db",
            "MEMORY_TOOLSET": "graph,graph_query",
            "MEMORY_PACKS": "rpg, software",
            "MEMORY_SCHEMAS": str(home / "s"),
            "MEMORY_PROJECT_ID": "acme",
            "MEMORY_TOOLS": "auto",
            "MEMORY_STRICT_TYPES": "yes",
            "MEMORY_MANAGE_SCHEMAS": "on",
            "MEMORY_ALLOW_CROSS_PROJECT": "TRUE",
            "MEMORY_RESPONSE_BUDGET": "0",
        },
    )
    assert settings.toolsets == ("graph", "graph_query", "admin")
    assert settings.packs == ("rpg", "software")
    assert settings.schema_folders == (str(home / "s"),)
    assert (settings.space, settings.space_source) == ("acme", "MEMORY_PROJECT_ID")
    assert settings.tools == "auto"
    assert settings.strict_types
    assert settings.manage_schemas
    assert settings.allow_cross_project
    assert settings.response_budget == 0


@pytest.mark.covers("config.schemas_default")
def test_a_named_schema_folder_replaces_the_users_own(home: Path) -> None:
    (home / "other").mkdir()
    settings = load(home, {"MEMORY_SCHEMAS": (str(home / "other"),)})
    assert settings.schema_folders == (str(home / "other"),)
    assert settings.schemas_named


@pytest.mark.covers("config.schemas_default")
def test_a_schema_folder_that_is_not_there_is_an_error(home: Path) -> None:
    error = complaint(home, {"MEMORY_SCHEMAS": ("nowhere",)}, {})
    assert "--schemas" in error.message
    assert "no folder" in error.message


def test_several_folders_in_one_text_are_split_and_flags_are_not(home: Path) -> None:
    for name in ("a", "b", f"c{os.pathsep}d"):
        (home.parent / name).mkdir()
    settings = load(home, {}, {"MEMORY_SCHEMAS": f"a{os.pathsep}b"})
    assert [Path(folder).name for folder in settings.schema_folders] == ["a", "b"]
    odd = load(home, {"MEMORY_SCHEMAS": (f"c{os.pathsep}d",)})
    assert [Path(folder).name for folder in odd.schema_folders] == [f"c{os.pathsep}d"]


def test_an_empty_value_counts_as_not_set(home: Path) -> None:
    environ = {"MEMORY_TOOLS": "", "MEMORY_FILE": "", "MEMORY_PROJECT_ID": ""}
    assert load(home, {}, environ) == load(home)


def test_setting_names_and_flags_are_unique() -> None:
    names = [key.name for key in KEYS]
    flags = [key.flag for key in KEYS if key.flag]
    assert len(set(names)) == len(names)
    assert len(set(flags)) == len(flags)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("postgresql://u:a@b@h/d", "postgresql://u:***@h/d"),
        ("postgresql://u@h/d", "postgresql://u@h/d"),
        ("/home/me/a:b@c.sqlite", "/home/me/a:b@c.sqlite"),
        ("postgres://h/d?password=x&y=1", "postgres://h/d?password=***&y=1"),
    ],
)
def test_only_passwords_are_masked(text: str, masked: str) -> None:
    assert mask_url(text) == masked


def test_no_color_and_dumb_terminals_switch_colour_off() -> None:
    assert wants_colour({})
    assert not wants_colour({"NO_COLOR": "1"})
    assert not wants_colour({"TERM": "dumb"})


@pytest.mark.skipif(os.name != "posix", reason="HOME is how POSIX names the home folder")
@pytest.mark.covers("config.home")
def test_a_home_that_is_no_absolute_path_does_not_move_the_store(home: Path) -> None:
    import pwd  # noqa: PLC0415 (POSIX only)

    own = Path(pwd.getpwuid(os.getuid()).pw_dir)
    place = Path(".mcp-servers") / "memory" / "memory.sqlite"
    for stated in ({}, {"HOME": ""}, {"HOME": "elsewhere"}):
        settings = load_settings({}, environ=stated, cwd=home)
        assert settings.database == str(own / place)
    settings = load_settings({}, environ={"HOME": str(home)}, cwd=home.parent)
    assert settings.database == str(home / place)


@pytest.mark.covers("config.bad_value")
def test_a_pack_that_does_not_exist_is_a_wrong_setting(home: Path) -> None:
    error = complaint(home, {"MEMORY_PACKS": ("rpgg",)}, {})
    assert error.message == "--pack is 'rpgg'; allowed: one of rpg, software"
    assert error.problems[0].nearest == ("rpg",)


@pytest.mark.covers("config.unfilled")
@pytest.mark.parametrize("text", ["${env:DB}", "${DB}", "${DB:-x}", "{env:DB}", " ${DB} "])
def test_a_reference_that_a_client_did_not_fill_in_is_no_path(home: Path, text: str) -> None:
    with pytest.raises(ConfigError) as fault:
        load_settings({}, environ={"MEMORY_DB_PATH": text}, cwd=home, home=home)
    assert "which the client has not filled in" in fault.value.message
    assert list(home.iterdir()) == []


@pytest.mark.covers("config.unfilled")
@pytest.mark.parametrize("text", ["a$b.sqlite", "{x}/a.sqlite", "${x}y.sqlite"])
def test_odd_paths_are_still_paths(home: Path, text: str) -> None:
    settings = load_settings({}, environ={"MEMORY_DB_PATH": text}, cwd=home, home=home)
    assert settings.database == str(home / text)
