"""Runs jobs on a node one after the other, and ends all of them as soon as somebody else's work comes.

Started by the fleet_job module, which hands it the folder of a chain and its lock; standard library only. It needs
nobody afterwards: the runner may be away for days. It writes <job>/started before a job runs, <job>/output, <job>/end
(how it ended), `processes` (which are ours, anew with each look) and `over` (the chain is; why, or by which error).
"""

from __future__ import annotations

import contextlib
import fnmatch
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

PAUSE = 0.1  # seconds between two questions whether the job has ended
LOOK, LOOK_SELDOM = 1.0, 5.0  # between two looks at the node's processes: where the job must give way, and need not
SELDOM = 4  # looks between two into a process that sleeps
PATIENCE, GIVEN_UP = 2.0, 8.0  # from SIGTERM to SIGKILL; until a process that no signal ends is left behind
MOST_OUTPUT, KEPT_OUTPUT = 2_000_000, 1_000_000
TOLD = 4096  # bytes of the end of the output in which a scheduler says that it took the node back
ENDED = "its supervisor ended: "
LATE_RC, UNSTARTED_RC = 124, 127
KERNEL_THREAD = 0x00200000  # PF_KTHREAD among the flags of /proc/PID/stat
SET_PDEATHSIG, SET_CHILD_SUBREAPER = 1, 36  # of prctl(2)
TAG, NAME = "FLEET_JOB", 15  # the kernel keeps that many characters of a process's name
PROTECTED, FIRST_TO_GO, USUAL = "-900", "1000", "0"  # of oom_score_adj, when memory is short
TRIES = 60  # seconds in which there may be no room for how a job ended


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
    """Tells our processes from somebody else's.

    `devices` are patterns of files that only work holds open; `names` those of processes that are work by themselves;
    `ignored` those that hold a device and are none. Whose process nobody may look into is not seen.
    """

    def __init__(self, folder: Path, asked: dict | None) -> None:
        self._tag = (TAG + "=" + str(folder) + "/").encode()
        asked = asked or {}
        self.devices = asked.get("devices") or []
        self._names = {name[:NAME] for name in asked.get("names") or []}
        self._ignored = {name[:NAME] for name in asked.get("ignored") or []}
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
        return ours, _described(min(others)) if others else ""

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


def _described(found: tuple) -> str:
    _, pid, name = found
    shown = "".join(letter if letter.isprintable() else "?" for letter in name)
    with contextlib.suppress(OSError):
        if "kubepods" in _text(f"/proc/{pid}/cgroup"):
            return f"{shown} ({pid}) of a Kubernetes pod"
    return f"{shown} ({pid})"


def _opened(pid: int) -> list:
    found = []
    with contextlib.suppress(OSError):
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                found.append(os.readlink(entry.path))
    return found


class Chain:
    """The jobs of one chain, in their order."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.looked = folder, 0.0
        self.spec = json.loads((folder / "spec.json").read_text(encoding="utf-8"))
        self.watch = Watch(folder, self.spec.get("yield_to"))
        self.pause = LOOK if self.watch.devices or self.spec.get("yield_to") else LOOK_SELDOM

    def run(self) -> str:
        """Run job after job; return why the rest did not run, or ""."""
        for job in self.spec["jobs"]:
            why = self._others(job, 0.0) or self._stopped() or self._run(job)
            if why:
                return why
        return ""

    def _run(self, job: dict) -> str:
        folder = self.folder / job["name"]
        shutil.rmtree(str(folder), ignore_errors=True)
        folder.mkdir(mode=0o755)
        begun = _uptime()
        _write(folder / "started", {"boottime": begun, "argv": job["argv"]})
        output = os.open(str(folder / "output"), os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o644)
        try:
            rc, why = self._carry(job, output, begun)
            end = {"state": "preempted" if why else "ended", "rc": rc, "reason": why}
        except Exception as error:
            end = {"state": "lost", "rc": 0, "reason": f"{ENDED}{error!r:.200}"}
            raise
        finally:
            _write(folder / "end", dict(end, elapsed=round(_uptime() - begun, 3)), TRIES)
            os.close(output)
        return why

    def _carry(self, job: dict, output: int, begun: float) -> tuple:
        """Run one job to its end, its limit, or until it must give way; return its status, and why it gave way."""
        self.looked = 0.0
        environment = dict(os.environ, **{TAG: str(self.folder / job["name"])})
        idle = bool(self.spec.get("yield_to"))
        gently = ["ionice", "-c", "3"] if idle and shutil.which("ionice") and shutil.which(job["argv"][0]) else []
        how = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output, "cwd": "/", "env": environment}
        how["preexec_fn"] = _lowest if idle else _bound
        try:
            process = subprocess.Popen([*gently, *job["argv"]], **how, start_new_session=True)
        except (OSError, subprocess.SubprocessError) as error:
            with contextlib.suppress(OSError):
                os.write(output, f"{error}\n".encode())
            return UNSTARTED_RC, ""
        process.returncode = 0  # its status is collected here, with that of all that descends from it
        while (rc := _reaped(process.pid)) is None:
            why = self._others(job, begun) or self._stopped()
            if why:
                self._end(job, begun)
                return -int(signal.SIGTERM), why
            if _uptime() - begun > job["limit"]:
                self._end(job, begun)
                with contextlib.suppress(OSError):
                    os.write(output, f"\nended after {job['limit']:g} s, which is its time limit\n".encode())
                return LATE_RC, ""
            _trim(output)
            time.sleep(PAUSE)
        self.looked, self.watch.seen = 0.0, {}  # whoever came in its last moments made it slow
        why = self._others(job, begun) or (_gave_way(output, job) if rc else "")
        self._end(job, begun, cancel=bool(why) or rc < 0)
        return rc, why

    def _others(self, job: dict, begun: float) -> str:
        """Look around if it is time to; tell which processes are ours; return who else works here."""
        now = time.monotonic()
        if self.looked and now < self.looked + self.pause:
            return ""
        self.looked, other = now, ""
        with contextlib.suppress(OSError):  # no descriptor or no room for a moment: the next look is soon
            ours, other = self.watch.look(tuple(job.get("helpers") or ()) if begun else (), begun)
            _write(self.folder / "processes", {"at": time.time(), "job": job["name"], "pids": sorted(ours)})
        return other if self.spec.get("yield_to") else ""

    def _stopped(self) -> str:
        with contextlib.suppress(OSError):
            return _text(str(self.folder / "stop")) or "a stop"
        return ""

    def _end(self, job: dict, begun: float, *, cancel: bool = True) -> None:
        """End all that is left of a job, and where it did not end by itself, elsewhere too: asked first, then not."""
        began, sign, left = time.monotonic(), signal.SIGTERM, set()
        while time.monotonic() < began + GIVEN_UP:
            _reaped(0)
            with contextlib.suppress(OSError):
                left = self.watch.look(tuple(job.get("helpers") or ()), begun)[0]
                if not left:
                    break
            if time.monotonic() > began + PATIENCE:
                sign = signal.SIGKILL
            for each in left if sign else ():
                with contextlib.suppress(OSError):
                    os.kill(each, sign)
            sign = None if sign is signal.SIGTERM else sign
            time.sleep(PAUSE)
        if cancel and job.get("cancel"):
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                subprocess.run(job["cancel"], timeout=GIVEN_UP, check=False)


def _gave_way(output: int, job: dict) -> str:
    """Return who took a job's place, where what carries it says that; "" where nobody did."""
    size = os.fstat(output).st_size
    said = os.pread(output, TOLD, max(0, size - TOLD)).decode("utf-8", "replace")
    return next((why for words, why in (job.get("gave_way") or {}).items() if words in said), "")


def _prctl(option: int, value: int) -> None:
    """Ask the kernel, where Python has the means to."""
    if LIBC:
        LIBC.prctl(option, value, 0, 0, 0)


def _bound(short: str = USUAL) -> None:
    """A job does not outlive its supervisor: nobody else would end it when work comes."""
    _prctl(SET_PDEATHSIG, signal.SIGKILL)
    _when_short(short)


def _lowest() -> None:
    """Whatever else wants the node's CPUs or memory comes first."""
    os.nice(19)
    _bound(FIRST_TO_GO)


def _when_short(of_memory: str) -> None:
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write(of_memory)


def _reaped(pid: int) -> int | None:
    """Collect what has ended, orphans that are ours now among it; return the status of `pid` if it was there."""
    with contextlib.suppress(ChildProcessError):
        while True:
            ended, status = os.waitpid(-1, os.WNOHANG)
            if not ended:
                return None
            if ended == pid:
                return os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
    return None


def _trim(output: int) -> None:
    """Days of progress lines in memory-backed storage would take the node's memory."""
    size = os.fstat(output).st_size
    with contextlib.suppress(OSError):
        if size > MOST_OUTPUT:
            end = os.pread(output, KEPT_OUTPUT, size - KEPT_OUTPUT)
            os.ftruncate(output, 0)
            os.write(output, end)


def _write(path: Path, told: dict, tries: int = 1) -> None:
    """Write a file that is there as a whole or not at all."""
    new = path.with_name(path.name + ".new")
    for left in reversed(range(tries)):
        with contextlib.suppress(*[OSError][: 1 if left else 0]):
            new.write_text(json.dumps(told), encoding="utf-8")
            os.replace(str(new), str(path))
            return
        time.sleep(1.0)


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def _uptime() -> float:
    """Seconds since boot: the node's calendar clock may jump while a job runs."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


try:
    import ctypes

    LIBC = ctypes.CDLL(None)
except (ImportError, OSError):
    LIBC = None


def main() -> None:
    """Run the chain whose folder is named; the lock stays open, and so taken, for as long as this lives."""
    os.chdir("/")
    _prctl(SET_CHILD_SUBREAPER, 1)
    _when_short(PROTECTED)
    folder, over = Path(sys.argv[1]), {"reason": ""}
    try:
        over["reason"] = Chain(folder).run()
    except Exception as error:
        over["error"] = f"{ENDED}{error!r:.200}"
        for pid in family(table(), os.getpid()) - {os.getpid()}:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        raise
    finally:
        with contextlib.suppress(OSError):
            (folder / "processes").unlink()
        _write(folder / "over", over, TRIES)


if __name__ == "__main__":
    main()
