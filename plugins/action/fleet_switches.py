"""Asks switches what they hear and learned, all at once, over ssh or gNMI: `fleet_runner.core.cabling.switches`."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import IO, TYPE_CHECKING, Any

from ansible.plugins.action import ActionBase

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling.switches import NETWORK_OS, arp, arp_in_vrfs, command, forwarding, gnmi, ports, vrfs
from fleet_runner.core.checks.parsers import arp as answering
from fleet_runner.core.checks.parsers import forwarding as table
from fleet_runner.core.checks.parsers import switch_ports
from fleet_runner.core.checks.parsers.neighbours import capture, several

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fleet_runner.core.checks.parsers.forwarding import Learned
    from fleet_runner.core.checks.parsers.lldp import Neighbour
    from fleet_runner.core.checks.parsers.port_states.port import SwitchPort

DOCUMENTATION = r"""
module: fleet_switches
short_description: Asks Ethernet switches for their LLDP neighbours
description:
  - Runs three commands that only read on each switch, over ssh, with a key; which, C(ansible_network_os) says. The
    second one, for the MAC addresses that it learned at its ports, and the third one, for those that answered ARP at
    routed ports, may fail. Where ARP is told of one VRF alone, the others are named and asked as well.
  - Of its variables C(ansible_host), C(ansible_port), C(ansible_user), C(ansible_ssh_private_key_file),
    C(ansible_ssh_common_args), C(ansible_ssh_extra_args) and C(ansible_ssh_executable) count. No password is used.
  - Where C(ansible_network_os) is C(openconfig), paths are asked for over gNMI instead. Then C(ansible_host),
    C(ansible_port), C(ansible_root_certificates_file), C(ansible_certificate_chain_file),
    C(ansible_private_key_file) and C(ansible_ssl_target_name_override) count, as for C(ansible.netcommon.grpc).
  - Never fails because of a switch. One that does not answer in time, or with something else, has its reason told.
options:
  switches: {description: Names of the switches., type: list, elements: str, required: true}
  seconds: {description: How long a switch may take., type: float, default: 30}
  at_once: {description: How many are asked at a time., type: int, default: 32}
  ports:
    description:
      - Asks for settings and errors of the switches' own ports instead, with a few commands that only read.
      - One of them that a release does not know leaves open what it would tell.
    type: bool
    default: false
  nodes:
    description:
      - What nodes last heard themselves, as written by C(fleet_runner.core.checks.parsers.neighbours.several.before).
      - Words of nodes beside a switch that was not read are kept.
    type: str
author: [fleet-runner]
"""

EXAMPLES = r"""
- name: Ask the switches for their neighbours
  fleet_switches:
    switches: [leaf-1, leaf-2]
  register: fabric_heard
"""

RETURN = r"""
switch_lldp: {description: What each switch hears or why it was not read., returned: without C(ports), type: dict}
switch_ports: {description: What each switch says of its ports., returned: with C(ports), type: dict}
"""

NO_CONNECTION = 255
"""What ssh, and our client of gNMI, end with if they do not come to the question."""

GNMI_PORT = 9339
"""IANA's."""

CERTIFICATES = {
    "ansible_root_certificates_file": "--ca",
    "ansible_certificate_chain_file": "--certificate",
    "ansible_private_key_file": "--key",
}
"""Files that gNMI needs, by Ansible's names."""

MOST_BYTES = 32 * 1024 * 1024
"""Of one switch's answer: some hundred times what the largest one prints."""


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _supports_check_mode = True  # it only reads
    _VALID_ARGS = frozenset({"switches", "seconds", "at_once", "nodes", "ports"})

    def run(self, tmp: object = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Ask all of them and return what was heard."""
        answer = super().run(tmp, task_vars)
        known = (task_vars or {})["hostvars"]
        names = [str(name) for name in self._task.args.get("switches") or ()]
        seconds = float(self._task.args.get("seconds") or 30)
        variables = {name: _plain(known[name]) if name in known else {} for name in names}
        if self._task.args.get("ports"):
            answer.update(_ports_of(variables, seconds, int(self._task.args.get("at_once") or 32)))
            return answer
        heard: dict[str, tuple[Neighbour, ...]] = {}
        learned: dict[str, tuple[Learned, ...]] = {}
        unread: dict[str, str] = {}
        with ThreadPoolExecutor(int(self._task.args.get("at_once") or 32)) as pool:
            for name, found in zip(
                names, pool.map(lambda name: _asked(variables[name], seconds), names), strict=True
            ):
                if isinstance(found, str):
                    unread[name] = found
                else:
                    heard[name], learned[name] = found
        with_macs = sum(map(bool, learned.values()))
        told = f"{len(heard)} of {len(names)} switches were read, {with_macs} with MAC addresses at their ports"
        kept = several.written(heard, unread, learned)
        kept[several.KEY] |= several.beside(str(self._task.args.get("nodes") or ""), heard)
        answer.update(changed=False, switch_lldp=kept, msg=told)
        return answer


def _plain(variables: Mapping[str, Any]) -> dict[str, str]:
    """Return a switch's variables that say how it is reached, as text."""
    words = ("host", "port", "user", "ssh_private_key_file", "ssh_common_args", "ssh_extra_args", "ssh_executable")
    names = [NETWORK_OS, *(f"ansible_{word}" for word in words), *CERTIFICATES, "ansible_ssl_target_name_override"]
    return {name: str(variables[name]) for name in names if variables.get(name) not in {None, ""}}


def _asked(variables: Mapping[str, str], seconds: float) -> tuple[tuple[Neighbour, ...], tuple[Learned, ...]] | str:
    """Return what a switch hears and what it learned, or why it is not known, in one sentence."""
    end = time.monotonic() + seconds
    host, words = variables.get("ansible_host", ""), command(variables.get(NETWORK_OS))
    if not host or host.startswith("-") or not words:
        return f"expected its ansible_host and an {NETWORK_OS} that is known, found {json.dumps(variables)[:120]}"
    try:
        said, complaint, code = _said(_argv(variables, host, words), seconds)
        if code:
            asked = "" if code == NO_CONNECTION else f"; it was asked: {words}"
            return f"{_way(words)} ended with {code}: {complaint or 'it said nothing'}{asked}"
        return capture.read(said).neighbours, _addresses(variables, host, end)
    except EvidenceError as error:
        return str(error)
    except (OSError, ValueError) as error:
        return f"{_way(words)} cannot be started: {error}"


def _addresses(variables: Mapping[str, str], host: str, end: float) -> tuple[Learned, ...]:
    """Return the addresses at a switch's ports, each once: what it learned, and who answered ARP where it routes."""
    found: dict[Learned, None] = {}
    for asked, read in ((forwarding, table.read), (arp, answering.read)):
        if words := asked(variables.get(NETWORK_OS)):
            found |= dict.fromkeys(_learned(_argv(variables, host, words), end - time.monotonic(), read))
    if words := vrfs(variables.get(NETWORK_OS)):
        for each in arp_in_vrfs(variables.get(NETWORK_OS), _vrfs(_ssh(variables, host, words), end)):
            seconds = end - time.monotonic()
            found |= dict.fromkeys(_learned(_ssh(variables, host, each), seconds, answering.read))
    return tuple(found)


def _vrfs(argv: list[str], end: float) -> str:
    """Return what a switch says of its VRFs; nothing where it refuses, which is no fault of its own."""
    try:
        said, _, code = _said(argv, max(end - time.monotonic(), 1.0))
    except (EvidenceError, OSError):
        return ""
    return "" if code else said


def _learned(argv: list[str], seconds: float, read: Callable[[str], tuple[Learned, ...]]) -> tuple[Learned, ...]:
    """Return the addresses at a switch's ports; none where it does not say them, which is no fault of its own.

    It is a connection of its own: an account that may not run this command loses nothing else.
    """
    try:
        said, _, code = _said(argv, max(seconds, 1.0))
        return () if code else read(said)
    except (EvidenceError, OSError):
        return ()


def _said(argv: list[str], seconds: float) -> tuple[str, str, int]:
    """Return what a command printed, the last line of its errors, and its exit code; it is not trusted to end."""
    ssh = subprocess.Popen(  # noqa: S603  the controller names the command; no shell of ours is involved
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    with ssh, ThreadPoolExecutor(2) as pool:
        printed, complaints = (pool.submit(_bounded, stream, ssh) for stream in (ssh.stdout, ssh.stderr))
        try:
            code = ssh.wait(seconds)
        except subprocess.TimeoutExpired:
            raise EvidenceError(f"it did not answer within {seconds:g} seconds") from None
        finally:
            _end(ssh)
    if len(printed.result()) > MOST_BYTES:
        raise EvidenceError(f"it printed more than {MOST_BYTES} bytes, expected the neighbours of one switch")
    said = complaints.result().decode("utf-8", "replace").strip().splitlines()
    return printed.result().decode("utf-8", "replace"), said[-1] if said else "", code


def _bounded(stream: IO[bytes] | None, ssh: subprocess.Popen[bytes]) -> bytes:
    """Return what a stream brings, a byte more than the most at the most: then the command is ended."""
    found = stream.read(MOST_BYTES + 1) if stream is not None else b""
    if len(found) > MOST_BYTES:
        _end(ssh)
    return found


def _end(ssh: subprocess.Popen[bytes]) -> None:
    """End a command with all that it started: a way through another host would keep its pipes open."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(ssh.pid, signal.SIGKILL)


def _way(words: str) -> str:
    return "gNMI" if gnmi(words) else "ssh"


def _argv(variables: Mapping[str, str], host: str, words: str) -> list[str]:
    """Return the command line that asks a switch. EvidenceError where a file that gNMI needs is not named."""
    if not gnmi(words):
        return _ssh(variables, host, words)
    if lacking := [name for name in CERTIFICATES if name not in variables]:
        raise EvidenceError(
            f"gNMI needs certificates: expected the files {', '.join(CERTIFICATES)}, {lacking[0]} is not set"
        )
    found = [sys.executable, "-m", "fleet_runner.adapters.gnmi"]
    for name, option in CERTIFICATES.items():
        found += [option, variables[name]]
    found += ["--name", variables.get("ansible_ssl_target_name_override", "")]
    address = f"[{host}]" if ":" in host else host
    return [*found, "--", f"{address}:{variables.get('ansible_port', GNMI_PORT)}", words]


def _ssh(variables: Mapping[str, str], host: str, words: str) -> list[str]:
    """Return the command line. Nothing is asked for: a host key that is not known, or a password, is a refusal."""
    options = {"ansible_port": "-p", "ansible_user": "-l", "ansible_ssh_private_key_file": "-i"}
    found = [variables.get("ansible_ssh_executable", "ssh"), "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"]
    for name in ("ansible_ssh_common_args", "ansible_ssh_extra_args"):
        found += shlex.split(variables.get(name, ""))
    for name, option in options.items():
        found += [option, variables[name]] if name in variables else []
    return [*found, "--", host, words]


def _ports_of(variables: Mapping[str, Mapping[str, str]], seconds: float, at_once: int) -> dict[str, Any]:
    """Ask all switches for their ports; a switch may take as long for all of its commands as for its neighbours."""
    with ThreadPoolExecutor(at_once) as pool:
        asked = dict(
            zip(variables, pool.map(lambda each: _own_ports(each, seconds), variables.values()), strict=True)
        )
    found = {name: each for name, each in asked.items() if not isinstance(each, str)}
    unread = {name: each for name, each in asked.items() if isinstance(each, str)}
    told = f"{len(found)} of {len(asked)} switches told the state of their ports"
    return {"changed": False, "switch_ports": switch_ports.written(found, unread), "msg": told}


def _own_ports(variables: Mapping[str, str], seconds: float) -> dict[str, SwitchPort] | str:
    """Return the ports of a switch, or why they are not known, in one sentence."""
    host, (system, commands) = variables.get("ansible_host", ""), ports(variables.get(NETWORK_OS))
    if not host or host.startswith("-") or not commands:
        known = ", ".join(switch_ports.READERS)
        return f"expected its ansible_host and an {NETWORK_OS} of {known}, found {json.dumps(variables)[:120]}"
    until, said = time.monotonic() + seconds, dict[str, str]()
    try:
        for place, (name, words) in enumerate(commands.items()):
            try:
                text, complaint, code = _said(_argv(variables, host, words), max(1.0, until - time.monotonic()))
            except EvidenceError:
                if place == 0:
                    raise
                continue
            if code and place == 0:
                return f"{_way(words)} ended with {code}: {complaint or 'it said nothing'}"
            said[name] = "" if code else text
        return switch_ports.READERS[system](said)
    except EvidenceError as error:
        return str(error)
    except (OSError, ValueError) as error:
        return f"{_way(next(iter(commands.values())))} cannot be started: {error}"
