"""This machine: ssh to nodes, the clock, the scheduler's commands, the boot service's settings."""

import ctypes
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from fleet_runner.adapters import schedulers
from fleet_runner.adapters.files import known_hosts
from fleet_runner.cli.boot import readiness
from fleet_runner.cli.setup.doctor.finding import Finding, Site, ok, some, warning, wrong
from fleet_runner.core.base.errors import EvidenceError, SchedulerError, SettingsError
from fleet_runner.core.lifecycle import clusters

KEYS = ("id_ed25519", "id_ecdsa", "id_rsa", "id_ed25519_sk", "id_ecdsa_sk")
"""Names that ssh looks for by itself."""

OF_NODES = ("ansible_ssh_private_key_file", "ansible_private_key_file")
TIMEX_BYTES = 512  # more than the kernel's struct timex has
UNSYNCHRONISED = 5  # TIME_ERROR of adjtimex(2)


def ssh(site: Site) -> Iterator[Finding]:
    """Say whether there is a key for nodes, which ssh takes, and how hosts are known."""
    if shutil.which("ssh") is None:
        yield wrong("ssh", "there is no ssh on PATH", "apt install openssh-client")
        return
    home = Path.home() / ".ssh"
    named = {str(each[name]) for each in site.hosts.values() for name in OF_NODES if each.get(name)}
    keys = [*(home / name for name in KEYS), *(Path(each).expanduser() for each in named)]
    found = [path for path in keys if path.is_file()]
    opened = [path for path in found if stat.S_IMODE(path.stat().st_mode) & 0o077]
    agent = os.environ.get("SSH_AUTH_SOCK", "")
    if opened:
        yield wrong("ssh", f"{opened[0]} can be read by others, so ssh refuses it", f"chmod 600 {opened[0]}")
    elif found or agent:
        yield ok("ssh", f"a key: {some(map(str, found)) or 'of the agent'}")
    else:
        todo = "ssh-keygen -t ed25519, and its public half into authorized_keys on nodes"
        yield warning("ssh", f"no key in {home}, and no agent: nodes cannot be logged in to", todo)
    hosts = (home / "known_hosts", Path("/etc/ssh/ssh_known_hosts"), known_hosts.folder(site.settings))
    told = [path for path in hosts if path.exists()]
    if told:
        yield ok("ssh", f"host keys: {some(map(str, told))}")
    else:
        todo = "nodes that boot by boot_url report theirs; else ssh-keyscan NODE >> ~/.ssh/known_hosts, and compare"
        yield warning("ssh", "no node's host key is known: ssh refuses them", todo)


def clock(_: Site) -> Iterator[Finding]:
    """Say whether the kernel calls its clock synchronised; it is asked, and not set."""
    state = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(TIMEX_BYTES))
    if state == UNSYNCHRONISED:
        todo = "apt install chrony; or, if a host keeps this machine's time, correct it there"
        yield warning("clock", "the kernel says that it is not synchronised", todo)
    elif state < 0:
        yield warning("clock", "unknown: the kernel cannot be queried here", "run chronyc tracking")
    else:
        yield ok("clock", "it is synchronised")


def scheduler(site: Site) -> Iterator[Finding]:
    """Ask the scheduler, and of several clusters each, of one node; nothing is drained."""
    named = site.settings.scheduler
    if named == "none":
        yield ok("scheduler", "none is set (docs/schedulers.md)")
        return
    known = site.settings.kubeconfigs if named == "kubernetes" else {}
    asked, strange = dict.fromkeys(known or ("",), ""), list[str]()
    for node, said in site.hosts.items():
        if said.get(clusters.NODE) == "":
            continue
        try:
            cluster = clusters.cluster_of(said.get(clusters.CLUSTER), known) if known else ""
        except EvidenceError as error:
            strange.append(f"{node}: {error}")
        else:
            asked[cluster] = asked[cluster] or str(said.get(clusters.NODE) or node)
    for cluster, node in asked.items():
        yield _answer(site, cluster, node)
    if strange:
        more = f", and {len(strange) - 1} more" if len(strange) > 1 else ""
        yield wrong("scheduler", f"{strange[0]}{more}", "correct its context: nobody knows whose work it has")


def _answer(site: Site, cluster: str, node: str) -> Finding:
    """Ask the scheduler, or one cluster, of a node; "" where it has none."""
    named = f"{site.settings.scheduler} cluster {cluster}" if cluster else site.settings.scheduler
    try:
        found = schedulers.opened(site.settings, cluster)
        if found is None or not node:
            todo = "fleet-runner doctor again then"
            return warning("scheduler", f"{named} was not asked: the source has no node of it", todo)
        found.read(node)
    except (SchedulerError, SettingsError) as error:
        whose = f"cluster {cluster}: " if cluster else ""
        return wrong("scheduler", f"{whose}{error}", "correct it, or scheduler in fleet.toml (docs/schedulers.md)")
    return ok("scheduler", f"{named} answers for {node}")


def boot(site: Site) -> Iterator[Finding]:
    """Say what is missing for network boots."""
    if not site.settings.boot_url:
        yield ok("boot", "boot_url is not set: nodes boot without fleet-runner (docs/boot-servers.md)")
        return
    unusable = readiness.wrong(site.settings)
    for sentence in unusable:
        yield wrong("boot", sentence)
    unset = [each for each in readiness.unready(site.settings) if each not in unusable]
    for sentence in unset:
        yield warning("boot", sentence, "see docs/boot-servers.md")
    if not unusable and not unset:
        yield ok("boot", f"{site.settings.boot_url}: nothing is missing")
