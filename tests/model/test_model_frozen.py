"""Frozen values behave as the standard library's, whatever they are made with."""

import copy
import dataclasses
import pickle
import subprocess
import sys
import threading
from dataclasses import FrozenInstanceError
from typing import ClassVar

import pytest

from schemory.model.frozen import dataclass, field, replace


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


def test_a_class_that_is_used_often_makes_the_same_values_as_at_first() -> None:
    @dataclass(frozen=True, slots=True)
    class Often:
        first: int
        second: int = 2
        third: list[int] = field(default_factory=lambda: [3])
        after: int = field(init=False)
        fixed: int = field(init=False, default=7)

        def __post_init__(self) -> None:
            object.__setattr__(self, "after", self.first + self.second)

    for _ in range(100):
        made = (Often(1), Often(1, 5), Often(first=1), Often(1, third=[4], second=5))
        assert [each.after for each in made] == [3, 6, 3, 6]
        assert [each.third for each in made] == [[3], [3], [3], [4]]
        assert {each.fixed for each in made} == {7}


@pytest.mark.parametrize("times", [0, 100])
def test_each_kind_of_wrong_argument_is_refused_at_first_and_later(times: int) -> None:
    @dataclass(frozen=True, slots=True)
    class Picky:
        a: int
        b: int = 0

    for _ in range(times):
        Picky(1)
    wrong: list[tuple[tuple[int, ...], dict[str, int], str]] = [
        ((), {"b": 1}, "missing 1 required"),
        ((1, 2, 3), {}, "positional arguments"),
        ((1,), {"a": 1}, "multiple values"),
        ((1,), {"c": 1}, "unexpected keyword"),
    ]
    for values, named, told in wrong:
        with pytest.raises(TypeError, match=told):
            Picky(*values, **named)


def test_the_standard_library_knows_them() -> None:
    named = Named(name="a", point=Point(1))
    assert [each.name for each in dataclasses.fields(named)] == ["name", "point"]
    assert replace(named, name="b") == Named(name="b", point=Point(1))
    assert copy.copy(named) == copy.deepcopy(named) == pickle.loads(pickle.dumps(named)) == named  # noqa: S301 (made here)
    match named.point:
        case Point(x, y):
            assert (x, y) == (1, 2)


@dataclass(frozen=True, slots=True)
class Place(Point):
    """A point with one field more."""

    name: str = "here"


@dataclass(slots=True)
class Basket:
    """What may be changed."""

    owner: str
    fruit: list[str] = dataclasses.field(default_factory=list[str])


def test_a_subclass_has_the_fields_of_both() -> None:
    place = Place(1, name="there")
    assert (place.x, place.y, place.name, place.total) == (1, 2, "there", 3)
    assert place != Place(1)
    assert place != Point(1)
    assert [each.name for each in dataclasses.fields(Place)] == ["x", "y", "notes", "total", "name"]


def test_what_is_not_frozen_can_be_changed_and_has_no_hash() -> None:
    basket = Basket("Ann")
    basket.fruit.append("plum")
    basket.owner = "Bea"
    assert basket == Basket("Bea", ["plum"]) != Basket("Bea")
    assert repr(basket) == "Basket(owner='Bea', fruit=['plum'])"
    with pytest.raises(TypeError):
        hash(basket)
    assert dataclasses.asdict(basket) == {"owner": "Bea", "fruit": ["plum"]}


def test_a_changed_copy_is_checked_anew_by_either_replace() -> None:
    for change in (replace, dataclasses.replace):
        assert change(Point(1), x=5).total == 7
        with pytest.raises(TypeError, match="unexpected keyword"):
            change(Point(1), nothing=1)
    standard = dataclasses.make_dataclass("Standard", ["x"], frozen=True)
    assert replace(standard(1), x=2) == standard(2)


def test_a_standard_class_can_stand_on_one_made_here() -> None:
    @dataclasses.dataclass(frozen=True)
    class Labelled(Named):
        label: str = "none"

    labelled = Labelled(label="new", name="a")
    assert (labelled.name, labelled.label) == ("a", "new")


def test_making_and_using_values_does_not_import_the_standard_librarys() -> None:
    code = """
import sys
from schemory.model.frozen import dataclass, field, replace

@dataclass(frozen=True, slots=True)
class Pair:
    a: int
    b: list = field(default_factory=list)

made = replace(Pair(1), a=2)
print(made, made == Pair(2), hash(Pair(1, ())) == hash(Pair(1, ())), "dataclasses" in sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "Pair(a=2, b=[]) True True False\n"


def test_threads_may_make_the_first_values_at_the_same_time() -> None:
    for _ in range(50):

        @dataclass(frozen=True, slots=True)
        class Fresh:
            a: int
            b: int = 2

        together = threading.Barrier(4)
        made: list[Fresh] = []

        def make(kind: type[Fresh] = Fresh, together: threading.Barrier = together) -> None:
            together.wait()
            made.append(kind(1))  # noqa: B023 (joined below)

        threads = [threading.Thread(target=make) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [Fresh(1)] * 4
