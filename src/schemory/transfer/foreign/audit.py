"""What the audit is told of moving in."""

from typing import Final

from schemory.model.jsonvalue import Json
from schemory.transfer.foreign.files import Root
from schemory.transfer.foreign.options import MoveOptions

OPERATION: Final = "import_foreign"


def audit_arguments(root: Root, options: MoveOptions) -> dict[str, Json]:
    """Return the call as the audit redacts and keeps it."""
    return {
        "import_path": str(root.path),
        "kind": options.kind.value if options.kind else None,
        "scope": options.scope,
        "tags": list[Json](options.tags),
        "dry_run": options.dry_run,
        "allow_secret": options.allow_secret,
        "skip_secrets": options.skip_secrets,
    }
