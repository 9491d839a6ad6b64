"""How a process ended, in words."""

from signal import Signals

SHELLS = 128
"""What shells and container runtimes add to the number of the signal that ended a process."""


def ended(status: int, signal: int = 0) -> str:
    """Say an exit code, or the signal that ended a process; "" where nothing went wrong."""
    if signal:
        return f"signal {signal}{_named(signal)}"
    if status > SHELLS and _named(status - SHELLS):
        return f"exit code {status}, which tells of signal {status - SHELLS}{_named(status - SHELLS)}"
    return f"exit code {status}" if status else ""


def _named(signal: int) -> str:
    return f" ({Signals(signal).name})" if signal in set(Signals) else ""
