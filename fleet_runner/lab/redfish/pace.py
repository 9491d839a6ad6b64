"""How long an emulated BMC takes for what it does, and what kind of BMC it is."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Self

ACTIVATION: Mapping[str, str] = MappingProxyType(
    {
        "HGX_*": "host_reset",
        "*CPLD*": "ac_drain",
        "*E[rR][oO]T*": "ac_drain",
        "HostBMC*": "bmc_reset",  # NVIDIA's DGX waits for a person to reset it
        "*BMC*": "self",
        "*BIOS*": "host_reset",
        "*PSU*": "none",
        "*PowerSupply*": "none",
        "*": "host_reset",
    }
)
"""What makes a written version run, by a glob over the inventory id; the first that matches counts."""

DELL: Mapping[str, str] = MappingProxyType(
    {
        "*__iDRAC.*": "self",
        "*__Diagnostics.*": "none",
        "*__DriverPack.*": "none",
        "*__USC.*": "none",
        "*__ServiceModule.*": "none",
        "*": "host_reset",
    }
)
"""Likewise of an iDRAC, which writes all but its own software while the host starts."""

HPE: Mapping[str, str] = MappingProxyType(
    {
        "iLO *": "self",
        "Intelligent P*": "none",
        "Power Management Controller*": "none",
        "*Programmable Logic Device*": "ac_drain",
        "*": "host_reset",
    }
)
"""Likewise of an iLO, by the entry's name: its ids are numbers."""

HOST_SIDE = (
    "/redfish/v1/Systems/HGX*",
    "/redfish/v1/Chassis/HGX*",
    "/redfish/v1/Managers/HGX*",
    "/redfish/v1/UpdateService/*Inventory/HGX*",
)
"""What answers 503 while the host is off: the BMC hears it from the GPU baseboard's own BMC."""


@dataclass(frozen=True, slots=True)
class Durations:
    """Seconds per phase; the defaults are some hundredth of a real machine's.

    `request` is added to every answer. An update takes `write` and `write_per_mb`. `go_down` passes between a BMC's
    answer to its reset and its silence, `outage` is the silence, `starting` is how long it says 503 afterwards.
    `session` and `lockout` are the tree's own where None. `baseboard` is how long after the host's start its GPU side
    is not yet there, `bios_job` how long a job for BIOS settings takes then. `event_retry` passes before an event
    that was not taken is sent again. `controller` is how long Dell's Lifecycle Controller takes no jobs after a
    restart.
    """

    request: float = 0.0
    write: float = 3.0
    write_per_mb: float = 0.0
    go_down: float = 0.05
    outage: float = 1.0
    starting: float = 0.2
    power_on: float = 0.2
    power_off: float = 0.2
    graceful: float = 0.5
    boot: float = 1.0
    baseboard: float = 0.2
    bios_job: float = 1.0
    drain: float = 1.0
    event_retry: float = 0.5
    controller: float = 0.5
    session: float | None = None
    lockout: float | None = None

    def times(self, factor: float) -> Self:
        """Return the same with every duration multiplied; what the tree says stays the tree's."""
        scaled = {
            each.name: value * factor
            for each in dataclasses.fields(self)
            if (value := getattr(self, each.name)) is not None
        }
        return dataclasses.replace(self, **scaled)

    @classmethod
    def quick(cls) -> Self:
        """Return durations for tests: a few milliseconds each."""
        return cls(
            write=0.03, go_down=0.002, outage=0.03, starting=0.005, power_on=0.005, power_off=0.005,
            graceful=0.01, boot=0.02, baseboard=0.005, bios_job=0.02, drain=0.02, event_retry=0.01, controller=0.02,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class BmcBehaviour:
    """What kind of BMC it is.

    `activation` goes before ACTIVATION: {glob over inventory ids: how, or (how, times)}. `sessions` is the most that
    can be open at once. `keeps_tasks` says whether tasks outlive a BMC restart; `reuses_task_ids` whether it then
    counts from 1 again. `location` is what the Location of an accepted update names: monitor, task, or nothing.
    `accepts_concurrent` is a bad BMC, which takes an update while another runs. `checks_in_task` finds bad images in
    the task, not in the answer. `needs_if_match` answers 428 to a PATCH without one. `reset_tasks` makes a task of
    every power action (None: where the tree has such tasks). A restart of a host that is off is refused, or with
    `ignores_restart_while_off` does nothing; `loses_override_while_off` takes a boot override then and forgets it.
    `host_side` are globs of what is gone while the host is off.
    `subscriptions` is the most that can be made, `unknown_to_events` are properties that none of them may have.
    `image_types` makes it AMI's kind, which takes no multipart image without the part OemParameters: {glob over
    inventory ids: the ImageType that it must name}. `media_wants` are parameters without which no virtual medium is
    inserted.
    """

    activation: Mapping[str, str | tuple[str, int]] = field(default_factory=dict)
    sessions: int = 16
    most_tasks: int = 30
    keeps_tasks: bool = False
    reuses_task_ids: bool = False
    location: str = "monitor"
    accepts_concurrent: bool = False
    checks_in_task: bool = False
    needs_if_match: bool = False
    reset_tasks: bool | None = None
    ignores_restart_while_off: bool = False
    loses_override_while_off: bool = False
    host_side: tuple[str, ...] = HOST_SIDE
    subscriptions: int = 20
    unknown_to_events: tuple[str, ...] = ()
    image_types: Mapping[str, str] = field(default_factory=dict)
    media_wants: tuple[str, ...] = ()
