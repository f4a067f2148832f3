"""Edge weights: strength or confidence of a relation, a real number in [0.0, 1.0] (G§10)."""

from collections.abc import Iterable

DEFAULT_WEIGHT = 1.0
_SIGNIFICANT_DIGITS = 12


def weight_fault(value: object) -> str | None:
    """Return why `value` is no weight, or None; a bool, NaN or text is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "must be a number from 0 to 1"
    if not 0.0 <= value <= 1.0:  # NaN is not either
        return "must be from 0 to 1"
    return None


def blend_weight(current: float, evidence: float) -> float:
    """Move `current` half-way to `evidence`, rounded to 12 significant digits. Source: G§10.2.

    >>> blend_weight(0.8, 0.6), blend_weight(1.0, 0.6)
    (0.7, 0.8)
    """
    return float(f"{(current + evidence) / 2:.{_SIGNIFICANT_DIGITS}g}")


def combine_weights(weights: Iterable[float]) -> float:
    """Return the strongest of parallel edges' weights. Source: G§10.2.

    Raises:
        ValueError: `weights` is empty.

    >>> combine_weights([0.2, 0.9, 0.5])
    0.9
    """
    return max(weights)
