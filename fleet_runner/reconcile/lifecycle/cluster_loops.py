"""What is done with Kubernetes clusters beside the work: each has a thread, so that none waits for another."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

from fleet_runner.adapters.schedulers import kubernetes
from fleet_runner.core.base.errors import SchedulerError, SettingsError
from fleet_runner.core.lifecycle.clusters import Names, names
from fleet_runner.core.tickets.trackers.backoff import pause
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.survive import errors_logged, threads_run
from fleet_runner.settings import Settings

GRACE = 5.0
"""Seconds that the requests under way are given at the end, all of them together: systemd waits for us."""


@dataclass(frozen=True, slots=True)
class ClusterLoop:
    """One loop about one cluster: a visit each `pulse` seconds, and after an error later; `begin` makes the visit."""

    cluster: str
    pulse: float
    error: str
    begin: Callable[[Event], Callable[[], object]]


def kubeconfigs(settings: Settings) -> dict[str, Path]:
    """Return the kubeconfig of each cluster of the settings by its name; SettingsError where there is none."""
    if settings.scheduler != "kubernetes" or not settings.kubeconfigs:
        raise SettingsError("scheduler is not kubernetes, or kubeconfig is not set; nodes of no cluster can be told")
    return settings.kubeconfigs


def theirs(world: TickContext, cluster: str) -> Names:
    """Return what a cluster calls our nodes now."""
    return names(world.fleet, cluster, world.settings.kubeconfigs)


@contextmanager
def running(loops: Iterable[ClusterLoop]) -> Iterator[None]:
    """Have loops go on for as long as it is open."""
    stop = Event()
    threads = [Thread(target=run, args=(each, stop), name="kubernetes", daemon=True) for each in loops]
    with threads_run(threads, stop, GRACE):
        yield


def run(loop: ClusterLoop, stop: Event) -> None:
    """Visit one cluster again and again; one that has too much to do is left alone for as long as it asks."""
    tries, visit = 0, None
    where = {"cluster": loop.cluster} if loop.cluster else {}
    while not stop.is_set():
        rest = loop.pulse
        with errors_logged(stop, loop.error, **where):
            try:
                visit = loop.begin(stop) if visit is None else visit
                visit()
                tries = 0
            except (SchedulerError, SettingsError) as error:
                tries += 1
                asked = error.seconds if isinstance(error, SchedulerError) else 0.0
                rest = max(loop.pulse, pause(tries, asked or None))
                raise
        stop.wait(rest)


def checked(files: dict[str, Path]) -> dict[str, Path]:
    """Return clusters' kubeconfigs; SettingsError where there is one alone, and it cannot be used.

    Of several, one that cannot be used keeps no other back: its loop says so, and tries again.
    """
    if len(files) == 1:
        kubernetes.opened(*files.values())
    return files
