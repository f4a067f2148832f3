"""The seed's answer to something that was done in part (G§15, item 19)."""

from collections.abc import Mapping, Sequence

from schemory.model.jsonvalue import Json, compact
from schemory.model.moment import Clock, moment_text


def format_partial_success(
    operation: str,
    attempted: Sequence[str],
    failed: Mapping[str, str],
    *,
    now: Clock,
) -> dict[str, Json]:
    """Return the answer to an operation that was done in part: what was, what was not, and why.

    Args:
        operation: What was tried, such as `add_nodes`.
        attempted: The items, by name.
        failed: Why an item was left out, by name.
        now: The clock of the timestamp.
    """
    done = [item for item in attempted if item not in failed]
    told: dict[str, Json] = {
        "data": {
            "partial": True,
            "succeeded": done,
            "failed": [{"item": item, "reason": reason} for item, reason in failed.items()],
        },
        "actionTaken": f"{operation}: {len(done)} of {len(attempted)} items done",
        "timestamp": moment_text(now()),
    }
    text = compact(told)
    return {"content": [{"type": "text", "text": text}], "isError": False}
