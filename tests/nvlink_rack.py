"""A simulated NVL72: its parts break as parts do, its tools and BMCs say what they see, the real checks judge that.

Nothing here knows what should follow: switch trays have or lose power, GPUs lie in cliques, IMEX runs, ropes are wet.
From that come the texts that a sweep and a tray's BMC give; `fabric_nvlink`, `nvlink` and `sensors` judge them.
"""

import json
from dataclasses import dataclass, field, replace
from functools import partial

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.parsers.nvlink_trays import KEY
from fleet_runner.core.checks.verdicts import Result
from fleet_runner.core.inventory import ansible
from fleet_runner.core.inventory.records import Fleet, Rack
from fleet_runner.core.lifecycle.states import Stage
from tests.core.nvlink.racks import fleet, switch, tray
from tests.reconcile.scripted import GOOD, IDLE

DOMAIN = "nvlink.hall-1.A03"
CLUSTER = "9c6f5af3-53bf-49b5-a436-b66766c413c3"
TRAYS = tuple(f"a03-tray-{number}" for number in range(1, 19))
SWITCHES = tuple(f"a03-switch-{number}" for number in range(1, 10))
DETECTORS = tuple(f"Chassis_0_LeakDetector_{at}_{where}" for at in (0, 1) for where in ("ColdPlate", "Manifold"))
LEAKS = "/redfish/v1/Chassis/Chassis_0/ThermalSubsystem/LeakDetection/LeakDetectors"
DRY, LIMIT, WET = 1.73, 1.617, 0.9
LINKS, GPUS = 18, 4
PROFILE = {
    "sensors": {"celsius_margin": 3, "leak_detectors": 4},
    "nvlink": {"links": LINKS},
    "imex": {"domain_wide": True},
}


def source() -> Fleet:
    """The source of truth: 18 compute trays in one partition, 9 switch trays, two links of each GPU to each."""
    trays = [tray(number, nvlink_partition="1") for number in range(1, 19)]
    switches = [switch(at, nvlink_links=[2 * at - 2, 2 * at - 1]) for at in range(1, 10)]
    placed = [replace(each, position=float(at)) for at, each in enumerate((*trays, *switches), start=5)]
    return replace(fleet(*placed), racks={"hall-1/A03": Rack("A03", "hall-1", 48)}, revision="1")


@dataclass
class Nvl72:
    """The rack as it stands there. `volts` are of ropes, `says` states of detectors where a BMC lies about them."""

    dark: set[str] = field(default_factory=set[str])
    cliques: dict[str, str] = field(default_factory=dict[str, str])
    no_imex: set[str] = field(default_factory=set[str])
    volts: dict[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    says: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    gone: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    used: set[str] = field(default_factory=set[str])
    warm: set[str] = field(default_factory=set[str])
    fleet: Fleet = field(default_factory=source)

    def plays(self, node: str, stage: Stage) -> tuple[Result, ...]:
        """Return what the checks of a stage say of a tray, or of the domain."""
        if stage is Stage.FABRIC:
            return (self._judged("fabric_nvlink", node, {"nvlink_trays": json.dumps({KEY: self._trays()})}),)
        usage = replace(IDLE, observed={"in_use": node in self.used})
        if stage is Stage.HEALTH_PASSIVE:
            return (usage, self._links(node))
        if stage is Stage.CABLING:
            return (GOOD, self._sensors(node))
        return (GOOD, usage)

    def _judged(self, check: str, node: str, texts: dict[str, str]) -> Result:
        readings = {name: Reading(name, ReadEnd.OK, text, 0) for name, text in texts.items()}
        hostvars = ansible.fabric_hostvars(self.fleet)
        expected = Expected(
            node,
            PROFILE,
            device=hostvars[node]["fleet_device"] if node in hostvars else {},
            fabric=ansible.fabric(self.fleet),
            profiles={"gb200-tray": PROFILE},
        )
        return run(CHECKS[check], readings, expected)

    def _down(self) -> list[int]:
        dark = [SWITCHES.index(name) for name in self.dark]
        return sorted(link for at in dark for link in (2 * at, 2 * at + 1))

    def _links(self, node: str) -> Result:
        rows = ""
        for gpu in range(GPUS):
            rows += f"GPU {gpu}: NVIDIA GB200 (UUID: GPU-{node}-{gpu})\n"
            down = self._down()
            rows += "".join(
                f"\t Link {link}: {'<inactive>' if link in down else '53.125 GB/s'}\n" for link in range(LINKS)
            )
        return self._judged("nvlink", node, {"nvlink_status": rows})

    def _trays(self) -> dict[str, object]:
        hosts = [f"10.20.0.{number}" for number in range(1, 19)]
        down = self._down()
        up = [link for link in range(LINKS) if link not in down]
        ready = partial(_ready, gone={hosts[TRAYS.index(name)] for name in self.no_imex})
        told: dict[str, object] = {}
        for at, name in enumerate(TRAYS):
            place = ["Completed", "Success", CLUSTER, self.cliques.get(name, "1"), up, down, False]
            here = name not in self.no_imex
            status = ["DEGRADED" if self.no_imex else "UP", [ready(host) for host in hosts]] if here else None
            told[name] = {
                "driver": "580.95.05",
                "gpus": [[f"000{gpu}:01:00.0", *place] for gpu in range(GPUS)],
                "addresses": [hosts[at]],
                "imex": {"active": here, "hosts": hosts, "status": status},
                "unread": [],
            }
        return told

    def _sensors(self, node: str) -> Result:
        bodies: dict[str, object] = {}
        status = {"Health": "OK", "State": "Enabled"}
        of_air = status | {"Health": "Warning"} if node in self.warm else status
        air = {"Name": "Inlet", "ReadingType": "Temperature", "Reading": 24, "Status": of_air}
        bodies["/redfish/v1/Chassis/Chassis_0/Sensors/Inlet"] = {"@odata.type": "#Sensor.v1_7_0.Sensor", **air}
        for name in DETECTORS:
            volts = self.volts.get((node, name), DRY)
            state = self.says.get((node, name), "OK" if volts > LIMIT else "Critical")
            there = {"State": "Absent"} if (node, name) in self.gone else status
            bodies[f"{LEAKS}/{name}"] = {
                "@odata.type": "#LeakDetector.v1_1_0.LeakDetector", "Name": name, "DetectorState": state,
                "Status": there,
            }  # fmt: skip
            bodies[f"/redfish/v1/Chassis/Chassis_0/Sensors/{name}"] = {
                "@odata.type": "#Sensor.v1_7_0.Sensor", "Name": name, "ReadingType": "Voltage", "Reading": volts,
                "Thresholds": {"LowerCritical": {"Reading": LIMIT}}, "Status": there,
            }  # fmt: skip
        return self._judged("sensors", node, {"redfish_sensors": json.dumps(bodies)})


def _ready(host: str, gone: set[str]) -> list[str]:
    return [host, "UNAVAILABLE" if host in gone else "READY", "580.95.05"]
