"""A node with an emulated BMC whose BIOS settings are set, and its place in a store."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fleet_runner.adapters.redfish import Bmc
from fleet_runner.adapters.store import Store
from fleet_runner.core.firmware.bios_steps import Try
from fleet_runner.core.firmware.bios_text import Report
from fleet_runner.core.firmware.flash import FlashTiming
from fleet_runner.lab.redfish import Durations, Emulator, load
from fleet_runner.lab.redfish.trees import OUR_OWN
from fleet_runner.reconcile.firmware.driver import BiosContext, Target, set_bios
from tests.reconcile.firmware.driver.child import QUICK
from tests.reconcile.firmware.driver.scenes import CREDENTIALS, LEASE_SECONDS, NODE, store_in

PACE = FlashTiming(poll=0.05, boot=0.0)
LONG = 120.0
WANTED: dict[str, Any] = {"SRIOVEnable": "Enabled", "MaxPayload": 512, "QuietBoot": True}


@dataclass
class Node:
    """A node with an emulated BMC, and its place in a store."""

    bmc: Emulator
    store: str

    def set(self, wanted: Mapping[str, Any] = WANTED, holder: str = "one", **said: Any) -> Report:
        """Have settings set."""
        with Store.open(self.store) as store:
            means = BiosContext(store, self.open, wanted, PACE, LEASE_SECONDS)
            return set_bios(Target(NODE, holder, since=said.pop("since", 0.0), by="jane"), means, **said)

    def open(self) -> Bmc:
        """Open its BMC."""
        return Bmc(self.bmc.url, *CREDENTIALS, limits=QUICK)

    def boot(self, report: Report) -> None:
        """Do as the play does: reset the host, unless it was since the moment that is reported."""
        assert report.since is not None
        with self.open() as bmc:
            age = bmc.last_reset_age()
            if age is not None and age < time.time() - report.since:
                return
            before = len(self.bmc.events("host_reset"))
            bmc.power("ForceRestart")
        deadline = time.monotonic() + LONG
        while len(self.bmc.events("host_reset")) == before or self.bmc.power != "On":
            assert time.monotonic() < deadline
            time.sleep(0.005)

    def tried(self) -> Try | None:
        """Return what is written down."""
        with Store.open(self.store) as store:
            return store.bios_try(NODE, 0.0)


@contextmanager
def a_node(folder: Path, tree: Path = OUR_OWN, **said: Any) -> Iterator[Node]:
    """Serve a tree, with a new store."""
    url = store_in(folder, folder)
    with Emulator(load(tree), credentials=CREDENTIALS, **{"pace": Durations.quick(), **said}) as bmc:
        yield Node(bmc, url)
