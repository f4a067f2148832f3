"""What an entry may hold, and what is stored of it (memory.md §4 and §9)."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schemory.errors import (
    InvalidParamError,
    LimitExceededError,
    PathNotAllowedError,
    SecretDetectedError,
)
from schemory.memory.entries import EntryRules, check_fields
from schemory.memory.inputs import ProjectRef
from schemory.memory.settings import Limits
from schemory.model.entry import SourceType, Status

if TYPE_CHECKING:
    from tests.memory.conftest import Notes, NotesMaker, RepositoryMaker

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
ASSIGNED = 'password = "hunter2hunter2"'


@pytest.mark.covers("memory.entry.fields")
def test_an_entry_is_stored_with_what_was_given_and_what_follows_from_it(notes: "Notes") -> None:
    entry = notes.entry(
        "Über Nacht: läuft.",
        title="Nachtlauf",
        summary="Läuft.",
        source_type="bug_pattern",
        source_ref="mantis:12345",
        source_uri="https://tracker.example/12345",
        tags=("b", "a"),
        importance=5,
        confidence=0.25,
    )
    assert entry.id
    assert entry.content_sha256 == hashlib.sha256("Über Nacht: läuft.".encode()).hexdigest()
    assert (entry.status, entry.source_type) == (Status.ACTIVE, SourceType.BUG_PATTERN)
    assert (entry.importance, entry.confidence, entry.revision) == (5, 0.25, 1)
    assert entry.created_at == entry.updated_at == "2026-03-08T09:05:07.000Z"
    assert entry.created_by == "probe/1.0"
    assert (entry.invalidated_at, entry.invalidation_reason, entry.metadata) == (None, None, None)
    assert notes.read(entry.id).entry == entry


@pytest.mark.covers("memory.entry.defaults")
def test_what_is_not_given_has_its_default(notes: "Notes") -> None:
    entry = notes.entry()
    assert (entry.importance, entry.confidence, entry.tags) == (3, None, ())
    assert (entry.title, entry.summary, entry.source_ref, entry.source_path) == (None,) * 4


@pytest.mark.covers("memory.entry.normalised")
def test_scope_topic_and_tags_are_normalised(notes: "Notes") -> None:
    entry = notes.entry(
        scope="  Café\t\n Ordering ", topic=" Cafe\u0301 ", tags=("Straße", "STRASSE ", " a\tb ")
    )
    assert (entry.scope, entry.topic) == ("Café Ordering", "Café")
    assert entry.tags == ("a b", "strasse")


@pytest.mark.covers("memory.entry.verbatim")
def test_content_is_stored_byte_for_byte(notes: "Notes") -> None:
    content = "  Cafe\u0301\r\n\ttab \u200b \U0001f600 end  \n"
    assert notes.read(notes.entry(content).id).content == content


@pytest.mark.covers("memory.entry.source-types")
def test_each_of_the_eleven_source_types_is_accepted_and_no_other(notes: "Notes") -> None:
    for number, kind in enumerate(SourceType):
        assert notes.entry(f"Note {number}", source_type=kind.value).source_type is kind
    assert len(SourceType) == 11
    with pytest.raises(InvalidParamError) as refused:
        notes.add(source_type="desicion")
    assert refused.value.problems[0].nearest[0] == "decision"


LIMITED = [
    ("title", "max_title_chars", 200),
    ("summary", "max_summary_chars", 500),
    ("source_ref", "max_source_ref_chars", 400),
    ("source_uri", "max_source_uri_chars", 1000),
    ("scope", "max_scope_chars", 120),
    ("topic", "max_topic_chars", 200),
]


@pytest.mark.covers("memory.limits.characters")
@pytest.mark.parametrize(("field", "_setting", "most"), LIMITED)
def test_a_text_of_exactly_the_limit_is_stored_and_one_character_more_is_refused(
    notes: "Notes", field: str, _setting: str, most: int
) -> None:
    text = "é" * most
    assert getattr(notes.entry(**{field: text}), field) == text
    with pytest.raises(LimitExceededError) as refused:
        notes.add(**{field: text + "é"})
    (problem,) = refused.value.problems
    assert problem.path == f"$.{field}"
    assert f"MEMORY_MAX_{field.upper()}_CHARS" in problem.message
    assert problem.suggestion == f"Shorten {field}."  # only a content can be split


@pytest.mark.covers("memory.limits.configured")
@pytest.mark.parametrize(("field", "setting", "_most"), LIMITED)
def test_a_configured_limit_holds_at_its_boundary(
    open_notes: "NotesMaker", field: str, setting: str, _most: int
) -> None:
    notes = open_notes(limits=Limits(**{setting: 4}))
    assert getattr(notes.entry(**{"scope": "s", "topic": "t", field: "1234"}), field) == "1234"
    with pytest.raises(LimitExceededError):
        notes.add(**{"scope": "s", "topic": "t", field: "12345"})


@pytest.mark.covers("memory.limits.bytes")
def test_content_is_measured_in_utf8_bytes(notes: "Notes") -> None:
    assert len(notes.entry("é" * 100_000).content) == 100_000
    with pytest.raises(LimitExceededError, match="200001 UTF-8 bytes"):
        notes.add("é" * 100_000 + "x")


@pytest.mark.covers("memory.limits.tags")
def test_tags_have_a_limit_in_number_and_length(notes: "Notes") -> None:
    twenty = tuple(f"tag {n:02}" for n in range(20))
    assert notes.entry("One.", tags=(*twenty, "TAG 00")).tags == twenty
    with pytest.raises(LimitExceededError, match="21 tags"):
        notes.add("Two.", tags=(*twenty, "one more"))
    assert notes.entry("Three.", tags=("x" * 80,)).tags == ("x" * 80,)
    with pytest.raises(LimitExceededError) as refused:
        notes.add("Four.", tags=("ok", "x" * 81))
    assert refused.value.problems[0].path == "$.tags[1]"


@pytest.mark.covers("memory.entry.text-faults")
@pytest.mark.parametrize("bad", ["\0", "\x01", "\x1f", "\x0b", "\x0c", "\x1c", "\ud800"])
@pytest.mark.parametrize(
    "field",
    ["content", "title", "summary", "scope", "topic", "source_ref", "source_path", "source_uri"],
)
def test_a_control_character_or_lone_surrogate_is_refused_in_every_text(
    notes: "Notes", field: str, bad: str
) -> None:
    with pytest.raises(InvalidParamError):
        notes.add(**{field: f"a{bad}b"})
    with pytest.raises(InvalidParamError):
        notes.add(tags=("fine", f"a{bad}b"))
    assert notes.memory.status(notes.ref).entries == 0


@pytest.mark.covers("memory.entry.text-faults")
def test_tab_line_feed_and_carriage_return_are_fine(notes: "Notes") -> None:
    entry = notes.entry("a\tb\r\nc", title="a\tb", summary="a\nb")
    assert (entry.content, entry.title, entry.summary) == ("a\tb\r\nc", "a\tb", "a\nb")


@pytest.mark.covers("memory.entry.required")
@pytest.mark.parametrize("field", ["scope", "topic", "content"])
@pytest.mark.parametrize("blank", ["", "  \n"])
def test_a_blank_required_field_is_refused(notes: "Notes", field: str, blank: str) -> None:
    with pytest.raises(InvalidParamError, match=f"{field} must not be empty or blank"):
        notes.add(**{field: blank})


@pytest.mark.covers("memory.entry.blank-optional")
def test_a_blank_optional_text_is_as_none(notes: "Notes") -> None:
    entry = notes.entry(title="", summary=" ", source_uri="\n")
    assert (entry.title, entry.summary, entry.source_uri) == (None, None, None)


@pytest.mark.covers("memory.entry.numbers")
@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("importance", [1, 5], [0, 6, 2.5, True, float("nan")]),
        ("confidence", [0, 1, 0.5], [-0.01, 1.01, True, float("nan"), float("inf")]),
    ],
)
def test_importance_and_confidence_have_bounds(
    notes: "Notes", field: str, good: list[Any], bad: list[Any]
) -> None:
    for number in good:
        assert getattr(notes.entry(f"{field} {number}", **{field: number}), field) == number
    for number in bad:
        with pytest.raises(InvalidParamError):
            notes.add(**{field: number})


@pytest.mark.covers("memory.errors.all-at-once")
def test_every_problem_of_an_entry_is_told_at_once(notes: "Notes", folder: Path) -> None:
    here = notes.at(path=folder)
    with pytest.raises(InvalidParamError) as refused:
        here.add(
            " ",
            topic="x" * 201,
            source_type="nothing",
            title="a\0",
            tags=("", "ok"),
            importance=9,
            confidence=2,
            source_path="../elsewhere",
        )
    told = {problem.path: problem.code for problem in refused.value.problems}
    assert told == {
        "$.content": "INVALID_PARAM",
        "$.topic": "LIMIT_EXCEEDED",
        "$.source_type": "INVALID_PARAM",
        "$.title": "INVALID_PARAM",
        "$.tags[0]": "INVALID_PARAM",
        "$.importance": "INVALID_PARAM",
        "$.confidence": "INVALID_PARAM",
        "$.source_path": "PATH_NOT_ALLOWED",
    }
    assert refused.value.context["project_id"] == notes.memory.place(here.ref).id


# Dedupe


@pytest.mark.covers("memory.dedupe")
def test_the_same_content_is_written_once(notes: "Notes") -> None:
    first = notes.entry("Same.", title="First", tags=("a",))
    again = notes.add("Same.", title="Second", scope="BACKEND", tags=("A",), importance=4)
    assert (again.deduped, again.entry) == (True, first)
    assert again.differing == ("title", "importance")
    assert "title, importance" in again.warnings[0]
    assert notes.memory.status(notes.ref).entries == 1


@pytest.mark.covers("memory.dedupe.off", "memory.dedupe.exact")
def test_dedupe_is_exact_and_can_be_switched_off(notes: "Notes") -> None:
    first = notes.entry("Same.")
    assert not notes.add("Same. ").deduped
    second = notes.add("Same.", dedupe=False)
    assert (second.deduped, second.entry.id != first.id) == (False, True)
    assert notes.add("Same.").entry.id == first.id


@pytest.mark.covers("memory.dedupe.active-only")
def test_only_an_active_entry_counts_as_the_same(notes: "Notes") -> None:
    first = notes.entry("Same.")
    notes.memory.invalidate_entry(notes.ref, first.id)
    second = notes.add("Same.")
    assert not second.deduped
    assert notes.read(first.id).entry.status is Status.INVALIDATED
    assert notes.at("other").add("Same.").deduped is False


@pytest.mark.covers("memory.near-duplicates")
def test_a_new_entry_is_told_its_near_twin_and_stored_all_the_same(notes: "Notes") -> None:
    first = notes.entry("The token middleware treats expiry as inclusive, use < and not <=.")
    notes.entry("The queue worker retries three times with a growing pause in between.")
    added = notes.add("The token middleware treats expiry as inclusive: use < and never <=.")
    assert [twin.entry.id for twin in added.similar] == [first.id]
    assert first.id in added.warnings[0]
    assert notes.memory.status(notes.ref).entries == 3
    assert notes.add("Releases are cut on Fridays only.").similar == ()


# Secrets


@pytest.mark.covers("memory.secrets.refused", "memory.secrets.every-field")
@pytest.mark.parametrize(
    "field",
    ["content", "title", "summary", "scope", "topic", "source_ref", "source_path", "source_uri"],
)
def test_a_credential_is_refused_in_every_field_without_its_value(
    notes: "Notes", folder: Path, field: str
) -> None:
    here = notes.at(path=folder)
    with pytest.raises(SecretDetectedError) as refused:
        here.add(**{field: f"use {TOKEN} here"})
    assert refused.value.context["findings"] == [
        {"rule": "github-token", "field": field, "start": 4, "end": 44}
    ]
    told = f"{refused.value.message} {refused.value.problems} {refused.value.suggestions}"
    assert TOKEN not in told
    assert here.memory.status(here.ref).entries == 0


@pytest.mark.covers("memory.secrets.every-field")
def test_a_credential_in_a_tag_is_refused(notes: "Notes") -> None:
    with pytest.raises(SecretDetectedError) as refused:
        notes.add(tags=("fine", TOKEN))
    assert refused.value.context["findings"] == [
        {"rule": "github-token", "field": "tags", "start": 0, "end": 40}
    ]


@pytest.mark.covers("memory.secrets.refused")
def test_an_assignment_to_a_password_is_refused_and_innocent_texts_are_stored(
    notes: "Notes",
) -> None:
    with pytest.raises(SecretDetectedError):
        notes.add(ASSIGNED)
    for innocent in (
        "the variable SUPABASE_SERVICE_ROLE_KEY is set in CI",
        "3f786850e387550fdab836ed7e6dc881de23001b",
        "password reset flow uses tokens",
        "0192f5a0-7b1c-7e2f-9a53-6f1d2c3b4a59",
    ):
        assert notes.add(innocent).deduped is False


@pytest.mark.covers("memory.secrets.allowed")
def test_an_allowed_credential_is_stored_with_a_warning_and_the_audit_says_so(
    notes: "Notes",
) -> None:
    added = notes.add(ASSIGNED, allow_secret=True)
    assert notes.read(added.entry.id).content == ASSIGNED
    assert any("stored as allowed" in warning for warning in added.warnings)
    assert not any("hunter2" in warning for warning in added.warnings)
    (row,) = notes.audit()
    assert (row.result["allow_secret"], row.result["findings"]) == (True, 1)


@pytest.mark.covers("memory.secrets.refused")
def test_a_credential_beside_other_problems_still_decides_the_code(notes: "Notes") -> None:
    with pytest.raises(SecretDetectedError, match="1 other problem") as refused:
        notes.add(TOKEN, importance=9)
    assert [p.path for p in refused.value.problems] == ["$.importance", "$.content"]


# Source files


@pytest.mark.covers("memory.source.stored")
def test_a_source_inside_the_project_is_stored_relative_to_it_with_its_fingerprint(
    notes: "Notes", repository: "RepositoryMaker"
) -> None:
    top = repository("api", "https://example.org/api")
    nested = top / "src"
    nested.mkdir()
    (nested / "auth.py").write_bytes(b"hello\n")
    here = notes.at(path=nested)
    entry = here.entry(source_path="auth.py")
    assert entry.source_path == "src/auth.py"
    assert entry.source_sha256 == hashlib.sha256(b"hello\n").hexdigest()
    assert entry.source_bytes == 6
    assert entry.source_blob == "ce013625030ba8dba906f756967f9e9ca394464a"  # git's own, for hello
    assert notes.at(path=top).read(entry.id).source_state == "unchanged"


@pytest.mark.covers("memory.source.state")
def test_a_read_says_whether_the_source_is_still_what_it_was(notes: "Notes", folder: Path) -> None:
    file = folder / "notes.md"
    file.write_text("one")
    here = notes.at(path=folder)
    entry = here.entry(source_path=str(file))
    assert here.read(entry.id).source_state == "unchanged"
    file.write_text("two")
    assert here.read(entry.id).source_state == "changed"
    file.write_text("three")
    assert here.read(entry.id).source_state == "changed"
    file.unlink()
    assert here.read(entry.id).source_state == "missing"


@pytest.mark.covers("memory.source.need-not-exist")
def test_a_source_need_not_exist(notes: "Notes", folder: Path) -> None:
    here = notes.at(path=folder)
    entry = here.entry(source_path="planned/x.py")
    assert (entry.source_path, entry.source_sha256) == ("planned/x.py", None)
    assert here.read(entry.id).source_state is None


@pytest.mark.covers("memory.source.allowed")
@pytest.mark.parametrize("escape", ["../outside.md", "link/outside.md", "/etc/passwd"])
def test_a_source_outside_the_project_and_the_roots_is_refused(
    notes: "Notes", folder: Path, tmp_path: Path, escape: str
) -> None:
    (tmp_path / "outside.md").write_text("x")
    (folder / "link").symlink_to(tmp_path)
    with pytest.raises(PathNotAllowedError):
        notes.at(path=folder).add(source_path=escape)


@pytest.mark.covers("memory.source.allowed")
def test_a_source_in_an_allowed_root_is_stored_in_full(
    open_notes: "NotesMaker", tmp_path: Path
) -> None:
    for name in ("project", "docs"):
        (tmp_path / name).mkdir()
    notes = open_notes(allowed_roots=(str(tmp_path / "project"), str(tmp_path / "docs")))
    here = notes.at(path=tmp_path / "project")
    document = tmp_path / "docs" / "a.md"
    document.write_text("x")
    entry = here.entry(source_path=str(document))
    assert entry.source_path == document.as_posix()
    assert here.read(entry.id).source_state == "unchanged"
    by_id = notes.at(here.memory.place(here.ref).id)
    assert by_id.read(entry.id).source_state == "unchanged"
    assert by_id.entry("Other.", source_path=str(document)).source_path == document.as_posix()


@pytest.mark.covers("memory.source.id-alone")
def test_with_an_id_alone_no_file_is_looked_at_outside_the_roots(
    notes: "Notes", folder: Path
) -> None:
    (folder / "a.md").write_text("x")
    here = notes.at(path=folder)
    entry = here.entry(source_path="a.md")
    by_id = notes.at(here.memory.place(ProjectRef(project_path=str(folder))).id)
    assert by_id.read(entry.id).source_state is None
    with pytest.raises(PathNotAllowedError, match="source_path"):
        by_id.add("Other.", source_path=str(folder / "a.md"))


@pytest.mark.covers("memory.source.need-not-exist")
def test_a_folder_a_pipe_and_a_giant_have_no_fingerprint(notes: "Notes", folder: Path) -> None:
    (folder / "sub").mkdir()
    os.mkfifo(folder / "pipe")
    with (folder / "giant").open("wb") as file:
        file.truncate(64 * 1024 * 1024 + 1)
    here = notes.at(path=folder)
    assert here.entry("One.", source_path="sub").source_sha256 is None
    assert here.entry("Two.", source_path="pipe").source_sha256 is None
    giant = here.add("Three.", source_path="giant")
    assert giant.entry.source_sha256 is None
    assert "64 MiB" in giant.warnings[0]


# The rules alone, for imports


@pytest.mark.covers("memory.entry.pure-rules")
def test_the_rules_need_no_store() -> None:
    rules = EntryRules(limits=Limits(max_tags=1), allowed_tags=("a",))
    checked = check_fields(
        {"scope": " A  b ", "tags": ["A"], "title": None, "colour": "red"}, rules
    )
    assert checked.values == {"scope": "A b", "tags": ["a"], "title": None}
    assert [problem.path for problem in checked.problems] == ["$.colour"]


@pytest.mark.covers("memory.entry.pure-rules")
@pytest.mark.parametrize(
    ("field", "value"),
    [("title", 5), ("content", ["x"]), ("tags", "x"), ("tags", [1]), ("importance", "high")],
)
def test_a_value_of_another_kind_is_refused(field: str, value: Any) -> None:
    checked = check_fields({field: value}, EntryRules())
    assert field not in checked.values
    assert [problem.code for problem in checked.problems] == ["INVALID_PARAM"]


@pytest.mark.covers("memory.entry.time")
def test_times_are_utc_with_milliseconds(notes: "Notes", advance: Callable[[float], None]) -> None:
    advance(0.25)
    assert notes.entry().created_at == "2026-03-08T09:05:07.250Z"
