"""Characters that a person does not see but a model reads: none belongs in a schema's texts."""

import re
import unicodedata

_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # controls but tab and line ends
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"  # fillers and soft marks
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # zero width and bidi
    "\ud800-\udfff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"  # surrogates, music, tags
    "|(?:^|(?<=[\x00-\x7f\u200c\u200d\ufe00-\ufe0f]))[\u200c\u200d]"  # joiners that join nothing
    "|(?:^|(?<=[\u200c\u200d\ufe00-\ufe0f]))[\ufe00-\ufe0f]"  # selectors that select nothing
)
# A joiner after a non-ASCII letter (Persian, Hindi) or a selected emoji is ordinary writing.
_JOINED_EMOJI = re.compile("(?<=[^\x00-\x7f]\ufe0f)\u200d(?=[^\x00-\x7f])")


def find_hidden(text: str) -> tuple[int, str] | None:
    r"""Return position and name of the first hidden, bidi, tag or control character, or None.

    >>> find_hidden("safe\u202etxt"), find_hidden("tab\tand line\n"), find_hidden("❤️‍🔥")
    ((4, 'U+202E RIGHT-TO-LEFT OVERRIDE'), None, None)
    """
    if text.isascii() and text.isprintable():
        return None
    for found in _HIDDEN.finditer(text):
        start = found.start()
        if _JOINED_EMOJI.match(text, start):
            continue
        character = text[start]
        name = unicodedata.name(character, "")
        return start, f"U+{ord(character):04X} {name}".rstrip()
    return None
