"""A fabric is read over real ssh by the real tools, and through the second node when the first is down."""

import os
import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import Cable, Device, DeviceType, Fleet, Interface, Termination
from fleet_runner.core.lifecycle.spool import Evidence, Judged
from tests.adapters.sitefiles.writer import write_site
from tests.fabric.building import Fabric, Plug, deafen, join, record, unlink
from tests.fabric.ibsim import Ibsim, running, tools
from tests.playbooks import sshd
from tests.playing import Ansible, spool, unclean

FABRIC = Fabric(servers=4, rails=2, leaf_servers=4, spines=2, plane=4)
"""Each server has an adapter more, in a fabric of its own."""

MAIN, PLANE = "infiniband.hall.leaf-01", "infiniband.hall.plane-2"
OBSERVERS = ("gpu-001", "gpu-002")
"""The other servers have no sshd."""

PROFILE = {"hca_interfaces": {f"mlx5_{rail}": f"mlx5_{rail}" for rail in range(3)}}

TOOL = """\
#!/bin/sh
# The real tool, in the simulated fabric, at the adapter of this node that -C names.
for word in "$@"; do
    case $before in -C) adapter=$word ;; esac
    case $word in -C|-P) ;; *) case $before in -C|-P) ;; *) words="$words $word" ;; esac ;; esac
    before=$word
done
cd {folder} && exec nsenter --net=/proc/{pid}/ns/net env {environment} SIM_HOST=H-{node}-$adapter {tool} $words
"""


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[sshd.Node, ...]]:
    """The observers, on a network of their own."""
    if why := sshd.why_not():
        pytest.skip(why)
    with sshd.nodes(tmp_path_factory.mktemp("n"), len(OBSERVERS)) as started:
        yield started


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ibsim]:
    """The fabrics as designed; the main one has a subnet manager, the other none."""
    with running(tmp_path_factory.mktemp("ibsim"), FABRIC.netlist()) as found:
        found.opensm()
        yield found


@pytest.fixture
def ansible(
    simulated: Ibsim, nodes: tuple[sshd.Node, ...], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Ansible]:
    """Ansible on a site of these fabrics, whose observers have the tools."""
    contexts: dict[str, dict[str, Any]] = {}
    for name, node in zip(OBSERVERS, nodes, strict=True):
        folder = tmp_path / name
        folder.mkdir()
        for tool in ("ibnetdiscover", "iblinkinfo", "ibqueryerrors"):
            _write(folder / tool, name, tool, simulated)
        reached = {key: value for key, value in node.variables().items() if key != "ansible_host"}
        reached |= {"ansible_python_interpreter": sys.executable}
        contexts[name] = reached | {"fleet_environment": {"PATH": f"{folder}:/usr/bin:/bin"}}
    addresses = {name: f"{node.address}/30" for name, node in zip(OBSERVERS, nodes, strict=True)}
    write_site(fleet(contexts, addresses), tmp_path / "site")
    settings = {"FLEET_SOURCE": str(tmp_path / "site"), "FLEET_STATE_DIR": str(tmp_path / "state")}
    found = Ansible(tmp_path_factory.mktemp("h"), settings | {"FLEET_SPOOL": str(tmp_path / "spool.jsonl")})
    yield found
    list(sshd.control_connections(found.home, found.environment()))


def _write(path: Path, node: str, tool: str, simulated: Ibsim) -> None:
    words = " ".join(f"{name}={shlex.quote(value)}" for name, value in simulated.environment().items())
    real = tools()[tool]
    path.write_text(TOOL.format(folder=path.parent, pid=os.getpid(), environment=words, node=node, tool=real))
    path.chmod(0o755)


def fleet(contexts: dict[str, dict[str, Any]], addresses: dict[str, str]) -> Fleet:
    """Return the fabrics' design as records."""
    cables = FABRIC.cables()
    ports: dict[str, set[str]] = {}
    for end in (end for cable in cables for end in cable):
        ports.setdefault(end.device, set()).add(end.port)
    devices = {
        name: Device(
            name=name,
            device_type="server" if name.startswith("gpu") else "switch",
            role="gpu-server" if name.startswith("gpu") else "leaf",
            site="hall",
            primary_address=addresses.get(name),
            interfaces=tuple(Interface(port, "infiniband-hdr") for port in sorted(mine)),
            context=contexts.get(name, {}),
        )
        for name, mine in ports.items()
    }
    made = Fleet(
        ("hall",), {}, {slug: DeviceType(slug, "M", slug, 1.0) for slug in ("server", "switch")}, devices, ()
    )
    return replace(made, cables=tuple(Cable(Termination(*a), Termination(*b)) for a, b in cables))


def swept(ansible: Ansible, fabric: str) -> tuple[dict[str, Result], tuple[Evidence, ...]]:
    """Play the fabric's stage by hand, and return its results and the evidence."""
    path = Path(ansible.variables["FLEET_SPOOL"])
    path.unlink(missing_ok=True)
    profile = f'{{"fleet_profile": {PROFILE!r}}}'.replace("'", '"')
    answer = ansible("ansible-playbook", "playbooks/fabric.yml", "-l", fabric, "-e", profile)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert unclean(answer) == []
    lines = spool(path)
    assert {line.node for line in lines} == {fabric}
    results = [line.result for line in lines if isinstance(line, Judged)]
    assert sorted(each.check for each in results) == ["fabric_cabling", "fabric_counters"]
    return {each.check: each for each in results}, tuple(line for line in lines if isinstance(line, Evidence))


@pytest.mark.parametrize(
    ("fabric", "links", "adapter", "counted"),
    [(MAIN, 8 + 12, "mlx5_0", Verdict.PASS), (PLANE, 4, "mlx5_2", Verdict.UNKNOWN)],
)
def test_each_fabric_is_read_through_the_adapter_that_lies_in_it(
    ansible: Ansible, fabric: str, links: int, adapter: str, counted: Verdict
) -> None:
    """Without a subnet manager no port can be asked for its counters, and that says nothing about its cables."""
    results, evidence = swept(ansible, fabric)
    cabling = results["fabric_cabling"]
    assert (cabling.verdict, cabling.message) == (Verdict.PASS, f"InfiniBand links as designed: {links}")
    assert cabling.observed["observer"] == ["gpu-001", adapter]
    assert results["fabric_counters"].verdict is counted, results["fabric_counters"].message
    assert {each.read for each in evidence} == {"ibnetdiscover", "iblinkinfo", "ibqueryerrors"}


def test_a_neighbour_that_hangs_is_unknown_and_not_missing(ansible: Ansible, simulated: Ibsim) -> None:
    hanging = record(FABRIC.down(3, 0).a)
    simulated.console([deafen(hanging)])
    try:
        results, _ = swept(ansible, MAIN)
    finally:
        simulated.console([deafen(hanging, 0)])
    cabling = results["fabric_cabling"]
    assert (cabling.verdict, cabling.findings) == (Verdict.UNKNOWN, ()), cabling.message
    assert cabling.message.startswith("no data about gpu-004 mlx5_0 to leaf-01")


def test_two_exchanged_cables_are_one_finding(ansible: Ansible, simulated: Ibsim) -> None:
    one, other = FABRIC.down(0, 0), FABRIC.down(3, 0)
    crossed = (Plug(one.a, other.b), Plug(other.a, one.b))
    simulated.console([*map(unlink, (one, other)), *map(join, crossed)])
    try:
        results, _ = swept(ansible, MAIN)
    finally:
        simulated.console([*map(unlink, crossed), *map(join, (one, other))])
    [finding] = results["fabric_cabling"].findings
    assert (finding.code, set(finding.nodes)) == ("cabling.swap", {"gpu-001", "gpu-004"})
    assert results["fabric_cabling"].verdict is Verdict.FAIL


def test_the_second_observer_is_asked_when_the_first_has_lost_its_power(
    ansible: Ansible, nodes: tuple[sshd.Node, ...]
) -> None:
    """Its sshd is gone for good, therefore this test is the last but one of its module."""
    sshd.end(nodes[0])
    results, _ = swept(ansible, MAIN)
    assert results["fabric_cabling"].verdict is Verdict.PASS
    assert results["fabric_cabling"].observed["observer"] == ["gpu-002", "mlx5_0"]


def test_when_all_are_down_it_is_unknown_with_each_ones_reason(
    ansible: Ansible, nodes: tuple[sshd.Node, ...]
) -> None:
    sshd.end(nodes[1])
    results, evidence = swept(ansible, MAIN)
    assert {each.verdict for each in results.values()} == {Verdict.UNKNOWN}
    assert all(f"{name}: " in results["fabric_cabling"].message for name in ("gpu-001", "gpu-002", "gpu-003"))
    assert evidence == ()
