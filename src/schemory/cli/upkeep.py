"""`backup`, `vacuum`, `migrate`, and a store's `restore`: looking after the store as a file."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from schemory.cli.command import OK, Command, Request
from schemory.cli.output import Style
from schemory.cli.progress import progress_bar
from schemory.errors import UsageError
from schemory.model.text import counted

if TYPE_CHECKING:
    from schemory.storage.keeping import Keeper

_NOUNS = {
    "nodes": "node",
    "edges": "edge",
    "entries": "entry",
    "projects": "project",
    "lines": "line",
    "kept": "kept line",
}


def _keeper(request: Request) -> "Keeper":
    from schemory.app import open_keeper  # noqa: PLC0415 (help needs no store)

    return open_keeper(request.settings())


def _path(text: str) -> Path:
    return Path(text).expanduser().absolute()


def _counts(counts: Mapping[str, int]) -> str:
    told = [_count(number, name) for name, number in counts.items() if number]
    return ", ".join(told) or "nothing stored"


def _count(number: int, name: str) -> str:
    if name == "entries":
        return f"{number:,} {'entry' if number == 1 else 'entries'}"
    return counted(number, _NOUNS[name])


def _nothing(parser: argparse.ArgumentParser) -> None:
    del parser


def _file(meaning: str) -> Callable[[argparse.ArgumentParser], None]:
    def configure(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help=meaning)

    return configure


def _run_backup(request: Request) -> int:
    keeper, out = _keeper(request), request.out
    with progress_bar(out) as progress:
        copied = keeper.backup(_path(request.args.file), progress)
    if out.is_json:
        out.json(
            {
                "store": keeper.location,
                "backup": str(copied.path),
                "bytes": copied.bytes,
                "verified": True,
                "counts": dict(copied.counts),
            }
        )
    else:
        out.line(f"{out.style('backed up', Style.BOLD)} {keeper.location} to {copied.path}")
        out.note(f"verified: {_counts(copied.counts)}, {copied.bytes:,} bytes")
    return OK


def run_restore(request: Request) -> int:
    """Put the backup that `file` names in the store's place."""
    keeper, out = _keeper(request), request.out
    source = _path(request.args.file)
    _ask(request, f"Replace {keeper.location} by {source}? It is kept beside it. [y/N] ")
    with progress_bar(out) as progress:
        restored = keeper.restore(source, progress)
    replaced = str(restored.replaced) if restored.replaced else None
    if out.is_json:
        out.json(
            {
                "store": str(restored.path),
                "backup": str(source),
                "verified": True,
                "counts": dict(restored.counts),
                "replaced": replaced,
            }
        )
    else:
        out.line(f"{out.style('restored', Style.BOLD)} {restored.path} from {source}")
        out.note(f"verified: {_counts(restored.counts)}")
        if replaced:
            out.note(f"what was there before is now {replaced}; delete it when you need it no more")
    return OK


def _ask(request: Request, question: str) -> None:
    out = request.out
    if out.is_terminal and request.stdin.isatty() and not request.args.yes and not out.is_json:
        out.line(out.style(question, Style.BOLD))
        if request.stdin.readline().strip().lower() not in {"y", "yes"}:
            raise UsageError("nothing was restored")


def _run_vacuum(request: Request) -> int:
    keeper, out = _keeper(request), request.out
    with progress_bar(out) as progress:
        progress(0, None, "rewriting the store without free pages")
        tidied = keeper.vacuum()
    if out.is_json:
        out.json(
            {
                "store": keeper.location,
                "bytesBefore": tidied.bytes_before,
                "bytesAfter": tidied.bytes_after,
            }
        )
    else:
        out.line(f"{out.style('tidied', Style.BOLD)} {keeper.location}")
        out.note(f"{tidied.bytes_before:,} bytes before, {tidied.bytes_after:,} after")
    return OK


def _run_migrate(request: Request) -> int:
    keeper, out = _keeper(request), request.out
    done = keeper.migrate()
    if out.is_json:
        out.json(
            {
                "store": keeper.location,
                "versionBefore": done.version_before,
                "versionAfter": done.version_after,
                "copy": str(done.copy) if done.copy else None,
            }
        )
    elif done.version_before == done.version_after:
        out.line(f"{keeper.location} has schema version {done.version_after} already")
    else:
        out.line(f"{out.style('migrated', Style.BOLD)} {keeper.location}")
        out.note(f"schema version {done.version_before} became {done.version_after}")
        if done.copy:
            out.note(f"the file as it was is kept at {done.copy}")
    return OK


COMMANDS: tuple[Command, ...] = (
    Command(
        name="backup",
        summary="copy the store to a file while it is in use; it counts only when it is verified",
        configure=_file("where to; an older backup there is replaced"),
        run=_run_backup,
        examples=("schemory backup ~/backups/memory.sqlite", "schemory backup b.sqlite --json"),
    ),
    Command(
        name="vacuum",
        summary="give back free space, so that deleted text is nowhere in the file",
        configure=_nothing,
        run=_run_vacuum,
        examples=("schemory vacuum",),
    ),
    Command(
        name="migrate",
        summary="bring the store's schema to this version's; every use does it too",
        configure=_nothing,
        run=_run_migrate,
        examples=("schemory migrate --json",),
    ),
)
