"""Spans of time as people say them."""


def age(seconds: float) -> str:
    """Return a duration as people say it: "42 s", "7 min", "3 h", "12 d"."""
    for unit, size in (("d", 86_400.0), ("h", 3_600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"
