"""Erases the devices that it is given, each by the commands that it is given, in work that outlives the play."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import mmap
import os
import subprocess
import time
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: fleet_wipe
short_description: Erases devices of a node, and tells what became of it
description:
  - What to erase, and how, is decided on the controller. Here each device is held against its serial number again,
    and opened for nobody else (O_EXCL, which the kernel refuses for what is mounted or in use) before a command runs.
  - The work is detached, and its log is a file of its own; every call tells of all logs in the folder. A call with a
    number that there is already starts nothing.
  - An order that was decided in another boot of the node, or too long ago, is refused; nothing is begun.
  - The folder lies on a file system that a boot empties.
options:
  stay: {description: Names the folder of logs; each wipe of a node has its own., type: str, required: true}
  orders: {description: Devices to erase now; see fleet_runner/core/lifecycle/wipe/planner.py., type: list,
           elements: dict, default: []}
  dir: {description: Where the folders lie., type: path, default: /run/fleet-runner/wipes}
author: [fleet-runner]
"""

EXAMPLES = r"""
- name: What was erased is known
  fleet_wipe:
    stay: "1763697123000"
"""

RETURN = r"""
reports:
  description: Every log of the stay; C(stand) says if it is running, ended or lost.
  returned: always
  type: list
  elements: dict
refused:
  description: Why an order was refused, one sentence each; it is to be decided anew.
  returned: always
  type: list
  elements: str
"""

BLOCK = 4096
BLANK = (b"\0" * BLOCK, b"\xff" * BLOCK)
POLL_SECONDS = 2.0
OUTPUT_BYTES = 4000
BLKRRPART = 0x125F  # has the kernel read a device's partitions anew
BOOT_ID, UPTIME = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/uptime")
SBIN = "/usr/local/sbin:/usr/sbin:/sbin"


def stale(order: dict) -> str:
    """Say why an order does not hold any more; "" where it does. It is of one boot, and ends by that boot's clock."""
    boot = BOOT_ID.read_text(encoding="ascii").strip()
    if boot != order["boot"]:
        return "{}: the node has booted anew since it was looked at; it was not touched".format(order["key"])
    late = float(UPTIME.read_text(encoding="ascii").split()[0]) - order["until"]
    return "{}: the order came {:.0f} s too late; it was not touched".format(order["key"], late) if late > 0 else ""


def start(folder: Path, order: dict) -> bool:
    """Begin to erase a device in a process of its own; False where this try was begun before.

    The lock is taken before anything is looked at and is held by the process that erases, so nobody can begin twice.
    """
    path = folder / f"{order['key']}.{order['number']}.json"
    lock = os.open(path.with_suffix(".lock"), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        if not _locked(lock) or path.exists():
            return False
        begun = Try(order, path, lock)
        begun.keep()
        _detached(begun.erase)
        return True
    finally:
        os.close(lock)


class Try:
    """One try to erase one device, and its log."""

    def __init__(self, order: dict, path: Path, lock: int) -> None:
        self.order, self.path, self.lock = order, path, lock
        self.held = []
        self.report = {name: order[name] for name in ("key", "number", "method")}
        self.report.update(started=time.time(), ended=None, commands=[], before=[], after=[], error="")

    def keep(self) -> None:
        """Replace the log as a whole, and have it on its file system before anything else happens."""
        new = self.path.with_suffix(".new")
        with new.open("w", encoding="utf-8") as file:
            json.dump(self.report, file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.path)

    def erase(self) -> None:
        """Check, sample, erase, wait for the end of it, sample again."""
        try:
            hold(self.order, self.held)
            self.report["before"] = self._samples()
            if any(self._run(argv) for argv in self.order["steps"]):
                return
            while self.order["poll"] and self._goes_on():
                time.sleep(POLL_SECONDS)
            self.report["after"] = self._samples()
            for handle in self.held:
                with contextlib.suppress(OSError):
                    fcntl.ioctl(handle, BLKRRPART)
        except Exception as error:  # noqa: BLE001  whatever it is, the log must say so
            self.report["error"] = str(error) or type(error).__name__
        finally:
            for handle in self.held:
                os.close(handle)
            self.report["ended"] = time.time()
            self.keep()

    def _run(self, argv: list) -> int:
        """Run one command to its end; that it is begun is written down before."""
        entry = {"argv": argv, "rc": -1, "output": "", "started": time.time(), "ended": 0.0}
        self.report["commands"].append(entry)
        self.keep()
        try:
            # The command holds the lock as well: while it works, this try is not lost, whatever becomes of us.
            answer = _asked(argv, stderr=subprocess.STDOUT, pass_fds=[self.lock])
            entry.update(rc=answer.returncode, output=answer.stdout[-OUTPUT_BYTES:].decode("utf-8", "replace"))
        except OSError as error:
            entry.update(rc=127, output=f"{argv[0]}: {error}")
        entry["ended"] = time.time()
        self.keep()
        return entry["rc"]

    def _goes_on(self) -> bool:
        """Ask a device if it is still at it; of the answers only the last one is kept."""
        if self.report["commands"][-1]["argv"] == self.order["poll"]:
            self.report["commands"].pop()
        failed = self._run(self.order["poll"])
        return not failed and self.order["while"] in self.report["commands"][-1]["output"]

    def _samples(self) -> list:
        """Name what some blocks of each device hold, and what its probe prints: by a hash, never the data itself."""
        count, probe = self.order["samples"], self.order["probe"]
        found = [_sample(handle, place, count) for handle in self.held for place in range(count)]
        if probe:
            answer = _asked(probe, stderr=subprocess.PIPE)
            said = answer.stderr.decode("utf-8", "replace").strip().splitlines() or [""]
            found.append(f"error: {said[-1][:200]}" if answer.returncode else _hash(answer.stdout))
        return found


def hold(order: dict, held: list) -> None:
    """Hold all devices of an order, if it holds itself: asked again, as nobody else can use them from here on."""
    for device in order["devices"]:
        claim(device, held)
    why = stale(order)
    if why:
        raise RuntimeError(why)


def claim(device: dict, held: list) -> None:
    """Hold a device for ourselves, if it is the one that was decided on and nobody uses it."""
    path, serial = device["path"], device["serial"]
    held.append(os.open(path, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
    listed = ["lsblk", "--json", "--output", "PATH,TYPE,SERIAL,MOUNTPOINTS", path]
    found = json.loads(_asked(listed, stderr=subprocess.PIPE).stdout)["blockdevices"][0]
    told = " ".join(str(found.get("serial") or "").split())
    if not serial or told != serial:
        raise RuntimeError(f"{path} has serial {told or 'none'} now, expected {serial}; it was not touched")
    if any(found.get("mountpoints") or []) or any(_used(each) for each in found.get("children") or []):
        raise RuntimeError(f"{path} is in use now; it was not touched")


def _used(block: dict) -> bool:
    used = block.get("type") != "part" or any(block.get("mountpoints") or [])
    return used or any(_used(each) for each in block.get("children") or [])


def _asked(argv: list, **more: object) -> subprocess.CompletedProcess:
    environment = dict(os.environ, LC_ALL="C", PATH=f"{os.environ.get('PATH', '/usr/bin:/bin')}:{SBIN}")
    return subprocess.run(  # noqa: S603  the controller names the command; no shell is involved
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False, env=environment, **more
    )


def _sample(handle: int, place: int, count: int) -> str:
    """Read one of `count` blocks, evenly spread from the first to the last, past the kernel's cache."""
    try:
        blocks = os.lseek(handle, 0, os.SEEK_END) // BLOCK
        at = (blocks - 1) * place // max(1, count - 1) * BLOCK
        direct = os.open(f"/proc/self/fd/{handle}", os.O_RDONLY | os.O_DIRECT | os.O_CLOEXEC)
        try:
            with mmap.mmap(-1, BLOCK) as page:
                data = page[: os.preadv(direct, [page], at)]
        finally:
            os.close(direct)
    except OSError as error:
        return f"error: {error.strerror}"
    return f"{data[0]:02x}" if data in BLANK else _hash(data)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _detached(work: object) -> None:
    """Do something in a process that outlives us, and holds nothing of ours but what it needs."""
    if os.fork():
        return
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nowhere, standard)
        os.chdir("/")
        work()
    finally:
        os._exit(0)


def reports(folder: Path) -> list[dict]:
    """Return every log of a stay, and how far each is."""
    found = []
    for path in sorted(folder.glob("*.json")):
        lock = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            free = _locked(lock)
            # Read after the lock was asked for: work that ended in between has written its end before it let go.
            report = json.loads(path.read_text(encoding="utf-8"))
        finally:
            os.close(lock)
        stand = "ended" if report["ended"] else "lost" if free else "running"
        found.append(dict(report, stand=stand))
    return found


def _locked(lock: int) -> bool:
    """Take the lock if it is free; it is let go when the last process that has it open closes it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def main() -> None:
    """Begin what is ordered, and tell of everything."""
    module = AnsibleModule(
        argument_spec={
            "stay": {"type": "str", "required": True},
            "orders": {"type": "list", "elements": "dict", "default": []},
            "dir": {"type": "path", "default": "/run/fleet-runner/wipes"},
        },
        supports_check_mode=True,
    )
    stay, orders = module.params["stay"], module.params["orders"]
    names = [stay, *(str(order.get("key") or "") for order in orders)]
    wrong = [name for name in names if not name or name != Path(name).name or name.startswith(".")]
    if wrong:
        module.fail_json(msg=f"{wrong[0]!r} is not usable as a file name")
    folder = Path(module.params["dir"], stay)
    try:
        if orders and not module.check_mode:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        refused = [stale(order) for order in orders]
        fresh = [order for order, why in zip(orders, refused) if not why and not module.check_mode]  # noqa: B905  nodes may be older
        begun = [start(folder, order) for order in fresh]
        module.exit_json(changed=any(begun), reports=reports(folder), refused=[why for why in refused if why])
    except (OSError, ValueError, KeyError) as error:
        module.fail_json(msg=f"wipe under {folder}: {error}")


if __name__ == "__main__":
    main()
