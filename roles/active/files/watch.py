"""Tells who else works on a node: whoever holds a GPU or bears a scheduler's name, and the pods of Kubernetes.

Part of supervise.py, which looks once a second; standard library only.
"""

from __future__ import annotations

import contextlib
import fnmatch
import json
import os
import re
from collections import Counter
from pathlib import Path

SELDOM = 4  # looks between two into a process that sleeps
KERNEL_THREAD = 0x00200000  # PF_KTHREAD among the flags of /proc/PID/stat
TAG, NAME = "FLEET_JOB", 15  # the kernel keeps that many characters of a process's name

GIVEN = "/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"  # which pod was given which devices
MOST_GIVEN = 16_000_000  # characters of it that are read
CGROUPS = ("/sys/fs/cgroup", "/sys/fs/cgroup/memory")  # of version 2, and of version 1
CLASSES = ("burstable", "besteffort")  # between kubepods and a pod, where the kubelet names groups without systemd
LOGS = "/var/log/pods"  # <namespace>_<name>_<uid>, there before a pod's first process
POD = re.compile(r"(?:.*-)?pod([0-9a-f]{32}|[0-9a-f]{8}(?:[_-][0-9a-f]{4}){3}[_-][0-9a-f]{12})(?:\.slice)?")
MADE_UP = re.compile(r"-[bcdfghjklmnpqrstvwxz2456789]{5}$")  # how Kubernetes ends the name of a pod that it named
LONGEST = 120  # characters of a name that is told


class Process:
    """One line of the node's process table."""

    def __init__(self, stat: str) -> None:
        head, _, tail = stat.rpartition(")")
        fields = tail.split()
        self.name = head.partition("(")[2]
        self.dead = fields[0] in "ZX"
        self.parent = int(fields[1])
        self.kernel = bool(int(fields[6]) & KERNEL_THREAD)
        self.ticks = int(fields[11]) + int(fields[12])
        self.started = int(fields[19])


def table() -> dict:
    """Return every process that lives by its id."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                found[int(entry)] = Process(_text("/proc/" + entry + "/stat"))
    return {pid: process for pid, process in found.items() if not process.dead}


def family(processes: dict, root: int) -> set:
    """Return a process and all that descend from it."""
    children = {}
    for pid, process in processes.items():
        children.setdefault(process.parent, []).append(pid)
    found = [root]
    for pid in found:
        found.extend(children.pop(pid, ()))
    return set(found)


class Watch:
    """Tells our processes from somebody else's, and finds pods that come.

    `devices` are patterns of files that only work holds open; `names` those of processes that are work by themselves;
    `ignored` those of processes that hold a device and are none. Whose process nobody may look into is not seen.
    """

    def __init__(self, folder: Path, asked: dict | None) -> None:
        self._tag = (TAG + "=" + str(folder) + "/").encode()
        asked = asked or {}
        self.devices = asked.get("devices") or []
        self._names = {name[:NAME] for name in asked.get("names") or []}
        self._ignored = {name[:NAME] for name in asked.get("ignored") or []}
        self._pods = Pods(asked.get("resources") or [], asked.get("ignored") or []) if asked else None
        self.seen, self._turn, self._known = {}, 0, set()

    def look(self, helpers: tuple = (), since: float = 0.0) -> tuple:
        """Return our processes' ids, helpers that began since then among them, and who else works here, or ""."""
        processes = table()
        self._turn = (self._turn + 1) % SELDOM
        ours, first = family(processes, os.getpid()), since * os.sysconf("SC_CLK_TCK") - 1
        for pid, process in processes.items():
            helps = process.name in helpers and process.started >= first
            if helps or (pid, process.started) in self._known:  # what outlives its helper stays ours
                ours |= family(processes, pid)
        self._known = {(pid, processes[pid].started) for pid in ours if pid in processes}
        seen, others = {}, []
        for pid, process in processes.items():
            if pid in ours or process.kernel:
                continue
            works = process.name in self._names
            if not works and self.devices and process.name not in self._ignored:
                seen[pid] = self._holds(pid, process)
                works = seen[pid][-1]
            if works and self._is_tagged(pid):
                ours.add(pid)
            elif works:
                others.append((process.started, pid, process.name))
        self.seen = seen
        ours.discard(os.getpid())
        return ours, described(min(others)) if others else self._pods.look() if self._pods else ""

    def _holds(self, pid: int, process: Process) -> tuple:
        """Return (start, ticks, whether it holds a device); what has slept since is looked into only now and then."""
        known = self.seen.get(pid)
        if known is not None and known[:2] == (process.started, process.ticks) and pid % SELDOM != self._turn:
            return known
        holds = any(fnmatch.fnmatchcase(path, pattern) for path in _opened(pid) for pattern in self.devices)
        return (process.started, process.ticks, holds)

    def _is_tagged(self, pid: int) -> bool:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
            return any(entry.startswith(self._tag) for entry in file.read().split(b"\0"))
        return False


class Pods:
    """Tells which pod came, before its first process runs: all that the kubelet leaves on the node is read, no API.

    A pod lives while it has a control group: the kubelet makes it before anything else of a pod that it took, and
    removes it with the last of its processes. Its folder below /var/lib/kubelet/pods stays until somebody deletes the
    pod, for days where a job is done; so does its line among the devices given, until the next pod is given any.
    """

    def __init__(self, resources: list, ignored: list) -> None:
        self._resources, self._ignored = resources, [pattern for pattern in ignored if "/" in pattern]
        self._stamp, self._given = None, {}
        before = names()
        self._before = {uid: before[uid] for uid in living() if uid in before}
        self._kin = Counter(map(_kin, self._before.values()))

    def look(self) -> str:
        """Return the pod that is in the way, and why, or "".

        Whoever was given a GPU is. Of the others, whoever has come since the beginning, unless it takes the place of
        one that was there, as a DaemonSet's pod does that starts anew, or the node has it from a file.
        """
        there = living()
        if not there:
            return ""
        known, given = names(), self._devices()
        called = {uid: known.get(uid, "") for uid in sorted(there)}
        mine = {uid: name for uid, name in called.items() if not self._is_ignored(name)}
        for uid, name in mine.items():
            if uid in given:
                return f"the pod {name or uid}, which was given {given[uid]}"
        kin = Counter(_kin(name) for name in called.values() if name)
        for uid, name in mine.items():
            came = name and uid not in self._before and "-" in uid  # a hash without dashes: a static pod
            if came and kin[_kin(name)] > self._kin[_kin(name)]:
                return f"the pod {name}, which has come"
        return ""

    def _is_ignored(self, name: str) -> bool:
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in self._ignored)

    def _devices(self) -> dict:
        """Return what was given to which pod; read anew when the kubelet wrote, which it does in one piece."""
        try:
            with open(GIVEN, encoding="utf-8", errors="replace") as file:
                now = os.fstat(file.fileno())
                stamp = (now.st_ino, now.st_mtime_ns, now.st_size)
                if stamp != self._stamp:
                    self._given = given(json.loads(file.read(MOST_GIVEN)), self._resources)
                    self._stamp = stamp
        except FileNotFoundError:
            self._stamp, self._given = None, {}
        except (OSError, ValueError, RecursionError):  # what was known stays so until it can be read
            self._stamp = None
        return self._given


def living() -> set:
    """Return the ids of the pods that have a control group, however the kubelet names those."""
    found, todo = set(), list(CGROUPS)
    for folder in todo:
        with contextlib.suppress(OSError):
            for entry in os.listdir(folder):
                pod = POD.fullmatch(entry)
                if pod:
                    found.add(pod.group(1).replace("_", "-"))
                elif "kube" in entry or entry in CLASSES:
                    todo.append(folder + "/" + entry)
    return found


def names() -> dict:
    """Return pods' namespaces and names, as "namespace/name", by their ids."""
    found = {}
    with contextlib.suppress(OSError):
        for entry in os.listdir(LOGS):
            namespace, _, rest = entry.partition("_")
            name, _, uid = rest.partition("_")
            found[uid] = shown(namespace + "/" + name)
    return found


def given(told: object, resources: list) -> dict:
    """Return a resource of those asked for by each pod that has any of it.

    The ids are a list up to Kubernetes 1.19, and since then a list for each NUMA node.
    """
    data = told.get("Data", told) if isinstance(told, dict) else None
    entries = data.get("PodDeviceEntries") if isinstance(data, dict) else None
    found = {}
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            name, ids = str(entry.get("ResourceName")), entry.get("DeviceIDs")
            has = any(ids.values()) if isinstance(ids, dict) else bool(ids)
            if has and any(fnmatch.fnmatchcase(name, pattern) for pattern in resources):
                found[str(entry.get("PodUID"))] = shown(name)
    return found


def described(found: tuple) -> str:
    """Say which process it is, and of which pod."""
    _, pid, name = found
    of_pod = ""
    with contextlib.suppress(OSError):
        group = _text(f"/proc/{pid}/cgroup")
        if "kubepods" in group:
            of_pod = " of a Kubernetes pod"
        for part in group.replace("\n", "/").split("/"):
            pod = POD.fullmatch(part)
            if pod:
                uid = pod.group(1).replace("_", "-")
                of_pod = " of the pod " + names().get(uid, uid)
    return f"{shown(name)} ({pid}){of_pod}"


def shown(name: str) -> str:
    """Return a name from a node as it may be told."""
    return "".join(letter if letter.isprintable() else "?" for letter in name[:LONGEST])


def _kin(name: str) -> str:
    """Return what the pods of one set on one node have in common."""
    return MADE_UP.sub("", name)


def _opened(pid: int) -> list:
    found = []
    with contextlib.suppress(OSError):
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                found.append(os.readlink(entry.path))
    return found


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
