"""Writing to the memory: `add`, `edit`, `invalidate`, `archive`, `delete`, `link`."""

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from schemory.cli.command import OK, Command, Request
from schemory.cli.memory_desk import (
    Answer,
    Desk,
    add_project_option,
    confirmed,
    desk,
    input_text,
    show,
    told,
)
from schemory.cli.memory_draft import changes_between, draft_of, edited, fields_of
from schemory.cli.memory_ids import ID_HELP, full_id
from schemory.cli.memory_view import view_links
from schemory.cli.output import Output
from schemory.errors import SchemoryError, UsageError
from schemory.model.entry import Relation, SourceType

_TYPES = tuple(each.value for each in SourceType)
_RELATIONS = tuple(each.value for each in Relation)
_TEXTS = ("scope", "topic", "title", "summary", "source_ref", "source_path", "source_uri")
_CLEARABLE = (*_TEXTS[2:], "tags", "importance", "confidence")
_MEANINGS = {
    "scope": "an area, such as backend",
    "topic": "the matter, such as auth",
    "title": "one line that names it",
    "summary": "a short form, beside the content",
    "source_ref": "where it comes from, such as a ticket or commit",
    "source_path": "the file it speaks of",
    "source_uri": "an address it comes from",
}


def _add_fields(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    for name in _TEXTS:
        add(f"--{name.replace('_', '-')}", dest=name, metavar="TEXT", help=_MEANINGS[name])
    add("--type", dest="source_type", choices=_TYPES, help="what kind of thing it is")
    add("--tag", dest="tags", action="append", metavar="TAG", help="repeatable")
    add("--importance", type=int, metavar="1-5", help="1 low to 5 critical (default 3)")
    add("--confidence", type=float, metavar="0-1", help="how sure it is")
    add("--allow-secret", action="store_true", help="store although it looks like a credential")
    add_project_option(parser)


def _fields(args: argparse.Namespace) -> dict[str, Any]:
    names = (*_TEXTS, "source_type", "tags", "importance", "confidence")
    given = {name: getattr(args, name) for name in names}
    return {name: value for name, value in given.items() if value is not None}


def _configure_add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "content",
        nargs="?",
        metavar="TEXT|-",
        help="what to keep, word for word; - reads standard input; without it $EDITOR opens",
    )
    _add_fields(parser)
    parser.add_argument(
        "--no-dedupe", action="store_true", help="store although the same text is there"
    )


def _run_add(request: Request) -> int:
    args = request.args
    fields = _fields(args)
    flags = {"dedupe": not args.no_dedupe, "allow_secret": args.allow_secret}
    content = input_text(request, args.content)
    with desk(request) as memory:
        if content is not None:
            fields = {"source_type": SourceType.AGENT_NOTE.value, **fields, "content": content}
            answer = _add(memory, {**fields, **flags})
        else:
            _require_person(request)
            blank = {"scope": "", "topic": "", "source_type": _TYPES[0], **fields}
            answer = _edit_and(blank, lambda new: _add(memory, {**new, **flags}))
    show(request, answer, _view_added)
    return OK


def _add(memory: Desk, fields: Mapping[str, Any]) -> Answer:
    needs = {
        "a content": str(fields.get("content") or "").strip(),
        "a topic (--topic)": fields.get("topic"),
    }
    missing = " and ".join(name for name, value in needs.items() if not value)
    if missing:
        raise UsageError(f"an entry needs {missing}; nothing was stored")
    return memory.call("memory_add_entry", fields)


def _view_added(answer: Answer, out: Output) -> None:
    if answer["deduped"]:
        out.line(f"there already: {answer['entry_id']}")
    else:
        out.line(f"added {answer['entry_id']}")


def _require_person(request: Request) -> None:
    if not (request.out.is_terminal and request.stdin.isatty()):
        hint = "Give the text as an argument, or - to read standard input."
        raise UsageError("there is no text, and no terminal to edit one", suggestions=[hint])


def _edit_and(entry: Mapping[str, Any], store: Callable[[dict[str, Any]], Answer]) -> Answer:
    """Have a person edit an entry and store it; a text that is refused is not lost."""
    draft = draft_of(entry)
    text, file = edited(draft, ends_a_line=str(entry.get("content", "")).endswith("\n"))
    if text == draft:
        file.unlink()  # Or each look at an entry would leave a copy of it behind.
        raise UsageError("nothing was changed")
    try:
        answer = store(fields_of(text))
    except SchemoryError as error:
        error.suggestions = (*error.suggestions, f"Your text is kept in {file}.")
        raise
    file.unlink()
    return answer


def _configure_edit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("entry", metavar="ID", help=ID_HELP)
    parser.add_argument("--content", metavar="TEXT|-", help="the new text; - reads standard input")
    _add_fields(parser)
    parser.add_argument(
        "--clear",
        action="append",
        default=[],
        type=lambda name: name.replace("-", "_"),
        choices=_CLEARABLE,
        metavar="FIELD",
        help=f"empty a field: {', '.join(_CLEARABLE)}; repeatable",
    )


def _run_edit(request: Request) -> int:
    args = request.args
    changes = {**_fields(args), **dict.fromkeys(args.clear)}
    content = input_text(request, args.content)
    if content is not None:
        changes["content"] = content
    with desk(request) as memory:
        args.entry = full_id(memory, args.entry)
        if changes:
            answer = _update(memory, args, changes)
        else:
            _require_person(request)
            before = memory.call("memory_read_entry", {"entry_id": args.entry})["entry"]
            known = fields_of(draft_of(before))
            answer = _edit_and(
                before,
                lambda new: _update(
                    memory, args, changes_between(known, new), revision=before["revision"]
                ),
            )
    show(request, answer, _view_changed)
    return OK


def _update(
    memory: Desk, args: argparse.Namespace, changes: Mapping[str, Any], revision: int | None = None
) -> Answer:
    if not changes:
        raise UsageError("nothing was changed")
    return memory.call(
        "memory_update_entry",
        {
            **changes,
            "entry_id": args.entry,
            "allow_secret": args.allow_secret,
            **({} if revision is None else {"expected_revision": revision}),
        },
    )


def _view_changed(answer: Answer, out: Output) -> None:
    fields = ", ".join(answer["changed"]) or "nothing"
    out.line(f"changed {fields}; revision {answer['revision']}")


def _configure_status(parser: argparse.ArgumentParser, *, takes_reason: bool = False) -> None:
    parser.add_argument("entry", metavar="ID", help=ID_HELP)
    if takes_reason:
        parser.add_argument("--reason", metavar="TEXT", help="why it is no longer true")
    add_project_option(parser)


def run_status(request: Request, *, verb: str) -> int:
    """Change what the entry that `entry` names stands for."""
    reason = getattr(request.args, "reason", None)
    with desk(request) as memory:
        arguments = {"entry_id": full_id(memory, request.args.entry), "reason": reason}
        answer = memory.call(f"memory_{verb}_entry", arguments)
    show(request, answer, _view_status)
    return OK


def _view_status(answer: Answer, out: Output) -> None:
    was = f"was {answer['previous_status']}" if answer["changed"] else "as before"
    out.line(f"{answer['entry_id']} is {answer['status']} ({was})")


def _configure_delete(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("entry", metavar="ID", help=ID_HELP)
    parser.add_argument("--yes", action="store_true", help="do not ask on a terminal")
    add_project_option(parser)


def _run_delete(request: Request) -> int:
    with desk(request) as memory:
        entry_id = full_id(memory, request.args.entry)
        is_sure = confirmed(request, f"Remove the entry {entry_id} and its past for good?")
        arguments = {"entry_id": entry_id, "confirm": is_sure}
        answer = memory.call("memory_delete_entry", arguments)
    show(request, answer, lambda done, out: out.line(f"deleted {done['entry_id']}"))
    return OK


def _configure_link(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("source", metavar="SOURCE", help="an entry's id; alone: list its links")
    add("relation", nargs="?", choices=_RELATIONS, metavar="RELATION", help=", ".join(_RELATIONS))
    add("target", nargs="?", metavar="TARGET", help="the other entry's id")
    add("--label", metavar="TEXT", help="a few words about it")
    add("--remove", action="store_true", help="remove that link; SOURCE alone is a link's id")
    add_project_option(parser)


def _run_link(request: Request) -> int:
    args = request.args
    if args.relation is not None and args.target is None:
        raise UsageError("a link needs SOURCE, RELATION and TARGET")
    with desk(request) as memory:
        if args.relation is not None:
            arguments = {
                "source_entry_id": full_id(memory, args.source),
                "target_entry_id": full_id(memory, args.target),
                "relation": args.relation,
            }
            if args.remove:
                answer = memory.call("memory_unlink_entries", arguments)
            else:
                answer = memory.call("memory_link_entries", {**arguments, "label": args.label})
        elif args.remove:
            answer = memory.call("memory_unlink_entries", {"link_id": args.source})
        else:
            source = full_id(memory, args.source)
            answer = memory.call("memory_list_entry_links", {"entry_id": source})
    show(request, answer, partial(_view_link, is_removed=args.remove))
    return OK


def _view_link(answer: Answer, out: Output, *, is_removed: bool) -> None:
    if "links" in answer:
        view_links(answer, out)
        return
    verb = "linked" if answer["changed"] else "linked already"
    words = f"{answer['source_entry_id']} {answer['relation']} {answer['target_entry_id']}"
    out.line(f"{'unlinked' if is_removed else verb}: {words}")


def _status_command(verb: str, summary: str, *, takes_reason: bool = False) -> Command:
    more = ' --reason "fixed in 2.1"' if takes_reason else ""
    return Command(
        name=verb,
        summary=summary,
        configure=partial(_configure_status, takes_reason=takes_reason),
        run=told(partial(run_status, verb=verb)),
        examples=(f"schemory {verb} 0197c1d2-7a4b-7c31-9d2e-5f60718293a4{more}",),
    )


COMMANDS: tuple[Command, ...] = (
    Command(
        name="add",
        summary="keep an entry in the project's memory",
        configure=_configure_add,
        run=told(_run_add),
        examples=(
            'schemory add "Retry only on 429" --scope backend --topic http --type decision',
            "git log -1 --format=%B | schemory add - --scope ci --topic release",
            "schemory add",
        ),
    ),
    Command(
        name="edit",
        summary="change an entry; its earlier text stays in its history",
        configure=_configure_edit,
        run=told(_run_edit),
        examples=(
            "schemory edit 0197c1d2-7a4b-7c31-9d2e-5f60718293a4",
            "schemory edit 0197c1d2-7a4b-7c31-9d2e-5f60718293a4 --importance 5 --clear summary",
        ),
    ),
    _status_command("invalidate", "mark an entry as no longer true", takes_reason=True),
    _status_command("archive", "put an entry away that is no longer needed"),
    Command(
        name="delete",
        summary="remove an entry and every trace of its text",
        configure=_configure_delete,
        run=told(_run_delete),
        examples=("schemory delete 0197c1d2-7a4b-7c31-9d2e-5f60718293a4 --yes",),
    ),
    Command(
        name="link",
        summary="relate two entries, list an entry's links, or remove one",
        configure=_configure_link,
        run=told(_run_link),
        examples=(
            "schemory link NEW_ID supersedes OLD_ID",
            "schemory link ID",
            "schemory link --remove LINK_ID",
        ),
    ),
)
