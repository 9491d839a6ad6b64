"""The lab's ssh: runs the command here, in the node's own environment, or fails as ssh does when the node is off.

It takes OpenSSH's options and ignores them, but for the two that mean that nothing is to be run (-O, -V), and for the
file of host keys: a node that told its key when it booted must be the one whose key was kept.
"""

import json
import os
import pwd
import shlex
import signal
import sys
import time
from typing import Any

from fleet_runner.lab.tools.node import is_up, read_state, witness

WITH_VALUE = frozenset("BbcDEeFIiJLlmOopPQRSWw")
"""OpenSSH's options that take a value."""

KNOWN_HOSTS = "UserKnownHostsFile="

RAIL_SWITCH = "rail-"
"""How the names of the switches of Ethernet rails begin."""

CLOSED = 255
"""What ssh exits with when the connection, not the command, failed; Ansible calls the node unreachable."""


def main(lab: str, tools: str) -> int:
    """Run `ssh [options] [user@]host command`; `tools` is the folder of the real tools' names, under each node."""
    options, rest = parse(sys.argv[1:])
    if "V" in options:
        sys.stderr.write("OpenSSH_9.2p1 Debian-2+deb12u3, OpenSSL 3.0.15 3 Sep 2024\n")
        return 0
    if "O" in options:
        return 0
    if not rest:
        sys.stderr.write("usage: ssh [-options] destination [command [argument ...]]\n")
        return CLOSED
    host = rest[0].rpartition("@")[2]
    name = find(lab, host)
    if name is None:
        return _fail(f"ssh: Could not resolve hostname {host}: Name or service not known")
    if name.startswith(RAIL_SWITCH):
        from fleet_runner.lab.tools import switch  # noqa: PLC0415  only these need it, and nodes are asked far more often

        return switch.run(lab, name, " ".join(rest[1:]))
    why = _closed(read_state(lab, name), host)
    return _fail(why) if why else _serve(lab, name, " ".join(rest[1:]), tools)


def _closed(state: dict[str, Any], host: str) -> str:
    """Say as ssh does why a node cannot be reached; empty where it can."""
    if not is_up(state, time.time()):
        refused = state["power"] == "On" and state["boot"]["ready"] is not None
        return f"ssh: connect to host {host} port 22: {'Connection refused' if refused else 'No route to host'}"
    if not is_known(sys.argv[1:], host, state["boot"].get("host_key", "")):
        return f"Host key verification failed. The key that was kept for {host} is not the one it has."
    return ""


def is_known(args: list[str], host: str, key: str) -> bool:
    """Whether no file of known hosts that is named in `-o UserKnownHostsFile=` holds another key of the host."""
    named = [word.removeprefix(KNOWN_HOSTS) for word in args if word.startswith(KNOWN_HOSTS)]
    files = [file.replace("%h", host).replace("%%", "%") for words in named for file in shlex.split(words)]
    lines = [line.split() for file in files if os.path.isfile(file) for line in _lines(file)]
    kept = [words[1:3] for words in lines if words[:1] == [host]]
    return not kept or not key or key.split()[:2] in kept


def _lines(path: str) -> list[str]:
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def parse(args: list[str]) -> tuple[dict[str, str], list[str]]:
    """Split OpenSSH's command line into options (the last one of a letter wins) and destination with command."""
    options: dict[str, str] = {}
    at = 0
    while at < len(args) and args[at].startswith("-") and args[at] != "-":
        word = args[at]
        at += 1
        if word == "--":
            break
        for position, letter in enumerate(word[1:], start=1):
            if letter not in WITH_VALUE:
                options[letter] = ""
                continue
            value = word[position + 1 :]
            if not value and at < len(args):
                value = args[at]
                at += 1
            options[letter] = value
            break
    rest = args[at:]
    if rest[1:2] == ["--"]:
        del rest[1]
    return options, rest


def find(lab: str, host: str) -> str | None:
    """Return the node of that name or address."""
    if host and "/" not in host and os.path.isfile(os.path.join(lab, "nodes", host, "state.json")):
        return host
    with open(os.path.join(lab, "addresses.json"), encoding="utf-8") as file:
        addresses: dict[str, str] = json.load(file)
    return addresses.get(host)


def environment(lab: str, name: str, tools: str) -> dict[str, str]:
    """Return what a login on the node gives: nothing of the controller's own variables."""
    home = os.path.join(lab, "nodes", name)
    user = pwd.getpwuid(os.getuid()).pw_name
    return {
        "FLEET_LAB": lab,
        "FLEET_LAB_NODE": name,
        "FLEET_ROOT": os.path.join(home, "root"),
        "HOME": os.path.join(home, "home"),
        "LANG": "C.UTF-8",
        "LOGNAME": user,
        "PATH": os.pathsep.join(
            (os.path.join(home, tools), "/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin")
        ),
        "SHELL": "/bin/sh",
        "TMPDIR": os.path.join(home, "tmp"),
        "USER": user,
    }


def _serve(lab: str, name: str, command: str, tools: str) -> int:
    env = environment(lab, name, tools)
    pid = os.fork()
    if pid == 0:
        os.setsid()
        os.chdir(env["HOME"])
        shell = ["/bin/sh", "-c", command] if command else ["/bin/sh"]
        os.execve("/bin/sh", shell, env)  # noqa: S606  running what it is told is what ssh is for
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        if os.WTERMSIG(status) == signal.SIGKILL:
            witness(lab, "connection_lost", name)
            return _fail(f"Connection to {name} closed by remote host.")
        return 128 + os.WTERMSIG(status)
    return os.WEXITSTATUS(status)


def _fail(sentence: str) -> int:
    sys.stderr.write(sentence + "\r\n")
    return CLOSED
