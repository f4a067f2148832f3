"""What users of comparable tools complained of, as this product answers it."""

import random
import string
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schemory.memory.inputs import ProjectRef

if TYPE_CHECKING:
    from tests.tools.memory.conftest import DeskMaker, MemoryDesk

PUNCTUATED = [
    "POL-358 blocks the release",
    "see src/auth/token.py",
    "don't retry on 429",
    "NEAR the OR gate",
]


@pytest.mark.covers("tools.memory.report.punctuation")
def test_ordinary_punctuation_finds_what_it_names(desk: "MemoryDesk") -> None:
    ids = [desk.add(content) for content in PUNCTUATED]
    wanted = {
        "POL-358": 0,
        "pol-358": 0,
        "src/auth/token.py": 1,
        "token.py": 1,
        "don't": 2,
        '"': None,
        "*": None,
        "NEAR/2": None,
        "a AND": None,
        "-release": None,
        "title:x": None,
        "(": None,
    }
    for query, index in wanted.items():
        page = desk.ok("search", query=query)
        if index is not None:
            assert page["results"][0]["id"] == ids[index]
        else:
            assert page["results"] or page["hint"]


@pytest.mark.covers("tools.memory.report.punctuation")
def test_any_printable_query_is_a_query(desk: "MemoryDesk") -> None:
    for content in PUNCTUATED:
        desk.add(content)
    dice = random.Random(4)
    for _ in range(400):
        letters = dice.choices(string.printable, k=dice.randint(1, 40))
        query = "".join(each for each in letters if each.isprintable())
        desk.ok("search", query=query)


@pytest.mark.covers("tools.memory.report.scripts")
def test_chinese_japanese_and_korean_are_found(desk: "MemoryDesk") -> None:
    chinese = desk.add("数据库连接池耗尽，需要重启服务")  # noqa: RUF001 (the comma of its script)
    japanese = desk.add("デプロイは金曜日に禁止")
    korean = desk.add("결제 모듈은 멱등성 키를 사용한다")
    for query, entry_id in (
        ("连接池", chinese),
        ("重启", chinese),
        ("金曜日", japanese),
        ("禁止", japanese),
        ("멱등성", korean),
    ):
        assert desk.found(query) == [entry_id]


@pytest.mark.covers("tools.memory.report.twice")
def test_the_same_fact_saved_twice_is_one_entry(desk: "MemoryDesk") -> None:
    fact = {"scope": "s", "topic": "t", "source_type": "decision"}
    text = "Retries stop after the third answer 429 from the payment service"
    first = desk.ok("add_entry", **fact, content=text)
    again = desk.ok("add_entry", **fact, content=text)
    assert (again["deduped"], again["existing_entry_id"]) == (True, first["entry_id"])
    assert desk.ok("status")["counts"]["active"] == 1
    blank = desk.ok("add_entry", **fact, content=text + " ")
    assert blank["deduped"] is False
    twins = desk.ok("find_similar", entry_id=blank["entry_id"])["results"]
    assert [twin["id"] for twin in twins] == [first["entry_id"]]
    second = desk.ok("add_entry", **fact, content=text, dedupe=False)
    assert second["entry_id"] not in {first["entry_id"], blank["entry_id"]}
    desk.ok("delete_entry", entry_id=second["entry_id"], confirm=True)
    desk.ok("invalidate_entry", entry_id=first["entry_id"])
    new = desk.ok("add_entry", **fact, content=text)
    assert new["deduped"] is False
    old = desk.ok("read_entry", entry_id=first["entry_id"])["entry"]
    assert old["status"] == "invalidated"


def _repository(folder: Path, remote: str) -> None:
    git = folder / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "objects").mkdir()
    (git / "refs").mkdir()
    (git / "config").write_text(f'[remote "origin"]\n\turl = {remote}\n')


@pytest.mark.covers("tools.memory.report.same_name")
def test_two_folders_of_one_name_are_two_projects(desk: "MemoryDesk", tmp_path: Path) -> None:
    first, second = tmp_path / "a" / "api", tmp_path / "b" / "api"
    for folder in (first, second):
        folder.mkdir(parents=True)
    note = {"scope": "s", "topic": "t", "content": "shared word", "source_type": "handoff"}
    added = desk.ok("add_entry", **note, project_path=str(first))
    other = desk.ok("search", query="word", project_path=str(second))
    assert added["project_id"].startswith("pathhash:")
    assert other["project_id"].startswith("pathhash:")
    assert added["project_id"] != other["project_id"]
    assert other["results"] == []
    crossed = {"entry_id": added["entry_id"], "project_path": str(second)}
    assert desk.fails("read_entry", **crossed)["error_code"] == "NOT_FOUND"
    assert desk.ok("read_entry", **crossed, mode="cross_project")["entry"]["content"]
    (second / ".env").write_text("MEMORY_PROJECT_ID=team/second\n")
    told = desk.ok("status", project_path=str(second))["project"]
    assert (told["id"], told["resolved_by"]) == ("team/second", "env")
    assert desk.ok("search", query="word", project_path=str(second))["results"] == []


@pytest.mark.covers("tools.memory.report.same_name")
def test_two_clones_share_a_project_and_no_token_is_kept(
    open_desk: "DeskMaker", tmp_path: Path
) -> None:
    store = tmp_path / "memory.db"
    desk = open_desk(path=store)
    first, second = tmp_path / "a" / "api", tmp_path / "b" / "api"
    _repository(first, "git@host:org/api.git")
    _repository(second, "https://user:t0k3nvermilion@host/org/api")
    note = {"scope": "s", "topic": "t", "content": "shared word", "source_type": "handoff"}
    added = desk.ok("add_entry", **note, project_path=str(second))
    found = desk.ok("search", query="word", project_path=str(first))
    assert added["project"]["id"] == found["project_id"] == "git:host/org/api"
    assert added["project"]["resolved_by"] == "git"
    assert [hit["id"] for hit in found["results"]] == [added["entry_id"]]
    desk.store.close()
    kept = b"".join(file.read_bytes() for file in tmp_path.glob("memory.db*"))
    assert b"t0k3nvermilion" not in kept


_KIND = "RSA PRIVATE"
SECRETS: dict[str, Callable[[random.Random], str]] = {
    "key block": lambda dice: (
        f"-----BEGIN {_KIND} KEY-----\n"
        + "\n".join(_letters(dice, 64) for _ in range(5))
        + f"\n-----END {_KIND} KEY-----"
    ),
    "cloud key": lambda dice: "AKIA" + "".join(dice.choices(string.ascii_uppercase, k=16)),
    "token": lambda dice: "ghp_" + _letters(dice, 36),
    "jwt": lambda dice: ".".join(
        ("eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIx" + _letters(dice, 20) + "In0", _letters(dice, 43))
    ),
    "connection": lambda _: "postgresql://app:" + "pw123456@db/prod",
    "assignment": lambda _: 'password = "hunter2' + 'hunter2"',
}
INNOCENT = [
    "the variable SUPABASE_SERVICE_ROLE_KEY is set in CI",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke it",
    "password reset flow uses tokens",
    "run 7d444840-9dc0-11d1-b245-5ffdce74fad2 failed",
]


def _letters(dice: random.Random, count: int) -> str:
    return "".join(dice.choices(string.ascii_letters + string.digits, k=count))


@pytest.mark.covers("tools.memory.report.secrets")
@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("field", ["content", "summary", "source_uri"])
def test_credentials_are_refused_in_every_field(
    open_desk: "DeskMaker", tmp_path: Path, kind: str, field: str
) -> None:
    log = tmp_path / "audit.jsonl"
    desk = open_desk(path=tmp_path / "memory.db", audit_file=log)
    secret = SECRETS[kind](random.Random(kind + field))
    note: dict[str, Any] = {"scope": "s", "topic": "t", "source_type": "handoff", "content": "c"}
    text = secret if field == "source_uri" else f"note {secret} end"
    refused = desk.fails("add_entry", **{**note, field: text})
    assert refused["error_code"] == "SECRET_DETECTED"
    assert {found["field"] for found in refused["findings"]} == {field}
    assert all(found["rule"] and found["end"] > found["start"] for found in refused["findings"])
    assert secret not in str(refused)
    rows = str(desk.memory.list_audit(ProjectRef(project_id="p")).rows)
    assert "SECRET_DETECTED" in rows
    assert "sha256" not in rows
    desk.store.close()
    for file in tmp_path.iterdir():
        assert secret.encode() not in file.read_bytes()
    again = open_desk(path=tmp_path / "memory.db")
    stored = again.ok("add_entry", **{**note, field: text}, allow_secret=True)
    assert stored["warnings"]


@pytest.mark.covers("tools.memory.report.secrets")
def test_innocent_texts_are_stored(desk: "MemoryDesk") -> None:
    for text in INNOCENT:
        assert (
            desk.ok(
                "add_entry", scope="s", topic="t", source_type="handoff", content=text, summary=text
            )["warnings"]
            == []
        )


@pytest.mark.covers("tools.memory.report.lists_as_text")
def test_a_text_is_never_taken_for_a_list_of_letters(desk: "MemoryDesk") -> None:
    note = {"scope": "s", "topic": "t", "source_type": "handoff", "content": "c"}
    assert desk.ok("add_entry", **note, tags='["x","y"]')["entry_id"]
    error = desk.fails("add_entry", **note, tags="x")
    assert error["error_code"] == "INVALID_PARAM"
    assert "tags" in error["detail"]
    assert "array" in error["detail"]


@pytest.mark.covers("tools.memory.report.no_arguments")
def test_a_call_without_arguments_asks_only_for_what_it_needs(open_desk: "DeskMaker") -> None:
    bound = open_desk(server="team/app")
    empty: dict[str, Any] = {}
    for arguments in (None, empty):
        assert bound.call("memory_status", arguments).structured["project_id"] == "team/app"
        unbound = open_desk().call("memory_status", arguments)
        assert unbound.structured["error_code"] == "INVALID_PARAM"
