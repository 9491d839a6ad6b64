"""One emulated machine in the test's own process, and drivers that run there."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fleet_runner.lab.redfish import BmcBehaviour, Durations, Emulator, load
from fleet_runner.lab.redfish.trees import OUR_OWN
from tests.reconcile.firmware.driver import child, scenes
from tests.reconcile.firmware.driver.child import Job
from tests.reconcile.firmware.driver.scenes import NODE, Scene

SENT = ("upload_begun", "accepted", "power", "bmc_reset", "ac_drain", "bios_set")


@dataclass
class Bench:
    """A machine with old versions, and the drivers that are to bring them to their pins."""

    bmc: Emulator
    scene: Scene
    store: str

    def job(self, **words: Any) -> Job:
        """Return what a driver is to do."""
        job = Job(
            self.bmc.url, self.store, dict(self.scene.profile), self.scene.images, scenes.CREDENTIALS,
            scenes.PACE, scenes.LEASE_SECONDS, "driver", NODE,
        )  # fmt: skip
        return replace(job, **words)

    def drive(self, **words: Any) -> dict[str, Any]:
        """Drive in this process, and return the report."""
        return child.work(self.job(**words))

    def sent(self) -> list[str]:
        """Return what reached the BMC that it could not take back."""
        return [event.kind for event in self.bmc.events(*SENT)]


@contextmanager
def bench(
    folder: Path, names: Sequence[str], rules: Sequence[Mapping[str, Any]] = (), *,
    pace: Durations | None = None, habits: BmcBehaviour | None = None, changes: Mapping[str, Any] | None = None,
    **words: Any,
) -> Iterator[Bench]:  # fmt: skip
    """Run the shipped machine, changed in its resources, with these parts of it old; more words are for its scene."""
    tree = load(OUR_OWN).changed(changes or {})
    parts = [part for part in scenes.SMALL if part.name in names]
    entries = scenes.entries(tree, parts)
    scene = scenes.scene(folder / "images", parts, entries, dict.fromkeys(entries, scenes.OLD), **words)
    given = {"pace": pace or Durations.quick(), "habits": habits, "rules": rules}
    with Emulator(tree, credentials=scenes.CREDENTIALS, **given) as bmc:
        for entry, version in scene.old.items():
            bmc.set_version(entry, version)
        yield Bench(bmc, scene, scenes.store_in(folder, folder))
