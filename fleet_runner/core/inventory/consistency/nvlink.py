"""What config contexts say of NVLink domains, where it cannot be used."""

from collections.abc import Iterator

from fleet_runner.core.inventory.consistency.draft import Draft
from fleet_runner.core.inventory.consistency.problem import Problem, show
from fleet_runner.core.nvlink.domains import wrong


def problems(draft: Draft) -> Iterator[Problem]:
    """Find trays of which nobody can say to which domain, or to which partition of it, they belong."""
    for device, where in draft.devices:
        if why := wrong(device):
            yield Problem(where("context"), f"device {show(device.name)}: {why}")
