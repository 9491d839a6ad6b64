"""Work that outlives the play: a chain of jobs, started once by its key and found again, whoever asks how often."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: fleet_job
short_description: Starts detached jobs on a node once, one after the other, and reads their states
description:
  - The first call with a key starts its jobs, which a supervisor runs in their order; every later call finds them.
  - What gave way, or was not begun, is begun by the next call. What lost its supervisor, or its node booted, is lost.
options:
  key: {description: The chain's name; C(a-2) takes the place of C(a-1)., type: str, required: true}
  jobs:
    description: The jobs, in the order in which they run.
    type: list
    elements: dict
    required: true
    suboptions:
      name: {description: What the job is called., type: str, required: true}
      argv: {description: The command and its arguments., type: list, elements: str, required: true}
      seconds: {description: How long it is meant to run; given back as it is., type: float, default: 0.0}
      limit: {description: Seconds after which it is ended with the status 124., type: float, required: true}
      program: {description: "One of C(programs); C({program}) in C(argv) is its path.", type: str, default: ""}
      helpers: {description: Names of processes that work for it., type: list, elements: str, default: []}
      gave_way: {description: Words of its output that say to whom it gave way., type: dict, default: {}}
      cancel: {description: What ends what it started elsewhere., type: list, elements: str, default: []}
  programs: {description: "Texts of C(supervise.py), and of what it and jobs need.", type: dict, required: true}
  yield_to:
    description: Whose work jobs give way to, as root; C(devices) held open, C(names), pods' C(resources); C(ignored).
    type: dict
  lasts: {description: Seconds after which the chain ends wherever it is; 0 is never., type: float, default: 0.0}
  age: {description: Seconds since this began; a node that booted since starts nothing., type: float, default: 0.0}
  stop: {description: Why the chain is to end now; nothing is started., type: str, default: ""}
  dir: {description: Where jobs keep their files., type: path, default: /run/fleet-runner/jobs}
  tail_bytes: {description: How much of the end of the output of an ended job to return., type: int, default: 1000000}
author: [fleet-runner]
"""

EXAMPLES = r"""
- name: The load runs
  fleet_job:
    key: burn_in-1763697123
    jobs: [{name: gpu_burn, argv: [gpu_burn, -tc, "172800"], seconds: 172800, limit: 180000}]
    programs: {supervise.py: "{{ lookup('file', 'supervise.py') }}", watch.py: "{{ lookup('file', 'watch.py') }}"}
"""

RETURN = r"""
jobs:
  description: What is known about each job by its name.
  type: dict
  contains:
    state: {description: "One of waiting, running, ended, lost, preempted.", type: str}
    rc: {description: The job's exit status once it has ended; 127 if it could not be started., type: int}
    elapsed: {description: Seconds since it was started or that it took., type: float}
    seconds: {description: How long it is meant to run., type: float}
    output: {description: The end of what it printed., type: str}
    reason: {description: What it waits for or whom it gave way to., type: str}
"""

RUNNING_TAIL = 16_000  # bytes of output of a job that runs: enough for its last lines of progress
KEPT = 5  # chains that are over and whose files stay
SLOW = 120.0  # seconds that a visit may take before the age of what it asks for is known
SOON = 5.0  # seconds for a chain that was started to begin
ENDING, SPARE = 16.0, 5.0  # seconds that a supervisor takes at most to end a job; and for what else it is about
TURN = 60.0  # seconds in which others' calls on this node are over: each may end a chain, and begin one
PAUSE = 0.02  # seconds between two looks at what is waited for
SWEEPS, PATIENCE = 5, 5.0  # tries to end what was left behind; seconds for a process that cannot be looked into


def ensure(params: dict, *, start: bool = True) -> tuple[bool, dict]:
    """Return whether jobs were (or, with `start` false, would be) started now, and what is known about each.

    One call at a time starts or stops anything under `dir`. A chain's lock is taken before anything is looked at and
    handed to the supervisor while held, so nobody can see it started but unlocked.
    """
    folder = Path(params["dir"], params["key"])
    if not start:
        known = look(folder, params) if folder.exists() else {}
        todo = [] if any(job["state"] in ("running", "waiting") for job in known.values()) else _todo(folder, params)
        return bool(todo), known | {job["name"]: _job(job, "waiting", reason="it would be started") for job in todo}
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    with _lock(folder.parent / "turn", TURN) as turn, contextlib.ExitStack() as held:
        if turn is None:
            raise TimeoutError(f"another call has been at work here for {TURN:g} s; try again when it is over")
        _sweep(folder.parent)
        lock = held.enter_context(_lock(folder / "lock", SPARE * (folder / "over").exists()))
        if params.get("stop"):
            behind, changed = params["stop"], lock is None and _stop(folder, params["stop"])
        elif lock is None:
            behind, changed = "", False
        else:
            behind, changed = _start(folder, params, lock)
    return changed, look(folder, params, behind)


def look(folder: Path, params: dict, behind: str = "") -> dict:
    """Return what is known about each job, without changing anything."""
    with _lock(folder / "lock") as lock:
        over = lock is not None or (folder / "over").exists()
        runs = [] if over else [job["name"] for job in _facts(folder / "spec.json").get("jobs", ())]
        return {job["name"]: _known(folder, job, params, behind, runs) for job in params["jobs"]}


def _start(folder: Path, params: dict, lock: int) -> tuple[str, bool]:
    """Start what has not ended; return what it waits for, or "", and whether it was started."""
    todo = _todo(folder, params)
    if not todo or _uptime() + SLOW < params.get("age", 0.0):
        return "", False
    for other in _others(folder):
        if not _older(other.name, folder.name):
            return f"behind {other.name}", False
        _stop(other, f"{folder.name}, which took its place")
    programs = _placed(params)
    spec = {"jobs": todo, "yield_to": params.get("yield_to"), "lasts": params.get("lasts"), "ending": ENDING}
    for name in ("over", "stop", "processes"):
        with contextlib.suppress(FileNotFoundError):
            (folder / name).unlink()
    for job in todo:
        shutil.rmtree(folder / job["name"], ignore_errors=True)
    _write(folder / "spec.json", json.dumps(spec))
    _spawn(folder, programs / "supervise.py", lock)
    until, first = time.monotonic() + SOON, folder / todo[0]["name"] / "started"
    while time.monotonic() < until and not (folder / "over").exists() and not first.exists():
        time.sleep(PAUSE)
    return "", first.exists()


def _todo(folder: Path, params: dict) -> list[dict]:
    """Return the jobs that were not begun, or gave way."""
    return [
        job
        for job in params["jobs"]
        if not (folder / job["name"] / "started").exists()
        or _facts(folder / job["name"] / "end").get("state") == "preempted"
    ]


def _known(folder: Path, job: dict, params: dict, behind: str, running: list) -> dict:
    """Return what is known about one job; `running` names those of the chain that runs now, in their order."""
    mine, waits = folder / job["name"], job["name"] in running
    ended = _facts(mine / "end")
    if ended and not (waits and ended.get("state") == "preempted"):  # one that waits for another try has not ended
        return _job(job, **{"state": "lost", **ended}, output=_tail(mine / "output", params["tail_bytes"]))
    if (mine / "started").exists() and not ended:
        begun = _facts(mine / "started").get("boottime", _uptime())
        taken, tail = round(max(0.0, _uptime() - begun), 3), min(RUNNING_TAIL, params["tail_bytes"])
        state, why = ("running", "") if waits else ("lost", _facts(folder / "over").get("error") or "")
        return _job(job, state, elapsed=taken, output=_tail(mine / "output", tail), reason=why)
    if waits or (behind and not params.get("stop")):
        return _job(job, "waiting", reason=behind or _behind(folder, running))
    over = _facts(folder / "over")
    gave_way = over.get("reason") or params.get("stop")
    return _job(job, "preempted" if gave_way else "lost", reason=gave_way or over.get("error") or "")


def _job(job: dict, state: str, **known: object) -> dict:
    nothing = {"rc": 0, "elapsed": 0.0, "seconds": job["seconds"], "output": "", "reason": ""}
    return {"state": state, **nothing, **known}


def _behind(folder: Path, running: list) -> str:
    """Say which job is before the ones that have not begun."""
    going = (name for name in running if (folder / name / "started").exists() > (folder / name / "end").exists())
    return next((f"behind {name}" for name in going), "it begins now")


def _others(folder: Path) -> list[Path]:
    """Return the other chains of this node that run; the files of those that are long over are removed."""
    found, over = [], []
    for path in folder.parent.glob("*/lock"):
        if path.parent == folder:
            continue
        with _lock(path, SPARE * (path.parent / "over").exists()) as lock:
            (found if lock is None else over).append(path.parent)
    for chain in sorted(over, key=lambda chain: chain.stat().st_mtime)[:-KEPT]:
        shutil.rmtree(chain, ignore_errors=True)
    return sorted(found)


def _older(key: str, than: str) -> bool:
    """Whether a key names an older stay of the same kind."""
    (kind, _, began), (mine, _, now) = key.rpartition("-"), than.rpartition("-")
    with contextlib.suppress(ValueError):
        return kind == mine and float(began) < float(now)
    return False


def _stop(folder: Path, why: str) -> bool:
    """Have a chain that runs ended, and wait until it is."""
    _write(folder / "stop", why)  # as a whole: the supervisor may read it at any moment
    with _lock(folder / "lock", ENDING + SPARE) as lock:
        if lock is None:
            raise TimeoutError(
                f"{folder.name} has not ended after {ENDING + SPARE:g} s; what do its processes wait for?"
            )
    return True


def _sweep(chains: Path) -> None:
    """End what supervisors left behind that were killed: nobody else would. One may be stuck, with its memory."""
    look = ["grep", "--line-buffered", "-lsaF"]
    for path in chains.glob("*/lock"):
        with _lock(path) as lock:
            look += [] if lock is None else ["-e", f"FLEET_JOB={path.parent}/"]
    for _ in range(SWEEPS if "-e" in look else 0):
        try:
            argv = [*look, *(f"{process}/environ" for process in Path("/proc").glob("[0-9]*"))]
            found = subprocess.run(argv, stdout=subprocess.PIPE, timeout=PATIENCE, check=False).stdout  # noqa: S603  ours
        except subprocess.TimeoutExpired as error:
            found = error.stdout or b""
        for each in found.splitlines():
            with contextlib.suppress(OSError):
                os.kill(int(each.split(b"/")[2]), signal.SIGKILL)
        if not found:
            break
        time.sleep(0.05)


def _placed(params: dict) -> Path:
    """Return the folder where our programs lie on this node, under a name that tells their content."""
    texts = params["programs"]
    digest = hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()[:16]
    folder = Path(params["dir"]).parent / "programs" / digest
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    for place in (folder.parent, folder):
        if place.stat().st_uid != os.geteuid() or place.stat().st_mode & 0o022:
            raise PermissionError(f"{place}: others may write there, so nothing of it is run")
    for path, text in ((folder / name, text) for name, text in texts.items()):
        if path.is_symlink() or not path.exists() or path.stat().st_uid != os.geteuid() or path.read_text() != text:
            _write(path, text, mode=0o755)
    return folder


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    new = path.with_name(f"{path.name}.{os.getpid()}")
    new.write_text(text, encoding="utf-8")
    new.chmod(mode)
    new.replace(path)


@contextlib.contextmanager
def _lock(path: Path, seconds: float = 0.0):  # noqa: ANN202  an iterator of the descriptor, or None if another has it
    """Hold a lock, if it can be had in time; it is let go when the last process that has it open closes it."""
    lock, taken = os.open(path, os.O_CREAT | os.O_RDWR, 0o644), None
    try:
        for _ in range(1 + int(seconds / PAUSE)):
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                taken = lock
                break
            time.sleep(PAUSE if seconds else 0)
        yield taken
    finally:
        os.close(lock)


def _facts(path: Path) -> dict:
    """A file that is not there, or not yet whole, says nothing."""
    with contextlib.suppress(OSError, ValueError):
        return dict(json.loads(path.read_text(encoding="utf-8")))
    return {}


def _tail(path: Path, limit: int) -> str:
    with contextlib.suppress(OSError), path.open("rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - limit))
        return file.read(limit).decode("utf-8", "replace")
    return ""


def _uptime() -> float:
    """Seconds since boot: the node's calendar clock may jump while a job runs."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _spawn(folder: Path, supervisor: Path, lock: int) -> None:
    argv, none = [sys.executable, "-IB", str(supervisor), str(folder)], subprocess.DEVNULL
    with (folder / "supervisor.log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603  the command is ours
            argv, stdin=none, stdout=none, stderr=log, pass_fds=[lock], start_new_session=True
        )
    process.returncode = 0  # it is meant to outlive us; without this Python would complain about it at its end


TEXT, TEXTS, WORDS = ({"type": kind.__name__, "default": kind()} for kind in (str, list, dict))
TEXTS["elements"] = "str"
JOB = {
    "name": {"type": "str", "required": True},
    "argv": {"type": "list", "elements": "str", "required": True},
    "seconds": {"type": "float", "default": 0.0},
    "limit": {"type": "float", "required": True},
} | {"program": TEXT, "helpers": TEXTS, "gave_way": WORDS, "cancel": TEXTS}


def main() -> None:
    """Start or find the jobs and say what is known about them."""
    module = AnsibleModule(
        argument_spec={
            "key": {"type": "str", "required": True, "no_log": False},
            "jobs": {"type": "list", "elements": "dict", "required": True, "options": JOB},
            "programs": {"type": "dict", "required": True},
            "yield_to": {"type": "dict"},
            "lasts": {"type": "float", "default": 0.0},
            "age": {"type": "float", "default": 0.0},
            "stop": {"type": "str", "default": ""},
            "dir": {"type": "path", "default": "/run/fleet-runner/jobs"},
            "tail_bytes": {"type": "int", "default": 1_000_000},
        },
        supports_check_mode=True,
    )
    names = [module.params["key"], *(job["name"] for job in module.params["jobs"]), *module.params["programs"]]
    for wrong in (name for name in names if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,120}", name)):
        module.fail_json(msg=f"{wrong!r} is no usable file name; use letters, digits, '-', '_' and '.'")
    if module.params["yield_to"] is not None and not _sees_all():
        module.fail_json(
            msg="giving way needs root with CAP_SYS_PTRACE, to see who works; become it, or give way to nobody"
        )
    try:
        changed, jobs = ensure(module.params, start=not module.check_mode)
    except OSError as error:
        hint = "; is the folder writable there?" if error.errno else ""
        module.fail_json(msg=f"jobs {module.params['key']!r} under {module.params['dir']}: {error}{hint}")
    module.exit_json(changed=changed, jobs=jobs)


def _sees_all() -> bool:
    """Whether we may look into everybody's processes: in a container root may lack the right (CAP_SYS_PTRACE, 19)."""
    able = re.search(r"^CapEff:\s*([0-9a-f]{1,16})$", Path("/proc/self/status").read_text("utf-8"), re.MULTILINE)
    return os.geteuid() == 0 and able is not None and int(able.group(1), 16) & 1 << 19 > 0


if __name__ == "__main__":
    main()
