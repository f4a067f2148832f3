"""The operator skill: well formed, shipped, and its cases replayed on a real store."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

import schemory
from schemory.app import App, open_app
from schemory.config import load_settings
from schemory.setup.skill import SKILL, SKILL_TARGETS, skill_files
from schemory.tools.registry import Caller

FOLDER = Path(schemory.__file__).parent / "skills" / SKILL
CASES = sorted((FOLDER / "evals").glob("*.json"))
CALLER = Caller(author="skill", client="test")


def _front_matter() -> dict[str, str]:
    head = skill_files()[PurePosixPath("SKILL.md")].decode().split("---\n")[1]
    lines = (line.partition(": ") for line in head.splitlines() if not line.startswith(" "))
    return {key.rstrip(":"): value for key, _, value in lines}


@pytest.mark.covers("setup.skill.format")
def test_the_skill_has_the_front_matter_that_hosts_ask_for() -> None:
    facts = _front_matter()
    assert facts["name"] == SKILL == FOLDER.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", facts["name"])
    assert len(facts["name"]) <= 64
    assert 1 <= len(facts["description"]) <= 1024
    assert ": " not in facts["description"]  # a colon would make it another YAML value
    assert "<" not in facts["description"]
    body = skill_files()[PurePosixPath("SKILL.md")].decode()
    assert len(body.splitlines()) < 150  # it is loaded as a whole


@pytest.mark.covers("setup.skill.format")
def test_every_page_that_the_skill_names_is_shipped_and_every_shipped_page_is_named() -> None:
    files = skill_files()
    assert next(iter(files)) == PurePosixPath("SKILL.md")
    text = files[PurePosixPath("SKILL.md")].decode()
    linked = {PurePosixPath(each) for each in re.findall(r"\]\(([^)]+\.md)\)", text)}
    assert linked == set(files) - {PurePosixPath("SKILL.md")}
    for path, data in files.items():
        for link in re.findall(r"\]\(([^)]+\.md)\)", data.decode()):
            assert path.parent / link in files


@pytest.mark.covers("setup.skill.targets")
def test_each_host_gets_the_skill_where_it_looks(tmp_path: Path) -> None:
    claude = SKILL_TARGETS["claude-code"]
    assert claude.project_folder(tmp_path) == tmp_path / ".claude/skills/memory-operator"
    assert claude.user_folder(tmp_path, {}) == tmp_path / ".claude/skills/memory-operator"
    elsewhere = {"CLAUDE_CONFIG_DIR": str(tmp_path / "conf")}
    assert claude.user_folder(tmp_path, elsewhere) == tmp_path / "conf/skills/memory-operator"
    codex = SKILL_TARGETS["codex"]
    assert codex.project_folder(tmp_path) == tmp_path / ".agents/skills/memory-operator"
    assert codex.user_folder(tmp_path, elsewhere) == tmp_path / ".agents/skills/memory-operator"


@pytest.mark.covers("setup.skill.evals")
def test_the_cases_are_named_and_point_to_pages_of_the_skill() -> None:
    assert len(CASES) >= 15
    shipped = {str(path) for path in skill_files()}
    taught = set()
    for file in CASES:
        case = json.loads(file.read_text(encoding="utf-8"))
        assert case["id"] == file.stem
        assert case["situation"]
        assert case["why"]
        assert case["reference"] in shipped
        taught.add(case["reference"])
    assert taught == shipped


@pytest.mark.covers("setup.skill.place")
def test_the_skill_is_placed_once_kept_and_removed_without_a_trace(
    tmp_path: Path, run_cli: Callable[..., tuple[int, str]]
) -> None:
    folder = tmp_path / ".claude" / "skills" / SKILL
    code, printed = run_cli(tmp_path, "skill", "--client", "claude-code", "--dry-run")
    assert (code, printed) == (0, f"would be written: {folder}\n")
    assert list(tmp_path.iterdir()) == []
    assert run_cli(tmp_path, "skill", "--client", "claude-code")[0] == 0
    placed = {path: (folder / path).read_bytes() for path in skill_files()}
    assert placed == skill_files()
    again = run_cli(tmp_path, "skill", "--client", "claude-code")
    assert again == (0, f"there already: {folder}\n")

    (folder / "SKILL.md").write_text("mine", encoding="utf-8")
    (folder / "notes.md").write_text("mine", encoding="utf-8")
    for flags in ((), ("--remove",)):
        code, printed = run_cli(tmp_path, "skill", "--client", "claude-code", *flags)
        assert code == 1
        assert "nothing was changed" in printed
        assert (folder / "SKILL.md").read_text(encoding="utf-8") == "mine"
    assert run_cli(tmp_path, "skill", "--client", "claude-code", "--force")[0] == 0
    assert (folder / "SKILL.md").read_bytes() == placed[PurePosixPath("SKILL.md")]
    assert run_cli(tmp_path, "skill", "--client", "claude-code", "--remove")[0] == 0
    assert [file.name for file in folder.iterdir()] == ["notes.md"]  # not ours
    assert run_cli(tmp_path, "skill", "--client", "claude-code", "--remove")[0] == 1


@pytest.mark.covers("setup.skill.place")
def test_a_removed_skill_leaves_no_empty_folder(
    tmp_path: Path, run_cli: Callable[..., tuple[int, str]]
) -> None:
    (tmp_path / ".codeium").mkdir()
    (tmp_path / ".codeium" / "settings").write_text("theirs", encoding="utf-8")
    clients = ("--client", "claude-code,opencode,windsurf")
    assert run_cli(tmp_path, "skill", *clients)[0] == 0
    assert run_cli(tmp_path, "skill", *clients, "--remove")[0] == 0
    assert [path.name for path in tmp_path.rglob("*")] == [".codeium", "settings"]
    project = tmp_path / "app"
    project.mkdir()
    assert run_cli(tmp_path, "skill", *clients, "--project", str(project))[0] == 0
    assert run_cli(tmp_path, "skill", *clients, "--project", str(project), "--remove")[0] == 0
    assert list(project.iterdir()) == []


@pytest.mark.covers("setup.skill.place")
def test_hosts_that_share_a_folder_share_the_skill_and_unknown_ones_are_named(
    tmp_path: Path, run_cli: Callable[..., tuple[int, str]]
) -> None:
    code, printed = run_cli(tmp_path, "skill", "--client", "codex,zed", "--project", ".", "--json")
    folder = str(tmp_path / ".agents" / "skills" / SKILL)
    assert (code, json.loads(printed)) == (0, {"folders": {folder: "written"}})
    code, printed = run_cli(tmp_path, "skill", "--project", ".", "--json")
    assert json.loads(printed)["clients"]["cline"] == {"folder": folder, "there": True}
    code, printed = run_cli(tmp_path, "skill", "--client", "claude-cod")
    assert code == 2
    assert "claude-code" in printed


class _Replay:
    """Makes the calls of a case and holds the answers against it."""

    def __init__(self, app: App, project: Path) -> None:
        self._app = app
        self._kept: dict[str, str] = {"project": str(project)}

    def make(self, call: Mapping[str, Any]) -> None:
        reply = self._app.toolbox.call(call["tool"], self._filled(call["arguments"]), CALLER)
        told = reply.structured
        assert told.get("error_code") == call.get("refused"), told
        assert reply.is_error == ("refused" in call)
        _assert_holds(told, self._filled(call.get("answer", {})), call["tool"])
        for name, place in call.get("keep", {}).items():
            value: Any = told
            for part in place.split("."):
                value = value[int(part)] if part.isdigit() else value[part]
            self._kept[name] = value

    def _filled(self, value: Any) -> Any:
        if isinstance(value, str):
            return re.sub(r"\{\{(\w+)\}\}", lambda found: self._kept[found[1]], value)
        if isinstance(value, list):
            return [self._filled(each) for each in value]
        if isinstance(value, dict):
            return {key: self._filled(each) for key, each in value.items()}
        return value


def _assert_holds(value: Any, part: Any, where: str) -> None:
    """Assert that `part` is in `value`: all its keys, its items at their places."""
    if isinstance(part, dict):
        for key, each in part.items():
            assert key in value, f"{where}.{key}"
            _assert_holds(value[key], each, f"{where}.{key}")
    elif isinstance(part, list) and part:
        assert len(value) >= len(part), where
        for index, each in enumerate(part):
            _assert_holds(value[index], each, f"{where}.{index}")
    else:
        assert value == part, where


@pytest.mark.covers("setup.skill.evals")
@pytest.mark.parametrize("file", CASES, ids=lambda file: file.stem)
def test_what_a_case_asks_for_is_what_the_tools_do(file: Path, tmp_path: Path) -> None:
    case = json.loads(file.read_text(encoding="utf-8"))
    project = tmp_path / "project"
    project.mkdir()
    environ = {"MEMORY_DB_PATH": ":memory:"}
    settings = load_settings({}, environ=environ, cwd=tmp_path, home=tmp_path)
    with open_app(settings) as app:
        known = {str(tool["name"]) for tool in app.toolbox.list_tools()}
        forbidden = set(case.get("never", ()))
        asked = {call["tool"] for call in case["expect"]}
        given = {name for call in case["expect"] for name in call["arguments"]}
        assert asked <= known
        assert not forbidden & (asked | given)
        assert forbidden <= known | {"allow_secret", "dedupe"}
        replay = _Replay(app, project)
        for call in (*case.get("given", ()), *case["expect"]):
            replay.make(call)
