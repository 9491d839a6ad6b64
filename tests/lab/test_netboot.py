"""The lab's nodes boot through the product's own boot service, as far as it can tell from real ones."""

import subprocess
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from fleet_runner.adapters import sitefiles
from fleet_runner.adapters.store import Store
from fleet_runner.core.boot.boots import Boot, Identity, Milestone
from fleet_runner.lab import boot_server, faults, hardware, plan, processes
from fleet_runner.lab.cloudinit import host_key
from fleet_runner.lab.down import down
from fleet_runner.lab.folder import Lab, read
from fleet_runner.lab.up import up
from fleet_runner.lab.wire import NodeNetwork, RefusedError
from tests.lab.bench import shell, wait

SEEN = tuple(milestone for milestone in Milestone if milestone is not Milestone.SSH)
"""What a boot service sees; that a node answers ssh is for those who reach it to say."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab whose boots take no time, with a node for each test."""
    made = up(tmp_path_factory.mktemp("netboot") / "lab", 16, boot_seconds=0.0, boot_service=True)
    try:
        yield made
    finally:
        down(made)


@pytest.fixture(scope="module")
def store(lab: Lab) -> Iterator[Store]:
    """The store of that lab, in which every node is registered."""
    found = Store.open(f"sqlite:///{lab.root / 'state' / 'fleet.db'}")
    fleet = sitefiles.load(lab.site)
    found.register([fleet.devices[name] for name in lab.nodes()], time.time())
    yield found
    found.close()


@pytest.fixture(scope="module")
def fresh(lab: Lab) -> Callable[[], str]:
    """Name a node that no other test has."""
    numbers = count(1)
    return lambda: plan.server(next(numbers))


@pytest.fixture
def node(fresh: Callable[[], str]) -> str:
    """A node of the test's own."""
    return fresh()


def arm(store: Store, node: str) -> int:
    """Arm a boot as the product does, and return its number."""
    number = plan.index(node)
    who = Identity(
        frozenset({plan.mac(number)}),
        plan.server_serial(number),
        plan.uuid(number),
        frozenset({plan.address(number)}),
    )
    return store.arm(node, who, run=None, now=time.time(), seconds=60.0).id


def kept(store: Store, boot: int) -> Boot:
    """Return a boot as the store has it."""
    found = store.boot(boot)
    assert found is not None
    return found


def events(store: Store, node: str) -> list[tuple[str, str]]:
    """Return what happened to a node at the boot service, with the codes of refusals."""
    return [(event.kind, event.code) for event in store.boot_events(node)]


def test_an_armed_node_comes_up_milestone_by_milestone(lab: Lab, store: Store, node: str) -> None:
    boot = arm(store, node)
    hardware.power(lab, node, "On")
    wait(lambda: hardware.up(lab, node))
    wait(lambda: Milestone.DHCP in kept(store, boot).reached)
    found = kept(store, boot)
    assert sorted(found.reached, key=SEEN.index) == list(SEEN)
    assert set(found.sources.values()) == {plan.address(plan.index(node))}
    assert hardware.state_of(lab, node)["boot"]["host_key"].startswith(found.host_keys[0])
    assert shell(lab, node, "hostname >/dev/null; echo $FLEET_LAB_NODE").stdout == f"{node}\n"


def test_ssh_holds_a_node_against_the_key_that_it_told(lab: Lab, store: Store, node: str, tmp_path: Path) -> None:
    """Each boot makes another one, and the key that was kept for the boot before is refused."""
    address = plan.address(plan.index(node))
    words = [lab.root / "bin" / "ssh", "-o", f'UserKnownHostsFile="{tmp_path}/%h" ~/none', address, "true"]
    boot = arm(store, node)
    hardware.power(lab, node, "On")
    wait(lambda: hardware.up(lab, node))
    (tmp_path / address).write_text(f"{address} {kept(store, boot).host_keys[0]}\n")
    assert subprocess.run(words, check=False).returncode == 0
    with hardware.changing(lab, node) as state:
        state["boot"]["host_key"] = host_key(node)
    answer = subprocess.run(words, check=False, capture_output=True, text=True)
    assert (answer.returncode, "Host key verification failed" in answer.stderr) == (255, True)


def test_what_it_was_given_lies_beside_it_until_it_loses_its_power(lab: Lab, store: Store, node: str) -> None:
    arm(store, node)
    hardware.power(lab, node, "On")
    wait(lambda: hardware.up(lab, node))
    seed = lab.node(node) / "seed"
    assert f"local-hostname: {node}" in (seed / "meta-data").read_text().replace('"', "")
    assert "munge.key" in (seed / "user-data").read_text()
    assert (seed / "user-data").stat().st_mode & 0o777 == 0o600
    hardware.power(lab, node, "ForceOff")
    assert list(seed.iterdir()) == []


def test_the_document_with_secrets_is_given_once(lab: Lab, store: Store, node: str) -> None:
    boot = arm(store, node)
    hardware.power(lab, node, "On")
    wait(lambda: Milestone.PHONE_HOME in kept(store, boot).reached)
    vendor = (lab.node(node) / "seed" / "vendor-data").read_text()
    key = vendor.partition("/phone-home/")[2].partition('"')[0].split()[0]
    wire = NodeNetwork(plan.address(plan.index(node)))
    with pytest.raises(RefusedError, match="410"):
        wire.get(f"http://127.0.0.1:{read(lab.about)['boot_port']}/seed/{key}/user-data")
    wait(lambda: ("refused", "claimed") in events(store, node))


def test_a_node_that_is_not_armed_waits_until_it_is(lab: Lab, store: Store, node: str) -> None:
    hardware.power(lab, node, "On")
    wait(lambda: ("refused", "unarmed") in events(store, node))
    assert not hardware.up(lab, node)
    assert "not armed" in (lab.node(node) / "console.log").read_text()
    arm(store, node)
    wait(lambda: hardware.up(lab, node))


@pytest.mark.parametrize("milestone", Milestone)
def test_a_fault_keeps_a_node_from_its_milestone(lab: Lab, store: Store, node: str, milestone: Milestone) -> None:
    faults.inject(lab, "no_boot", node, {"at": str(milestone)})
    boot = arm(store, node)
    hardware.power(lab, node, "On")
    wait(lambda: hardware.state_of(lab, node)["boot"]["milestone"] == milestone)
    reached = SEEN[: list(Milestone).index(milestone)]
    wait(lambda: len(kept(store, boot).reached) == len(reached))
    assert set(kept(store, boot).reached) == set(reached)
    if milestone is Milestone.PHONE_HOME:
        wait(lambda: hardware.up(lab, node))  # a moment later
    assert hardware.up(lab, node) is (milestone is Milestone.PHONE_HOME)


def test_without_an_answer_from_the_boot_service_a_node_goes_on_asking(lab: Lab, store: Store, node: str) -> None:
    processes.end(lab, boot_server.SERVICE)
    arm(store, node)
    hardware.power(lab, node, "On")
    wait(lambda: "Connection refused" in (lab.node(node) / "console.log").read_text())
    boot_server.start(lab)
    boot_server.wait(lab)
    wait(lambda: hardware.up(lab, node))


def test_losing_power_ends_a_boot(lab: Lab, store: Store, node: str) -> None:
    hardware.power(lab, node, "On")
    wait(lambda: ("refused", "unarmed") in events(store, node))
    hardware.power(lab, node, "ForceOff")
    arm(store, node)
    assert processes.end_node(lab, node) == 0
    assert hardware.state_of(lab, node)["boot"]["ready"] is None


def test_a_node_that_is_told_to_boot_from_its_disk_finds_none(lab: Lab, node: str) -> None:
    with hardware.changing(lab, node) as state:
        state["override"] = {"enabled": "Once", "target": "Hdd"}
    hardware.power(lab, node, "On")
    boot = hardware.state_of(lab, node)["boot"]
    assert (boot["how"], boot["ready"]) == ("no bootable device", None)
