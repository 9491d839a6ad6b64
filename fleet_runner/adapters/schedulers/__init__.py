"""Schedulers that give nodes work, one file each: drained and asked through them, and given back what was ours."""

from pathlib import Path
from typing import Any, Protocol

from fleet_runner.adapters.schedulers import slurm
from fleet_runner.core.base.errors import EvidenceError, SchedulerError, SettingsError
from fleet_runner.core.lifecycle import clusters
from fleet_runner.core.lifecycle.scheduler import By, SchedulerOutcome
from fleet_runner.settings import Settings


class Scheduler(Protocol):
    """One scheduler. Whatever it cannot do, or cannot be asked, raises SchedulerError; a name of no node as well."""

    def drain(self, node: str, reason: str, by: By, *, dry: bool = False) -> SchedulerOutcome:
        """Have a node given no new work, under a reason with our mark; a drain of somebody else's stays as it is."""
        ...

    def resume(self, node: str, by: By, *, dry: bool = False) -> SchedulerOutcome:
        """Undo a drain of ours, and no other."""
        ...

    def evict(self, node: str, seconds: float, *, devices: bool = False, dry: bool = False) -> SchedulerOutcome:
        """End what runs on a node in the scheduler's own way, where it has one, within some time.

        With `devices`, only what asks for a device.
        """
        ...

    def read(self, node: str) -> dict[str, Any]:
        """Return the evidence: what the scheduler says of the node, as plain JSON."""
        ...


def opened(settings: Settings, cluster: object = None) -> Scheduler | None:
    """Return the scheduler of the settings, None where there is none.

    `cluster` is what a node's context says of its Kubernetes cluster.

    Raises:
        SchedulerError: the settings have no such cluster.
        SettingsError: the scheduler cannot be used.
    """
    match settings.scheduler:
        case "none":
            return None
        case "slurm":
            return slurm.Slurm()
        case "kubernetes":
            from fleet_runner.adapters.schedulers import kubernetes  # noqa: PLC0415  needs the extra of that name

            return kubernetes.opened(kubeconfig_of(settings, cluster))


def kubeconfig_of(settings: Settings, cluster: object = None) -> Path:
    """Return the kubeconfig of a cluster, as a node's context names it; errors as above."""
    known = settings.kubeconfigs
    if not known:
        raise SettingsError("scheduler is kubernetes, but kubeconfig is not set; name the file in fleet.toml")
    try:
        return known[clusters.cluster_of(cluster, known)]
    except EvidenceError as error:
        raise SchedulerError(str(error)) from error
