"""Files that are broken or made to harm are refused whole, with everything that is wrong told."""

import hashlib
import io
import json
import struct
import warnings
import zipfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from tests.transfer.damage import damaged_zips

from schemory.errors import (
    InvalidParamError,
    LimitExceededError,
    SchemoryError,
    SecretDetectedError,
)
from schemory.memory.settings import Limits
from schemory.model.jsonvalue import Json
from schemory.transfer.memory import archive_limits

if TYPE_CHECKING:
    from tests.transfer.conftest import Box, BoxMaker

EARLY = "2026-01-01T00:00:00.000Z"
FORMAT = "memory-node.project-export"


def entry(entry_id: str = "a", **fields: Any) -> dict[str, Any]:
    facts = {"scope": "s", "topic": "t", "content": f"Note {entry_id}.", "source_type": "decision"}
    return {"id": entry_id, **facts, "created_at": EARLY, **fields}


def link(link_id: str, source: str, target: str, relation: str = "explains") -> dict[str, Any]:
    ends = {"source_entry_id": source, "target_entry_id": target}
    return {"id": link_id, **ends, "relation": relation, "created_at": EARLY}


def envelope(**parts: Any) -> dict[str, Any]:
    return {"format": FORMAT, "version": 1, "project": {"id": "p"}, "entries": [entry()], **parts}


def refusal(box: "Box", data: str | bytes | dict[str, Any], name: str = "in.json") -> SchemoryError:
    """Import what must be refused; nothing may be stored."""
    box.write(name, json.dumps(data) if isinstance(data, dict) else data)
    with pytest.raises(SchemoryError) as refused:
        box.take(name)
    assert box.held().entries == {}
    assert box.last_seq() == 0
    assert "nothing was stored" in refused.value.message
    return refused.value


# Contents


@pytest.mark.covers("memory.transfer.import.problems")
def test_every_problem_of_a_file_is_told_with_its_place(box: "Box") -> None:
    entries = [
        entry("a", scope="", status="gone", importance=9),
        entry("b", content_sha256="0" * 64),
        entry("b2", revision=0, created_at="yesterday", source_sha256="x", metadata=[1]),
        entry("c", content=None, colour="red"),
        entry("ok"),
        entry("ok"),
        "no object",
    ]
    tags = [{"name": " "}, {"name": "x"}, {"name": "X"}]
    error = refusal(box, envelope(entries=entries, tags=tags, links=[link("l", "ok", "ok")]))
    assert {problem.path for problem in error.problems} == {
        "$.entries[0].scope",
        "$.entries[0].status",
        "$.entries[0].importance",
        "$.entries[1].content_sha256",
        "$.entries[2].revision",
        "$.entries[2].created_at",
        "$.entries[2].source_sha256",
        "$.entries[2].metadata",
        "$.entries[3].content",
        "$.entries[3].colour",
        "$.entries[5].id",
        "$.entries[6]",
        "$.tags[0].name",
        "$.tags[2].name",
        "$.links[0].target_entry_id",
    }
    assert error.code == "INVALID_PARAM"


@pytest.mark.covers("memory.transfer.import.problems")
def test_of_very_many_problems_the_first_are_told_and_all_counted(box: "Box") -> None:
    error = refusal(box, envelope(entries=[entry(f"e{n}", topic="") for n in range(500)]))
    assert len(error.problems) == 50
    assert error.context["problemCount"] == 500


@pytest.mark.covers("memory.transfer.import.links")
@pytest.mark.parametrize(
    ("links", "path"),
    [
        ([link("l", "a", "zz")], "$.links[0].target_entry_id"),
        ([link("l", "zz", "a")], "$.links[0].source_entry_id"),
        ([link("l", "a", "b"), link("l", "b", "a")], "$.links[1].id"),
        ([link("l", "a", "b"), link("m", "a", "b")], "$.links[1].id"),
        ([link("l", "a", "b", "hates")], "$.links[0].relation"),
        (
            [link(f"l{s}", s, t, "supersedes") for s, t in ("ab", "bc", "ca", "dc")],
            "$.entries[",
        ),
    ],
)
def test_links_that_cannot_stand_are_refused(
    box: "Box", links: list[dict[str, Any]], path: str
) -> None:
    error = refusal(box, envelope(entries=[entry(i) for i in "abcd"], links=links))
    assert error.problems[0].path.startswith(path)


@pytest.mark.covers("memory.transfer.import.links")
def test_an_entry_that_a_link_of_the_file_supersedes_is_superseded(box: "Box") -> None:
    told = envelope(entries=[entry("a"), entry("b")], links=[link("l", "b", "a", "supersedes")])
    box.write("in.json", json.dumps(told))
    box.take("in.json")
    assert {i: str(s) for i, s in box.statuses().items()} == {"a": "superseded", "b": "active"}


@pytest.mark.covers("memory.transfer.import.limits")
def test_the_limits_and_allowed_tags_of_the_project_hold(open_box: "BoxMaker") -> None:
    box = open_box(limits=Limits(max_entry_bytes=10, max_tags=1), allowed_tags=("x",))
    error = refusal(box, envelope(entries=[entry(content="12345678901")]))
    assert isinstance(error, LimitExceededError)
    assert refusal(box, envelope(entries=[entry(content="1", tags=["y"])])).code == "INVALID_PARAM"
    box.write("in.json", json.dumps(envelope(entries=[entry(content="1234567890", tags=["X"])])))
    assert box.take("in.json").counts.inserted == 1


SECRET = "AKIA" + "QWERTYUIOPASDFGH"


@pytest.mark.covers("memory.transfer.import.secrets")
@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"content": f"key {SECRET}"}, "$.entries[0].content"),
        ({"summary": SECRET}, "$.entries[0].summary"),
        ({"invalidation_reason": SECRET}, "$.entries[0].invalidation_reason"),
        ({"metadata": {"a": [{"b": SECRET}]}}, "$.entries[0].metadata"),
    ],
)
def test_a_credential_refuses_the_file_and_is_shown_nowhere(
    box: "Box", fields: dict[str, Any], field: str
) -> None:
    error = refusal(box, envelope(entries=[entry(**fields)]))
    assert isinstance(error, SecretDetectedError)
    findings = error.context["findings"]
    assert isinstance(findings, list)
    assert findings[0]["field"] == field
    assert SECRET not in f"{error} {error.problems} {error.context} {box.audit()}"
    report = box.take("in.json", allow_secret=True)
    assert report.counts.inserted == 1
    assert any("seem to hold a credential" in warning for warning in report.warnings)
    assert box.audit()[-1].result["findings"] == 1


# Texts


@pytest.mark.covers("memory.transfer.import.broken-json")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "null",
        "[]",
        '"x"',
        '{"format":"memory-node.project-export","version":1,"entries":[',
        '{"format":"memory-node.project-export","version":1,"entries":[]} x',
        '{"format":"memory-node.project-export","version":1,"entries":[{"id":"a",}]}',
        '{"format":"memory-node.project-export","version":1,"entries":{}}',
        '{"format":"memory-node.project-export","version":1,"entries":[],"entries":[]}',
        '{"format":"memory-node.project-export","version":1,"entries":[{"id":"a","id":"b"}]}',
        '{"format":"memory-node.project-export","version":1,"entries":[{"importance":NaN}]}',
        '{"format":"memory-node.project-export","version":1,"entrys":[]}',
        '{"format":"memory-node.project-export","version":2,"entries":[]}',
        '{"format":"memory-node.project-export","version":true,"entries":[]}',
        '{"format":"something else","version":1,"entries":[]}',
        '{"version":1,"entries":[]}',
        '{"format":"memory-node.project-export","entries":[]}',
        '{"entries":[]}',
        '{"format":"memory-node.project-export","version":1,"entries":' + "[" * 100_000,
        '{"format":"memory-node.project-export","version":1,"entries":[' + '{"a":' * 100_000,
        '{"format":"memory-node.project-export","version":1,"entries":[1' + "0" * 5_000 + "]}",
        b"\xff\xfe{",
        b'{"format":"memory-node.project-export","version":1,"entries":[{"id":"\xff"}]}',
        b"PK\x03\x04 and nothing more",
    ],
)
def test_what_is_no_export_is_refused(box: "Box", text: str | bytes) -> None:
    assert isinstance(refusal(box, text), InvalidParamError)


@pytest.mark.covers("memory.transfer.import.broken-json")
@pytest.mark.parametrize(
    "text",
    [
        '{"id":"a"',
        "[1]",
        '{"format":"memory-node.project-export","version":3}',
        json.dumps({**entry(), "links": 5}),
        json.dumps({**entry(), "links": [5]}),
        json.dumps(entry()) + "\n" + json.dumps(entry())[:-5],
        json.dumps({"tag": 5}),
    ],
)
def test_lines_that_are_no_export_are_refused(box: "Box", text: str) -> None:
    assert isinstance(refusal(box, text, "in.jsonl"), InvalidParamError)


@pytest.mark.covers("memory.transfer.import.broken-json")
def test_odd_numbers_and_controls_are_refused_wherever_they_stand(box: "Box") -> None:
    body = json.dumps(envelope())
    for bad in ('"metadata":{"k":1e999}', '"metadata":{"k":"\\u0000"}', '"metadata":{"\\ud800":1}'):
        error = refusal(box, body.replace('"scope"', bad + ',"scope"'))
        assert error.problems[0].path == "$.entries[0].metadata"
    deep = '{"a":' * 60 + "1" + "}" * 60
    error = refusal(box, body.replace('"scope"', f'"metadata":{deep},"scope"'))
    assert "nested" in error.message


@pytest.mark.covers("memory.transfer.import.one-line")
def test_lines_without_a_head_and_an_envelope_on_one_line_are_told_apart(
    box: "Box", other: "Box"
) -> None:
    box.write("in.txt", "\n".join(json.dumps(entry(i)) for i in "ab"))
    assert box.take("in.txt").counts.inserted == 2
    other.write("in.txt", json.dumps({"entries": [entry("a")], "format": FORMAT, "version": 1}))
    assert other.take("in.txt").counts.inserted == 1


# Archives

Change = Callable[[dict[str, bytes], dict[str, Any]], None]


def archive(members: dict[str, bytes] | None = None, change: Change | None = None) -> bytes:
    """Return an archive that is sound, but for what the test changes."""
    own = {"entries.json": json.dumps([entry()]).encode(), **(members or {})}
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "version": 1,
        "project": {"id": "p"},
        "members": {n: {"sha256": hashlib.sha256(d).hexdigest()} for n, d in own.items()},
    }
    if change is not None:
        change(own, manifest)
    return packed([*own.items(), ("manifest.json", json.dumps(manifest).encode())])


def packed(members: list[tuple[str | zipfile.ZipInfo, bytes]]) -> bytes:
    target = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the double names that are meant here
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
            for name, data in members:
                made.writestr(name, data)
    return target.getvalue()


def sound_members() -> list[tuple[str | zipfile.ZipInfo, bytes]]:
    with zipfile.ZipFile(io.BytesIO(archive())) as made:
        return [(name, made.read(name)) for name in made.namelist()]


def symlink(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = 0o120777 << 16
    return info


@pytest.mark.covers("memory.transfer.import.hostile-zip")
def test_a_sound_archive_is_taken(box: "Box") -> None:
    box.write("in.zip", archive({"tags.json": b'[{"name":"x"}]', "links.json": b"[]"}))
    assert box.take("in.zip").counts.inserted == 1


@pytest.mark.covers("memory.transfer.import.hostile-zip")
@pytest.mark.parametrize(
    "name",
    [
        "../entries.json",
        "/etc/passwd",
        "..\\entries.json",
        "C:\\x",
        "sub/entries.json",
        "x.zip",
        "a\0b",
    ],
)
def test_members_of_other_names_are_refused(box: "Box", name: str) -> None:
    error = refusal(box, packed([*sound_members(), (name, b"PK")]), "in.zip")
    assert "is none of" in error.message
    assert not (box.folder.parent / "entries.json").exists()


@pytest.mark.covers("memory.transfer.import.hostile-zip")
def test_two_members_of_one_name_are_refused(box: "Box") -> None:
    error = refusal(box, packed([*sound_members(), ("entries.json", b"[]")]), "in.zip")
    assert "more than once" in error.message


@pytest.mark.covers("memory.transfer.import.hostile-zip")
def test_links_and_missing_members_are_refused(box: "Box") -> None:
    data = packed([*sound_members(), (symlink("tags.json"), b"/etc/passwd")])
    assert "no regular file" in refusal(box, data, "in.zip").message
    assert "is missing" in refusal(box, packed(sound_members()[1:]), "in.zip").message
    assert "is missing" in refusal(box, packed(sound_members()[:1]), "in.zip").message


@pytest.mark.covers("memory.transfer.import.hostile-zip")
def test_encrypted_members_are_refused(box: "Box") -> None:
    data = bytearray(archive())
    at = data.find(b"PK\x01\x02")
    data[at + 8] |= 1
    assert "encrypted" in refusal(box, bytes(data), "in.zip").message


@pytest.mark.covers("memory.transfer.import.sums")
def test_wrong_sums_are_refused(box: "Box") -> None:
    def lie(_own: dict[str, bytes], manifest: dict[str, Any]) -> None:
        manifest["members"]["entries.json"] = {"sha256": "0" * 64}

    def forget(_own: dict[str, bytes], manifest: dict[str, Any]) -> None:
        manifest["members"] = {}

    def invent(_own: dict[str, bytes], manifest: dict[str, Any]) -> None:
        manifest["members"]["links.json"] = {"sha256": "0" * 64}

    assert "does not have the sum" in refusal(box, archive(change=lie), "in.zip").message
    assert "tells no sum" in refusal(box, archive(change=forget), "in.zip").message
    assert "not in the archive" in refusal(box, archive(change=invent), "in.zip").message
    summary = {"audit-summary.json": b"{}"}

    def lie_of_summary(_own: dict[str, bytes], manifest: dict[str, Any]) -> None:
        manifest["members"]["audit-summary.json"] = "0" * 64

    assert "the sum" in refusal(box, archive(summary, lie_of_summary), "in.zip").message


@pytest.mark.covers("memory.transfer.import.sums")
def test_a_damaged_byte_is_noticed(box: "Box") -> None:
    data = bytearray(archive())
    data[60] ^= 0xFF
    assert isinstance(refusal(box, bytes(data), "in.zip"), InvalidParamError)


@pytest.mark.covers("memory.transfer.import.sums")
def test_a_damaged_archive_is_refused_however_it_is_damaged(box: "Box") -> None:
    for how, data in damaged_zips(archive()):
        box.write("in.zip", data)
        try:
            box.take("in.zip")
        except SchemoryError:
            continue
        assert list(box.held().entries) == ["a"], how


@pytest.mark.covers("memory.transfer.import.version")
@pytest.mark.parametrize(("key", "value"), [("version", 2), ("version", None), ("format", "x")])
def test_an_archive_of_another_version_or_format_is_refused(
    box: "Box", key: str, value: Json
) -> None:
    def change(_own: dict[str, bytes], manifest: dict[str, Any]) -> None:
        manifest[key] = value

    assert isinstance(refusal(box, archive(change=change), "in.zip"), InvalidParamError)


@pytest.mark.covers("memory.transfer.import.bomb")
def test_an_archive_that_unpacks_to_far_more_than_itself_is_refused(box: "Box") -> None:
    blank = b" " * (archive_limits.HARMLESS_BYTES + 1024 * 1024)
    error = refusal(box, archive({"entries.json": b"[" + blank + b"]"}), "in.zip")
    assert isinstance(error, LimitExceededError)


@pytest.mark.covers("memory.transfer.import.bomb")
def test_a_member_that_unpacks_to_more_than_it_says_is_refused(box: "Box") -> None:
    data = bytearray(archive({"entries.json": b"[" + b" " * 100_000 + b"]"}))
    at = data.find(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 10)
    assert isinstance(refusal(box, bytes(data), "in.zip"), InvalidParamError)


@pytest.mark.covers("memory.transfer.import.bomb")
def test_a_directory_of_many_members_is_refused_before_it_is_read(
    box: "Box", monkeypatch: pytest.MonkeyPatch
) -> None:
    many = packed([(f"m{n}", b"") for n in range(2_000)])
    monkeypatch.setattr("schemory.transfer.memory.archive_read.zipfile.ZipFile", None)
    assert "more than 16 members" in refusal(box, many, "in.zip").message


@pytest.mark.covers("memory.transfer.import.bomb")
def test_a_member_far_longer_than_an_entry_may_be_is_refused_unread(open_box: "BoxMaker") -> None:
    box = open_box(limits=Limits(max_entry_bytes=10))
    long = "x" * (5 * 1024 * 1024)
    text = json.dumps(envelope(entries=[entry(content=long)]))
    assert "characters" in refusal(box, text).message
    lines = json.dumps(entry(content=long * 4)) + "\n{}"
    assert isinstance(refusal(box, lines, "in.jsonl"), LimitExceededError)


@pytest.mark.covers("memory.transfer.import.bomb")
def test_an_export_that_would_be_taken_for_a_bomb_is_not_packed(
    box: "Box", other: "Box", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_limits, "HARMLESS_BYTES", 10_000)
    monkeypatch.setattr(archive_limits, "MAX_RATIO", 20)
    box.put(box.make("a", "a" * 150_000))
    box.export("out.zip")
    assert (box.folder / "out.zip").stat().st_size > 150_000
    assert other.take("out.zip").counts.inserted == 1
