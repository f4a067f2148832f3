"""What would stand in a client's file after setting it up or undoing that; pure, bytes to bytes."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import cast

from schemory.errors import ConfigError, ConflictError
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json
from schemory.setup.clients.client import Client, Format, KeyPath
from schemory.setup.clients.entry import (
    Entry,
    is_ours,
    is_same,
    is_switched_off,
    shaped,
    told,
)
from schemory.setup.clients.form import Written, broken, read_form
from schemory.setup.clients.jsonc import Document, JsoncError, read_jsonc
from schemory.setup.clients.jsonc_edit import remove_member, set_member
from schemory.setup.clients.toml_edit import TomlError, read_toml, remove_table, set_table

_NO_MARK = Written(text="")


class Kind(StrEnum):
    """What happens to a file."""

    CREATED = "created"
    MERGED = "merged"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"
    REMOVED = "removed"
    RESTORED = "restored"
    DELETED = "deleted"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A file before and after.

    Attributes:
        before: None = no such file.
        after: None = no such file any more.
        notes: What a person should know.
        needless: What backups hold that keep nothing but earlier entries of ours.
    """

    kind: Kind
    before: bytes | None
    after: bytes | None
    notes: tuple[str, ...] = ()
    needless: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The servers that a file names.

    Attributes:
        key: The keys that lead to them in this file.
        is_newer: Whether that is the client's newer layout.
        servers: Their entries by name.
    """

    key: KeyPath
    is_newer: bool
    servers: Mapping[str, object]
    extras: Mapping[str, int]


def find_servers(client: Client, data: bytes, file: str) -> Found:
    """Return the servers that a file of `client` names.

    Raises:
        ConfigError: The file cannot be understood.
    """
    return _find(client, read_form(data, file), file)


def plan_install(
    client: Client,
    existing: bytes | None,
    entry: Entry,
    *,
    name: str,
    file: str,
    force: bool = False,
) -> Change:
    """Return the file with our entry in it; everything else in it stays as it is.

    Raises:
        ConfigError: The file cannot be understood.
        ConflictError: It has another entry of that name and `force` is off.
        UnsupportedError: The client cannot refer to a variable.
    """
    form = read_form(existing, file) if existing is not None else _NO_MARK
    found = _find(client, form, file)
    wanted = shaped(entry, client, is_newer=found.is_newer)
    there = found.servers.get(name)
    notes = tuple(_notes(client, form, found))
    if name in found.servers:
        if is_same(there, wanted):
            off = (f"{client.title} has it switched off",) if is_switched_off(there) else ()
            return Change(
                kind=Kind.UNCHANGED, before=existing, after=existing, notes=(*notes, *off)
            )
        if not force:
            raise _conflict(there, name, file)
    text = _with_entry(client, form, found, name, wanted, keep=is_ours(there), file=file)
    kind = Kind.CREATED if existing is None else Kind.MERGED
    return Change(
        kind=Kind.REPLACED if name in found.servers else kind,
        before=existing,
        after=form.with_text(text).encode(),
        notes=notes,
    )


def plan_removal(
    client: Client, existing: bytes, *, name: str, file: str, backups: Sequence[bytes] = ()
) -> Change:
    """Return the file without our entry: its original bytes where a backup has them.

    A file that held nothing but our entry and was made by us is deleted. Whether a backup is the
    original shows when setting it up again gives the file as it is now.

    Raises:
        ConfigError: The file cannot be understood.
    """
    form = read_form(existing, file)
    found = _find(client, form, file)
    if name not in found.servers:
        return Change(kind=Kind.ABSENT, before=existing, after=existing)
    value = found.servers[name]
    originals = [backup for backup in backups if not _has_ours(client, backup, name, file)]
    for original in (*originals, None):
        if _again(client, original, name, value, file) == existing:
            kind = Kind.DELETED if original is None else Kind.RESTORED
            later = [backup for backup in backups if backup not in originals]
            return Change(
                kind=kind,
                before=existing,
                after=original,
                needless=tuple(
                    each for each in later if _is_ours_only(client, original, each, name, file)
                ),
            )
    path = (*found.key, name)
    is_toml = client.format is Format.TOML
    text = remove_table(form.text, path) if is_toml else remove_member(form.text, path)
    wanted = _data(client, form.text, file)
    del _servers_in(wanted, found.key)[name]
    _require(client, text, wanted, file, may_vanish=found.key)
    after = form.with_text(text).encode()
    kind = Kind.RESTORED if after in originals else Kind.REMOVED
    return Change(kind=kind, before=existing, after=after)


def _is_ours_only(
    client: Client, original: bytes | None, later: bytes, name: str, file: str
) -> bool:
    """Whether a file was the original with another entry of ours, and nothing else."""
    value = find_servers(client, later, file).servers[name]
    return _again(client, original, name, value, file) == later


def _has_ours(client: Client, data: bytes, name: str, file: str) -> bool:
    """Whether a backup has an earlier entry of ours, so that it is not the original."""
    try:
        return is_ours(find_servers(client, data, file).servers.get(name))
    except ConfigError:
        return False


def _again(client: Client, data: bytes | None, name: str, value: object, file: str) -> bytes | None:
    """Return what installing an entry into `data` gives; None when that is not possible."""
    if not isinstance(value, Mapping):
        return None
    try:
        form = read_form(data, file) if data is not None else _NO_MARK
        found = _find(client, form, file)
        there = found.servers.get(name)
        members = cast("Mapping[str, Json]", value)
        text = _with_entry(client, form, found, name, members, keep=is_ours(there), file=file)
    except ConfigError:
        return None
    return form.with_text(text).encode()


def _find(client: Client, form: Written, file: str) -> Found:
    extras: Mapping[str, int] = {}
    if client.format is Format.TOML:
        data: object = _read_toml(form.text, file)
    else:
        document = _read_json(client, form.text, file)
        data = {} if document.is_blank else document.data
        extras = document.extras
    key, is_newer = client.key, False
    if client.newer_key is not None and _at(data, client.newer_key, file) is not None:
        key, is_newer = client.newer_key, True
    servers = _at(data, key, file)
    return Found(key=key, is_newer=is_newer, servers=servers or {}, extras=extras)


def _at(data: object, key: KeyPath, file: str) -> Mapping[str, object] | None:
    """Return the object at `key`, or None when it is not there."""
    for depth, step in enumerate((None, *key)):
        if step is not None:
            members = cast("Mapping[str, object]", data)
            if step not in members:
                return None
            data = members[step]
        if not isinstance(data, Mapping):
            where = ".".join(key[:depth]) or "the file"
            message = f"{file}: {where} is no object, so nothing can be added to it; left as it is"
            raise ConfigError.at(f"{file}: {where}", message)
    return cast("Mapping[str, object]", data)


def _with_entry(
    client: Client,
    form: Written,
    found: Found,
    name: str,
    wanted: Mapping[str, Json],
    *,
    keep: bool,
    file: str,
) -> str:
    """Return the text with the entry; with `keep`, what else is in an entry of ours stays."""
    text = form.text
    if not text.strip() and client.preset:
        text = set_member(text, [client.preset[0][0]], client.preset[0][1], line_end="\n")
    expected = _data(client, text, file)
    servers = _servers_in(expected, found.key)
    path = (*found.key, name)
    there = cast("dict[str, Json]", servers.get(name)) if keep else {}
    servers[name] = merged = _merged(there, wanted)
    changes = {key: value for key, value in merged.items() if there.get(key) != value}
    if client.format is Format.TOML:
        base = text if keep else remove_table(text, path)
        text = set_table(base, path, changes, line_end=form.line_end)
    elif keep:
        for key, value in changes.items():
            text = set_member(text, (*path, key), value, line_end=form.line_end)
    else:
        text = set_member(text, path, merged, line_end=form.line_end)
    _require(client, text, expected, file)
    return text


def _merged(there: Mapping[str, Json], wanted: Mapping[str, Json]) -> dict[str, Json]:
    """Return an entry of ours brought up to date; what a person added to it stays."""
    merged: dict[str, Json] = {**there, **wanted}
    for key, value in wanted.items():
        before = there.get(key)
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            merged[key] = {**before, **value}
        if key == "enabled" and key in there:
            merged[key] = before
    return merged


def _servers_in(data: dict[str, object], key: KeyPath) -> dict[str, object]:
    for step in key:
        data = cast("dict[str, object]", data.setdefault(step, {}))
    return data


def _data(client: Client, text: str, file: str) -> dict[str, object]:
    if client.format is Format.TOML:
        return _read_toml(text, file)
    document = _read_json(client, text, file)
    return {} if document.is_blank else cast("dict[str, object]", document.data)


def _require(
    client: Client,
    text: str,
    expected: dict[str, object],
    file: str,
    *,
    may_vanish: KeyPath = (),
) -> None:
    """Refuse a result that does not mean what it should: such a file is better edited by hand.

    A TOML table at `may_vanish` that only its subtables made goes with the last of them.
    """
    try:
        result = _data(client, text, file)
        if may_vanish:
            _servers_in(result, may_vanish)
        is_right = result == expected
    except ConfigError:
        is_right = False
    if not is_right:
        message = f"{file} is laid out in a way that cannot be edited safely; it was left as it is"
        raise ConfigError.at(
            file,
            message,
            suggestion="`schemory install --print` shows the entry; put it in by hand.",
        )


def _read_json(client: Client, text: str, file: str) -> Document:
    try:
        return read_jsonc(text, client.newer_key or client.key)
    except JsoncError as fault:
        raise broken(file, fault.line, fault.column, fault.fault) from None


def _read_toml(text: str, file: str) -> dict[str, object]:
    try:
        return read_toml(text)
    except TomlError as fault:
        raise broken(file, fault.line, fault.column, fault.fault) from None


def _notes(client: Client, form: Written, found: Found) -> list[str]:
    if client.reads_comments is not False:
        return []
    return [
        f"{client.title} reads plain JSON: the {what} in line {form.text.count(chr(10), 0, at) + 1}"
        " may keep it from reading this file"
        for what, at in found.extras.items()
    ]


def _conflict(there: object, name: str, file: str) -> ConflictError:
    whose = "an older or different entry of ours" if is_ours(there) else "an entry"
    message = f'{file} has {whose} called "{name}", which starts: {told(there)}'
    return ConflictError.at(
        f"{file}: {name}",
        message,
        suggestion="--force replaces it (with a backup); --name OTHER adds a second one.",
    )
