"""What an archive of memory may be: its members, its sizes, and when it counts as a bomb."""

from typing import Final

MANIFEST: Final = "manifest.json"
ENTRIES: Final = "entries.json"
TAGS: Final = "tags.json"
LINKS: Final = "links.json"
SUMMARY: Final = "audit-summary.json"

MEMBERS: Final = (MANIFEST, ENTRIES, TAGS, LINKS, SUMMARY)
"""The only members there can be."""

REQUIRED: Final = (MANIFEST, ENTRIES)

MAX_MEMBERS: Final = 16
MAX_DIRECTORY_BYTES: Final = 64 * 1024
MAX_MANIFEST_BYTES: Final = 1024 * 1024
MAX_TOTAL_BYTES: Final = 4 * 1024**3 - 64 * 1024**2
"""Of all members unpacked; below 4 GiB, so that no ZIP64 directory is ever needed."""

MAX_RATIO: Final = 200
HARMLESS_BYTES: Final = 64 * 1024**2
"""Up to here an archive may unpack from however little."""


def is_bomb(unpacked: int, packed: int) -> bool:
    """Return whether an archive unpacks to suspiciously much.

    >>> is_bomb(10**9, 10**6), is_bomb(10**9, 10**8), is_bomb(10**6, 1)
    (True, False, False)
    """
    return unpacked > HARMLESS_BYTES and unpacked > packed * MAX_RATIO
