"""Cutting Markdown: sections of substance, whole fences, and no line lost."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.transfer.foreign.frontmatter import read_front_matter
from schemory.transfer.foreign.sections import WHOLE_CHARS, Why, lines_of, split

_ROOM = 200_000

_LINES = st.lists(
    st.sampled_from(
        [
            *("", "", "# Top", "## Part", "### Deep", "#### Deeper", "Set", "===", "---", "text"),
            *("```", "```python", "~~~", "    code", "- item", "  - nested # no heading"),
            *("> # quoted", "<!-- x:start -->", "<!-- x:end -->", "<!-- a comment", "-->"),
            *("TODO", "- [a](#b)", "| a | b |", "|---|---|", "title: x", "long " * 60, "é 字 🎯"),
        ]
    ),
    max_size=60,
)


@pytest.mark.covers("transfer.notes.lossless")
@given(lines=_LINES, ends=st.booleans(), room=st.sampled_from([200, 2_000, _ROOM]))
def test_every_line_is_in_one_piece_or_in_what_was_removed(
    *, lines: list[str], ends: bool, room: int
) -> None:
    text = "\n".join(lines) + ("\n" if ends else "")
    parted = split(text, max_bytes=room)
    physical = lines_of(text)
    owners = [0] * len(physical)
    for piece in parted.pieces:
        inside = {n for gone in parted.removed for n in range(gone.start, gone.end)}
        for number in set(range(piece.start, piece.end)) - inside:
            owners[number] += 1
    for gone in parted.removed:
        for number in range(gone.start, gone.end):
            owners[number] += 1
    assert owners == [1] * len(physical)
    kept = [line for piece in parted.pieces for line in piece.text.split("\n") if line.strip()]
    removed = {n for gone in parted.removed for n in range(gone.start, gone.end)}
    expected = [
        line.rstrip("\n")
        for number, line in enumerate(physical)
        if line.strip() and number not in removed
    ]
    assert [line.rstrip() for line in kept] == [line.rstrip() for line in expected]


@pytest.mark.covers("transfer.notes.lossless")
@given(lines=_LINES)
def test_the_numbers_of_a_piece_are_those_of_its_lines(lines: list[str]) -> None:
    text = "\n".join(lines)
    physical = lines_of(text)
    for piece in split(text, max_bytes=_ROOM).pieces:
        told = "".join(physical[number] for number in piece.numbers)
        assert told.rstrip() == piece.text.rstrip()


@pytest.mark.covers("transfer.notes.sections")
def test_a_heading_in_a_fence_is_none_and_an_underlined_one_is() -> None:
    text = "# T\n\nintro\n\n## A\n\n```\n# no\n```\n\nB\n---\n\nbody\n"
    pieces = split(text, max_bytes=_ROOM).pieces
    assert [piece.headings for piece in pieces] == [("T",), ("T", "A"), ("T", "B")]
    assert "# no" in pieces[1].text


@pytest.mark.covers("transfer.notes.sections")
def test_a_short_section_keeps_what_stands_below_it_and_a_long_one_gives_it_apart() -> None:
    short = "# T\n\n## A\n\na\n\n### A1\n\na1\n"
    assert [p.headings for p in split(short, max_bytes=_ROOM).pieces] == [("T", "A")]
    long = short + "### A2\n\n" + "word " * WHOLE_CHARS
    headings = [p.headings[-1] for p in split(long, max_bytes=_ROOM).pieces]
    assert headings == ["A", "A1", "A2"]


@pytest.mark.covers("transfer.notes.sections")
def test_a_decision_record_stays_whole_and_several_in_one_file_are_several() -> None:
    one = "# Use X\n\n## Status\n\nAccepted\n\n## Context\n\nc\n\n## Decision\n\nd\n"
    assert [p.is_record for p in split(one, max_bytes=_ROOM).pieces] == [True]
    many = "# Log\n\n## ADR-001: A\n\n### Context\n\nx\n\n## ADR-002: B\n\ny\n"
    pieces = split(many, max_bytes=_ROOM).pieces
    assert [(p.headings[-1], p.is_record) for p in pieces] == [
        ("ADR-001: A", True),
        ("ADR-002: B", True),
    ]
    log = split("# Decision Log\n\n## Use A\n\na\n\n## Use B\n\nb\n", max_bytes=_ROOM)
    assert [p.is_record for p in log.pieces] == [True, True]


@pytest.mark.covers("transfer.notes.junk")
@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("TODO", Why.PLACEHOLDER),
        ("- [ ] TBD\n- ...", Why.PLACEHOLDER),
        ("_Coming soon_", Why.PLACEHOLDER),
        ("<<REQUIRED>>", Why.PLACEHOLDER),
        ("da completare", Why.PLACEHOLDER),
        ("待补充", Why.PLACEHOLDER),
        ("<!-- nothing here -->", Why.EMPTY),
        ("---", Why.EMPTY),
        ("", Why.EMPTY),
        ("- [One](#one)\n- [Two](#two)", Why.CONTENTS),
    ],
)
def test_what_has_no_substance_is_removed_and_told(body: str, why: Why) -> None:
    parted = split(f"# T\n\nsome text\n\n## A\n\n{body}\n", max_bytes=_ROOM)
    assert len(parted.pieces) == 1
    assert {gone.why for gone in parted.removed} == {why}


@pytest.mark.covers("transfer.notes.junk")
@pytest.mark.parametrize(
    "body", ["TODO: ask Ann about the port", "- none of them may block", "Branch: `<<REQUIRED>>`"]
)
def test_a_sentence_with_such_a_word_is_text(body: str) -> None:
    assert len(split(f"# T\n\n## A\n\n{body}\n", max_bytes=_ROOM).pieces) == 1


@pytest.mark.covers("transfer.notes.junk")
def test_markers_of_generated_text_go_and_what_they_enclose_is_marked() -> None:
    text = "<!-- tool:start -->\n# T\n\ninside\n<!-- tool:end -->\n\n## After\n\nours\n"
    parted = split(text, max_bytes=_ROOM)
    assert [(p.is_generated, "<!--" in p.text) for p in parted.pieces] == [
        (True, False),
        (False, False),
    ]
    assert [gone.why for gone in parted.removed].count(Why.MARKER) == 2
    kept = split("# T\n\n<!-- keep the order -->\ntext\n", max_bytes=_ROOM).pieces[0]
    assert "keep the order" in kept.text


@pytest.mark.covers("transfer.notes.limits")
def test_what_is_too_long_is_cut_between_blocks() -> None:
    text = "# T\n\n" + "\n\n".join(f"paragraph {n} " + "x" * 80 for n in range(10)) + "\n"
    pieces = split(text, max_bytes=300).pieces
    assert len(pieces) > 3
    assert all(len(piece.text.encode()) <= 300 for piece in pieces)
    assert all(re.match(r"# T|paragraph", piece.text) for piece in pieces)


@pytest.mark.covers("transfer.notes.frontmatter")
def test_front_matter_gives_texts_lists_and_blocks() -> None:
    text = (
        '---\ntitle: "A: b"\ntags: [x, "y z"]\nmore:\n  - one\n  - two\n'
        "description: >\n  first\n  second\nnested:\n  deep: 1\n# note\n"
        "last: v  # why\n---\n\nbody\n"
    )
    front = read_front_matter(lines_of(text))
    assert front.values["title"] == "A: b"
    assert front.list_of("tags") == ("x", "y z")
    assert front.list_of("more") == ("one", "two")
    assert front.values["description"] == "first second"
    assert front.values["last"] == "v"
    assert front.end == 14
    assert "deep: 1" in front.text


@pytest.mark.covers("transfer.notes.frontmatter")
def test_two_blocks_are_one_and_a_rule_is_none() -> None:
    two = lines_of("---\na: 1\nb:\n---\n---\nb: 2\na:\n---\ntext\n")
    front = read_front_matter(two)
    assert (front.values["a"], front.values["b"], front.end) == ("1", "2", 8)
    for text in ("---\n\ntext\n\n---\n", "text\n---\na: 1\n---\n", "---\nno end: here\n"):
        assert read_front_matter(lines_of(text)).end == 0
