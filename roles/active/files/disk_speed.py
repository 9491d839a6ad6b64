"""Measure disks with fio: through a file of our own that has no name, or by only reading from raw devices.

A file system is measured through one file that is unlinked as soon as it is open: whatever ends this program, even
kill -9, leaves nothing behind. Raw devices are opened for reading alone, and fio is told --readonly besides.

Prints one line of JSON a measurement, with what is needed of fio's own JSON, and a last one with "ended".
"""

from __future__ import annotations

import argparse
import contextlib
import glob
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SPARE_SHARE = 0.1  # of a file system that stays free
DEPTHS = {"write": ("1M", 32), "read": ("1M", 32), "randread": ("4k", 64)}  # block size, requests in flight


def main() -> int:
    """Measure each target in turn; one that cannot be measured says why and does not keep the others."""
    asked = _arguments()
    if shutil.which("fio") is None:
        _say({"program": "disk_speed", "error": "fio is not installed"})
        return 3
    devices = sorted({path for pattern in asked.device for path in glob.glob(pattern)})  # noqa: PTH207  patterns may be absolute
    for folder in asked.folder:
        _measured(folder, ("write", "read", "randread"), asked)
    for device in devices:
        _measured(device, ("read", "randread"), asked)
    for pattern in asked.device:
        if not glob.glob(pattern):  # noqa: PTH207  likewise
            _say({"program": "disk_speed", "target": pattern, "error": "no such device"})
    _say({"program": "disk_speed", "ended": True, "targets": len(asked.folder) + len(devices)})
    return 0


def _measured(target: str, kinds: tuple[str, ...], asked: argparse.Namespace) -> None:
    try:
        with _file(target, asked.bytes) if os.path.isdir(target) else _device(target) as opened:  # noqa: PTH112  a plain text
            for kind in kinds:
                _say({"program": "disk_speed", "target": target, "kind": kind, **_fio(opened, kind, asked)})
    except OSError as error:
        _say({"program": "disk_speed", "target": target, "error": error.strerror or str(error)})


@contextlib.contextmanager
def _file(folder: str, size: int) -> Iterator[tuple[int, int]]:
    """Open a file without a name, if the file system has room for it and stays usable for others."""
    room = os.statvfs(folder)
    free = room.f_bavail * room.f_frsize
    if free - size < room.f_blocks * room.f_frsize * SPARE_SHARE:
        raise OSError(0, f"{free / 1e9:.1f} GB are free, too few for a file of {size / 1e9:.1f} GB")
    handle, name = tempfile.mkstemp(prefix=".fleet-disk-speed-", dir=folder)
    os.unlink(name)  # noqa: PTH108  a plain text
    try:
        os.ftruncate(handle, size)  # fio would put a file that is too short anew
        yield handle, size
    finally:
        os.close(handle)


@contextlib.contextmanager
def _device(path: str) -> Iterator[tuple[int, int]]:
    """Open a block device for reading."""
    handle = os.open(path, os.O_RDONLY)
    try:
        if not stat.S_ISBLK(os.fstat(handle).st_mode):
            raise OSError(0, "it is neither a folder nor a block device")
        yield handle, os.lseek(handle, 0, os.SEEK_END)
    finally:
        os.close(handle)


def _fio(opened: tuple[int, int], kind: str, asked: argparse.Namespace) -> dict[str, object]:
    """Run fio over an open file; /proc gives it a name that only this program and its children have."""
    handle, size = opened
    block, depth = DEPTHS[kind]
    argv = [
        "fio", "--name=disk_speed", f"--filename=/proc/self/fd/{handle}", f"--rw={kind}", f"--bs={block}",
        f"--iodepth={depth}", f"--size={size}", "--ioengine=libaio", f"--direct={int(asked.direct)}",
        "--output-format=json", "--numjobs=1", "--randrepeat=0",
    ]  # fmt: skip
    if kind == "write":
        argv += ["--end_fsync=1"]  # written once, whole: what is read afterwards is on the disk
    else:
        argv += ["--readonly", "--time_based=1", f"--runtime={max(1, round(asked.seconds * 1000))}ms"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, pass_fds=[handle])
    begin = done.stdout.find("{")
    try:
        told = json.loads(done.stdout[begin:]) if begin >= 0 else {}
    except ValueError:
        told = {}
    said = (done.stderr or done.stdout[: max(begin, 0)]).strip().splitlines()
    return {"rc": done.returncode, "said": [line[:200] for line in said[-3:]], "fio": _needed(told)}


def _needed(told: dict) -> dict[str, object]:
    """Leave out histograms and options: a node of many disks would print more than is kept of a job's output."""
    jobs = [
        {
            "error": job.get("error"),
            **{way: _way(job[way]) for way in ("read", "write") if isinstance(job.get(way), dict)},
        }
        for job in told.get("jobs", ())
    ]
    return {"fio version": told.get("fio version"), "jobs": jobs}


def _way(way: dict) -> dict[str, object]:
    kept = {name: way.get(name) for name in ("io_bytes", "bw_bytes", "iops", "runtime", "total_ios")}
    latency = way.get("clat_ns") or {}
    marks = latency.get("percentile") or {}
    kept["clat_ns"] = {"mean": latency.get("mean"), "percentile": {"99.000000": marks.get("99.000000")}}
    return kept


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", action="append", default=[], help="a folder of the file system to measure")
    parser.add_argument("--device", action="append", default=[], help="a pattern of raw devices, which are only read")
    parser.add_argument("--bytes", type=int, default=4 << 30, help="size of the file")
    parser.add_argument("--seconds", type=float, default=30.0, help="of each measurement of reading")
    parser.add_argument("--direct", type=int, default=1, help="0 to go through the page cache")
    return parser.parse_args()


def _say(line: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
