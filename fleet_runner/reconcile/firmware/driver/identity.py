"""Right before a BMC is told to do anything: is it the BMC of this very machine?"""

from collections.abc import Mapping
from typing import Any

from fleet_runner.adapters.ipmi import PowerBmc
from fleet_runner.core.boot import identity
from fleet_runner.core.checks.reads.bmc import MACHINE
from fleet_runner.core.lifecycle.preflight import identity_sources
from fleet_runner.core.lifecycle.preflight.machine import Match, designed, identify


def stranger(bmc: PowerBmc, device: Mapping[str, Any]) -> str:
    """Say that a BMC is another machine's than `device` (`fleet_device`) describes; "" where it does not say so.

    One request is enough where its system says the designed serial number; else all that it calls itself is read.

    Raises:
        BmcError: it does not answer.
    """
    known = designed(device)
    if not known.serial or identity.serial(str(bmc.system().get("SerialNumber") or "")) == identity.serial(
        known.serial
    ):
        return ""
    (answer,) = identify(known, [identity_sources.of_bmc(bmc.gather(MACHINE))]).answers
    return f"{bmc.url}: {answer.sentence}; nothing was sent" if answer.match is Match.OTHER else ""
