"""What makes a written image run, and the power that a step needs."""

from collections.abc import Callable

from fleet_runner.adapters.redfish.updates import Updates
from fleet_runner.core.firmware.catalogue import Activate, Power

ACTIONS = {Power.ON: "On", Power.OFF: "ForceOff"}
STATES = {Power.ON: "On", Power.OFF: "Off"}

HOST = frozenset({Activate.HOST_RESET, Activate.AC_DRAIN})
"""Activations after which the host has booted anew."""


def reset(updates: Updates, how: Activate, alive: Callable[[], None]) -> None:
    """Do one reset of an activation; it was written down before. `alive` may raise while the host is waited for.

    Raises:
        NoWayError: it cannot be done over Redfish.
        BmcRefused: it surely was not done now.
        BmcError: it may not have been done.
    """
    match how:
        case Activate.NONE:
            return
        case Activate.BMC_RESET:
            updates.reset_bmc()
        case Activate.HOST_RESET:
            updates.reset_host(alive)
        case Activate.AC_DRAIN:
            updates.ac_drain()


def wrong(power: Power, state: str | None) -> bool:
    """Say whether the host must be switched before a step."""
    return power is not Power.ANY and state != STATES[power]
