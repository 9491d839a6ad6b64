"""A rollout as people read it."""

from rich.console import Console

from fleet_runner.cli.firmware.rollout_text import shown
from fleet_runner.core.firmware.rollout import Rollout
from fleet_runner.core.firmware.turns import Member
from tests.making import a_node


def test_a_domain_that_waits_says_why() -> None:
    """Its trays are not asked while it is not whole."""
    rollout = Rollout(1, "gb200-tray", "ann", 900.0, "BMC 1.2", 1, 4, 0.1)
    held = {"nvlink.hall.A03": "a03-tray-7 leaks: power it off"}
    console = Console(width=200)
    with console.capture() as said:
        console.print(shown(rollout, [Member("gpu-01", 0)], {"gpu-01": a_node()}, 1000.0, held))
    assert "waits: nvlink.hall.A03: a03-tray-7 leaks: power it off" in said.get()
