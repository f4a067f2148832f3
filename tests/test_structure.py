"""The house rules that no linter knows: sizes, words, and who may touch what."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "schemory"
MODULES = sorted(SOURCE.rglob("*.py"))
MAX_MODULE_LINES = 500
MAX_FUNCTION_LINES = 60
MAX_PUBLIC_METHODS = 12
_FACADES = {
    "GraphReader",
    "GraphTransaction",
    "KnowledgeGraph",
    "SqliteGraphReader",
    "SqliteGraphTransaction",
}
_FORBIDDEN_WORDS = re.compile(r"Manager|Helper|Utils|Base(?![a-z])|Impl(?![a-z])|Factory")
_CATCH_ALL_ROOMS = {"server", "cli"}
_CATCH_ALL_MODULES = {
    "compat.py",  # compensations: a failing one must not stop the rest
    "storage/compensations.py",  # compensations likewise
    "graph/events.py",  # listeners: a failing one must not undo what is committed
    "schemas/watch.py",  # listeners: a failing one must not end the watch
    "tools/toolbox.py",  # the last place before any wire
}


def _name(module: Path) -> str:
    return module.relative_to(SOURCE).as_posix()


def _tree(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"))


def _classes(module: Path) -> Iterator[ast.ClassDef]:
    return (node for node in ast.walk(_tree(module)) if isinstance(node, ast.ClassDef))


@pytest.mark.parametrize("module", MODULES, ids=_name)
def test_a_module_fits_in_the_head(module: Path) -> None:
    assert len(module.read_text(encoding="utf-8").splitlines()) <= MAX_MODULE_LINES


@pytest.mark.parametrize("module", MODULES, ids=_name)
def test_functions_are_short(module: Path) -> None:
    long = [
        f"{node.name}: {lines} lines"
        for node in ast.walk(_tree(module))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or 0) - node.lineno + 1) > MAX_FUNCTION_LINES
    ]
    assert long == []


@pytest.mark.parametrize("module", MODULES, ids=_name)
def test_classes_have_few_public_methods_and_plain_names(module: Path) -> None:
    for each in _classes(module):
        public = [
            item.name
            for item in each.body
            if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
            and not item.name.startswith("_")
        ]
        if each.name not in _FACADES and _is_own(module):
            assert len(set(public)) <= MAX_PUBLIC_METHODS, each.name
            assert not _FORBIDDEN_WORDS.search(each.name), each.name


@pytest.mark.parametrize("module", MODULES, ids=_name)
def test_only_the_edges_catch_everything(module: Path) -> None:
    name = _name(module)
    if name.partition("/")[0] in _CATCH_ALL_ROOMS or name in _CATCH_ALL_MODULES:
        return
    caught = [
        node.lineno
        for node in ast.walk(_tree(module))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id == "Exception"))
    ]
    assert caught == []


@pytest.mark.parametrize("module", MODULES, ids=_name)
def test_only_the_config_room_reads_the_environment(module: Path) -> None:
    if _name(module).startswith("config/"):
        return
    text = module.read_text(encoding="utf-8")
    assert re.findall(r"\bos\.environ\b|\bos\.getenv\b|\bgetenv\(", text) == []


@pytest.mark.parametrize("module", MODULES, ids=_name)
def test_sql_lives_in_the_storage_room(module: Path) -> None:
    if _name(module).startswith("storage/"):
        return
    text = module.read_text(encoding="utf-8")
    assert re.findall(r"\b(?:SELECT .* FROM|INSERT INTO|DELETE FROM|CREATE TABLE)\b", text) == []


@pytest.mark.parametrize("module", MODULES, ids=_name)
def test_every_silenced_rule_has_its_reason_beside_it(module: Path) -> None:
    bare = [
        line.strip()
        for line in module.read_text(encoding="utf-8").splitlines()
        if re.search(r"#\s*(?:noqa|type:\s*ignore|pyright:\s*ignore)", line)
        and not re.search(r"#\s*(?:noqa|type:\s*ignore|pyright:\s*ignore)[^#(]*\(.+\)|#.*#", line)
    ]
    assert bare == []


def _is_own(module: Path) -> bool:
    """Return whether our own naming rules bind `module`; compat has the specification's names."""
    return not _name(module).startswith("compat")
