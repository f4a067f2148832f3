"""ZIP archives that are damaged in the ways that `zipfile` tells of by different errors."""

import random
from collections.abc import Iterator

_DIRECTORY = b"PK\x01\x02"


def damaged_zips(sound: bytes, count: int = 60) -> Iterator[tuple[str, bytes]]:
    """Yield a packed archive with each part broken, then `count` times with bytes by chance."""
    entry = sound.index(_DIRECTORY)
    yield "its packed bytes are noise", _put(sound, 60, b"\xff" * 40)
    yield "it needs a version that is not known", _put(sound, entry + 6, b"\xff\x00")
    yield "it is packed in a way that is not known", _put(sound, entry + 10, b"\x63\x00")
    yield "its member stands elsewhere", _put(sound, entry + 42, b"\xff\xff\xff\x7f")
    yield "its directory stands elsewhere", _put(sound, len(sound) - 6, b"\xff\xff\xff\x7f")
    yield "its name is no UTF-8", _put(_put(sound, entry + 9, b"\x08"), entry + 46, b"\xff")
    yield "it ends too early", sound[: len(sound) // 2]
    chance = random.Random(5)
    for number in range(count):
        data = bytearray(sound)
        for _ in range(chance.randint(1, 4)):
            ends = (chance.randrange(60), chance.randrange(entry, len(data)))
            data[chance.choice([*ends, chance.randrange(len(data))])] = chance.randrange(256)
        yield f"by chance, {number}", bytes(data)


def _put(data: bytes, at: int, part: bytes) -> bytes:
    return data[:at] + part + data[at + len(part) :]
