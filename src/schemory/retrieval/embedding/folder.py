"""A static embedding model in a folder of one's own: `model.safetensors` and `tokenizer.json`.

Such models (Model2Vec and its kin) have one vector for each piece of a word, and a text's vector is
the mean of its pieces' vectors; numpy alone reads and runs them. The folder's files are only read:
nothing in them is executed, and nothing is looked up elsewhere.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from schemory.retrieval.embedding.model import Traits, packed
from schemory.retrieval.embedding.packaged import ModelUnavailableError
from schemory.retrieval.embedding.pieces import Tokenizer, parse_tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

WEIGHTS_FILE: Final = "model.safetensors"
TOKENIZER_FILE: Final = "tokenizer.json"
TRAITS: Final = Traits(weight=0.3, weight_few_words=0.7, floor=0.35)
_NAMES: Final = ("embeddings", "embedding.weight")
_TYPES: Final = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "I8": "i1"}
_MOST_HEADER: Final = 16 << 20
_MOST_PIECES: Final = 512


class FolderModel:
    """A loaded static model.

    Args:
        name: What its vectors are made by: the folder's name and its weights' checksum.
        table: `(pieces, dimensions)`.
        rows: For each piece its row, where that is not its number; weights: likewise.
    """

    backend = "folder"
    traits = TRAITS

    def __init__(
        self,
        name: str,
        tokenizer: Tokenizer,
        table: "Floats",
        *,
        rows: "NDArray[Any] | None",
        weights: "Floats | None",
    ) -> None:
        self.model = name
        self.dimensions = int(table.shape[1])
        self._tokenizer = tokenizer
        self._table = table
        self._rows = rows
        self._weights = weights

    def embed_query(self, text: str) -> bytes:
        """Return the vector of a query."""
        return self.embed_texts([text])[0]

    def embed_texts(self, texts: Sequence[str]) -> list[bytes]:
        """Return the vectors of texts; of one without any known piece a vector of zeros."""
        import numpy as np  # noqa: PLC0415 (only a loaded model needs it)

        if not texts:
            return []
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for at, text in enumerate(texts):
            pieces = np.array(self._tokenizer.encode(text)[:_MOST_PIECES], np.int64)
            if not len(pieces):
                continue
            rows = pieces if self._rows is None else self._rows[pieces]
            taken = self._table[rows].astype(np.float32)
            if self._weights is not None:
                taken *= self._weights[pieces][:, None]
            vectors[at] = taken.mean(axis=0)
        return packed(vectors)


def folder_fault(folder: Path) -> str | None:
    """Return why the folder holds no model, as far as a look tells."""
    missing = [name for name in (WEIGHTS_FILE, TOKENIZER_FILE) if not (folder / name).is_file()]
    if not folder.is_dir():
        return f"there is no folder {folder}"
    if missing:
        return f"the folder {folder} has no {' and no '.join(missing)}"
    return None


def load_folder(folder: Path) -> FolderModel:
    """Return the model of a folder.

    Raises:
        ModelUnavailableError: It holds none, or one that cannot be read; says what and where.
    """
    fault = folder_fault(folder)
    if fault is not None:
        raise ModelUnavailableError(fault)
    try:
        data = (folder / WEIGHTS_FILE).read_bytes()
        tensors = _tensors(data)
        tokenizer = parse_tokenizer((folder / TOKENIZER_FILE).read_text(encoding="utf-8"))
        return _model(folder, data, tensors, tokenizer)
    except OSError as error:
        raise ModelUnavailableError(f"{folder} cannot be read: {error.strerror}") from error
    except (KeyError, TypeError, AttributeError) as error:
        what = f"{WEIGHTS_FILE} lacks something ({type(error).__name__})"
        raise ModelUnavailableError(f"the model in {folder} cannot be used: {what}") from error
    except ValueError as error:
        raise ModelUnavailableError(f"the model in {folder} cannot be used: {error}") from error


def _model(
    folder: Path, data: bytes, tensors: "Mapping[str, NDArray[Any]]", tokenizer: Tokenizer
) -> FolderModel:
    import numpy as np  # noqa: PLC0415 (only a loaded model needs it)

    table = next((tensors[name] for name in _NAMES if name in tensors), None)
    if table is None or table.ndim != 2 or not table.size:  # noqa: PLR2004 (a table)
        raise ValueError(f"{WEIGHTS_FILE} has no table named {' or '.join(_NAMES)}")
    rows, weights = tensors.get("mapping"), tensors.get("weights")
    known = len(table) if rows is None else len(rows)
    if tokenizer.size > known or (weights is not None and len(weights) < tokenizer.size):
        raise ValueError(f"{TOKENIZER_FILE} knows {tokenizer.size:,} pieces, the table {known:,}")
    if rows is not None and (rows.min(initial=0) < 0 or rows.max(initial=0) >= len(table)):
        raise ValueError(f"{WEIGHTS_FILE} maps pieces to rows that are not there")
    return FolderModel(
        f"folder {folder.name} {hashlib.sha256(data).hexdigest()[:12]}",
        tokenizer,
        cast("Floats", table),
        rows=rows,
        weights=None if weights is None else weights.astype(np.float32),
    )


def _tensors(data: bytes) -> "dict[str, NDArray[Any]]":
    """Return the tensors of a safetensors file: a length, a header in JSON, then numbers."""
    import numpy as np  # noqa: PLC0415 (only a loaded model needs it)

    length = int.from_bytes(data[:8], "little")
    if not 2 <= length <= min(_MOST_HEADER, len(data) - 8):  # noqa: PLR2004 (an empty object)
        raise ValueError(f"{WEIGHTS_FILE} is no safetensors file")
    header = cast("dict[str, Any]", json.loads(data[8 : 8 + length]))
    body = memoryview(data)[8 + length :]
    found: dict[str, NDArray[Any]] = {}
    for name, told in header.items():
        if name == "__metadata__":
            continue
        kind = {**_TYPES, "I64": "<i8", "I32": "<i4"}.get(told["dtype"])
        begin, end = told["data_offsets"]
        if kind is None or not 0 <= begin <= end <= len(body):
            raise ValueError(f"{WEIGHTS_FILE} holds {name} in a way that is not known here")
        found[name] = np.frombuffer(body[begin:end], kind).reshape(told["shape"])
    return found
