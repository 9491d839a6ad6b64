"""What it costs to ask switches for their neighbours, beside Ansible's `eos_facts` on each of them.

`python -m benchmarks.ethernet_asking --peer DIR [--switches N]` starts a real sshd in a network namespace for each
of N Arista EOS stand-ins (as root), with 32 links each. First the runner's own stage `fabric` asks all of them and
judges the fabric; then a play with `arista.eos.eos_facts`, over `ansible.netcommon.network_cli`, gathers the
interfaces and neighbours of each, 32 switches at a time as well, and judges nothing. CPU is that of all processes
that either started on this side. DIR is a virtual environment with Ansible's bundle:
`python3 -m venv DIR && DIR/bin/pip install ansible==12.3.0 ansible-pylibssh==1.4.0`.
"""

import argparse
import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

from fleet_runner.core.inventory.records import Cable, Device, DeviceType, Fleet, Interface, Termination
from tests.adapters.sitefiles.writer import write_site
from tests.fabric import switch_shell
from tests.playbooks import sshd
from tests.playing import Ansible

LINKS = 32
"""Of a switch."""

AT_ONCE = 32

KEY_EXCHANGE = "curve25519-sha256"
"""libssh's own first choice. OpenSSH's is sntrup761x25519-sha512, which takes it ten times the CPU."""

PR_SET_CHILD_SUBREAPER = 36
TICK = os.sysconf("SC_CLK_TCK")

SHELL = """\
import os, sys
answers = {answers!r}
asked = os.environ.get("SSH_ORIGINAL_COMMAND")
def answer(words):
    path = answers.get(words)
    return open(path).read() + "\\n" if path else ""
if asked:
    sys.stdout.write(answer(asked))
    sys.exit()
sys.stdout.write("{name}#")
sys.stdout.flush()
for line in sys.stdin:
    sys.stdout.write(answer(line.strip()) + "{name}#")
    sys.stdout.flush()
"""
"""A switch's command line: for one command, or for a person."""


def fleet(nodes: dict[str, sshd.Node]) -> Fleet:
    """Return the design, as records."""
    up = tuple(Interface(f"Ethernet{number}", "400gbase-x-qsfp112") for number in range(1, len(nodes) + 1))
    devices = [Device("spine", "switch", "spine", "hall", interfaces=up)]
    cables = []
    for name, node in nodes.items():
        reached = {key: value for key, value in node.variables().items() if key != "ansible_host"}
        reached["ansible_ssh_common_args"] += f" -o KexAlgorithms={KEY_EXCHANGE}"
        ports = tuple(Interface(f"Ethernet{port}", "400gbase-x-qsfp112") for port in range(1, LINKS + 1))
        devices.append(
            Device(
                name=name,
                device_type="switch",
                role="leaf",
                site="hall",
                interfaces=ports,
                primary_address=f"{node.address}/30",
                context={"ansible_network_os": "arista.eos.eos"} | reached,
            )
        )
        for port, (far, its) in zip(ports, far_ends(name), strict=True):
            if far != "spine":
                devices.append(Device(far, "server", "gpu-server", "hall", interfaces=(Interface(its, port.kind),)))
            cables.append(Cable(Termination(name, port.name), Termination(far, its)))
    types = {slug: DeviceType(slug, "M", slug, 1.0) for slug in ("server", "switch")}
    return Fleet(("hall",), {}, types, {each.name: each for each in devices}, tuple(cables))


def far_ends(name: str) -> list[tuple[str, str]]:
    """Return what is at each port of a switch: servers of its own, and a spine that nobody asks."""
    return [*((f"{name}-{port}", "eth0") for port in range(1, LINKS)), ("spine", f"Ethernet{int(name[-3:])}")]


def answer_on(node: sshd.Node, name: str) -> None:
    """Let a switch's sshd answer as EOS does to what either side asks."""
    heard = [
        switch_shell.Neighbour(f"Ethernet{at}", "02:00:00:00:00:01", far, "ifname", its, its)
        for at, (far, its) in enumerate(far_ends(name), 1)
    ]
    brief = [{"port": each.local, "neighborDevice": each.system, "neighborPort": each.port} for each in heard]
    port = {"mtu": 9214, "bandwidth": 400_000_000_000, "lineProtocolStatus": "up", "interfaceStatus": "connected"}
    texts: dict[str, Any] = {
        "show lldp neighbors detail | json": json.loads(switch_shell.eos(heard)),
        "show lldp neighbors | json": {"lldpNeighbors": brief},
        "show interfaces | json": {"interfaces": {each.local: port for each in heard}},
        "show version | json": {"modelName": "DCS-7060DX5-64S", "serialNumber": "S1", "version": "4.32.2F"},
        "show hostname | json": {"hostname": name, "fqdn": name},
    }
    answers = {}
    for number, (words, text) in enumerate(texts.items()):
        path = node.folder / f"answer-{number}"
        path.write_text(json.dumps(text, indent=2))
        answers[words] = str(path)
    shell = node.folder / "shell.py"
    shell.write_text(SHELL.format(answers=answers, name=name))
    keys = node.folder / "authorized_keys"
    keys.write_text(f'restrict,pty,command="{sys.executable} {shell}" {keys.read_text()}')


def children() -> set[int]:
    """Return the processes whose parent this one is."""
    return set(map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii").split()))


def measured(argv: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Return the CPU and wall seconds of a command and of all that it leaves running, which is ended then."""
    before, begun = children(), time.monotonic()
    spent = os.times()
    command = subprocess.Popen(  # noqa: S603  the two command lines below
        argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    said = command.communicate()[0]
    wall = time.monotonic() - begun
    if command.returncode:
        sys.exit(f"{' '.join(argv)} ended with {command.returncode}:\n{said}")
    for left in children() - before:
        with contextlib.suppress(ProcessLookupError):
            os.kill(left, signal.SIGTERM)
        os.waitpid(left, 0)
    now = os.times()
    return now.children_user + now.children_system - spent.children_user - spent.children_system, wall


def ours(folder: Path, nodes: dict[str, sshd.Node]) -> tuple[float, float]:
    """Return what the stage takes."""
    write_site(fleet(nodes), folder / "site")
    spool = folder / "spool.jsonl"
    settings = {"FLEET_SOURCE": str(folder / "site"), "FLEET_STATE_DIR": str(folder / "state")}
    ansible = Ansible(folder / "home", settings | {"FLEET_SPOOL": str(spool)})
    (folder / "home").mkdir()
    argv = [str(Path(sys.executable).with_name("ansible-playbook")), "playbooks/fabric.yml", "-l", "ethernet.hall"]
    found = measured(argv, ansible.environment())
    expected = f"Ethernet links as designed: {len(nodes) * LINKS}"
    if expected not in spool.read_text("utf-8"):
        sys.exit(f"expected the answer {expected!r} in {spool}")
    return found


def theirs(folder: Path, nodes: dict[str, sshd.Node], peer: Path) -> tuple[float, float]:
    """Return what `eos_facts` takes on each switch."""
    home = folder / "peer"
    home.mkdir()
    hosts = {
        name: {
            "ansible_host": node.address,
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(node.folder / "key"),
            "ansible_connection": "ansible.netcommon.network_cli",
            "ansible_network_cli_ssh_type": "libssh",
            "ansible_network_os": "arista.eos.eos",
            "ansible_host_key_checking": False,
        }
        for name, node in nodes.items()
    }
    facts = {"arista.eos.eos_facts": {"gather_subset": ["interfaces"]}, "register": "found"}
    proof = {"assert": {"that": f"found.ansible_facts.ansible_net_neighbors | length == {LINKS}"}}
    play = [{"hosts": "all", "gather_facts": False, "tasks": [facts, proof]}]
    (home / "inventory.yml").write_text(yaml.safe_dump({"all": {"hosts": hosts}}))
    (home / "play.yml").write_text(yaml.safe_dump(play))
    argv = [str(peer / "bin" / "ansible-playbook"), "-i", "inventory.yml", "-f", str(AT_ONCE), "play.yml"]
    environment = {"HOME": str(home), "PATH": f"{peer / 'bin'}:{os.environ['PATH']}", "LANG": "C.UTF-8"}
    with contextlib.chdir(home):
        return measured(argv, environment)


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--peer", type=Path, required=True, help="a virtual environment with Ansible's bundle")
    options.add_argument("--switches", type=int, default=16)
    asked = options.parse_args()
    if why := sshd.why_not():
        sys.exit(why)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)  # what a command leaves running is ours to wait for
    with tempfile.TemporaryDirectory(prefix="fr") as name, sshd.nodes(Path(name), asked.switches) as started:
        nodes = {f"leaf-{number:03d}": node for number, node in enumerate(started, 1)}
        for switch, node in nodes.items():
            answer_on(node, switch)
        cpu, wall = ours(Path(name), nodes)
        peers_cpu, peers_wall = theirs(Path(name), nodes, asked.peer.resolve())
    print(
        f"{asked.switches} switches, {asked.switches * LINKS} links: "
        f"stage fabric {cpu:.2f} s CPU, {wall:.1f} s; eos_facts {peers_cpu:.2f} s CPU, {peers_wall:.1f} s; "
        f"{peers_cpu / cpu:.1f} times our CPU"
    )


if __name__ == "__main__":
    main()
