import importlib.util
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from queue import Empty, Queue

import pytest

from schemory.model.jsonvalue import Json
from schemory.schemas import watch as watching
from schemory.schemas.catalog import CatalogChange, FolderSource, SchemaCatalog
from schemory.schemas.watch import fingerprint, watch

Document = Callable[..., dict[str, Json]]
Write = Callable[[Path, str, Json], Path]
Watch = Callable[[Sequence[Path]], tuple[SchemaCatalog, "Queue[CatalogChange]"]]


@pytest.fixture(params=["watchfiles", "polling"])
def start(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    """Starts a watch in a thread, with the watching library and as if it were not installed."""
    if request.param == "polling":
        find_spec = importlib.util.find_spec
        monkeypatch.setattr(
            watching, "find_spec", lambda name: None if name == "watchfiles" else find_spec(name)
        )
        monkeypatch.setattr(watching, "POLL_SECONDS", 0.1)
    stop = threading.Event()
    threads: list[threading.Thread] = []

    def begin(folders: Sequence[Path]) -> tuple[SchemaCatalog, "Queue[CatalogChange]"]:
        catalog = SchemaCatalog([FolderSource(path, is_optional=True) for path in folders])
        heard: Queue[CatalogChange] = Queue()
        catalog.subscribe(heard.put)
        thread = threading.Thread(
            target=watch, args=(catalog, folders, stop), kwargs={"settle_seconds": 0.05}
        )
        threads.append(thread)
        thread.start()
        return catalog, heard

    yield begin
    stop.set()
    for thread in threads:
        thread.join(timeout=5)
        assert not thread.is_alive()


@pytest.mark.covers("schemas.watch.known-soon")
def test_a_new_a_changed_and_a_removed_file_are_known_within_five_seconds(
    tmp_path: Path, document: Document, write_schema: Write, start: Watch
) -> None:
    _, heard = start([tmp_path])
    path = write_schema(tmp_path, "npc.schema.json", document("npc"))
    assert heard.get(timeout=5).added == ("npc",)
    write_schema(tmp_path, "npc.schema.json", {**document("npc"), "description": "other"})
    assert heard.get(timeout=5).changed == ("npc",)
    path.unlink()
    assert heard.get(timeout=5).removed == ("npc",)


@pytest.mark.covers("schemas.watch.silent")
def test_a_save_without_a_change_is_silent(
    tmp_path: Path, document: Document, write_schema: Write, start: Watch
) -> None:
    write_schema(tmp_path, "npc.schema.json", document("npc"))
    _, heard = start([tmp_path])
    write_schema(tmp_path, "npc.schema.json", {**document("npc"), "additionalProperties": True})
    write_schema(tmp_path, "place.schema.json", document("place"))
    assert heard.get(timeout=5).added == ("place",)
    with pytest.raises(Empty):
        heard.get(timeout=0.3)


@pytest.mark.covers("schemas.watch.faults-are-logged")
def test_a_file_that_becomes_faulty_is_logged_once(
    tmp_path: Path,
    document: Document,
    write_schema: Write,
    start: Watch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    path = write_schema(tmp_path, "npc.schema.json", document("npc"))
    _, heard = start([tmp_path])
    path.write_text("{", encoding="utf-8")
    assert heard.get(timeout=5).removed == ("npc",)
    write_schema(tmp_path, "place.schema.json", document("place"))
    assert heard.get(timeout=5).added == ("place",)
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 1
    assert told[0].startswith("schema left out: ")
    assert str(path) in told[0]


@pytest.mark.covers("schemas.watch.folders-come-and-go")
def test_a_folder_may_appear_later_and_be_replaced(
    tmp_path: Path, document: Document, write_schema: Write, start: Watch
) -> None:
    later = tmp_path / "later"
    _, heard = start([later])
    later.mkdir()
    write_schema(later, "npc.schema.json", document("npc"))
    assert heard.get(timeout=5).added == ("npc",)
    shutil.rmtree(later)
    assert heard.get(timeout=5).removed == ("npc",)
    later.mkdir()
    write_schema(later, "place.schema.json", document("place"))
    assert heard.get(timeout=5).added == ("place",)


def test_a_failing_listener_does_not_end_the_watch(
    tmp_path: Path,
    document: Document,
    write_schema: Write,
    start: Watch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    catalog, heard = start([tmp_path])

    def fail(change: CatalogChange) -> None:
        raise RuntimeError(f"stored words {change.version}")

    unsubscribe = catalog.subscribe(fail)
    write_schema(tmp_path, "npc.schema.json", document("npc"))
    assert heard.get(timeout=5).added == ("npc",)
    unsubscribe()
    write_schema(tmp_path, "place.schema.json", document("place"))
    assert heard.get(timeout=5).added == ("place",)
    assert "RuntimeError" in caplog.text
    assert "stored words" not in caplog.text


def test_a_file_saved_between_reading_and_watching_is_not_missed(
    tmp_path: Path, document: Document, write_schema: Write
) -> None:
    catalog = SchemaCatalog([FolderSource(tmp_path)])
    heard: Queue[CatalogChange] = Queue()
    catalog.subscribe(heard.put)
    write_schema(tmp_path, "npc.schema.json", document("npc"))
    stop = threading.Event()
    thread = threading.Thread(
        target=watch, args=(catalog, [tmp_path], stop), kwargs={"settle_seconds": 0.01}
    )
    thread.start()
    assert heard.get(timeout=5).added == ("npc",)
    stop.set()
    thread.join(timeout=5)
    assert not thread.is_alive()


def test_the_fingerprint_follows_schema_files_only(
    tmp_path: Path, document: Document, write_schema: Write
) -> None:
    before = fingerprint([tmp_path])
    (tmp_path / "notes.txt").write_text("x")
    assert fingerprint([tmp_path]) == before
    write_schema(tmp_path, "npc.schema.json", document("npc"))
    assert fingerprint([tmp_path]) != before
    assert fingerprint([tmp_path / "nowhere"]) == ()
