"""`dataclass` for frozen values, made at a fraction of the standard library's cost.

The standard library compiles six functions per class, together half of this program's start-up.
Here the classes share all of them but `__init__`, which is compiled when a class is first used; its
instances are made somewhat faster too. Nothing else differs: `fields`, `replace`, `match`, `copy`
and `pickle` work, and type checkers see the standard library's own decorator.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import MISSING, FrozenInstanceError
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414 (its users find it here)

T = TypeVar("T")


def _dataclass(
    *, slots: bool, frozen: bool = False, kw_only: bool = False
) -> Callable[[type[T]], type[T]]:
    """Return the decorator; what is not frozen gets the standard library's."""
    if not frozen or not slots:
        return dataclasses.dataclass(frozen=frozen, slots=slots, kw_only=kw_only)

    def make(cls: type[T]) -> type[T]:
        if cls.__doc__ is None:
            cls.__doc__ = cls.__name__  # else the standard library works out a signature
        plain = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)
        made = plain(cls)
        for name, function in _SHARED.items():
            if made.__dict__.get(name) is None:  # the class's own goes before
                setattr(made, name, function)
        setattr(made, "__init__", _first_init(made))  # noqa: B010 (hidden from type checkers)
        return made

    return make


if not TYPE_CHECKING:
    dataclass = _dataclass


def _first_init(cls: type) -> Callable[..., None]:
    """Return an `__init__` that puts the real one in its place."""

    def __init__(self: object, *values: object, **named: object) -> None:  # noqa: N807 (it is one)
        _compile_init(cls)(self, *values, **named)

    return __init__


def _compile_init(cls: Any) -> Callable[..., None]:
    fields = dataclasses.fields(cls)
    names: dict[str, object] = {"_absent": MISSING}
    positional, named, body = ["self"], list[str](), list[str]()
    for at, each in enumerate(fields):
        names[f"_set_{at}"] = getattr(cls, each.name).__set__
        value, default = each.name, ""
        if each.default_factory is not MISSING:
            names[f"_make_{at}"] = each.default_factory
            value = f"_make_{at}()"
            if each.init:
                value = f"{value} if {each.name} is _absent else {each.name}"
            default = "=_absent"
        elif each.default is not MISSING:
            names[f"_default_{at}"] = each.default
            value = each.name if each.init else f"_default_{at}"
            default = f"=_default_{at}"
        elif not each.init:
            continue  # `__post_init__` sets it
        body.append(f" _set_{at}(self, {value})")
        if each.init:
            (named if each.kw_only else positional).append(each.name + default)
    if hasattr(cls, "__post_init__"):
        body.append(" self.__post_init__()")
    parameters = ", ".join([*positional, *(["*", *named] if named else [])])
    text = "\n".join([f"def __init__({parameters}):", *(body or [" return"])])
    exec(text, names)  # noqa: S102 (made of the names of fields alone, as dataclasses does)
    made: Any = names["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    cls.__init__ = made
    result: Callable[..., None] = made
    return result


_COMPARED: Final = dict[type, tuple[str, ...]]()


def _values(self: Any) -> tuple[object, ...]:
    """Return what an instance is compared by."""
    cls: type[Any] = self.__class__
    names = _COMPARED.get(cls)
    if names is None:
        names = tuple(each.name for each in dataclasses.fields(cls) if each.compare)
        _COMPARED[cls] = names
    return tuple([getattr(self, name) for name in names])


def _repr(self: Any) -> str:
    fields = [each for each in dataclasses.fields(self) if each.repr]
    shown = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields)
    return f"{type(self).__qualname__}({shown})"


def _eq(self: object, other: object) -> object:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return _values(self) == _values(other)


def _hash(self: object) -> int:
    return hash(_values(self))


def _setattr(self: object, name: str, value: object) -> None:
    del self, value
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(self: object, name: str) -> None:
    del self
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _getstate(self: Any) -> list[object]:
    return [getattr(self, each.name) for each in dataclasses.fields(self)]


def _setstate(self: Any, state: list[object]) -> None:
    for each, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


_SHARED: Final[Mapping[str, Callable[..., object]]] = {
    "__repr__": _repr,
    "__eq__": _eq,
    "__hash__": _hash,
    "__setattr__": _setattr,
    "__delattr__": _delattr,
    "__getstate__": _getstate,
    "__setstate__": _setstate,
}
