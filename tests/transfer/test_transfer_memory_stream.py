"""The incremental reader says what a whole parse says, however the text is cut into pieces."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.errors import InvalidParamError
from schemory.transfer.memory import stream
from schemory.transfer.memory.stream import JsonText

_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
).filter(lambda value: "Infinity" not in json.dumps(value))


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


@pytest.mark.covers("memory.transfer.stream")
@given(
    value=st.dictionaries(st.text(), st.lists(_values, max_size=5), max_size=4),
    size=st.integers(1, 50),
    indent=st.none() | st.integers(0, 3),
    is_ascii=st.booleans(),
)
def test_an_object_of_arrays_is_read_as_a_whole_parse_reads_it(
    value: dict[str, list[Any]], size: int, indent: int | None, *, is_ascii: bool
) -> None:
    data = json.dumps(value, indent=indent, ensure_ascii=is_ascii).encode("utf-8", "replace")
    expected = json.loads(data)
    for ahead in (1, 7, 64 * 1024):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(stream, "_AHEAD", ahead)
            text = JsonText(pieces(data, size), "it", 10_000)
            read = {key: list(text.items()) for key in text.keys()}  # noqa: SIM118 (not a dict's)
            text.finish()
        assert read == expected


@pytest.mark.covers("memory.transfer.stream")
@given(value=st.dictionaries(st.text(), _values, min_size=1, max_size=4), data=st.data())
def test_a_text_that_is_cut_anywhere_is_refused(value: dict[str, Any], data: st.DataObject) -> None:
    whole = json.dumps(value).encode()
    cut = data.draw(st.integers(0, len(whole) - 1))
    text = JsonText(pieces(whole[:cut], 7), "it", 10_000)
    with pytest.raises(InvalidParamError):
        for _ in text.keys():  # noqa: SIM118 (not a dict's)
            text.value()


@pytest.mark.covers("memory.transfer.stream")
def test_of_a_long_array_only_what_is_read_is_in_memory() -> None:
    given_out = 0

    def endless() -> Iterator[bytes]:
        nonlocal given_out
        yield b"["
        while True:
            given_out += 1
            yield b'{"k":"%s"},' % (b"x" * 1000)

    items = JsonText(endless(), "it", 10_000).items()
    for _ in range(1_000):
        next(items)
    assert given_out < 1_100
