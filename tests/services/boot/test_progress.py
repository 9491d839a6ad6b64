"""What the play sees of a boot, and what becomes of the boot when it has seen enough."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import StoreError
from fleet_runner.core.boot import progress
from fleet_runner.core.boot.boots import Heartbeat, Identity, Milestone, PhonedHome, Reached, Refused
from fleet_runner.core.boot.progress import LIMITS, Progress
from fleet_runner.core.inventory.records import Device
from fleet_runner.services.boot import progress as watching
from fleet_runner.services.boot.progress import BootWatch

ARMED = time.time() - 1000.0
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ2vLxW1lbcCsoVOFhLFYJIZRTOaGn8ZaYl8bWKqgY5a"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store with three nodes, whose boots were armed a while ago and have leased their addresses."""
    with Store.create(f"sqlite:///{tmp_path / 'fleet.db'}") as made:
        names = [f"gpu-0{number}" for number in (1, 2, 3)]
        made.register([Device(name, "lab", "gpu-server", "lab") for name in names], 1.0)
        boots = [made.arm(name, Identity(serial=name), run=None, now=ARMED, seconds=1800) for name in names]
        made.tell([Reached(boot.id, Milestone.DHCP, ARMED + 1, "10.0.0.9") for boot in boots])
        yield made


class Clock:
    """A clock that is read as it is set."""

    def __init__(self) -> None:
        self.at = 5_000.0

    def __call__(self) -> float:
        """Return what it shows."""
        return self.at


def after(store: Store, boot: int, seconds: float) -> tuple[BootWatch, Progress]:
    """Watch a boot for some seconds from now on, and return what is then known about it."""
    clock = Clock()
    watch = BootWatch(store, boot, LIMITS, clock)
    watch.look()
    clock.at += seconds
    return watch, watch.look()


def beat(store: Store, now: float) -> None:
    store.tell([Heartbeat("boot", now), Heartbeat("dhcp", now)])


def test_a_boot_in_time_is_waited_for_and_a_late_one_is_not(store: Store) -> None:
    assert not watching.over(after(store, 1, 119)[1])
    assert watching.over(after(store, 1, 120)[1])
    with pytest.raises(StoreError, match="boot 99 is not in the store"):
        BootWatch(store, 99, LIMITS).look()


@pytest.mark.parametrize("skew", [-65.0, 65.0])
def test_the_boot_services_clock_shortens_no_wait_and_lengthens_none(store: Store, skew: float) -> None:
    """A kernel has a minute, counted from when the script was seen."""
    clock = Clock()
    watch = BootWatch(store, 1, LIMITS, clock)
    watch.look()
    store.tell([Reached(1, Milestone.SCRIPT, time.time() + skew, "10.0.0.9")])
    assert not watching.over(watch.look())
    clock.at += 59.0
    assert not watching.over(watch.look())
    clock.at += 1.0
    beat(store, time.time() + 60 + skew)
    assert watching.over(watch.look())
    assert progress.heard(watch.look(), "boot")


def test_a_closed_boot_ends_the_wait_and_another_machine_in_its_place_does_not(store: Store) -> None:
    store.close_boot(1, "armed anew", ARMED + 2)
    assert watching.over(after(store, 1, 3)[1])
    store.tell([Refused("gpu-02", "mismatch", "it says serial number X", ARMED + 2, "10.0.0.9", boot=2)])
    assert not watching.over(after(store, 2, 3)[1])


def test_only_refusals_since_the_arming_and_about_this_boot_count(store: Store) -> None:
    store.tell(
        [
            Refused("gpu-01", "unarmed", "too early", ARMED - 100, "10.0.0.9"),
            Refused("gpu-01", "claimed", "another boot", ARMED + 2, "10.0.0.9", boot=77),
            Refused("gpu-01", "image", "vmlinuz differs", ARMED + 3, "10.0.0.9", boot=1),
            Refused("gpu-02", "image", "vmlinuz differs", ARMED + 3, "10.0.0.9", boot=2),
        ]
    )
    assert [event.code for event in after(store, 1, 4)[1].refused] == ["image"]
    store.tell([Refused("gpu-01", "join", "by a clock that is behind", ARMED - 65, "10.0.0.9", boot=1)])
    assert [event.code for event in after(store, 1, 4)[1].refused] == ["image", "join"]


def test_a_refusal_that_began_before_the_arming_and_goes_on_counts(store: Store) -> None:
    for at in (ARMED - 20, ARMED + 20):
        store.tell([Refused("gpu-01", "mismatch", "it says serial number X", at, "10.0.0.7")])
    [refusal] = after(store, 1, 30)[1].refused
    assert (refusal.at, refusal.last_at, refusal.times) == (ARMED - 20, ARMED + 20, 2)


def test_a_node_at_fault_gets_nothing_more_from_its_boot(store: Store) -> None:
    store.tell([Reached(2, Milestone.SCRIPT, ARMED + 3, "10.0.0.9")])
    beat(store, ARMED + 130)
    watch, seen = after(store, 1, 130)
    whole = watch.concluded(seen)
    assert whole.passed == "gpu-02"
    boot = store.boot(1)
    assert boot is not None
    assert boot.closed_because == "it leased an address, but never asked for its iPXE script within 120 s"


@pytest.mark.parametrize("served", [True, False])
def test_a_boot_that_the_fleets_side_stopped_stays_open(store: Store, served: bool) -> None:
    """Its neighbours wait like it, or no boot service lives."""
    if served:
        beat(store, ARMED + 130)
    watch, seen = after(store, 1, 130)
    whole = watch.concluded(seen)
    assert whole.stuck == ("gpu-02", "gpu-03")
    assert len(store.open_boots()) == 3


def test_a_boot_that_stops_where_the_one_before_it_stopped_does_so_again(store: Store) -> None:
    """Nobody else boots, so the first stop says nothing; the second does."""
    for number in (2, 3):
        store.close_boot(number, "it came up", ARMED + 9)
    beat(store, ARMED + 130)
    watch, seen = after(store, 1, 130)
    assert not watch.concluded(seen).again
    second = store.arm("gpu-01", Identity(serial="gpu-01"), run=None, now=ARMED + 200, seconds=1800)
    store.tell([Reached(second.id, Milestone.DHCP, ARMED + 201, "10.0.0.9")])
    beat(store, ARMED + 330)
    watch, seen = after(store, second.id, 130)
    assert watch.concluded(seen).again
    found = store.boot(second.id)
    assert found is not None
    assert found.closed_because == "it leased an address, but never asked for its iPXE script within 120 s"


def test_a_node_that_answers_ssh_has_come_to_its_end(store: Store) -> None:
    store.tell([PhonedHome(1, ARMED + 59, "10.0.0.9", (KEY,))])
    watch, seen = after(store, 1, 1)
    seen = watch.answers_ssh(seen, "10.0.0.9")
    assert progress.missing(seen.boot) is None
    assert watching.over(seen)
    watch.concluded(seen)
    boot = store.boot(1)
    assert boot is not None
    assert boot.closed_because == "it came up"
    assert progress.timeline(boot) == "dhcp after 1 s, phone_home after 59 s, ssh after 60 s"
    assert boot.host_keys == (KEY,)
