"""What a passive sweep costs the controller, beside a bare `ansible -m ping` of the same nodes.

`python benchmarks/sweep.py [NODES] [--forks N] [--rounds N]`, as root: each node is a network namespace with an sshd
of its own, reached over real ssh. Both are run with the project's own ansible.cfg, the same inventory and the same
forks: first with no connection open (cold), then over the connections that Ansible keeps (warm), in turns. Counted is
the CPU time of ansible and of what it starts; the nodes' own is not. The nodes print what eight H100s do, and a
kernel log of a quarter of a megabyte; whatever else the sweep asks for is read from this machine.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

import yaml

from tests.core.checks.catalogue.judging import DMESG, SMI
from tests.playbooks import sshd
from tests.playing import PROJECT, Ansible, inventory

PROFILE = PROJECT / "inventory" / "group_vars" / "device_type_sys_821ge_tnhr.yml"
GPUS = 8
LOG_BYTES = 250_000


def eight() -> str:
    """Return the report of eight GPUs: the evidence's first one, over and over."""
    begin, end = SMI.index("\t<gpu id="), SMI.index("\t</gpu>") + len("\t</gpu>\n")
    gpu, last = SMI[begin:end], SMI.rindex("\t</gpu>") + len("\t</gpu>\n")
    others = "".join(
        gpu.replace("00000000:1B:00.0", f"00000000:{number:02X}:00.0").replace(
            "1650000000001", f"165000000000{number}"
        )
        for number in range(1, GPUS + 1)
    )
    counted = SMI[:begin].replace("<attached_gpus>2<", f"<attached_gpus>{GPUS}<")
    return counted + others + SMI[last:]


def tools(folder: Path) -> Path:
    """Write what the nodes' tools print, and the tools."""
    folder.mkdir()
    filler = "[    9.000000] usb 1-14: new full-speed USB device number 4 using xhci_hcd, and other news\n"
    texts = {"nvidia-smi": eight(), "dmesg": DMESG + filler * (LOG_BYTES // len(filler))}
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text)
        (folder / name).write_text(f"#!/bin/sh\nexec cat {folder}/{name}.txt\n")
        (folder / name).chmod(0o755)
    return folder


def begun(ansible: Ansible, words: Sequence[str], **variables: str) -> None:
    """Run one of Ansible's programs as a child of this process: what tests fork elsewhere is counted nowhere here."""
    environment = ansible.environment() | variables
    program = Path(sys.executable).parent / words[0]
    answer = subprocess.run(  # noqa: S603  our own words
        [str(program), *words[1:]], env=environment, cwd=PROJECT, capture_output=True, text=True, check=False
    )
    if answer.returncode:
        sys.exit(f"{words[0]} ended with {answer.returncode}:\n{answer.stdout[-2000:]}{answer.stderr[-2000:]}")


def cpu(ansible: Ansible, words: Sequence[str]) -> float:
    """Return the CPU seconds of one run; whatever the checks answered is fine."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun(ansible, words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def counted(
    ansible: Ansible, folder: Path, nodes: int, name: str, commands: Sequence[Sequence[str]]
) -> Iterator[str]:
    """Say how many ssh processes each command starts for a node: each is one round trip over its connection."""
    log, ssh = folder / "started", folder / "ssh"
    ssh.write_text(f'#!/bin/sh\necho >>{log}\nexec ssh "$@"\n')
    ssh.chmod(0o755)
    for what, command in zip(("ping", "sweep"), commands, strict=True):
        log.write_text("")
        if name == "cold":
            list(sshd.control_connections(ansible.home, ansible.environment()))
        begun(ansible, command, ANSIBLE_SSH_EXECUTABLE=str(ssh))
        yield f"{what} starts ssh {len(log.read_text()) / nodes:g} times a node"


def main(arguments: list[str]) -> int:
    """Print a line for cold and one for warm connections."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", type=int, nargs="?", default=50)
    parser.add_argument("--forks", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    if why := sshd.why_not():
        sys.exit(why)
    with tempfile.TemporaryDirectory(prefix="fs") as folder, sshd.nodes(Path(folder), options.nodes) as nodes:
        profile = yaml.safe_load(PROFILE.read_text())["fleet_profile"]
        hosts = {
            f"gpu-{number:03}": node.variables() | {"ansible_python_interpreter": sys.executable}
            for number, node in enumerate(nodes)
        }
        path = f"{tools(Path(folder) / 'bin')}:/usr/bin:/bin"
        listed = inventory(Path(folder) / "nodes.yml", hosts, fleet_profile=profile, fleet_environment={"PATH": path})
        ansible = Ansible(Path(folder), {"FLEET_SPOOL": f"{folder}/spool.jsonl"})
        same = ("-i", str(listed), "--forks", str(options.forks))
        ping = ("ansible", "nodes", "-m", "ansible.builtin.ping", *same)
        sweep = ("ansible-playbook", "playbooks/health_passive.yml", *same)
        load = f"load {os.getloadavg()[0]:.1f}"
        print(f"{options.nodes} nodes, {options.forks} forks; {load}; CPU of the controller, a node")
        for name in ("cold", "warm"):
            rounds: list[tuple[float, float]] = []
            for _ in range(options.rounds):
                costs: list[float] = []
                for command in (ping, sweep):
                    if name == "cold":
                        list(sshd.control_connections(ansible.home, ansible.environment()))
                    costs.append(cpu(ansible, command) / options.nodes * 1000)
                rounds.append((costs[0], costs[1]))
            pinged, swept = (median(costs) for costs in zip(*rounds, strict=True))
            each = ", ".join(f"{second / first:.2f}" for first, second in rounds)
            print(f"{name}: ping {pinged:5.1f} ms, sweep {swept:5.1f} ms: {swept / pinged:.2f} times ({each})")
            print(f"{name}: {', '.join(counted(ansible, Path(folder), options.nodes, name, (ping, sweep)))}")
        list(sshd.control_connections(ansible.home, ansible.environment()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
