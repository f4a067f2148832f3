"""Reading the memory: `search`, `show`, `list`, `projects`."""

import argparse
from collections.abc import Mapping
from typing import Any

from schemory.cli.command import FINDING, OK, Command, Request, count
from schemory.cli.memory_desk import (
    Answer,
    Desk,
    add_project_option,
    desk,
    show,
    show_warnings,
    told,
)
from schemory.cli.memory_ids import ID_HELP, full_id
from schemory.cli.memory_view import (
    local_time,
    tell_count,
    view_entry,
    view_history,
    view_hits,
    view_links,
    view_names,
    view_no_hit,
)
from schemory.cli.output import Output
from schemory.memory.settings import MAX_NAMES_LIMIT
from schemory.model.entry import SourceType, Status

DEFAULT_LIMIT = 20
_PAGE = 50
_STATUSES = (*(status.value for status in Status), "any")
_NAMES = {"scopes": "scope", "topics": "topic", "tags": "tag"}


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Add what narrows a listing of entries."""
    add = parser.add_argument
    add("--scope", metavar="SCOPE", help="only this scope")
    add("--topic", metavar="TOPIC", help="only this topic")
    add("--tag", action="append", metavar="TAG", help="only with this tag; repeatable: with all")
    add("--any-tag", action="store_true", help="one of the tags is enough")
    add("--type", choices=[each.value for each in SourceType], help="only this kind of entry")
    add("--status", choices=_STATUSES, default="active", help="default active")
    add("--since", metavar="DATE", help="created at this date or later")
    add("--before", metavar="DATE", help="created before this date")


def _add_limit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--limit",
        type=count,
        default=DEFAULT_LIMIT,
        metavar="N",
        help=f"at most N; 0 = as many as there are (default {DEFAULT_LIMIT})",
    )


def _filters(args: argparse.Namespace) -> dict[str, Any]:
    return {
        "scope": args.scope,
        "topic": args.topic,
        "tags": args.tag,
        "tags_match": "any" if args.any_tag else "all",
        "source_type": args.type,
        "status": args.status,
        "created_after": args.since,
        "created_before": args.before,
    }


def _collect(memory: Desk, arguments: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """Return the first answer of a search with the hits of further pages, up to `limit`."""
    page = min(limit or _PAGE, _PAGE)
    answer = dict(memory.call("memory_search", {**arguments, "limit": page}))
    hits, cursor = list(answer["results"]), answer.get("next_cursor")
    while cursor is not None and (not limit or len(hits) < limit):
        again = {**arguments, "limit": page, "cursor": cursor}
        more = memory.call("memory_search", again)
        hits, cursor = [*hits, *more["results"]], more.get("next_cursor")
    if limit and len(hits) > limit:
        hits = hits[:limit]
    return {**answer, "results": hits, "next_cursor": cursor}


def _configure_search(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("query", nargs="+", metavar="WORD", help='words, identifiers, or a "quoted phrase"')
    add_filters(parser)
    _add_limit(parser)
    add("--content", action="store_true", help="show all of each entry")
    add("--explain", action="store_true", help="also tell how each place came about (with --json)")
    add("--all-projects", action="store_true", help="search every project of the store")
    add_project_option(parser)


def _run_search(request: Request) -> int:
    args = request.args
    arguments = {
        **_filters(args),
        "query": " ".join(args.query),
        "include_content": args.content,
        "explain": args.explain,
        "mode": "cross_project" if args.all_projects else "project",
    }
    with desk(request) as memory:
        answer = _collect(memory, arguments, args.limit)
    hits = answer["results"]
    if request.out.is_json:
        request.out.json(answer)
    elif hits:
        view_hits(answer, request.out, with_content=args.content)
        tell_count(answer, request.out, hits)
        show_warnings(answer, request.out)
    else:
        view_no_hit(answer, request.out)
        show_warnings(answer, request.out)
    return OK if hits else FINDING


def _configure_show(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("entry", metavar="ID", help=ID_HELP)
    add("--history", action="store_true", help="also its earlier texts")
    add("--links", action="store_true", help="also its links")
    add("--all-projects", action="store_true", help="whichever project it belongs to")
    add_project_option(parser)


def _run_show(request: Request) -> int:
    args = request.args
    with desk(request) as memory:
        entry_id = full_id(memory, args.entry, everywhere=args.all_projects)
        arguments = {
            "entry_id": entry_id,
            "include_history": args.history,
            "mode": "cross_project" if args.all_projects else "project",
        }
        answer = dict(memory.call("memory_read_entry", arguments))
        if args.links:
            links = memory.call("memory_list_entry_links", {"entry_id": entry_id})
            answer["links"] = links["links"]

    def view(_: object, out: Output) -> None:
        view_entry(answer["entry"], out)
        view_history(answer, out)
        if args.links:
            out.line()
            view_links(answer, out)

    show(request, answer, view)
    return OK


def _configure_list(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "what",
        nargs="?",
        default="entries",
        choices=("entries", *_NAMES),
        help="entries (default, newest first), scopes, topics or tags",
    )
    add_filters(parser)
    _add_limit(parser)
    add_project_option(parser)


def _run_list(request: Request) -> int:
    args = request.args
    with desk(request) as memory:
        if args.what == "entries":
            answer: Answer = _collect(memory, {**_filters(args), "query": ""}, args.limit)
        else:
            given = {"status": args.status, "limit": args.limit or None, "scope": args.scope}
            arguments = {**given, "topic": args.topic}
            answer = memory.call(f"memory_list_{args.what}", arguments)

    def view(_: object, out: Output) -> None:
        if args.what == "entries":
            view_hits(answer, out)
            tell_count(answer, out, answer["results"])
        else:
            view_names(answer, out, _NAMES[args.what])

    show(request, answer, view)
    return OK


def _configure_projects(parser: argparse.ArgumentParser) -> None:
    _add_limit(parser)


def _run_projects(request: Request) -> int:
    with desk(request) as memory:
        limit = request.args.limit or MAX_NAMES_LIMIT
        listed = memory.memory.list_projects(memory.ref, limit=limit)
    projects = [
        {
            "id": each.id,
            "display_name": each.display_name,
            "canonical_path": each.canonical_path,
            "git_remote": each.git_remote,
            "updated_at": each.updated_at,
        }
        for each in listed.projects
    ]
    out = request.out
    if out.is_json:
        out.json({"ok": True, "projects": projects, "truncated": listed.more is not None})
        return OK
    rows = (
        (each.id, each.display_name or "", each.canonical_path or "", local_time(each.updated_at))
        for each in listed.projects
    )
    out.table(("project", "name", "folder", "last change"), rows)
    if listed.more is not None:
        out.note("there are more; raise --limit")
    return OK


COMMANDS: tuple[Command, ...] = (
    Command(
        name="search",
        summary="search the project's entries, best first",
        configure=_configure_search,
        run=told(_run_search),
        examples=(
            "schemory search token expiry",
            "schemory search src/auth/token.py --type bug_pattern",
            "schemory search retry --all-projects --json",
        ),
    ),
    Command(
        name="show",
        summary="show one entry in full",
        configure=_configure_show,
        run=told(_run_show),
        examples=("schemory show 0197c1d2-7a4b-7c31-9d2e-5f60718293a4 --history",),
    ),
    Command(
        name="list",
        summary="list entries, newest first, or scopes, topics and tags",
        configure=_configure_list,
        run=told(_run_list),
        examples=(
            "schemory list --type decision --status any",
            "schemory list topics --scope backend",
        ),
    ),
    Command(
        name="projects",
        summary="list the projects that have entries",
        configure=_configure_projects,
        run=told(_run_projects),
        examples=("schemory projects --json",),
    ),
)
