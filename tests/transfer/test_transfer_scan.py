"""Bytes of any kind become JSON values and unreadable pieces; every physical line is counted."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.model.lines.scan import Scanner, Unreadable, Value, decode_text

A = {"type": "node", "name": "A"}
B = {"type": "node", "name": "B"}


def scanned(data: bytes | str) -> tuple[Scanner, list[Value | Unreadable]]:
    scanner = Scanner(data.encode() if isinstance(data, str) else data)
    return scanner, list(scanner)


def values(data: bytes | str) -> list[object]:
    return [piece.value for piece in scanned(data)[1] if isinstance(piece, Value)]


def faults(data: bytes | str) -> list[tuple[int, str]]:
    pieces = scanned(data)[1]
    return [(piece.line, piece.reason) for piece in pieces if isinstance(piece, Unreadable)]


def text_of(*records: object) -> list[str]:
    return [json.dumps(record) for record in records]


@pytest.mark.covers("graph.files.messy-layout")
@pytest.mark.parametrize(
    ("layout", "blank", "structural", "continued", "glued"),
    [
        ("{0}\n{1}\n", 0, 0, 0, 0),
        ("{0}\n{1}", 0, 0, 0, 0),
        ("\ufeff{0}\r\n\r\n{1}\r\n", 1, 0, 0, 0),
        ("{0}{1}", 0, 0, 0, 1),
        ("{0} {1}\n", 0, 0, 0, 1),
        ("[{0},{1}]", 0, 0, 0, 1),
        ("[\n  {0},\n  {1}\n]\n", 0, 2, 0, 0),
        ("{0},\n{1},\n", 0, 0, 0, 0),
        ("{0}\n\ufeff{1}\n", 0, 0, 0, 0),
    ],
)
def test_every_usual_layout_gives_the_same_values(
    layout: str, blank: int, structural: int, continued: int, glued: int
) -> None:
    scanner, pieces = scanned(layout.format(*text_of(A, B)))
    assert [piece.value for piece in pieces if isinstance(piece, Value)] == [A, B]
    counted = (scanner.blank, scanner.structural, scanner.continued, scanner.glued)
    assert counted == (blank, structural, continued, glued)


@pytest.mark.covers("graph.files.messy-layout")
def test_values_over_several_lines_are_read_and_their_lines_counted() -> None:
    scanner, pieces = scanned(json.dumps(A, indent=2) + ",\n" + json.dumps(B, indent=2) + "\n")
    assert [(piece.line, piece.value) for piece in pieces if isinstance(piece, Value)] == [
        (1, A),
        (5, B),
    ]
    assert (scanner.lines, scanner.continued) == (8, 6)


def test_a_pretty_array_that_was_cut_off_gives_what_is_whole() -> None:
    whole = json.dumps([A, B], indent=1)
    cut = whole[: whole.index('"B"') + 2]
    assert values(cut) == [A]
    assert faults(cut)[0] == (6, "is cut off in the middle of a record")


@pytest.mark.covers("graph.files.torn")
def test_a_torn_last_line_spoils_only_itself() -> None:
    first, second = text_of(A, B)
    assert values(f"{first}\n{second[:-4]}") == [A]
    assert faults(f"{first}\n{second[:-4]}") == [(2, "is cut off in the middle of a record")]


def test_a_torn_line_in_the_middle_does_not_swallow_the_next() -> None:
    text = '{"type":"node","metadata":[\n' + "\n".join(text_of(A, B))
    assert values(text) == [A, B]
    assert [line for line, _ in faults(text)] == [1]


def test_text_behind_a_record_is_a_fault_of_its_own() -> None:
    assert values('{"a": 1} and so on') == [{"a": 1}]
    assert faults('{"a": 1} and so on') == [(1, "is not JSON")]


@pytest.mark.covers("graph.files.merge-conflict")
def test_conflict_markers_are_told_apart_from_broken_lines() -> None:
    first, second = text_of(A, B)
    text = f"<<<<<<< HEAD\n{first}\n=======\n{second}\n>>>>>>> feature\n"
    pieces = scanned(text)[1]
    markers = [(p.line, p.is_conflict) for p in pieces if isinstance(p, Unreadable)]
    assert markers == [(1, True), (3, True), (5, True)]
    assert "merge conflict" in faults(text)[0][1]
    assert values(text) == [A, B]


def test_the_common_ancestor_between_conflict_markers_is_not_taken() -> None:
    first, second = text_of(A, B)
    text = f"<<<<<<< o\n{first}\n||||||| base\n{second}\n=======\n{first}\n>>>>>>> t\n{second}\n"
    assert values(text) == [A, A, B]
    assert [line for line, _ in faults(text)] == [1, 3, 4, 5, 7]


def test_bytes_that_are_no_utf8_are_a_fault_with_their_own_bytes() -> None:
    line = b'{"name":"caf\xe9"}'
    _, pieces = scanned(line + b"\n" + json.dumps(A).encode())
    assert isinstance(pieces[0], Unreadable)
    assert pieces[0].text.encode("utf-8", "surrogateescape") == line
    assert isinstance(pieces[1], Value)


def test_utf16_with_a_byte_order_mark_is_read() -> None:
    assert values(json.dumps(A).encode("utf-16")) == [A]
    assert decode_text(b"\xef\xbb\xbfx") == "x"


def test_our_own_notes_between_lines_count_as_blank() -> None:
    scanner, pieces = scanned("# schemory: line 3: is not JSON\n" + json.dumps(A))
    assert (scanner.blank, len(pieces)) == (1, 1)


@pytest.mark.parametrize("text", ["NaN", '{"a": Infinity}', '{"a": 1e999}', "[" * 100_000, "{"])
def test_what_json_does_not_know_is_refused(text: str) -> None:
    assert values(text) == []


def test_line_breaks_other_than_newline_do_not_break_lines() -> None:
    odd = {"name": "a\u2028b\u0085c\x0cd"}
    assert values(json.dumps(odd, ensure_ascii=False)) == [odd]


RECORD = b'{"type":"node","name":"A"}'
OPENINGS = [b"{", b"[", b"]", b",", b"\n", b"\r\n", b'"', b'{"a":[{"b":1},', b"\xef\xbb\xbf"]
ODDITIES = [b"x", b"\xff", b"\0", b" ", b"<<<<<<< a", b"=======", b"# schemory: n"]
PIECES = st.sampled_from([RECORD, *OPENINGS, *ODDITIES])


@pytest.mark.covers("graph.files.any-bytes")
@given(st.binary(max_size=200) | st.lists(PIECES, max_size=20).map(b"".join))
def test_any_bytes_are_scanned_and_every_line_is_accounted_for(data: bytes) -> None:
    scanner, pieces = scanned(data)
    starts = scanner.lines - scanner.blank - scanner.structural - scanner.continued
    assert starts + scanner.glued == len(pieces)
    text = decode_text(data)
    assert scanner.lines == text.count("\n") + (bool(text) and not text.endswith("\n"))


def test_many_unclosed_lines_cost_no_square_time() -> None:
    # Each such line looks as if it went on to the end of the file.
    text = '{"a":[[],\n' + "[[],\n" * 20_000
    assert values(text) == []
    text = '{"a":[0,\n0],"b":[0,\n' * 20_000
    assert values(text) == []
