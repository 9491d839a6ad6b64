"""What the tests of a wipe share: nodes as their tools describe them, and what became of tries to erase something."""

import json
from pathlib import Path
from typing import Any

from fleet_runner.core.checks.evidence import ReadEnd, Reading
from fleet_runner.core.lifecycle.wipe import reads
from fleet_runner.core.lifecycle.wipe.devices import Device, Kind
from fleet_runner.core.lifecycle.wipe.methods import WAYS, Method
from fleet_runner.core.lifecycle.wipe.reports import Command, Report, TryStatus
from fleet_runner.core.lifecycle.wipe.wanted import Row, WipePlan

EVIDENCE = Path(__file__).resolve().parents[3] / "evidence"
NOW = 10_000.0
SINCE = 1_000.0
HOLDING = ("aa",) * 4
GONE = ("00",) * 4

NVME = frozenset({Method.SANITIZE_CRYPTO, Method.SANITIZE_BLOCK, Method.FORMAT_CRYPTO, Method.FORMAT_ERASE})


def evidence(name: str) -> str:
    """Return a recorded text."""
    return (EVIDENCE / name).read_text("utf-8")


def reading(name: str, text: str, **more: Any) -> tuple[str, Reading]:
    """Return a reading under its name."""
    return name, Reading(name, more.pop("end", ReadEnd.OK), text, **more)


def block(path: str, **more: Any) -> dict[str, Any]:
    """Return a row of lsblk about an NVMe drive, unless it says something else."""
    return {"path": path, "type": "disk", "size": 1000, "tran": "nvme", "model": "X", "serial": "S1"} | more


def seen(*rows: dict[str, Any], **texts: str) -> dict[str, Reading]:
    """Return what a node's tools say: these devices, each NVMe drive of them able to do everything."""
    found = dict([reading(reads.LSBLK, json.dumps({"blockdevices": rows}))])
    for row in rows:
        if row["tran"] == "nvme":
            path, drive = row["path"], {"sn": row["serial"], "mn": row["model"], "fr": "1"}
            can = drive | {"oacs": 2, "fna": 4, "sanicap": 3}
            found |= dict(
                [
                    reading(reads.id_ctrl(path), json.dumps(can)),
                    reading(reads.sanitize(path), evidence("nvme/sanitize_never.json")),
                    reading(reads.namespaces(path), json.dumps({"nsid_list": [{"nsid": 1}]})),
                ]
            )
    named = [{"NameSpace": row["path"].removeprefix("/dev/")} for row in rows if row["tran"] == "nvme"]
    ways = [{"Controllers": [{"Transport": "pcie", "Namespaces": [name]}]} for name in named]
    found |= dict([reading(reads.NVME_LIST, json.dumps({"Devices": ways}))])
    found |= dict(
        [
            reading(reads.TPM_FIXED, evidence("tpm2/fixed.txt")),
            reading(reads.TPM_VARIABLE, evidence("tpm2/variable.txt")),
        ]
    )
    return found | dict(reading(name.replace("_AT_", " /dev/"), text) for name, text in texts.items())


def disk(number: int = 1, **more: Any) -> Device:
    """Return an NVMe drive that can do everything."""
    serial = f"S{number}"
    given = {"key": f"disk-{serial}", "kind": Kind.DISK, "paths": (f"/dev/nvme{number}n1",), "model": "X 1"}
    return Device(**{**given, "serial": serial, "bytes": 1000, "can": NVME, **more})


def tpm(**more: Any) -> Device:
    """Return a TPM that can be cleared."""
    given = {"key": "tpm", "kind": Kind.TPM, "model": "IBM", "firmware": "1", "can": frozenset({Method.TPM_CLEAR})}
    return Device(**{**given, **more})


def wanting(count: int = 1, *methods: Method, **more: Any) -> WipePlan:
    """Return what a profile wants that knows one model."""
    row = Row("X *", count, methods) if methods else Row("X *", count)
    return WipePlan(**{"rows": (row,), "tpm": True, "seconds": 3600.0} | more)


def report(key: str = "disk-S1", method: Method = Method.FORMAT_ERASE, **more: Any) -> Report:
    """Return a try that went well."""
    output = evidence("nvme/sanitize_done.json") if WAYS[method].poll else "Success"
    done = Command(("do", "it"), 0, output, 9_000.0, 9_001.0)
    given = {"number": 1, "stand": TryStatus.ENDED, "started": 9_000.0, "ended": 9_002.0, "commands": (done,)}
    return Report(**{"key": key, "method": method, **given, "before": HOLDING, "after": GONE, **more})
