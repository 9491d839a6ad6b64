"""An Ethernet fabric of five makers' switches and one of OpenConfig's is swept over real ssh and gNMI.

Real lldpd and ARP speak over real cables.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fleet_runner.adapters.plays import extra_vars
from fleet_runner.core.checks.parsers import lldp
from fleet_runner.core.checks.parsers.neighbours import several
from fleet_runner.core.checks.parsers.neighbours.several import HeardByNode
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import Cable, Device, DeviceType, Fleet, Interface, Termination
from fleet_runner.core.lifecycle.spool import Judged
from tests.adapters.sitefiles.writer import write_site
from tests.fabric import switch_shell
from tests.fabric.gnmi_switch import certificates, served
from tests.fabric.lldpd import End, Hall, hall
from tests.fabric.lldpd import why_not as no_lldpd
from tests.playbooks import sshd
from tests.playing import Ansible, spool, unclean

SYSTEMS = {
    "leaf-1": "eos",
    "leaf-2": "nxos",
    "leaf-3": "junos",
    "leaf-4": "sonic",
    "spine-1": "nvue",
    "spine-2": "openconfig",
}
PORTS = {
    "eos": "Ethernet{n}",
    "nxos": "Ethernet1_{n}",
    "junos": "et-0_0_{n}",
    "sonic": "Ethernet{n}",
    "nvue": "swp{n}",
    "openconfig": "ethernet-1_{n}",
}
NETWORK_OS = {
    "eos": "arista.eos.eos",
    "nxos": "cisco.nxos.nxos",
    "junos": "junos",
    "sonic": "dellemc.enterprise_sonic.sonic",
    "nvue": "nvidia.nvue.nvue",
}
OPENCONFIG = "spine-2"
"""The switch that is asked over gNMI."""
SERVERS = tuple(f"gpu-{number}" for number in range(1, 9))
MUTE = ("gpu-7", "gpu-8")
"""Servers without LLDP: what their leaves' bridges learn tells of them, and at one port, who answers ARP there."""
ROUTED = "gpu-7/0"
"""The cable between a server and a port of its leaf that routes, and learns no address."""
FABRIC = "ethernet.hall"


def port(switch: str, number: int) -> End:
    """Return a switch's port as Linux calls it."""
    return switch, PORTS[SYSTEMS[switch]].format(n=number)


def cables() -> dict[str, tuple[End, End]]:
    """Return the cables: two rails, each of two leaves for four servers, each leaf at both spines."""
    found: dict[str, tuple[End, End]] = {}
    for number, server in enumerate(SERVERS):
        for rail in (0, 1):
            leaf = f"leaf-{2 * rail + number // 4 + 1}"
            found[f"{server}/{rail}"] = ((server, f"eth{rail}"), port(leaf, number % 4 + 1))
    for number in (1, 2, 3, 4):
        for spine in (1, 2):
            found[f"leaf-{number}/{spine}"] = (port(f"leaf-{number}", 8 + spine), port(f"spine-{spine}", number))
    return found


CABLES = cables()
NEIGHBOURS: dict[str, list[str]] = {name: [] for name in (*SERVERS, *SYSTEMS)}
for _one, _other in CABLES.values():
    NEIGHBOURS[_one[0]].append(_other[0])
    NEIGHBOURS[_other[0]] += [_one[0]] if _one[0] not in MUTE else []
for _name in MUTE:
    del NEIGHBOURS[_name]


def termination(end: End) -> Termination:
    """Return a port as its maker calls it."""
    return Termination(end[0], end[1].replace("_", "/"))


def fleet(nodes: dict[str, sshd.Node], macs: dict[End, str], gnmi: dict[str, str]) -> Fleet:
    """Return the design as records: ports with slashes, as makers call them, and how each switch is reached."""
    ends = [(termination(one), termination(other)) for one, other in CABLES.values()]
    ports: dict[str, set[str]] = {}
    for end in (end for pair in ends for end in pair):
        ports.setdefault(end.device, set()).add(end.interface)
    devices = {
        name: Device(
            name=name,
            device_type="server" if name in SERVERS else "switch",
            role="gpu-server" if name in SERVERS else "leaf",
            site="hall",
            interfaces=tuple(
                Interface(each, "400gbase-x-qsfp112", mac=macs.get((name, each))) for each in sorted(mine)
            ),
            primary_address=f"{nodes[name].address}/30" if name in nodes else None,
            context=context(name, nodes[name]) if name in nodes else gnmi if name == OPENCONFIG else {},
        )
        for name, mine in ports.items()
    }
    types = {slug: DeviceType(slug, "M", slug, 1.0) for slug in ("server", "switch")}
    return Fleet(("hall",), {}, types, devices, tuple(Cable(one, other) for one, other in ends))


def context(name: str, node: sshd.Node) -> dict[str, str]:
    """Return a switch's config context."""
    return {
        "ansible_network_os": NETWORK_OS[SYSTEMS[name]],
        **{key: value for key, value in node.variables().items() if key != "ansible_host"},
    }


@dataclass
class Site:
    """The fabric as it is plugged, its switches' sshd, and Ansible to sweep it."""

    hall: Hall
    nodes: dict[str, sshd.Node]
    ansible: Ansible
    macs: dict[End, str]

    def sweep(self, nodes: str = "") -> Result:
        """Play the fabric's stage, told what nodes heard before, and return its one result."""
        path = Path(self.ansible.variables["FLEET_SPOOL"])
        path.unlink(missing_ok=True)
        told = path.with_name("extravars.json")
        told.write_text(extra_vars.written({"fleet_runs": {FABRIC: {"neighbours": nodes}}}), encoding="utf-8")
        answer = self.ansible("ansible-playbook", "playbooks/fabric.yml", "-l", FABRIC, "-e", f"@{told}")
        assert answer.returncode == 0, answer.stdout + answer.stderr
        assert unclean(answer) == []
        [result] = [line.result for line in spool(path) if isinstance(line, Judged)]
        return result


def switch(there: Hall, name: str) -> list[str]:
    """Return the command that answers as a switch."""
    return [sys.executable, switch_shell.__file__, SYSTEMS[name], there.socket(name), there.namespace(name)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The fabric as designed."""
    if why := sshd.why_not() or no_lldpd():
        pytest.skip(why)
    folder = tmp_path_factory.mktemp("e")
    speaking = [name for name in (*SERVERS, *SYSTEMS) if name not in MUTE]
    certificates(folder)
    with (
        hall(speaking) as there,
        there.silent(MUTE[0]),
        there.silent(MUTE[1]),
        sshd.nodes(folder, len(SYSTEMS) - 1) as started,
        served(folder) as gnmi,
    ):
        for name in SYSTEMS:
            there.call_ports_by_name(name)
        there.plug(CABLES.values())
        for number in (1, 2, 3, 4):
            ports = [port(f"leaf-{number}", each) for each in (1, 2, 3, 4)]
            there.bridge(f"leaf-{number}", [end[1] for end in ports if end != CABLES[ROUTED][1]])
        macs = {(name, rail): there.send((name, rail)) for name in MUTE for rail in ("eth0", "eth1")}
        assert there.route(*CABLES[ROUTED], "192.0.2") == macs[CABLES[ROUTED][0]]
        nodes = dict(zip((name for name in SYSTEMS if name != OPENCONFIG), started, strict=True))
        for name, node in nodes.items():
            shell = " ".join(switch(there, name))
            keys = node.folder / "authorized_keys"
            keys.write_text(f'restrict,command="{shell}" {keys.read_text()}')
        asked = (switch_shell.COMMANDS["openconfig"], switch_shell.FORWARDING["openconfig"])
        paths = {path: {"command": switch(there, OPENCONFIG)} for path in asked}
        told = {"models": [], "encodings": ["JSON_IETF"], "paths": paths}
        (folder / "answers.json").write_text(json.dumps(told), encoding="utf-8")
        write_site(fleet(nodes, macs, gnmi), folder / "site")
        settings = {"FLEET_SOURCE": str(folder / "site"), "FLEET_STATE_DIR": str(folder / "state")}
        ansible = Ansible(folder / "home", settings | {"FLEET_SPOOL": str(folder / "spool.jsonl")})
        there.settle(NEIGHBOURS)
        yield Site(there, nodes, ansible, macs)


def test_what_the_switches_hear_is_as_designed(site: Site) -> None:
    result = site.sweep()
    told = f"Ethernet links as designed: {len(CABLES)}; 4 links are known by MAC addresses alone"
    assert (result.verdict, result.message) == (Verdict.PASS, told)
    assert (result.observed["read"], result.observed["unread"]) == (len(SYSTEMS), [])


def test_a_swap_is_one_fault_also_while_another_switch_does_not_answer(site: Site) -> None:
    one, other = CABLES["gpu-1/0"], CABLES["gpu-5/0"]  # of two leaves
    site.hall.unplug((one[0], other[0]))
    site.hall.plug(((one[0], other[1]), (other[0], one[1])))
    there = {name: list(names) for name, names in NEIGHBOURS.items()}
    there["gpu-1"][0], there["gpu-5"][0] = "leaf-2", "leaf-1"
    there["leaf-1"][there["leaf-1"].index("gpu-1")] = "gpu-5"
    there["leaf-2"][there["leaf-2"].index("gpu-5")] = "gpu-1"
    site.hall.settle(there)
    sshd.end(site.nodes["spine-1"])
    result = site.sweep()
    assert result.verdict is Verdict.FAIL
    [fault] = result.findings
    assert fault.code == "cabling.swap"
    assert set(fault.devices) == {"gpu-1", "gpu-5", "leaf-1", "leaf-2"}
    assert len(fault.steps) == 3
    assert result.observed["unread"] == ["spine-1"]


def test_a_person_asks_for_a_sweep_and_reads_what_to_move(site: Site) -> None:
    """As the test before left the cables, and while a switch does not answer."""

    def typed(*words: str) -> tuple[int, str, str]:
        argv = [sys.executable, "-m", "fleet_runner", *words]
        done = subprocess.run(
            argv,
            env=os.environ | site.ansible.environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        return done.returncode, " ".join(done.stdout.split()), " ".join(done.stderr.split())

    assert typed("tick")[0] == 0
    code, said, notes = typed("cabling", "check")
    assert (code, said.count("fault 1: swap"), "22 of 24 designed links are there" in said) == (1, 1, True)
    assert "spine-1 was not read: ssh ended with 255" in said + notes
    told = typed("node", FABRIC)[1]
    assert "22 of 24 links as designed, 1 fault, 1 excused" in told
    assert "1 switch not read (spine-1)" in told
    run = typed("cabling", "sweeps")[1].split("ENDED ")[1].split()[0]
    assert typed("cabling", "diff", run, run)[1].endswith("nothing changed: 24 links")


def test_each_sort_of_fault_is_told_once_with_servers_that_say_nothing_and_a_spine_without_power(
    site: Site,
) -> None:
    """The swap of before is there still; of the spine only ssh failed so far."""
    replug(site, ("gpu-7/1", CABLES["gpu-8/1"][1]), ("gpu-8/1", CABLES["gpu-7/1"][1]))
    site.hall.enslave("leaf-4", [port("leaf-4", number)[1] for number in (3, 4)])
    for end in (CABLES["gpu-7/1"][0], CABLES["gpu-8/1"][0]):
        site.hall.call(end, site.macs[end])
    replug(site, ("gpu-2/0", CABLES["gpu-2/1"][1]), ("gpu-2/1", CABLES["gpu-2/0"][1]))
    replug(site, ("gpu-3/0", port("leaf-1", 7)), ("gpu-4/1", port("leaf-4", 7)))
    site.hall.unplug(ends[1] for name, ends in CABLES.items() if name.endswith("/1") and name.startswith("leaf"))
    leaves = {"leaf-1": "gpu-2 gpu-3 gpu-4 gpu-5", "leaf-3": "gpu-1 gpu-2 gpu-3", "leaf-4": "gpu-4 gpu-5 gpu-6"}
    site.hall.settle({"spine-1": []} | {name: [*servers.split(), "spine-2"] for name, servers in leaves.items()})
    findings = site.sweep().findings
    moves = {each.code: each.steps for each in findings if set(each.devices) & {"gpu-2", "gpu-3", "gpu-4", "gpu-7"}}
    gpu_2, gpu_3, gpu_4 = (CABLES[name][0] for name in ("gpu-2/0", "gpu-3/0", "gpu-4/1"))
    assert moves["cabling.moved"] == (plug(gpu_3, port("leaf-1", 3), port("leaf-1", 7)),)
    assert moves["cabling.wrong_switch"] == (plug(gpu_4, port("leaf-3", 4), port("leaf-4", 7)),)
    assert set(moves["cabling.wrong_rail"][1:]) == {
        plug(port("leaf-1", 2), gpu_2, ("gpu-2", "eth1")),
        plug(port("leaf-3", 2), ("gpu-2", "eth1"), gpu_2),
    }
    assert set(moves["cabling.swap"][1:]) == {
        plug(("gpu-7", "eth1"), port("leaf-4", 3), port("leaf-4", 4)),
        plug(("gpu-8", "eth1"), port("leaf-4", 4), port("leaf-4", 3)),
    }
    found = sorted((each.code, *each.devices) for each in findings)
    assert found == [
        ("cabling.dark", "spine-1"),
        ("cabling.moved", "gpu-3", "leaf-1"),
        ("cabling.swap", "gpu-1", "gpu-5", "leaf-1", "leaf-2"),
        ("cabling.swap", "gpu-7", "gpu-8", "leaf-4"),
        ("cabling.wrong_rail", "gpu-2", "leaf-1", "leaf-3"),
        ("cabling.wrong_switch", "gpu-4", "leaf-3", "leaf-4"),
    ]


def test_a_leaf_that_fails_for_the_first_time_is_spoken_for_by_what_its_servers_heard(site: Site) -> None:
    """Of its four servers one is at another leaf, and two say nothing over LLDP; what gpu-1 heard is not needed."""
    before = {
        name: (HeardByNode(1.0, lldp.parse(switch_shell.slashed(site.hall.capture(name, "json0")))), switches)
        for name, switches in {"gpu-1": ["leaf-1", "leaf-3"], "gpu-6": ["leaf-2", "leaf-4"]}.items()
    }
    sshd.end(site.nodes["leaf-2"])
    result = site.sweep(several.before(before))
    assert (result.observed["unread"], result.observed["by_nodes"]) == (["leaf-2", "spine-1"], 1)
    assert "gpu-6 eth0" not in result.message
    assert site.sweep().observed["by_nodes"] == 0


def plug(stays: End, target: End, source: End) -> str:
    """Return the step that moves one end of a cable, whose other end stays."""
    ends = map(termination, (stays, target, source))
    here, into, was = (f"{each.device} port {each.interface} (hall rack unknown U unknown)" for each in ends)
    return f"Plug the cable that comes from {here} into {into}; it was in {was}, its other end stays."


def replug(site: Site, *moves: tuple[str, End]) -> None:
    """Take cables out, and join their servers' ends with other ports."""
    site.hall.unplug(CABLES[name][0] for name, _ in moves)
    site.hall.plug((CABLES[name][0], there) for name, there in moves)
