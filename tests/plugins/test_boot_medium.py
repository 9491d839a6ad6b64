"""A node that cannot boot over the network by itself starts from a medium that its BMC shows it, for one boot."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.adapters.store import Store
from fleet_runner.core.boot.boots import Boot, Heartbeat, Milestone, PhonedHome, Reached
from fleet_runner.core.inventory.records import Device
from fleet_runner.lab.redfish import Durations, Emulator, load
from fleet_runner.lab.redfish.events import Event
from fleet_runner.lab.redfish.trees import OUR_OWN
from tests.adapters.redfish.test_virtual_media import slots
from tests.playing import Ansible, inventory, unclean

NODE = "gpu-01"
SYSTEM = "/redfish/v1/Systems/1"
USER = {"username": "admin", "password": "secret"}
QUICK = {"dhcp": 1, "script": 1, "kernel": 1, "cloud_init": 1, "phone_home": 1, "ssh": 1}
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ2vLxW1lbcCsoVOFhLFYJIZRTOaGn8ZaYl8bWKqgY5a"
ADDRESS = "http://127.0.0.1:8480/loader/ipxe.iso"
IN, OUT = f"media_inserted {ADDRESS}", f"media_ejected {ADDRESS}"
TARGET = "BootSourceOverrideTarget"
CD = {SYSTEM: {"Boot": {f"{TARGET}@Redfish.AllowableValues": ["None", "Pxe", "Cd"]}}}


@dataclass(frozen=True, slots=True)
class Hall:
    """One node behind an emulated BMC, its store, and the play that boots it."""

    folder: Path
    ansible: Ansible
    store: Store

    def play(self, bmc: Emulator, *, up: bool = True, since: float | None = None, **more: Any) -> str:
        """Boot the node, which comes up once it is on or does nothing, and return what Ansible says."""
        device = {"name": NODE, "serial": "", "interfaces": [{"name": "eth0", "mac": "b8:3f:d2:00:00:01"}]}
        hosts = {
            NODE: {"fleet_device": device, "fleet_bmc_url": bmc.url, "fleet_profile": {"boot_medium": "ipxe.iso"}}
        }
        nodes = inventory(self.folder / "inventory.yml", hosts, network_boot_limits=QUICK, **more)
        runs = {NODE: {"run": 1, "fence": 1, "since": since}} if since else {}
        over = threading.Event()
        acting = threading.Thread(target=self._comes_up, args=(bmc, over if up else None, over))
        acting.start()
        try:
            words = ("-i", nodes, "-e", json.dumps({"fleet_runs": runs}), self.folder / "play.yml")
            answer = self.ansible("ansible-playbook", *words)
        finally:
            over.set()
            acting.join()
        assert [line for line in unclean(answer) if "redfish_power" not in line and "fleet_boot" not in line] == []
        return answer.stdout + answer.stderr

    def _comes_up(self, bmc: Emulator, wanted: threading.Event | None, over: threading.Event) -> None:
        while wanted and not over.is_set():
            for boot in self.store.open_boots():
                if bmc.events("host_reset"):
                    come_up(self.store, boot)
            over.wait(0.05)


def come_up(store: Store, boot: Boot) -> None:
    now = time.time()
    steps = (Milestone.DHCP, Milestone.SCRIPT, Milestone.KERNEL, Milestone.CLOUD_INIT)
    store.tell([Reached(boot.id, step, now, "10.0.0.9") for step in steps])
    store.tell([PhonedHome(boot.id, now, "10.0.0.9", (KEY,))])


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    (tmp_path / "bmc.yml").write_text(yaml.safe_dump(USER))
    (tmp_path / "bmc.yml").chmod(0o600)
    play = [{"name": "Play", "hosts": "nodes", "gather_facts": False, "roles": ["network_boot"]}]
    (tmp_path / "play.yml").write_text(yaml.safe_dump(play))
    variables = {
        "FLEET_SPOOL": str(tmp_path / "spool.jsonl"),
        "FLEET_STATE_DIR": str(tmp_path / "state"),
        "FLEET_BMC_CREDENTIALS": str(tmp_path / "bmc.yml"),
        "FLEET_BOOT_URL": "http://127.0.0.1:8480",
    }
    (tmp_path / "state").mkdir()
    with Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}") as store:
        store.register([Device(NODE, "lab", "gpu-server", "lab")], 1.0)
        store.tell([Heartbeat("boot", time.time() + 40), Heartbeat("dhcp", time.time())])
        yield Hall(tmp_path, Ansible(tmp_path / "home", variables), store)


def a_bmc(on: Callable[[Event], None] | None = None, **more: Any) -> Emulator:
    resources = slots(**more)
    changes = {**resources, SYSTEM: {**resources[SYSTEM], **CD[SYSTEM]}}
    return Emulator(load(OUR_OWN), credentials=USER, pace=Durations.quick(), changes=changes, on=on)


def told(bmc: Emulator) -> list[str]:
    """Return what the BMC was told of media and power, in order."""
    said = {"power": lambda event: event["action"], "boot_override": lambda event: event["boot"][TARGET]}
    found = bmc.events("media_inserted", "media_ejected", *said)
    return [f"{event.kind} {said.get(event.kind, lambda each: each['image'])(event)}" for event in found]


BOOTED = [IN, "power ForceOff", "boot_override Cd", "power On"]


@pytest.mark.parametrize("up", [True, False])
def test_the_medium_is_there_for_one_boot_however_that_ends(hall: Hall, *, up: bool) -> None:
    with a_bmc() as bmc:
        hall.play(bmc, up=up)
        assert told(bmc) == [*BOOTED, OUT]
        assert (Milestone.SSH in hall.store.boots(NODE)[0].reached) is up


def test_a_play_that_died_after_any_step_is_taken_up_again(hall: Hall) -> None:
    """In before the node is off; booted, and still in; booted, out, and nothing is left to do."""
    since = time.time()
    left = {"Inserted": True, "Image": ADDRESS, "ConnectedVia": "URI"}
    with a_bmc(**left) as bmc:
        hall.play(bmc, since=since)
        assert told(bmc) == [*BOOTED[1:], OUT]
        hall.play(bmc, since=since)
        assert told(bmc) == [*BOOTED[1:], OUT]
    with a_bmc(**left) as bmc:
        bmc.start_host()
        hall.play(bmc, since=since)
        assert told(bmc) == ["power PowerCycle", OUT]


@pytest.mark.parametrize("image", ["http://10.0.0.9/rescue.iso", ""])
def test_a_node_with_somebody_elses_medium_is_left_as_it_is(hall: Hall, image: str) -> None:
    with a_bmc(Inserted=True, Image=image, ConnectedVia="Applet") as bmc:
        said = hall.play(bmc)
        assert "a medium in it that is not ours" in said
        assert told(bmc) == []
        assert hall.store.boots(NODE) == ()


def test_a_medium_goes_out_again_where_the_node_cannot_be_told_to_boot_from_it(hall: Hall) -> None:
    rule = {"when": {"event": "request", "method": "PATCH", "uri": SYSTEM}, "what": {"answer": {"status": 400}}}
    changes = {**slots(), SYSTEM: {**slots()[SYSTEM], **CD[SYSTEM]}}
    with Emulator(load(OUR_OWN), credentials=USER, pace=Durations.quick(), changes=changes, rules=[rule]) as bmc:
        said = hall.play(bmc)
        assert "answered 400 to the boot override Cd" in said
        assert told(bmc) == [IN, "power ForceOff", OUT]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"FLEET_BOOT_PROOF": "bmc"}, "a boot from a medium carries no proof"),
        ({"FLEET_BOOT_URL": ""}, "boot_medium needs the boot service; set boot_url"),
    ],
)
def test_what_cannot_boot_from_a_medium_is_not_touched(hall: Hall, changed: dict[str, str], why: str) -> None:
    other = Hall(hall.folder, Ansible(hall.ansible.home, {**hall.ansible.variables, **changed}), hall.store)
    with a_bmc() as bmc:
        assert why in " ".join(other.play(bmc).split())
        assert told(bmc) == []
