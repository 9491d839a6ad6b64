"""Signals for tests."""

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.effect import Following
from fleet_runner.core.faults.signals.signal import Signal, Source

NOW = 1_700_000_000.0


def signal(  # noqa: PLR0917  a test names what it is about
    at: float = 0.0,
    node: str = "gpu-01",
    code: str = "xid.79",
    component: str = "GPU 0000:9b:00.0",
    message: str = "it fell off the bus",
    remedy: Remedy = Remedy.REBOOT,
    source: Source = Source.KERNEL,
    key: str = "",
    *,
    ended: bool = False,
) -> Signal:
    """Return a signal that happened so many seconds after NOW."""
    return Signal(node, code, component, NOW + at, source, message, remedy, ended=ended, key=key)


class Rules:
    """What follows, by code, and what follows from all others."""

    def __init__(self, default: Following | None = None, **codes: Following) -> None:
        self.default = default or Following()
        self.codes = {code.replace("_", "."): following for code, following in codes.items()}

    def __call__(self, node: str, code: str) -> Following:
        """Return what follows from a code of a node."""
        return self.codes.get(code, self.default)
