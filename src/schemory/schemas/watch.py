"""Watches schema folders while the server runs and reloads the catalog when a file changes."""

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol, TypeAlias

from schemory.schemas.catalog import SchemaCatalog
from schemory.schemas.load import SUFFIX

_log = logging.getLogger(__name__)

SETTLE_SECONDS = 1.0
"""How long the start-up is left alone before the watching library is imported."""

POLL_SECONDS = 1.0
"""How often folders are looked at where they cannot be watched (missing, or no library)."""

_REST_SECONDS = 0.1
_MAX_RESTS = 10

Fingerprint: TypeAlias = tuple[tuple[str, int, int, int], ...]
"""Of every schema file: path, inode, size and time of change; equal while nothing changed."""


class _Watcher(Protocol):
    """What is used of `watchfiles.watch`."""

    def __call__(
        self,
        *paths: Path,
        watch_filter: Callable[[object, str], bool],
        debounce: int,
        stop_event: threading.Event,
        rust_timeout: int,
        yield_on_timeout: bool,
        raise_interrupt: bool,
        recursive: bool,
    ) -> Iterator[object]: ...


def watch(
    catalog: SchemaCatalog,
    paths: Sequence[Path],
    stop: threading.Event,
    *,
    settle_seconds: float = SETTLE_SECONDS,
    is_polling: bool = False,
) -> None:
    """Reload `catalog` within seconds of a change in `paths`, until `stop` is set.

    Runs in a thread of its own. A folder may be missing, appear later, or be replaced. A save that
    leaves the schemas as they were is silent, since the catalog tells only of changes. A file that
    has become faulty is logged, once for each fault, since its tools are gone. A failing listener
    is logged and does not end the watch.

    Args:
        catalog: What to reload.
        paths: Folders of schema files.
        stop: Ends the watch, within about a second.
        settle_seconds: How long nothing is done, so that a start-up is left alone.
        is_polling: Look at the folders once a second even where they could be watched; for
            processes that do without what the watching library imports (asyncio).
    """
    seen: Fingerprint | None = None  # what was saved since the catalog was made counts too
    for _ in _changes(paths, stop, settle_seconds, is_polling=is_polling):
        now = fingerprint(paths)
        if now == seen:
            continue
        seen = _at_rest(now, paths, stop)
        told = set(map(str, catalog.faults()))
        try:
            catalog.reload()
        except Exception as failure:  # noqa: BLE001 (a listener's failure must not end the watch)
            # Only its kind: a listener's message may hold stored content.
            _log.warning("a listener of schema changes failed: %s", type(failure).__name__)
        for fault in catalog.faults():
            if str(fault) not in told:
                _log.warning("schema left out: %s", fault)


def fingerprint(paths: Iterable[Path]) -> Fingerprint:
    """Return what changes when a schema file in `paths` is added, saved, renamed or removed."""
    found: list[tuple[str, int, int, int]] = []
    for folder in paths:
        try:
            files = sorted(folder.iterdir())
        except OSError:
            continue
        found.append((str(folder), 0, 0, 0))
        for file in files:
            if not file.name.lower().endswith(SUFFIX):
                continue
            try:
                stat = file.stat()
            except OSError:
                continue
            found.append((str(file), stat.st_ino, stat.st_size, stat.st_mtime_ns))
    return tuple(found)


def _at_rest(now: Fingerprint, paths: Sequence[Path], stop: threading.Event) -> Fingerprint:
    """Wait until nothing changes any more, so that a file half saved is not read."""
    for _ in range(_MAX_RESTS):
        if stop.wait(_REST_SECONDS):
            return now
        before, now = now, fingerprint(paths)
        if before == now:
            return now
    return now


def _changes(
    paths: Sequence[Path], stop: threading.Event, settle_seconds: float, *, is_polling: bool
) -> Iterator[None]:
    """Yield whenever something may have changed, at least once a second."""
    if stop.wait(settle_seconds):
        return
    yield
    if is_polling or not _has_library():
        yield from _poll(stop)
        return
    watcher: _Watcher = import_module("watchfiles").watch
    while not stop.is_set():
        folders = _identities(paths)
        with suppress(OSError, RuntimeError):  # vanished just now, or the system's limit is reached
            yield from _until_replaced(watcher, paths, folders, stop)
        if not stop.wait(POLL_SECONDS):
            yield


def _has_library() -> bool:
    return find_spec("watchfiles") is not None


def _poll(stop: threading.Event) -> Iterator[None]:
    while not stop.wait(POLL_SECONDS):
        yield


def _until_replaced(
    watcher: _Watcher,
    paths: Sequence[Path],
    folders: dict[Path, tuple[int, int]],
    stop: threading.Event,
) -> Iterator[None]:
    """Yield at each change in `folders` until one is added, removed or replaced."""
    if not folders:
        return
    changes = watcher(
        *folders,
        watch_filter=lambda _change, path: path.lower().endswith(SUFFIX),
        debounce=200,
        stop_event=stop,
        rust_timeout=int(POLL_SECONDS * 1000),
        yield_on_timeout=True,
        raise_interrupt=False,
        recursive=False,
    )
    for _ in changes:
        yield
        if _identities(paths) != folders:
            return


def _identities(paths: Sequence[Path]) -> dict[Path, tuple[int, int]]:
    found: dict[Path, tuple[int, int]] = {}
    for path in paths:
        try:
            stat = path.stat()
        except OSError:
            continue
        if path.is_dir():
            found[path] = (stat.st_dev, stat.st_ino)
    return found
