"""`dataclass`, `field`, `replace` for small values, at a fraction of the standard library's cost.

Importing `dataclasses` costs as much as a third of a bare start of Python (it brings `inspect`),
and each class it makes compiles six functions. Here the classes share all of them but `__init__`,
which is compiled once a class is used often; its instances are then made somewhat faster too.
Nothing else differs: `dataclasses.fields`, `asdict` and `replace`, `match`, `copy` and `pickle`
work, and type checkers see the standard library's own names.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from schemory.hints import TYPE_CHECKING, cast

if TYPE_CHECKING:
    # Their users find them here.
    from dataclasses import dataclass as dataclass  # noqa: PLC0414 (as above)
    from dataclasses import field as field  # noqa: PLC0414 (as above)
    from dataclasses import replace as replace  # noqa: PLC0414 (as above)
    from typing import Any, Final, TypeVar

    T = TypeVar("T")

_MISSING: Final = object()
"""Stands for no default, since None may be one."""


class _Field:
    """What a class has to say of one of its fields."""

    __slots__ = ("compare", "default", "init", "is_named", "make", "name", "repr", "type")

    def __init__(
        self,
        *,
        default: object = _MISSING,
        default_factory: Any = _MISSING,
        init: bool = True,
        repr: bool = True,  # noqa: A002 (the standard library's name for it)
        compare: bool = True,
    ) -> None:
        self.default = default
        self.make = default_factory
        self.init = init
        self.repr = repr
        self.compare = compare
        self.name = ""
        self.type: object = None
        self.is_named = False


_FIELDS: Final = dict[type, tuple[_Field, ...]]()
"""By class, those of its bases before its own."""


def _dataclass(
    *, slots: bool, frozen: bool = False, kw_only: bool = False
) -> Callable[[type[T]], type[T]]:
    """Return the decorator; there are only classes with slots."""
    if not slots:
        raise TypeError("classes made here have slots")
    shared = _FROZEN if frozen else _OPEN

    def make(cls: type[T]) -> type[T]:
        own = _own_fields(cls, is_named=kw_only)
        made = _with_slots(cls, [each.name for each in own], shared)
        inherited = [each for base in made.__mro__[:0:-1] for each in _FIELDS.get(base, ())]
        fields = tuple({each.name: each for each in [*inherited, *own]}.values())
        _FIELDS[made] = fields
        return made

    return make


def _replace(value: Any, /, **changes: object) -> Any:
    """Return a copy of `value` with some fields changed, all of it checked again."""
    fields = _FIELDS.get(value.__class__)
    if fields is None:
        import dataclasses  # noqa: PLC0415 (for a class of another make)

        return dataclasses.replace(value, **changes)
    for each in fields:
        if each.init and each.name not in changes:
            changes[each.name] = getattr(value, each.name)
    return value.__class__(**changes)


def names_of(value: object) -> tuple[str, ...]:
    """Return the names of the fields of `value`, an instance of a class made here."""
    return tuple(each.name for each in _fields_of(type(value)))


if not TYPE_CHECKING:
    dataclass = _dataclass
    field = _Field
    replace = _replace


def _own_fields(cls: type, *, is_named: bool) -> list[_Field]:
    """Return the fields that the class itself declares, taking their defaults out of their way."""
    found: list[_Field] = []
    # Never `inspect.get_annotations`: `inspect` is most of what is saved here.
    declared = cls.__dict__.get("__annotations__", {})  # noqa: RUF063 (as above)
    for name, kind in declared.items():
        if _belongs_to_class(kind):
            continue
        each = _as_field(cls.__dict__.get(name, _MISSING))
        each.name, each.type, each.is_named = name, kind, is_named
        found.append(each)
    return found


def _belongs_to_class(kind: object) -> bool:
    """Return whether an annotation says `ClassVar`, and so tells of no field."""
    if isinstance(kind, str):
        return kind.startswith("ClassVar")
    typing = sys.modules.get("typing")  # without which nobody can have said it
    return typing is not None and getattr(kind, "__origin__", kind) is typing.ClassVar


def _as_field(value: Any) -> _Field:
    if isinstance(value, _Field):
        return value
    known = sys.modules.get("dataclasses")
    if known is None or not isinstance(value, known.Field):
        return _Field(default=value)
    return _Field(
        default=_MISSING if value.default is known.MISSING else value.default,
        default_factory=(
            _MISSING if value.default_factory is known.MISSING else value.default_factory
        ),
        init=value.init,
        repr=value.repr,
        compare=value.compare,
    )


def _with_slots(cls: type[T], names: list[str], shared: Mapping[str, object]) -> type[T]:
    """Return the class once more, with a slot for each field in place of its default.

    What all classes share goes in before the class is made: each later change costs far more.
    """
    inherited = {slot for base in cls.__mro__[1:] for slot in base.__dict__.get("__slots__", ())}
    left_out = {*names, "__dict__", "__weakref__"}
    body = {key: value for key, value in cls.__dict__.items() if key not in left_out}
    for name, function in shared.items():
        if body.get(name) is None:  # the class's own goes before
            body[name] = function
    body["__slots__"] = tuple(name for name in names if name not in inherited)
    body["__dataclass_fields__"] = _Standard()
    body["__dataclass_params__"] = _Standard()
    body["__match_args__"] = _Positional()
    make = cast("Any", type(cls))  # a class of its own may make classes: an abstract one's does
    made: type[T] = make(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    return made


class _Positional:
    """Works out `__match_args__` for the first `match`."""

    def __get__(self, value: object, cls: Any) -> tuple[str, ...]:
        fields = _fields_of(cls)
        names = tuple(each.name for each in fields if each.init and not each.is_named)
        setattr(cls, "__match_args__", names)  # noqa: B010 (mypy knows the name otherwise)
        return names


class _Standard:
    """Works out what the standard library notes in a class, for the first who asks for it."""

    def __get__(self, value: object, cls: Any) -> Any:
        import dataclasses  # noqa: PLC0415 (hardly anybody asks)

        fields: list[Any] = []
        for each in _fields_of(cls):
            facts = {"default": each.default, "default_factory": each.make}
            given: Any = {key: fact for key, fact in facts.items() if fact is not _MISSING}
            told: Any = dataclasses.field(
                **given,
                init=each.init,
                repr=each.repr,
                compare=each.compare,
                kw_only=each.is_named,
            )
            fields.append((each.name, each.type, told))
        frozen = cls.__setattr__ is _setattr
        twin: Any = dataclasses.make_dataclass(
            cls.__name__, fields, init=False, repr=False, eq=False, frozen=frozen
        )
        cls.__dataclass_fields__ = twin.__dataclass_fields__
        cls.__dataclass_params__ = twin.__dataclass_params__
        return getattr(cls, self._name)

    def __set_name__(self, cls: type, name: str) -> None:
        self._name = name


def _init(self: object, *values: object, **named: object) -> None:
    """Stand for the `__init__` of a class until that is worth its compiling.

    Most classes make few values in one run, and a compiled `__init__` costs as much as dozens.
    """
    bases = type(self).__mro__
    cls = next(
        each for each in bases if each in _COMPILED or each.__dict__.get("__init__") is _init
    )
    real = _COMPILED.get(cls)  # another thread may have been faster
    if real is None:
        made = _MADE[cls] = _MADE.get(cls, 0) + 1
        if made <= _FEW and _fill(self, _FIELDS[cls], values, named):
            if hasattr(cls, "__post_init__"):
                cast("Any", self).__post_init__()
            return
        real = _compile_init(cls)
    real(self, *values, **named)


def _fill(
    self: object,
    fields: tuple[_Field, ...],
    values: tuple[object, ...],
    named: Mapping[str, object],
) -> bool:
    """Set the fields of `self`; return False, and set none, where the arguments do not fit."""
    found: list[tuple[str, object]] = []
    at = taken = 0
    for each in fields:
        is_positional = each.init and not each.is_named
        if is_positional and at < len(values):
            value = values[at]
        elif each.init and each.name in named:
            value = named[each.name]
            taken += 1
        elif each.make is not _MISSING:
            value = each.make()
        elif each.default is not _MISSING:
            value = each.default
        elif each.init:
            return False
        else:
            continue  # `__post_init__` sets it
        at += is_positional
        found.append((each.name, value))
    if at < len(values) or taken < len(named):
        return False
    for name, value in found:
        object.__setattr__(self, name, value)
    return True


def _compile_init(cls: Any) -> Callable[..., None]:
    names: dict[str, object] = {"_absent": _MISSING}
    positional, named, body = ["self"], list[str](), list[str]()
    for at, each in enumerate(_FIELDS[cls]):
        names[f"_set_{at}"] = getattr(cls, each.name).__set__
        value, default = each.name, ""
        if each.make is not _MISSING:
            names[f"_make_{at}"] = each.make
            value = f"_make_{at}()"
            if each.init:
                value = f"{value} if {each.name} is _absent else {each.name}"
            default = "=_absent"
        elif each.default is not _MISSING:
            names[f"_default_{at}"] = each.default
            value = each.name if each.init else f"_default_{at}"
            default = f"=_default_{at}"
        elif not each.init:
            continue  # `__post_init__` sets it
        body.append(f" _set_{at}(self, {value})")
        if each.init:
            (named if each.is_named else positional).append(each.name + default)
    if hasattr(cls, "__post_init__"):
        body.append(" self.__post_init__()")
    parameters = ", ".join([*positional, *(["*", *named] if named else [])])
    text = "\n".join([f"def __init__({parameters}):", *(body or [" return"])])
    exec(text, names)  # noqa: S102 (made of the names of fields alone, as dataclasses does)
    made: Any = names["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    result: Callable[..., None] = made
    _COMPILED[cls] = result  # first, so that a thread that comes now finds it at once
    cls.__init__ = made
    return result


_COMPILED: Final = dict[type, Callable[..., None]]()
"""The real `__init__` of each class that was used often."""

_MADE: Final = dict[type, int]()
"""How many values were made of the others."""

_FEW: Final = 64

_COMPARED: Final = dict[type, tuple[str, ...]]()


def _values(self: object) -> tuple[object, ...]:
    """Return what an instance is compared by."""
    cls: type[object] = self.__class__
    names = _COMPARED.get(cls)
    if names is None:
        names = tuple(each.name for each in _fields_of(cls) if each.compare)
        _COMPARED[cls] = names
    return tuple([getattr(self, name) for name in names])


def _fields_of(cls: type) -> tuple[_Field, ...]:
    """Return the fields of a class, which may be a plain subclass of one made here."""
    return next(_FIELDS[base] for base in cls.__mro__ if base in _FIELDS)


def _repr(self: object) -> str:
    fields = [each for each in _fields_of(type(self)) if each.repr]
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
    raise _frozen_error(f"cannot assign to field {name!r}")


def _delattr(self: object, name: str) -> None:
    del self
    raise _frozen_error(f"cannot delete field {name!r}")


def _frozen_error(message: str) -> AttributeError:
    from dataclasses import FrozenInstanceError  # noqa: PLC0415 (only for a defect)

    return FrozenInstanceError(message)


def _getstate(self: object) -> list[object]:
    return [getattr(self, each.name) for each in _fields_of(type(self))]


def _setstate(self: object, state: list[object]) -> None:
    for each, value in zip(_fields_of(type(self)), state, strict=True):
        object.__setattr__(self, each.name, value)


_OPEN: Final[Mapping[str, object]] = {
    "__init__": _init,
    "__repr__": _repr,
    "__eq__": _eq,
    "__hash__": None,
}
_FROZEN: Final[Mapping[str, object]] = {
    **_OPEN,
    "__hash__": _hash,
    "__setattr__": _setattr,
    "__delattr__": _delattr,
    "__getstate__": _getstate,
    "__setstate__": _setstate,
}
