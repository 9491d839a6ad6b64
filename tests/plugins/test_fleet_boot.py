"""The role network_boot, played by Ansible: power over Redfish, milestones through the store, ssh's keys on disk."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.adapters.store import Store
from fleet_runner.core.boot.boots import Boot, Heartbeat, Identity, Milestone, PhonedHome, Reached, Refused
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.spool import Ended, Judged, PlayEnd
from tests.adapters.redfish.replay import PASSWORD, USER, Replay, replayed, small
from tests.playing import Ansible, inventory, spool, unclean

SYSTEM = "/redfish/v1/Systems/1"
TOLD = {"SerialNumber": "S-as-the-bmc-says", "UUID": "4C4C4544-0051-3410-8057-B4C04F4E3233"}
RESET = f"{SYSTEM}/Actions/ComputerSystem.Reset"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ2vLxW1lbcCsoVOFhLFYJIZRTOaGn8ZaYl8bWKqgY5a"
OFF_AND_ON = [(RESET, {"ResetType": action}) for action in ("ForceOff", "On")]
QUICK = {"dhcp": 1, "script": 1, "kernel": 1, "cloud_init": 1, "phone_home": 1, "ssh": 1}
PROOF = {"FLEET_BOOT_PROOF": "bmc"}
STEPS = (Milestone.DHCP, Milestone.SCRIPT, Milestone.KERNEL, Milestone.CLOUD_INIT)
Acting = Callable[[Store, Boot], None]


@dataclass(frozen=True, slots=True)
class Hall:
    """Some nodes, each behind a BMC that does what it is told, their store, and the play that boots them."""

    folder: Path
    ansible: Ansible
    bmcs: Mapping[str, Replay]
    store: Store

    def play(self, acts: dict[str, Acting], since: float | None = None, **variables: Any) -> str:
        """Boot nodes that act as given once they are armed, and return what Ansible says."""
        hosts = {name: {"fleet_device": device(name), "fleet_bmc_url": self.bmcs[name].url} for name in acts}
        if "gpu-05" in hosts:
            hosts["gpu-05"] |= {"ansible_connection": "ssh", "ansible_ssh_executable": str(self.folder / "ssh")}
        nodes = inventory(self.folder / "inventory.yml", hosts, network_boot_limits=QUICK, **variables)
        (self.folder / "spool.jsonl").unlink(missing_ok=True)
        runs = {name: {"run": 1, "fence": 1, "since": since} for name in acts} if since else {}
        over = threading.Event()
        acting = threading.Thread(target=self._act, args=(acts, over))
        acting.start()
        try:
            words = ("-i", nodes, "-e", json.dumps({"fleet_runs": runs}), self.folder / "play.yml")
            answer = self.ansible("ansible-playbook", *words)
        finally:
            over.set()
            acting.join()
        assert [line for line in unclean(answer) if not line.startswith("[ERROR]: Task failed: redfish_power")] == []
        return answer.stdout + answer.stderr

    def results(self) -> dict[str, Result]:
        """Return what was found of each node."""
        lines = spool(self.folder / "spool.jsonl")
        return {line.node: line.result for line in lines if isinstance(line, Judged)}

    def _act(self, acts: dict[str, Acting], over: threading.Event) -> None:
        left = dict(acts)
        known = {boot.id for name in acts for boot in self.store.boots(name)}
        while not over.is_set():
            for boot in self.store.open_boots():
                on = self.bmcs[boot.node].tree[SYSTEM]["PowerState"] == "On"
                if boot.node in left and boot.id not in known and on:
                    left.pop(boot.node)(self.store, boot)
            over.wait(0.05)


def device(name: str) -> dict[str, Any]:
    mac = f"b8:3f:d2:00:00:{int(name[-2:]):02x}"
    return {"name": name, "serial": "", "interfaces": [{"name": "eth0", "kind": "1000base-t", "mac": mac}]}


def switch(bmc: Replay, action: str) -> int:
    """Do a power action at once, and return its status."""
    bmc.tree[SYSTEM]["PowerState"] = action.removeprefix("Force")
    return 204


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    credentials = tmp_path / "bmc.yml"
    # By the nodes' names alone: whoever asks a BMC says whose it is.
    mine = {"username": USER, "password": PASSWORD}
    credentials.write_text(yaml.safe_dump({"devices": {"gpu-*": mine}}))
    credentials.chmod(0o600)
    play = [
        {
            "name": "Play",
            "hosts": "nodes",
            "gather_facts": False,
            "roles": ["network_boot"],
            "post_tasks": [{"name": "It goes on", "ansible.builtin.debug": {"msg": "went on"}}],
        }
    ]
    (tmp_path / "play.yml").write_text(yaml.safe_dump(play))
    variables = {
        "FLEET_SPOOL": str(tmp_path / "spool.jsonl"),
        "FLEET_STATE_DIR": str(tmp_path / "state"),
        "FLEET_BMC_CREDENTIALS": str(credentials),
        "FLEET_BOOT_URL": "http://127.0.0.1:8480",
    }
    (tmp_path / "state").mkdir()
    (tmp_path / "ssh").write_text("#!/bin/sh\necho Connection refused >&2\nexit 255\n")
    (tmp_path / "ssh").chmod(0o755)
    names = [f"gpu-0{number}" for number in (1, 2, 3, 4, 5)]
    with Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}") as store, ExitStack() as running:
        bmcs = {name: running.enter_context(replayed(small(**TOLD))) for name in names}
        for bmc in bmcs.values():
            bmc.switched = partial(switch, bmc)
        store.register([Device(name, "lab", "gpu-server", "lab") for name in names], 1.0)
        store.tell([Heartbeat("boot", time.time() + 40), Heartbeat("dhcp", time.time())])
        yield Hall(tmp_path, Ansible(tmp_path / "home", variables), bmcs, store)


def comes_up(store: Store, boot: Boot) -> None:
    now = time.time()
    store.tell([Reached(boot.id, step, now, "10.0.0.9") for step in STEPS])
    store.tell([PhonedHome(boot.id, now, "10.0.0.9", (KEY,))])


def another_came_up(store: Store) -> None:
    """Show that the boot path is well, whatever stops later."""
    store.register([Device("gpu-09", "lab", "gpu-server", "lab")], 1.0)
    boot = store.arm("gpu-09", Identity(), run=None, now=time.time(), seconds=60)
    comes_up(store, boot)
    store.close_boot(boot.id, "it came up", time.time())


def leases(store: Store, boot: Boot) -> None:
    store.tell([Reached(boot.id, Milestone.DHCP, time.time(), "10.0.0.9")])


def is_another(store: Store, boot: Boot) -> None:
    sentence = "it says serial number S2, expected S1"
    store.tell([Reached(boot.id, Milestone.DHCP, time.time(), "10.0.0.7")])
    store.tell([Refused(boot.node, "mismatch", sentence, time.time(), "10.0.0.7", boot=boot.id)])


def has_a_bad_image(store: Store, boot: Boot) -> None:
    leases(store, boot)
    store.tell([Refused(boot.node, "image", "vmlinuz differs", time.time(), "10.0.0.9", boot=boot.id)])


def test_each_node_of_a_play_has_the_verdict_of_its_own_boot(hall: Hall) -> None:
    """One comes up and goes on; the others stop, each at its place, and are not waited for."""
    acts = {
        "gpu-01": comes_up,
        "gpu-02": leases,
        "gpu-03": is_another,
        "gpu-04": has_a_bad_image,
        "gpu-05": comes_up,
    }
    another_came_up(hall.store)
    said = hall.play(acts)
    found = hall.results()
    assert {name: result.verdict for name, result in found.items()} == {
        "gpu-01": Verdict.PASS,
        "gpu-02": Verdict.FAIL,
        "gpu-03": Verdict.FAIL,
        "gpu-04": Verdict.UNKNOWN,
        "gpu-05": Verdict.FAIL,
    }
    assert [finding.code for finding in found["gpu-02"].findings] == ["boot.no_script"]
    assert [finding.code for finding in found["gpu-03"].findings] == ["boot.identity"]
    assert "the boot service refused it: vmlinuz differs" in found["gpu-04"].message
    assert [finding.code for finding in found["gpu-05"].findings] == ["boot.no_ssh"]
    assert "Connection refused" in found["gpu-05"].message
    assert said.count("went on") == 1
    assert said.count("failed=0") == said.count("unreachable=0") == len(acts)
    assert [boot.node for boot in hall.store.open_boots()] == ["gpu-04"]


def test_a_node_that_came_up_is_not_booted_again_for_the_same_state(hall: Hall) -> None:
    """And one that stopped by the fleet's own fault is, at the next try."""
    since = time.time()
    acts: dict[str, Acting] = {"gpu-01": comes_up, "gpu-04": has_a_bad_image}
    hall.play(acts, since)
    [boot] = hall.store.boots("gpu-01")
    once = {"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Pxe"}
    for name in acts:
        assert hall.bmcs[name].said("PATCH") == [(SYSTEM, {"Boot": once})]
        assert hall.bmcs[name].said("POST") == OFF_AND_ON
    assert boot.expected.macs == {"b8:3f:d2:00:00:01"}
    assert boot.expected.serial == "S-as-the-bmc-says"
    assert boot.expected.uuid == "4c4c4544-0051-3410-8057-b4c04f4e3233"
    assert boot.reached.keys() == set(Milestone)
    assert (hall.folder / "state" / "known_hosts" / "gpu-01").read_text() == f"gpu-01 {KEY}\n"
    said = hall.play(dict.fromkeys(acts, comes_up), since)
    assert {name: result.verdict for name, result in hall.results().items()} == dict.fromkeys(acts, Verdict.PASS)
    assert said.count("changed=1") == said.count("changed=0") == 1
    assert len(hall.store.boots("gpu-01")) == 1
    assert hall.store.boots("gpu-04")[0].closed_because == "armed anew"
    assert hall.bmcs["gpu-01"].said("POST") == OFF_AND_ON
    assert hall.bmcs["gpu-04"].said("POST") == OFF_AND_ON * 2


def test_no_node_is_touched_while_no_boot_service_is_heard(hall: Hall) -> None:
    """It would ask in vain and stay down; the play says that this is no try of the node's."""
    hall.store.tell([Heartbeat("boot", time.time() - 60_000)])
    said = hall.play({"gpu-01": comes_up})
    assert "no boot service has reported for 60" in said  # a thousand seconds and more, for a play on a busy computer
    assert "start it (fleet-runner boot serve); until then the node is left as it is" in said
    assert hall.bmcs["gpu-01"].said("POST") == hall.bmcs["gpu-01"].said("PATCH") == []
    assert hall.store.boots("gpu-01") == ()
    [end] = [line for line in spool(hall.folder / "spool.jsonl") if isinstance(line, Ended)]
    assert end.end is PlayEnd.OWN


def test_the_nonce_goes_to_the_bmc_alone(hall: Hall) -> None:
    """Not even a BMC that quotes what it refuses brings it into what Ansible says; and such a node stays off."""
    proving = replace(hall, ansible=Ansible(hall.ansible.home, {**hall.ansible.variables, **PROOF}))
    bmc = hall.bmcs["gpu-01"]
    bmc.quotes = True
    bmc.statuses["PATCH", SYSTEM] = [400]
    said = proving.play({"gpu-01": leases}, boot_loader="snponly-arm64.efi")
    [(_, sent)] = bmc.said("PATCH")
    *_, loader, nonce, file = sent["Boot"]["HttpBootUri"].split("/")
    assert (sent["Boot"]["BootSourceOverrideTarget"], loader, file) == ("UefiHttp", "loader", "snponly-arm64.efi")
    [boot] = hall.store.boots("gpu-01")
    assert boot.nonce_hash == sha256(nonce.encode()).hexdigest()
    assert boot.closed_because == "its BMC did not take it"
    assert bmc.said("POST") == OFF_AND_ON[:1]
    assert "/loader/…" in said
    assert not [start for start in range(60) if nonce[start : start + 8] in said]
    assert nonce not in (hall.folder / "spool.jsonl").read_text()


def test_no_boot_is_armed_while_the_old_system_runs_or_when_the_node_cannot_be_switched_on(hall: Hall) -> None:
    """Root of that system could have the data; and what is not switched on would stay armed for half an hour."""
    bmc = hall.bmcs["gpu-01"]
    armed: list[int] = []

    def refusing(action: str) -> int:
        armed.append(len(hall.store.open_boots()))
        return 500 if action == "On" else switch(bmc, action)

    bmc.switched = refusing
    said = hall.play({"gpu-01": leases})
    assert "answered 500 to On" in said
    assert bmc.said("POST") == OFF_AND_ON
    assert armed == [0, 1]
    [boot] = hall.store.boots("gpu-01")
    assert (boot.closed_because, boot.reached) == ("its BMC did not take it", {})
