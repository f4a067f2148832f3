"""The texts inside an entry's metadata, as they are looked over for credentials."""

from collections.abc import Iterator, Mapping

from schemory.model.jsonvalue import Json


def texts_of(value: Json) -> Iterator[str]:
    """Yield every name and text in a value, a text together with its name."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            # A name and its value are looked at together: `password` alone gives nothing away.
            if isinstance(inner, str):
                yield f"{key}={inner}"
            else:
                yield key
                yield from texts_of(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_of(inner)
