"""Runs jobs on a node one after the other, and ends all of them as soon as somebody else's work comes.

Started by the fleet_job module, which hands it the folder of a chain and its lock; watch.py lies beside it, and the
rest is the standard library. It needs nobody afterwards: the runner may be away for days. It writes <job>/started
before a job runs, <job>/output, <job>/end (how it ended), `processes` (which are ours, anew with each look) and
`over` (the chain is; why, or by which error).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from watch import TAG, Watch, family, table

HERE = os.path.dirname(os.path.abspath(__file__))
PAUSE = 0.1  # seconds between two questions whether the job has ended
LOOK, LOOK_SELDOM = 1.0, 5.0  # between two looks at the node's processes: where the job must give way, and need not
BLIND = 10.0  # seconds without a look after which nothing runs on that must give way
PATIENCE = 2.0  # from SIGTERM to SIGKILL
MOST_OUTPUT, KEPT_OUTPUT = 2_000_000, 1_000_000
TOLD = 4096  # bytes of the end of the output in which a scheduler says that it took the node back
ENDED = "its supervisor ended: "
LATE_RC, UNSTARTED_RC = 124, 127
SET_PDEATHSIG, SET_CHILD_SUBREAPER = 1, 36  # of prctl(2)
PROTECTED, FIRST_TO_GO, USUAL = "-900", "1000", "0"  # of oom_score_adj, when memory is short
TRIES = 60  # seconds in which there may be no room for how a job ended


class BlindError(Exception):
    """Nothing is known of others' work, so none of ours may go on beside it."""


class Chain:
    """The jobs of one chain, in their order."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.looked, self.saw, self.begun = folder, 0.0, time.monotonic(), _uptime()
        self.spec = json.loads((folder / "spec.json").read_text(encoding="utf-8"))
        self.watch = Watch(folder, self.spec.get("yield_to"))
        self.pause = LOOK if self.spec.get("yield_to") else LOOK_SELDOM
        self.half = self.spec["ending"] / 2  # what ending a job may take: its processes, and what it has elsewhere

    def run(self) -> str:
        """Run job after job; return why the rest did not run, or ""."""
        for job in (_made(self.folder, job) for job in self.spec["jobs"]):
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
        self._end(job, begun, cancel=bool(why) or rc != 0)
        return rc, why

    def _others(self, job: dict, begun: float) -> str:
        """Look around if it is time to; tell which processes are ours; return who else works here."""
        now = time.monotonic()
        if self.looked and now < self.looked + self.pause:
            return ""
        self.looked, other = now, ""
        with contextlib.suppress(OSError):  # no descriptor or no room for a moment: the next look is soon
            ours, other = self.watch.look(tuple(job.get("helpers") or ()) if begun else (), begun)
            self.saw = now
            _write(self.folder / "processes", {"at": time.time(), "job": job["name"], "pids": sorted(ours)})
        if self.spec.get("yield_to") and now > self.saw + BLIND:
            raise BlindError(f"nobody could see for {BLIND:g} s who works on the node")
        return other if self.spec.get("yield_to") else ""

    def _stopped(self) -> str:
        """Return why the chain is to end: somebody said so, or nobody can still be waiting for it."""
        if self.spec.get("lasts") and _uptime() - self.begun > self.spec["lasts"]:
            return f"its end: {self.spec['lasts']:g} s are over"
        with contextlib.suppress(OSError):
            return _text(str(self.folder / "stop")).strip() or "a stop"
        return ""

    def _end(self, job: dict, begun: float, *, cancel: bool = True) -> None:
        """End all that is left of a job, and where it did not end by itself, elsewhere too: asked first, then not."""
        began, sign, left = time.monotonic(), signal.SIGTERM, set()
        while time.monotonic() < began + self.half:
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
                subprocess.run(job["cancel"], timeout=self.half, check=False)


def _made(folder: Path, job: dict) -> dict:
    """Fill in what is known on the node alone.

    {program} is the path of the job's program; its interpreter runs it, because the file system may forbid to run it.
    {chain} names what a job starts elsewhere, so that it can be ended: no other chain has that name on any node.
    """
    boot = _text("/proc/sys/kernel/random/boot_id")
    chain = hashlib.sha256(f"{folder} {os.uname().nodename} {boot}".encode()).hexdigest()[:16]
    told = {name: [word.replace("{chain}", chain) for word in job.get(name) or ()] for name in ("argv", "cancel")}
    path = os.path.join(HERE, job.get("program") or "")
    argv = [path if word == "{program}" and job.get("program") else word for word in told["argv"]]
    if path in argv and (argv.index(path) == 0 or argv[argv.index(path) - 1] == "--"):
        first = _text(path).partition("\n")[0]
        argv[argv.index(path) : argv.index(path)] = first[2:].split() if first.startswith("#!") else []
    return dict(job, argv=argv, cancel=told["cancel"])


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


def _end_family() -> None:
    """End whatever descends from this process, and what that begins while it is ended."""
    until = time.monotonic() + PATIENCE
    while (left := sorted(family(table(), os.getpid()) - {os.getpid()})) and time.monotonic() < until:
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(PAUSE)


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
        _end_family()
        raise
    finally:
        with contextlib.suppress(OSError):
            (folder / "processes").unlink()
        _write(folder / "over", over, TRIES)


if __name__ == "__main__":
    main()
