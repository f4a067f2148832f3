"""Cuts texts into the pieces that a static model knows, as its `tokenizer.json` says.

Word pieces, unigrams and whole words, with the usual ways to prepare a text. What is not known here
is refused by name, so that no text is cut otherwise than its model expects.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Protocol, TypeAlias, cast

from schemory.model.frozen import dataclass

Change: TypeAlias = Callable[[str], str]
Cut: TypeAlias = Callable[[str], Iterable[str]]
Spec: TypeAlias = Mapping[str, Any]

_LONGEST_WORD: Final = 100
_SPACE_SIGN: Final = "\u2581"
_WORDS: Final = re.compile(r"\w+|[^\w\s]+")
_CACHED: Final = 32_768


class _Model(Protocol):
    @property
    def size(self) -> int: ...

    def pieces(self, word: str) -> Sequence[int]: ...


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """How a model cuts texts."""

    change: Change
    cut: Cut
    pieces: Callable[[str], Sequence[int]]
    size: int

    def encode(self, text: str) -> list[int]:
        """Return the numbers of a text's known pieces, in order."""
        return [piece for word in self.cut(self.change(text)) for piece in self.pieces(word)]


def parse_tokenizer(text: str) -> Tokenizer:
    """Return the tokenizer that the text of a `tokenizer.json` describes.

    Raises:
        ValueError: It cannot be read, or has parts that are not known here.
    """
    try:
        told = cast("Spec", json.loads(text))
        model = _model(told["model"])
        change = _change(told.get("normalizer"))
        cut = _cut(told.get("pre_tokenizer"))
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"tokenizer.json lacks something ({type(error).__name__})") from error
    return Tokenizer(change, cut, lru_cache(maxsize=_CACHED)(model.pieces), model.size)


# Preparing --------------------------------------------------------------------------------------


def _change(spec: Spec | None) -> Change:
    if spec is None:
        return lambda text: text
    kind = spec["type"]
    if kind == "Sequence":
        steps = [_change(each) for each in spec["normalizers"]]
        return lambda text: _through(steps, text)
    if kind == "BertNormalizer":
        return _bert(spec)
    if kind == "Replace":
        return _replace(spec["pattern"], spec["content"])
    if kind == "Prepend":
        return lambda text: spec["prepend"] + text if text else text
    simple = _CHANGES.get(kind)
    if simple is None:
        raise ValueError(f"tokenizer.json prepares texts by {kind}, which is not known here")
    return simple


def _through(steps: Iterable[Change], text: str) -> str:
    for step in steps:
        text = step(text)
    return text


def _replace(pattern: Spec, content: str) -> Change:
    if "String" in pattern:
        return lambda text: text.replace(pattern["String"], content)
    found = re.compile(pattern["Regex"])
    return lambda text: found.sub(lambda _: content, text)


def _bert(spec: Spec) -> Change:
    strips = spec.get("strip_accents")
    lowers = bool(spec.get("lowercase"))
    is_bare = lowers if strips is None else bool(strips)

    def change(text: str) -> str:
        if spec.get("clean_text"):
            text = "".join(" " if c.isspace() else c for c in text if _is_seen(c))
        if spec.get("handle_chinese_chars"):
            text = "".join(f" {c} " if _is_ideograph(c) else c for c in text)
        text = _without_marks(text) if is_bare else text
        return text.lower() if lowers else text

    return change


def _is_seen(char: str) -> bool:
    return char in "\t\n\r" or (char not in "\x00\ufffd" and unicodedata.category(char)[0] != "C")


def _is_ideograph(char: str) -> bool:
    code = ord(char)
    ranges = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0xF900, 0xFAFF), (0x20000, 0x2CEAF))
    return any(first <= code <= last for first, last in ranges) or 0x2F800 <= code <= 0x2FA1F  # noqa: PLR2004 (a block of Unicode)


def _without_marks(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")


def _one_space(text: str) -> str:
    """Do about what the compiled tables of SentencePiece models do."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


_CHANGES: Final[Mapping[str, Change]] = {
    "Lowercase": str.lower,
    "NFC": lambda text: unicodedata.normalize("NFC", text),
    "NFD": lambda text: unicodedata.normalize("NFD", text),
    "NFKC": lambda text: unicodedata.normalize("NFKC", text),
    "NFKD": lambda text: unicodedata.normalize("NFKD", text),
    "Nmt": lambda text: " ".join(text.split()),
    "Precompiled": _one_space,
    "Strip": str.strip,
    "StripAccents": lambda text: "".join(c for c in text if unicodedata.category(c) != "Mn"),
}

# Cutting ----------------------------------------------------------------------------------------


def _cut(spec: Spec | None) -> Cut:
    if spec is None:
        return lambda text: [text]
    kind = spec["type"]
    if kind == "Sequence":
        steps = [_cut(each) for each in spec["pretokenizers"]]
        return lambda text: _each_through(steps, text)
    if kind == "Metaspace":
        return _metaspace(spec)
    simple = _CUTS.get(kind)
    if simple is None:
        raise ValueError(f"tokenizer.json cuts texts by {kind}, which is not known here")
    return simple


def _each_through(steps: Sequence[Cut], text: str) -> Iterable[str]:
    words: list[str] = [text]
    for step in steps:
        words = [part for word in words for part in step(word)]
    return words


def _metaspace(spec: Spec) -> Cut:
    sign = str(spec.get("replacement", _SPACE_SIGN))
    scheme = spec.get("prepend_scheme", "always" if spec.get("add_prefix_space", True) else "never")
    pattern = re.compile(f"{re.escape(sign)}?[^{re.escape(sign)}]*")

    def cut(text: str) -> Iterable[str]:
        marked = text.replace(" ", sign)
        if marked and scheme != "never" and not marked.startswith(sign):
            marked = sign + marked
        if spec.get("split", True) is False:
            return [marked]
        return [word for word in pattern.findall(marked) if word]

    return cut


def _is_sign(char: str) -> bool:
    is_ascii_sign = char.isascii() and char.isprintable() and not char.isalnum() and char != " "
    return is_ascii_sign or unicodedata.category(char)[0] == "P"


def _at_signs(text: str) -> Iterable[str]:
    word: list[str] = []
    for char in text:
        if not _is_sign(char):
            word.append(char)
            continue
        if word:
            yield "".join(word)
        word = []
        yield char
    if word:
        yield "".join(word)


_CUTS: Final[Mapping[str, Cut]] = {
    "BertPreTokenizer": lambda text: [part for word in text.split() for part in _at_signs(word)],
    "Punctuation": lambda text: list(_at_signs(text)),
    "Whitespace": _WORDS.findall,
    "WhitespaceSplit": str.split,
}

# Pieces -----------------------------------------------------------------------------------------


def _model(spec: Spec) -> _Model:
    kind = spec.get("type") or ("Unigram" if isinstance(spec.get("vocab"), list) else "WordPiece")
    if kind == "WordPiece":
        return _WordPieces(spec)
    if kind == "WordLevel":
        return _Words(spec)
    if kind == "Unigram":
        return _Unigrams(spec)
    raise ValueError(f"tokenizer.json has a model of the kind {kind}, which is not known here")


class _Words:
    """Whole words; unknown ones are left out."""

    def __init__(self, spec: Spec) -> None:
        self._known = dict(cast("Mapping[str, int]", spec["vocab"]))
        self.size = max(self._known.values(), default=-1) + 1
        self._known.pop(str(spec.get("unk_token")), None)

    def pieces(self, word: str) -> Sequence[int]:
        found = self._known.get(word)
        return () if found is None else (found,)


class _WordPieces:
    """The longest known beginning, then the longest known continuation, and so on."""

    def __init__(self, spec: Spec) -> None:
        self._known = cast("Mapping[str, int]", spec["vocab"])
        self._mark = str(spec.get("continuing_subword_prefix", "##"))
        self._most = int(spec.get("max_input_chars_per_word", _LONGEST_WORD))
        self.size = max(self._known.values(), default=-1) + 1

    def pieces(self, word: str) -> Sequence[int]:
        found: list[int] = []
        start = 0
        if len(word) > self._most:
            return ()
        while start < len(word):
            mark = self._mark if start else ""
            ends = range(len(word), start, -1)
            end = next((end for end in ends if mark + word[start:end] in self._known), None)
            if end is None:
                return ()  # one unknown part makes the word unknown
            found.append(self._known[mark + word[start:end]])
            start = end
        return found


class _Unigrams:
    """The most likely way to cut a word into known pieces (Viterbi)."""

    def __init__(self, spec: Spec) -> None:
        vocabulary = cast("Sequence[tuple[str, float]]", spec["vocab"])
        self._known = {piece: (at, score) for at, (piece, score) in enumerate(vocabulary)}
        self._unknown = spec.get("unk_id")
        self._longest = max(map(len, self._known), default=0)
        self._worst = min((score for _, score in vocabulary), default=0.0) - 10.0
        self.size = len(vocabulary)

    def pieces(self, word: str) -> Sequence[int]:
        best: list[tuple[float, int, int | None]] = [(0.0, 0, None)]
        for end in range(1, len(word) + 1):
            options = [(best[end - 1][0] + self._worst, end - 1, self._unknown)]
            for start in range(max(0, end - self._longest), end):
                known = self._known.get(word[start:end])
                if known is not None:
                    options.append((best[start][0] + known[1], start, known[0]))
            best.append(max(options, key=lambda option: (option[0], -option[1])))
        found: list[int] = []
        at = len(word)
        while at:
            _, start, piece = best[at]
            if piece is not None and piece != self._unknown:
                found.append(piece)
            at = start
        return found[::-1]
