"""Frozen values behave as the standard library's, whatever they are made with."""

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, field, replace
from typing import ClassVar

import pytest

from schemory.model.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """Two places and what is derived from them."""

    x: int
    y: int = 2
    kind: ClassVar[str] = "point"
    notes: list[str] = field(default_factory=list[str], compare=False, repr=False)
    total: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", self.x + self.y)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """Only by keyword."""

    name: str
    point: Point = Point(0)


def test_values_are_built_compared_hashed_and_shown_by_their_fields() -> None:
    assert Point(1) == Point(1, 2) != Point(1, 3)
    assert Point(1, notes=["a"]) == Point(1)
    assert len({Point(1), Point(1, 2), Point(2)}) == 2
    assert Point(1).total == 3
    assert Point(1).kind == "point"
    assert repr(Named(name="a")) == "Named(name='a', point=Point(x=0, y=2, total=2))"


def test_each_value_gets_a_list_of_its_own() -> None:
    assert Point(1).notes is not Point(1).notes


def test_nothing_can_be_assigned_deleted_or_added() -> None:
    point = Point(1)
    with pytest.raises(FrozenInstanceError):
        point.x = 2  # type: ignore[misc] # what is tested
    with pytest.raises(FrozenInstanceError):
        delattr(point, "x")
    with pytest.raises(FrozenInstanceError):
        point.z = 2  # type: ignore[attr-defined] # what is tested


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match=r"Point\.__init__.*missing 1 required"):
        Point()  # type: ignore[call-arg] # what is tested
    with pytest.raises(TypeError):
        Named("a")  # type: ignore[call-arg] # what is tested


def test_the_standard_library_knows_them() -> None:
    named = Named(name="a", point=Point(1))
    assert [each.name for each in dataclasses.fields(named)] == ["name", "point"]
    assert replace(named, name="b") == Named(name="b", point=Point(1))
    assert copy.copy(named) == copy.deepcopy(named) == pickle.loads(pickle.dumps(named)) == named  # noqa: S301 (made here)
    match named.point:
        case Point(x, y):
            assert (x, y) == (1, 2)
