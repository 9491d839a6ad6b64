"""Switches of six makers are asked over real ssh for the state of their ports; RoCE is compared at both ends."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from fleet_runner.core.inventory.records import Cable, Device, DeviceType, Fleet, Interface, Termination
from fleet_runner.core.lifecycle.spool import Judged
from tests.adapters.sitefiles.writer import write_site
from tests.playbooks import sshd
from tests.playing import Ansible, spool, unclean

FABRIC = "ethernet.hall"
PROFILE: dict[str, Any] = {
    "roce": {
        "interfaces": {f"mlx5_{rail}": f"eth{rail}" for rail in range(1, 6)},
        "mtu": 9000,
        "pfc": [3],
        "fec": ["RS"],
    }
}
SYSTEMS = {
    "leaf-1": "dellemc.enterprise_sonic.sonic",
    "leaf-2": "nvue",
    "leaf-3": "junipernetworks.junos.junos",
    "leaf-4": "cisco.nxos.nxos",
    "leaf-5": "dellemc.os10.os10",
    "spine-1": "arista.eos.eos",
}
SAYS: dict[str, dict[str, str]] = {
    "leaf-1": {
        "show interfaces status": "sonic/interfaces_status.txt",
        "show pfc priority": "sonic/pfc_priority.txt",
        "show interfaces counters fec-stats": "sonic/fec_stats.txt",
        "show queue wredcounters": "sonic/wredcounters.txt",
    },
    "leaf-2": {"nv show interface -o json": "nvue/interface.json", "nv show qos roce -o json": "nvue/qos_roce.json"},
    "leaf-3": {
        "show interfaces | display json | no-more": "junos/interfaces.json",
        "show class-of-service interface | no-more": "junos/cos_interface.txt",
        "show class-of-service congestion-notification | no-more": "junos/congestion_notification.txt",
    },
    "leaf-4": {
        "show interface | json": "nxos/interface.json",
        "show interface priority-flow-control": "nxos/pfc.txt",
        "show queuing pfc-queue detail | json": "nxos/pfc_queue.json",
        "show queuing interface | json": "nxos/queuing.json",
    },
    "leaf-5": {"show interface | display-xml": "os10/interface.xml"},
    "spine-1": {
        "show interfaces | json": "eos/interfaces.json",
        "show interfaces phy detail | json": "eos/phy_detail.json",
    },
}
"""What each switch answers; every other command, watchdogs of SONiC and EOS and LLDP, is refused."""

CABLES = (
    (("gpu-01", "eth1"), ("leaf-1", "Ethernet0")),
    (("gpu-02", "eth1"), ("leaf-1", "Ethernet8")),
    (("gpu-01", "eth2"), ("leaf-2", "swp1")),
    (("gpu-01", "eth3"), ("leaf-3", "et-0/0/1")),
    (("gpu-01", "eth4"), ("leaf-4", "Ethernet1/1")),
    (("gpu-01", "eth5"), ("leaf-5", "ethernet1/1/1")),
    (("leaf-1", "Ethernet16"), ("spine-1", "Ethernet1/1")),
    (("leaf-2", "swp2"), ("spine-1", "Ethernet2/1")),
    (("leaf-3", "et-0/0/2"), ("spine-1", "Ethernet3/1")),
    (("leaf-4", "Ethernet1/3"), ("spine-1", "Ethernet4/1")),
    (("leaf-5", "ethernet1/1/2"), ("spine-1", "Ethernet5/1")),
)


@dataclass
class Site:
    """The switches' sshd, by name, the folder of each with its answers, and Ansible to sweep them."""

    nodes: dict[str, sshd.Node]
    folder: Path
    ansible: Ansible

    def sweep(self, *, ports: bool = True) -> dict[str, Result]:
        """Play the fabric's stage, and return its results."""
        path = Path(self.ansible.variables["FLEET_SPOOL"])
        path.unlink(missing_ok=True)
        given = json.dumps({"fleet_profile": PROFILE, "fabric_ports": ports})
        answer = self.ansible("ansible-playbook", "playbooks/fabric.yml", "-l", FABRIC, "-e", given)
        assert answer.returncode == 0, answer.stdout + answer.stderr
        assert unclean(answer) == []
        return {line.result.check: line.result for line in spool(path) if isinstance(line, Judged)}


def fleet(nodes: dict[str, sshd.Node]) -> Fleet:
    """Return the design as records, with how each switch is reached."""
    ports: dict[str, list[str]] = {}
    for device, port in (end for cable in CABLES for end in cable):
        ports.setdefault(device, []).append(port)
    devices = {
        name: Device(
            name=name,
            device_type="switch" if name in nodes else "server",
            role="leaf" if name in nodes else "gpu-server",
            site="hall",
            interfaces=tuple(Interface(port, "400gbase-x-osfp") for port in sorted(mine)),
            primary_address=f"{nodes[name].address}/30" if name in nodes else None,
            context=_context(name, nodes[name]) if name in nodes else {},
        )
        for name, mine in ports.items()
    }
    types = {slug: DeviceType(slug, "M", slug, 1.0) for slug in ("server", "switch")}
    cables = tuple(Cable(Termination(*one), Termination(*other)) for one, other in CABLES)
    return Fleet(("hall",), {}, types, devices, cables)


def _context(name: str, node: sshd.Node) -> dict[str, str]:
    reached = {key: value for key, value in node.variables().items() if key != "ansible_host"}
    return {"ansible_network_os": SYSTEMS[name], **reached}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, evidence: Path) -> Iterator[Site]:
    """Three switches that answer as their makers' do, and refuse what they do not know."""
    if why := sshd.why_not():
        pytest.skip(why)
    folder = tmp_path_factory.mktemp("r")
    with sshd.nodes(folder, len(SYSTEMS)) as started:
        nodes = dict(zip(SYSTEMS, started, strict=True))
        for name, node in nodes.items():
            shell = node.folder / "shell"
            for at, (command, file) in enumerate(SAYS[name].items()):
                (node.folder / f"{at}.txt").write_text((evidence / file).read_text())
                (node.folder / f"{at}.command").write_text(command)
            shell.write_text(
                f"#!/bin/sh\nfor each in {node.folder}/*.command; do\n"
                '  if [ "$(cat $each)" = "$SSH_ORIGINAL_COMMAND" ]; then exec cat "${each%.command}.txt"; fi\n'
                'done\necho "Error: invalid command" >&2\nexit 1\n'
            )
            shell.chmod(0o755)
            keys = node.folder / "authorized_keys"
            keys.write_text(f'restrict,command="{shell}" {keys.read_text()}')
        write_site(fleet(nodes), folder / "site")
        settings = {"FLEET_SOURCE": str(folder / "site"), "FLEET_STATE_DIR": str(folder / "state")}
        yield Site(nodes, folder, Ansible(folder / "home", settings | {"FLEET_SPOOL": str(folder / "spool.jsonl")}))


def test_six_makers_ports_are_as_the_nodes_profile_says(site: Site) -> None:
    """That some refuse to tell of their watchdogs, and others have no command for PFC here, is no fault."""
    result = site.sweep()["fabric_roce"]
    assert (result.verdict, result.findings) == (Verdict.PASS, ()), result.message
    assert (result.observed["read"], result.observed["ports"]) == (6, 13)
    assert result.message == "11 links with RoCE are set alike at both ends, as far as 6 switches tell"
    looks = result.observed["looks"]
    assert looks["leaf-3"][0]["counts"] == {"et-0/0/1/uncorrected": 0, "et-0/0/2/uncorrected": 12}
    assert looks["leaf-4"][0]["counts"] == {
        "Ethernet1/1/storms": 0,
        "Ethernet1/1/storm_drops": 5,
        "Ethernet1/1/lossless_drops": 121,
    }
    assert looks["spine-1"][0]["counts"] == {
        "Ethernet1/1/uncorrected": 7,
        "Ethernet1/1/downs": 1,
        "Ethernet2/1/uncorrected": 11,
        "Ethernet2/1/downs": 1,
    }
    assert looks["leaf-1"][0]["counts"]["Ethernet8/lossless_drops"] == 1204


def test_no_switch_is_asked_for_its_ports_unless_the_site_wants_it(site: Site) -> None:
    assert "fabric_roce" not in site.sweep(ports=False)


def test_a_lossy_port_is_a_matter_of_its_switchs_configuration(site: Site) -> None:
    file = site.nodes["leaf-1"].folder / "1.txt"
    good = file.read_text()
    file.write_text(good.replace("Ethernet8   3", "Ethernet8   4"))
    try:
        result = site.sweep()["fabric_roce"]
    finally:
        file.write_text(good)
    (finding,) = result.findings
    assert (finding.remedy, finding.component) == (Remedy.WATCH, "leaf-1 PFC")
    assert finding.message.startswith("leaf-1: PFC is on for priorities 4 at Ethernet8, expected 3")


ODD = (
    ("leaf-3", '"FEC119"', '"NONE"', "leaf-3: FEC is none at et-0/0/1, expected rs"),
    ("leaf-3", '"9192"', '"1514"', "leaf-3: MTU is 1514 at et-0/0/1, expected at least 9000"),
    ("leaf-3", "100          Disabled", "100          Enabled ", "leaf-3: PFC is on for priorities 3, 4 at et-0/0/1"),
    ("leaf-4", "rs-fec", "fc-fec", "leaf-4: FEC is baser at Ethernet1/1, expected rs"),
    ("leaf-4", "On  (8) ", "On  (28)", "leaf-4: PFC is on for priorities 3, 5 at Ethernet1/1, expected 3"),
    ("leaf-5", "<mtu>9216", "<mtu>1532", "leaf-5: MTU is 1532 at ethernet1/1/1, expected at least 9000"),
    ("spine-1", "9214", "1500", "spine-1: MTU is 1500 at Ethernet1/1, Ethernet2/1, expected at least 9000"),
)
"""Settings of one maker each: what a healthy switch says, what it says instead, and what is told, once for each."""


def test_a_wrong_setting_of_every_maker_is_told_once(site: Site) -> None:
    texts: dict[Path, str] = {}
    for leaf, good, odd, _ in ODD:
        (file,) = [each for each in site.nodes[leaf].folder.glob("*.txt") if good in each.read_text()]
        texts.setdefault(file, file.read_text())
        file.write_text(file.read_text().replace(good, odd))
    try:
        result = site.sweep()["fabric_roce"]
    finally:
        for file, text in texts.items():
            file.write_text(text)
    assert {(each.remedy, each.steps) for each in result.findings} == {(Remedy.WATCH, ())}
    told = [each.message for each in result.findings]
    assert all(message.startswith(said) for message, (*_, said) in zip(told, ODD, strict=True)), told


def test_a_leaf_that_does_not_answer_is_unknown(site: Site) -> None:
    """Its sshd is gone for good, therefore this test is the last one of its module."""
    sshd.end(site.nodes["leaf-2"])
    result = site.sweep()["fabric_roce"]
    assert (result.verdict, result.findings) == (Verdict.UNKNOWN, ())
    assert result.message.startswith("leaf-2 was not read: ssh ended with 255")
