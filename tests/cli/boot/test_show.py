"""What the commands show of nodes that boot over the network, and of machines that nobody knows."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import Exit
from fleet_runner.core.boot.boots import Discovered, Heartbeat, Identity, Milestone, PhonedHome, Reached, Refused
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.actions import Decision, Move, OpenRun
from fleet_runner.core.lifecycle.spool import Progress
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event, Stage, State
from tests.cli.conftest import Type

WHO = Identity(frozenset({"b8:3f:d2:00:00:01"}), "S1", "", frozenset({"10.0.0.9"}))
STRANGER = "02:00:00:00:00:07"


@pytest.fixture
def store(tmp_path: Path, typed: Type) -> Iterator[Store]:
    """A store with a node that is being provisioned and has asked for its kernel."""
    (tmp_path / "state").mkdir()
    now = time.time() - 600
    with Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}") as made:
        made.register([Device("gpu-01", "t", "gpu-server", "hall")], now)
        node = made.node("gpu-01")
        assert node is not None
        made.apply(node, Decision((Move(TRANSITIONS[State.REGISTERED, Event.START], "runner"),), "", now), now)
        node = made.node("gpu-01")
        assert node is not None
        made.apply(node, Decision((OpenRun(Stage.PROVISION, "why", batch="b"),), "", now), now)
        made.ingest("b", 0, 10, [Progress("gpu-01", now, 1, 6, "The node comes up, milestone by milestone")])
        boot = made.arm("gpu-01", WHO, run=None, now=now, seconds=1800)
        steps = {Milestone.DHCP: 12, Milestone.SCRIPT: 14, Milestone.KERNEL: 15}
        made.tell([Reached(boot.id, step, now + after, "10.0.0.9") for step, after in steps.items()])
        yield made


def test_status_says_when_the_boot_service_and_the_dhcp_server_were_heard(
    store: Store, typed: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only where nodes boot through them."""
    assert "boot service" not in typed("status").words
    monkeypatch.setenv("FLEET_BOOT_URL", "http://10.0.0.1:8480")
    assert "boot service never heard, DHCP server never heard" in typed("status").words
    now = time.time()
    store.tell([Heartbeat("boot", now - 300), Heartbeat("dhcp", now + 600)])
    assert "boot service heard 5 min ago, DHCP server heard 10 min from now" in typed("status").words
    assert set(json.loads(typed("status", "--json").out)["heard"]) == {"boot", "dhcp"}


def test_the_board_and_the_node_say_how_far_a_boot_has_come(store: Store, typed: Type) -> None:
    assert "provision 1/6, boot: kernel" in typed("status").words
    said = typed("node", "gpu-01").words
    assert "boot 1, armed 10 min ago: dhcp after 12 s, script after 14 s, kernel after 15 s" in said
    assert "waits for cloud_init" in said
    found = json.loads(typed("node", "gpu-01", "--json").out)["boot"]
    assert found["expected"]["macs"] == ["b8:3f:d2:00:00:01"]
    assert set(found["reached"]) == {"dhcp", "script", "kernel"}


def test_a_nodes_boots_are_shown_with_who_was_expected_and_who_was_refused(store: Store, typed: Type) -> None:
    refused = [Refused("gpu-01", "claimed", "asked \x1b[2Jagain", time.time(), "10.0.0.8", boot=1)] * 2
    store.tell(refused)
    said = typed("boot", "show", "gpu-01")
    assert "expected MAC b8:3f:d2:00:00:01, serial S1, from 10.0.0.9" in said.words
    assert "dhcp It was leased an address [10.0.0.9]" in said.words
    assert "again (2 times) [10.0.0.8]" in said.words
    assert "; 2 refused; waits for cloud_init" in said.words
    assert "\x1b" not in said.out
    assert [each["kind"] for each in json.loads(typed("boot", "show", "gpu-01", "--json").out)["events"]] == [
        "armed", "dhcp", "script", "kernel", "refused",
    ]  # fmt: skip


def test_a_boot_that_is_over_says_how_it_ended(store: Store, typed: Type) -> None:
    now = time.time()
    store.tell([PhonedHome(1, now, "10.0.0.9")])
    store.tell([Reached(1, Milestone.SSH, now, "10.0.0.9")])
    assert "; it is up" in typed("boot", "show", "gpu-01").words
    store.close_boot(1, "it booted over the network", now)
    assert "; closed: it booted over the network" in typed("boot", "show", "gpu-01").words
    store.arm("gpu-01", WHO, run=None, now=now - 50, seconds=10)
    said = typed("boot", "show", "gpu-01").words
    assert "nothing was seen of it yet; waits for dhcp, but has expired: it gets no boot data any more" in said


def test_a_node_that_never_booted_over_the_network_says_so(store: Store, typed: Type) -> None:
    store.register([Device("gpu-02", "t", "gpu-server", "hall")], time.time())
    assert typed("boot", "show", "gpu-02").out == "gpu-02 has not booted over the network\n"
    assert typed("boot", "show", "gpu-99").code == Exit.USAGE


def test_a_machine_that_nobody_knows_is_listed_until_it_is_forgotten(store: Store, typed: Type) -> None:
    assert typed("boot", "discovered").out == "no unknown machine has asked for a boot\n"
    store.tell([Discovered(STRANGER, time.time(), "10.0.0.7", "S7", "", "ACME", "GPU \x1b[31mbox")])
    store.tell([Discovered("02:00:00:00:00:08", time.time() - 5, "10.0.0.8")])
    store.tell([Discovered("02:00:00:00:00:06", time.time() - 9, "10.0.0.8", "S8\n", "", "ACME\n00:05\tBox")])
    said = typed("boot", "discovered")
    assert "02:00:00:00:00:06  ACME 00:05 Box serial S8; asked once" in said.out
    assert f"{STRANGER} ACME GPU" in said.words
    assert "serial S7; asked once from 10.0.0.7" in said.words
    assert "02:00:00:00:00:08 says nothing of itself" in said.words
    assert said.out.index("00:08") < said.out.index(STRANGER)
    assert "\x1b" not in said.out
    assert json.loads(typed("boot", "discovered", "--json").out)[-1]["mac"] == STRANGER
    assert typed("boot", "forget", STRANGER.upper().replace(":", "-")).out == f"forgot {STRANGER}\n"
    assert typed("boot", "forget", STRANGER).code == Exit.USAGE
    assert [each.mac for each in store.discovered()] == ["02:00:00:00:00:08", "02:00:00:00:00:06"]


def test_what_is_no_mac_address_is_refused(store: Store, typed: Type) -> None:
    said = typed("boot", "forget", "gpu-01")
    assert said.code == Exit.USAGE
    assert "'gpu-01' is not a MAC address" in said.err
