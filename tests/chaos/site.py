"""A site folder for a fleet of a seed, and the settings of those who run it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.chaos.disturbances import LEASE
from tests.chaos.fates import name

IN_A_RACK = 8
POLICY = "breaker: {share: 1, same: 1, least: 1000}\n"
"""With half a fleet broken by a seed the breaker would open, rightly, and a seed would last for hours."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where a lab lies: its source of truth, its machines, a folder for each runner. `batch` nodes share a play."""

    root: Path
    nodes: int
    batch: int
    passive: float

    @property
    def machines(self) -> Path:
        """The machines' logs."""
        return self.root / "machines"

    def names(self) -> tuple[str, ...]:
        """Return the names of the nodes."""
        return tuple(name(number) for number in range(1, self.nodes + 1))

    def state_dir(self, runner: str) -> Path:
        """Return the folder of a runner."""
        return self.root / runner

    def values(self, runner: str, database_url: str = "") -> dict[str, Any]:
        """Return a runner's settings: as quick as a seed needs, and no budget, which only makes nodes wait."""
        return {
            "source": str(self.root / "site"),
            "state_dir": str(self.state_dir(runner)),
            "database_url": database_url,
            "lease_seconds": LEASE,
            "policy_file": str(self.root / "policy.yml"),
            "batch_nodes": self.batch,
            "batches_at_once": 2,
            "forks": 10,
            "tick_seconds": 1,
            "retry_seconds": 0.3,
            "working_seconds": 1.5,
            "firmware_pause_seconds": 1,
            "drain_seconds": 0.5,
            "passive_schedule": f"every {self.passive:.0f}s",
            "active_schedule": "never",
            "source_schedule": "every 52w",
            "max_out_share": 1,
            "max_out_domain": 1,
            "max_out_tenant": 1,
            "max_out_rack": 1000,
            "small_fleet": 0,
            "provision_per_hour": 1000,
            "firmware_at_once": 1000,
            "firmware_at_once_rack": 1000,
        }

    def write(self) -> None:
        """Write the source of truth and the policy."""
        folder = self.root / "site"
        for each in (folder, self.machines):
            each.mkdir(parents=True)
        racks = range(1, (self.nodes - 1) // IN_A_RACK + 2)
        kind = {"slug": "box", "manufacturer": "Chaos", "model": "Box", "u_height": 4, "interfaces": []}
        files: dict[str, list[Any]] = {
            "sites": [{"name": "hall"}],
            "racks": [{"name": f"R{rack:02}", "site": "hall", "u_height": 42} for rack in racks],
            "device_types": [kind],
            "devices": [_device(number) for number in range(self.nodes)],
        }
        for kinds, rows in files.items():
            (folder / f"{kinds}.yml").write_text(yaml.safe_dump({kinds: rows}), encoding="utf-8")
        (self.root / "policy.yml").write_text(POLICY, encoding="utf-8")

    def settings(self, runner: str, database_url: str = "") -> Path:
        """Write a runner's settings file and return its path."""
        path = self.root / f"{runner}.toml"
        lines = (f"{key} = {json.dumps(value)}\n" for key, value in self.values(runner, database_url).items())
        path.write_text("".join(lines), encoding="utf-8")
        return path


def _device(number: int) -> dict[str, Any]:
    return {
        "name": name(number + 1),
        "device_type": "box",
        "role": "gpu-server",
        "site": "hall",
        "rack": f"R{number // IN_A_RACK + 1:02}",
        "position": 1 + 4 * (number % IN_A_RACK),
        "serial": f"BOX{number + 1:05}",
    }
