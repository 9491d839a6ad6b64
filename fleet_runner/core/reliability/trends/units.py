"""Numbers that changed as a change of their unit changes them: what tells them was updated, and no part went bad."""

from typing import Final

FACTORS: Final = (1e3, 1e6, 1e9, 1024.0, 1024.0**2, 1024.0**3, 8.0, 60.0, 3600.0)
"""Milli, micro and nano, and their powers of two; bits of bytes; seconds of minutes and hours."""

NEAR = 0.02
"""How near it must come, as a share."""


def changed(before: float, after: float, unit: str) -> bool:
    """Return whether one number is the other one in another unit."""
    if not before or not after:
        return False
    share = max(abs(after / before), abs(before / after))
    factors = any(abs(share / factor - 1) <= NEAR for factor in FACTORS) and before * after > 0
    return factors or (unit.startswith("celsius") and (_fahrenheit(before, after) or _fahrenheit(after, before)))


def _fahrenheit(celsius: float, other: float) -> bool:
    """Return whether a temperature is another's in degrees Fahrenheit."""
    return abs(other - (celsius * 1.8 + 32)) <= NEAR * abs(other)
