"""Looking after a graph file: what is wrong on which line, a verified copy, the way back."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from schemory.errors import InvalidParamError, StoreError, UnsupportedError
from schemory.model.moment import Clock, IdMaker
from schemory.storage.jsonl import JsonlStore
from schemory.storage.jsonl.keeper import JsonlKeeper
from schemory.storage.keeping import Finding, Severity
from schemory.storage.sqlite.store import SqliteStore

A = '{"type":"node","name":"A","nodeType":"t","metadata":["k: v"]}'
B = '{"type":"node","name":"B","nodeType":"t","metadata":[]}'
AB = '{"type":"edge","from":"A","to":"B","edgeType":"knows","weight":1}'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "repository" / "memory.jsonl"


@pytest.fixture
def write(path: Path) -> Callable[..., bytes]:
    """Writes the graph file and returns its bytes."""

    def write_lines(*lines: str) -> bytes:
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return path.read_bytes()

    return write_lines


@pytest.fixture
def keeper(path: Path, clock: Clock) -> JsonlKeeper:
    return JsonlKeeper(path, now=clock)


@pytest.fixture
def open_file(path: Path, clock: Clock, ids: IdMaker) -> Callable[[], JsonlStore]:
    def open_it() -> JsonlStore:
        inner = SqliteStore.open(":memory:", now=clock, ids=ids)
        return JsonlStore.open(path, inner=inner, now=clock)

    return open_it


def found(keeper: JsonlKeeper) -> dict[str, Finding]:
    return {finding.code: finding for finding in keeper.inspect().findings}


@pytest.mark.covers("storage.doctor.graph-file")
def test_a_sound_graph_file_has_no_findings_and_none_is_made(
    keeper: JsonlKeeper, write: Callable[..., bytes], path: Path
) -> None:
    assert not keeper.inspect().exists
    assert not path.parent.exists()
    write(A, B, AB, '{"type":"note","text":"kept"}')
    seen = keeper.inspect()
    assert (seen.findings, seen.facts["lines"]) == ((), 4)
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.covers("storage.doctor.graph-file")
def test_what_is_wrong_in_a_graph_file_is_told_by_line_and_stays(
    keeper: JsonlKeeper, write: Callable[..., bytes], path: Path
) -> None:
    before = write(
        A,
        "<<<<<<< ours",
        B,
        "=======",
        B.replace("[]", '["x"]'),
        ">>>>>>> theirs",
        '{"type":"node","na',
        AB.replace('"B"', '"Nobody"'),
    )
    findings = found(keeper)
    assert findings.keys() == {
        "graph-file.conflict",
        "graph-file.lines",
        "graph-file.dangling",
        "graph-file.same-name",
    }
    assert "line 2, line 4, line 6" in findings["graph-file.conflict"].what
    assert "line 7" in findings["graph-file.lines"].what
    assert '"A" to "Nobody"' in findings["graph-file.dangling"].what
    assert '"B"' in findings["graph-file.same-name"].what
    assert keeper.mend(tuple(findings.values())) == ()
    assert path.read_bytes() == before


@pytest.mark.covers("storage.doctor.graph-file")
def test_what_is_no_graph_file_is_fatal(keeper: JsonlKeeper, write: Callable[..., bytes]) -> None:
    write("# A readme", "", "with prose")
    finding = found(keeper)["store.unusable"]
    assert finding.severity is Severity.FATAL
    assert "import-graph" in finding.next_step


@pytest.mark.covers("storage.backup.graph-file")
def test_a_graph_file_is_backed_up_and_brought_back_while_a_server_has_it(
    keeper: JsonlKeeper,
    write: Callable[..., bytes],
    path: Path,
    open_file: Callable[[], JsonlStore],
) -> None:
    first = write(A, B, AB)
    backup = path.with_name("backup.jsonl")
    assert keeper.backup(backup).counts == {"lines": 3, "nodes": 2, "edges": 1, "kept": 0}
    assert backup.read_bytes() == first
    second = write(A)
    store = open_file()
    restored = keeper.restore(backup)
    assert path.read_bytes() == first
    assert restored.replaced is not None
    assert restored.replaced.read_bytes() == second
    with store.read("default") as reader:
        assert reader.count().nodes == 2
    store.close()


@pytest.mark.covers("storage.backup.graph-file")
def test_what_is_no_graph_file_is_neither_backed_up_nor_restored_nor_replaced(
    keeper: JsonlKeeper, write: Callable[..., bytes], path: Path, tmp_path: Path
) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("dear diary", encoding="utf-8")
    with pytest.raises(StoreError, match="no graph file yet"):
        keeper.backup(tmp_path / "b.jsonl")
    before = write(A)
    for target in (path, letter, tmp_path):
        with pytest.raises(InvalidParamError):
            keeper.backup(target)
    for source in (letter, tmp_path / "nowhere"):
        with pytest.raises(StoreError):
            keeper.restore(source)
    assert path.read_bytes() == before
    assert letter.read_text(encoding="utf-8") == "dear diary"
    assert sorted(path.parent.iterdir()) == [path]


@pytest.mark.covers("storage.backup.graph-file")
def test_a_graph_file_has_nothing_to_vacuum_or_migrate(keeper: JsonlKeeper) -> None:
    for verb in (keeper.vacuum, keeper.migrate):
        with pytest.raises(UnsupportedError):
            verb()


@pytest.mark.covers("storage.graph-file.regular")
@pytest.mark.skipif(os.name != "posix", reason="pipes and devices as POSIX has them")
@pytest.mark.parametrize("kind", ["folder", "pipe", "device"])
def test_what_is_no_file_is_refused_at_once_and_holds_nothing(
    kind: str,
    path: Path,
    keeper: JsonlKeeper,
    open_file: Callable[[], JsonlStore],
) -> None:
    path.parent.mkdir()
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(os.devnull)
    with pytest.raises(StoreError, match="is no regular file"):
        open_file()
    assert found(keeper)["store.unusable"].severity is Severity.FATAL
    with pytest.raises(StoreError, match="is no regular file"):
        keeper.backup(path.with_name("copy.jsonl"))
    assert [each.name for each in path.parent.iterdir()] == [path.name]
