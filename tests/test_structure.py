"""The house rules that no linter knows: sizes, words, and who may touch what."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "schemory"
MODULES = sorted(SOURCE.rglob("*.py"))
MAX_MODULE_LINES = 500
MAX_FUNCTION_LINES = 60
MAX_PUBLIC_METHODS = 12

_FACADES = re.compile(r"KnowledgeGraph|ProjectMemory|\w+(?:Reader|Transaction)")
"""One short method per verb of a service or of the store's protocols."""

_FORBIDDEN_WORDS = re.compile(r"Manager|Helper|Utils|Base(?![a-z])|Impl(?![a-z])|Factory")
_SPECIFIED_NAMES = "compat"
"""The room that has the specification's own class names."""

_CATCH_ALL = re.compile(
    r"(?:server|web|cli)/.*"  # where an answer leaves the process
    r"|compat.*"  # compensations: a failing one must not stop the rest
    r"|graph/events\.py"  # listeners: a failing one must not undo what is committed
    r"|model/compensation\.py"  # compensations, as above
    r"|schemas/(?:catalog|watch)\.py"  # listeners, as above
    r"|storage/.*"  # undoers of a failed transaction, as compensations
    r"|tools/toolbox\.py"  # the last place before any wire
)
_REASON = re.compile(r"#\s*(?:noqa|type:\s*ignore|pyright:\s*ignore)[^#(]*(?:\(.+\)|#.+)")
_SILENCED = re.compile(r"#\s*(?:noqa|type:\s*ignore|pyright:\s*ignore)")


def _name(module: Path) -> str:
    return module.relative_to(SOURCE).as_posix()


@cache
def _text(module: Path) -> str:
    return module.read_text(encoding="utf-8")


@cache
def _tree(module: Path) -> ast.Module:
    return ast.parse(_text(module))


def _functions(module: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _classes(module: Path) -> Iterator[ast.ClassDef]:
    return (node for node in ast.walk(_tree(module)) if isinstance(node, ast.ClassDef))


def _public_methods(each: ast.ClassDef) -> set[str]:
    return {
        item.name
        for item in each.body
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
        and not item.name.startswith("_")
    }


def _is_protocol(each: ast.ClassDef) -> bool:
    return any("Protocol" in ast.unparse(base) for base in each.bases)


def _own_modules() -> Iterator[Path]:
    return (module for module in MODULES if not _name(module).startswith(_SPECIFIED_NAMES))


def test_a_module_fits_in_the_head() -> None:
    lines = {_name(module): len(_text(module).splitlines()) for module in MODULES}
    assert {name: count for name, count in lines.items() if count > MAX_MODULE_LINES} == {}


def test_functions_are_short() -> None:
    long = [
        f"{_name(module)}: {each.name} has {lines} lines"
        for module in MODULES
        for each in _functions(module)
        if (lines := (each.end_lineno or 0) - each.lineno + 1) > MAX_FUNCTION_LINES
    ]
    assert long == []


def test_classes_have_few_public_methods() -> None:
    large = [
        f"{_name(module)}: {each.name} has {count}"
        for module in _own_modules()
        for each in _classes(module)
        if (count := len(_public_methods(each))) > MAX_PUBLIC_METHODS
        and not _FACADES.fullmatch(each.name)
        and not _is_protocol(each)
    ]
    assert large == []


def test_our_own_classes_have_plain_names() -> None:
    named = [
        f"{_name(module)}: {each.name}"
        for module in _own_modules()
        for each in _classes(module)
        if _FORBIDDEN_WORDS.search(each.name)
    ]
    assert named == []


def test_only_the_edges_catch_everything() -> None:
    caught = [
        f"{_name(module)}:{node.lineno}"
        for module in MODULES
        if not _CATCH_ALL.fullmatch(_name(module))
        for node in ast.walk(_tree(module))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id == "Exception"))
    ]
    assert caught == []


def test_only_the_config_room_reads_the_environment() -> None:
    readers = [
        _name(module)
        for module in MODULES
        if re.search(r"\bos\.environ\b|\bgetenv\(", _text(module))
    ]
    assert [name for name in readers if not name.startswith("config/")] == []


def test_sql_lives_in_the_storage_room() -> None:
    sql = re.compile(r"\bSELECT\s.+\sFROM\b|\bINSERT INTO\b|\bDELETE FROM\b|\bCREATE TABLE\b")
    holders = [_name(module) for module in MODULES if sql.search(_text(module))]
    assert [name for name in holders if not name.startswith("storage/")] == []


def test_every_silenced_rule_has_its_reason_beside_it() -> None:
    bare = [
        f"{_name(module)}:{number}"
        for module in MODULES
        for number, line in enumerate(_text(module).splitlines(), 1)
        if _SILENCED.search(line) and not _REASON.search(line)
    ]
    assert bare == []
