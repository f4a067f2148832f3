"""Every specified behaviour that is listed has a test, and every test's claim is a listed one."""

import ast
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parent
_KEYS = {"id", "section", "sentence"}


def _requirements() -> list[tuple[Path, dict[str, Any]]]:
    found: list[tuple[Path, dict[str, Any]]] = []
    for file in sorted((TESTS / "requirements").glob("*.toml")):
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        found.extend((file, item) for item in data["requirement"])
    return found


def _claims() -> list[tuple[str, str]]:
    """Return (id, place) of every `covers(...)` call in the tests."""
    found: list[tuple[str, str]] = []
    for file in sorted(TESTS.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if node.func.attr != "covers":
                continue
            place = f"{file.relative_to(TESTS)}:{node.lineno}"
            for argument in node.args:
                assert isinstance(argument, ast.Constant), f"{place}: ids are plain texts"
                found.append((str(argument.value), place))
    return found


def test_each_requirement_says_what_and_where() -> None:
    faults = [
        f"{file.name}: {item.get('id')}"
        for file, item in _requirements()
        if set(item) != _KEYS or not all(str(item[key]).strip() for key in _KEYS)
    ]
    assert not faults


def test_requirement_ids_are_unique() -> None:
    counts = Counter(str(item["id"]) for _, item in _requirements())
    assert [name for name, count in counts.items() if count > 1] == []


def test_each_requirement_is_covered_by_a_test() -> None:
    covered = {name for name, _ in _claims()}
    missing = [f"{file.name}: {item['id']}" for file, item in _requirements()]
    assert [line for line in missing if line.partition(": ")[2] not in covered] == []


def test_each_claim_of_a_test_is_a_requirement() -> None:
    known = {str(item["id"]) for _, item in _requirements()}
    assert [f"{place}: {name}" for name, place in _claims() if name not in known] == []
