"""A project's `.env` names the project and tightens limits; nothing else in it counts."""

import os
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.identity.dotenv import parse_project_env, read_project_env, tighter_limits


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("MEMORY_PROJECT_ID=team/app", "team/app"),
        ("export MEMORY_PROJECT_ID=team/app", "team/app"),
        ("  MEMORY_PROJECT_ID = team/app  ", "team/app"),
        ("MEMORY_PROJECT_ID=team/app # ours", "team/app"),
        ("MEMORY_PROJECT_ID=team#1", "team#1"),
        ("MEMORY_PROJECT_ID='team app # x'", "team app # x"),
        ('MEMORY_PROJECT_ID="team \\"app\\"" # x', 'team "app"'),
        ("MEMORY_PROJECT_ID=$HOME/${USER}", "$HOME/${USER}"),
        ("MEMORY_PROJECT_ID=$(whoami)", "$(whoami)"),
        ("MEMORY_PROJECT_ID=a\nMEMORY_PROJECT_ID=b", "b"),
        ("\ufeffMEMORY_PROJECT_ID=x".removeprefix("\ufeff"), "x"),
    ],
)
@pytest.mark.covers("identity.env.read")
def test_values_are_plain_text(line: str, value: str) -> None:
    env = parse_project_env(f"# comment\nDB_PASSWORD=x\n{line}\n")
    assert env.values == {"MEMORY_PROJECT_ID": value}
    assert env.warnings == ()


@pytest.mark.parametrize(
    "line", ["MEMORY_PROJECT_ID=", "#MEMORY_PROJECT_ID=x", "MEMORY_PROJECT_ID"]
)
def test_an_empty_or_commented_key_is_not_given(line: str) -> None:
    assert parse_project_env(line).values == {}


@pytest.mark.parametrize(
    "key",
    [
        "MEMORY_DB_PATH",
        "MEMORY_ALLOWED_ROOTS",
        "MEMORY_AUDIT_LOG",
        "MEMORY_CONFIG",
        "MEMORY_AUDIT_JSONL",
    ],
)
@pytest.mark.covers("identity.env.domain")
def test_what_belongs_to_the_server_is_not_taken_from_a_projects_env(key: str) -> None:
    env = parse_project_env(f"{key}=/evil/value\nMEMORY_SCOPE_DEFAULT=backend")
    assert env.values == {"MEMORY_SCOPE_DEFAULT": "backend"}
    assert key in env.warnings[0]
    assert "/evil/value" not in "".join(env.warnings)


@pytest.mark.covers("identity.env.domain")
def test_a_broken_value_is_ignored_with_a_warning_that_does_not_repeat_it() -> None:
    env = parse_project_env("MEMORY_PROJECT_ID='open\nMEMORY_SCOPE_DEFAULT=x")
    assert env.values == {"MEMORY_SCOPE_DEFAULT": "x"}
    assert "line 1" in env.warnings[0]
    assert "open\n" not in env.warnings[0]


@pytest.mark.covers("identity.env.limits")
def test_limits_can_only_be_made_tighter() -> None:
    current = {
        "MEMORY_MAX_TAGS": 20,
        "MEMORY_MAX_ENTRY_BYTES": 200_000,
        "MEMORY_MAX_TITLE_CHARS": 200,
    }
    wanted = {
        "MEMORY_MAX_TAGS": "5",
        "MEMORY_MAX_ENTRY_BYTES": "900000",
        "MEMORY_MAX_TITLE_CHARS": "many",
        "MEMORY_MAX_TOPIC_CHARS": "3",
    }
    limits, warnings = tighter_limits(wanted, current)
    assert limits == {**current, "MEMORY_MAX_TAGS": 5}
    assert len(warnings) == 2
    assert tighter_limits({"MEMORY_MAX_TAGS": "0"}, current)[0] == current
    assert tighter_limits({"MEMORY_MAX_TAGS": "20"}, current) == (current, ())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_every_encoding_that_windows_shells_write_is_read(tmp_path: Path, encoding: str) -> None:
    (tmp_path / ".env").write_text("MEMORY_PROJECT_ID=caffè\r\n", encoding=encoding)
    assert read_project_env(tmp_path).values == {"MEMORY_PROJECT_ID": "caffè"}


def test_a_missing_file_says_nothing(tmp_path: Path) -> None:
    assert read_project_env(tmp_path).values == {}
    assert read_project_env(tmp_path).warnings == ()


@pytest.mark.covers("identity.env.untrusted")
def test_what_is_no_small_text_file_is_ignored_with_a_warning(tmp_path: Path) -> None:
    env = tmp_path / ".env"
    env.write_bytes(b"\xff\xfe\xff")
    assert "no UTF-8 text" in read_project_env(tmp_path).warnings[0]
    env.write_bytes(b"#" * 300_000)
    assert "larger" in read_project_env(tmp_path).warnings[0]
    env.unlink()
    env.mkdir()
    assert read_project_env(tmp_path).values == {}
    assert read_project_env(tmp_path).warnings


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes are files here only")
@pytest.mark.covers("identity.env.untrusted")
def test_a_pipe_in_its_place_does_not_hold_the_server(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".env")
    warnings: list[str] = []
    reader = threading.Thread(target=lambda: warnings.extend(read_project_env(tmp_path).warnings))
    reader.daemon = True
    reader.start()
    reader.join(timeout=10)
    assert warnings
    assert "no regular file" in warnings[0]


@given(st.text() | st.text("MEMORY_PROJECT_ID='\"\\#= \n"))
def test_any_text_can_be_an_env_file(text: str) -> None:
    assert set(parse_project_env(text).values) <= {"MEMORY_PROJECT_ID"}
