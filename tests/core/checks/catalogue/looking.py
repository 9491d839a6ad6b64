"""What tests of checks over nvidia-smi share: a bent report of one GPU, and a check that remembers its last look."""

from typing import Any

from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Result
from tests.core.checks.catalogue.judging import DEVICE, HEALTHY, NODE, PROFILE, READ_AT, judged
from tests.core.checks.healthy.gpu import ONE

PCI = "0000:1b:00.0"

GPU = f"GPU {PCI}"


def bent(*swaps: tuple[str, str], text: str = ONE) -> str:
    """Return a report of one GPU with changes, each of which must change something."""
    for old, new in swaps:
        assert old in text, old
        text = text.replace(old, new)
    return text


def asked(section: str | None = None, /, **values: Any) -> Expected:
    """Return what is expected, with other values in a section of the profile."""
    profile = PROFILE if section is None else PROFILE | {section: PROFILE.get(section, {}) | values}
    return Expected(NODE, profile, DEVICE)


def remembering(name: str, observed: object, seconds: float = 3600.0) -> Expected:
    """Return what is expected of a check that looked some seconds ago."""
    run = {"before": {name: {"at": READ_AT - seconds, "observed": observed}}, "now": READ_AT}
    return Expected(NODE, PROFILE, DEVICE, run=run)


def seen(name: str, *swaps: tuple[str, str], expected: Expected | None = None) -> Result:
    """Judge a check over a bent report."""
    return judged(name, HEALTHY[name] | {"nvidia_smi": bent(*swaps)}, expected or asked())
