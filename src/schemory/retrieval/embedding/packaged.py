"""Installed packages that carry a model: is the very release there that was checked.

Their publishers are single authors, so the release is pinned, and the files that are run or read
are compared with the checksums they had when they were looked at, before any of them is imported.
"""

import hashlib
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from schemory.errors import UnsupportedError
from schemory.model.frozen import dataclass

_CHUNK = 1 << 20


class ModelUnavailableError(UnsupportedError):
    """The model that vectors come from is not there, or is not what was checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A release of a package that carries a model.

    Attributes:
        name: As it is installed.
        module: As it is imported.
        version: The one that was checked.
        extra: Of ours, that installs it.
        files: SHA-256 by path below the module's folder.
    """

    name: str
    module: str
    version: str
    extra: str
    files: Mapping[str, str]

    def fault(self) -> str | None:
        """Return why it cannot be used as far as a look-up tells; reads no model."""
        try:
            found = version(self.name)
        except PackageNotFoundError:
            return f"the package {self.name} is not installed: pip install 'schemory[{self.extra}]'"
        if found != self.version:
            return (
                f"the package {self.name} is there in version {found}, but {self.version} was "
                f"checked: pip install 'schemory[{self.extra}]'"
            )
        return None

    def check(self) -> Path:
        """Return the module's folder when every file is what it was when it was checked.

        Raises:
            ModelUnavailableError: The package is missing, of another version, or changed.
        """
        fault = self.fault()
        spec = find_spec(self.module) if fault is None else None
        if fault is not None or spec is None or spec.origin is None:
            raise ModelUnavailableError(fault or f"the module {self.module} is not there")
        folder = Path(spec.origin).parent
        for name, digest in self.files.items():
            if _sha256(folder / name) != digest:
                raise ModelUnavailableError(
                    f"{self.module}/{name} is not the file that was checked; install it again: "
                    f"pip install --force-reinstall {self.name}=={self.version}"
                )
        return folder


def _sha256(file: Path) -> str:
    digest = hashlib.sha256()
    try:
        with file.open("rb") as opened:
            while chunk := opened.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        raise ModelUnavailableError(f"{file} cannot be read: {error.strerror}") from error
    return digest.hexdigest()
