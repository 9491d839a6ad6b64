"""What tests of judges share: evidence by name, and a check run over texts as it is run over readings."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from fleet_runner.core.boot.boots import Boot, Identity, Milestone
from fleet_runner.core.boot.progress import Progress
from fleet_runner.core.boot.progress_text import to_json
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import Check, Code, run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from tests.core.checks.healthy import active, active_gpu, bmc, gpu, host, network, text_of

burn_job = active_gpu.ended

KINDS = (gpu, host, network, bmc, active, active_gpu)

NODE = "gpu-01"

PROFILE: dict[str, Any] = {
    "parts": {
        "gpu": {"count": 2, "model": "NVIDIA H100 80GB HBM3"},
        "hca": {"count": 2},
        "psu": {"count": 2, "model": "PWS-3K06G-2R"},
    },
    "hca_interfaces": {"mlx5_0": "ib0", "mlx5_1": "ib1"},
    "firmware": {
        "components": [
            {"component": "BMC", "inventory_id": "*BMC", "target": "01.05.02"},
            {"component": "BIOS", "inventory_id": "BIOS*", "target": "2.0", "accepted": ["2.1"]},
            {"component": "GPU VBIOS", "inventory_id": "HGX_FW_GPU_SXM_*", "count": 2, "target": "96.00.A5.00.01"},
        ]
    },
    "bios": {"attributes": {"SRIOVSupport_00A1": "Enabled", "BitsPerSecond_008D": 115200, "QuietBoot_0030": True}},
    "limits": {"gpu_tlimit_margin_celsius": 5},
    "burn_in": {"seconds": 100, "gpu_gflops_share_min": 0.95},
    "optics": {"celsius_max": 70, "celsius_change_max": 10},
}
for _kind in KINDS:
    _laid = {name: PROFILE.get(name, {}) | _kind.PROFILE.get(name, {}) for name in ("parts", "active")}
    PROFILE |= _kind.PROFILE | _laid
"""What healthy means for the node of the hand-written evidence: two of everything."""

DEVICE: dict[str, Any] = {
    "serial": "A518042X3700077",
    "parts": [
        {"slot": "GPU 0", "kind": "gpu", "model": "NVIDIA H100 80GB HBM3", "serial": "1650000000001"},
        {"slot": "GPU 1", "kind": "gpu", "model": "NVIDIA H100 80GB HBM3", "serial": "1650000000002"},
        {"slot": "mlx5_0", "kind": "hca", "model": "ConnectX-7", "serial": "MT0001"},
        {"slot": "mlx5_1", "kind": "hca", "model": "ConnectX-7", "serial": "MT0002"},
    ],
    "interfaces": [
        {"name": "ib0", "kind": "infiniband-ndr", "guid": "a088c20300ab0c10"},
        {"name": "ib1", "kind": "infiniband-ndr", "guid": "a088c20300ab0c11"},
        {"name": "eth0", "kind": "1000base-t", "guid": None, "mac": "b8:3f:d2:00:00:01"},
    ],
}

EXPECTED = Expected(NODE, PROFILE, DEVICE, run={"id": 1, "since": 1_740_821_000.0})


SMI = text_of("nvidia_smi/h100_two_idle.xml")
DMESG = text_of("dmesg/boot.txt")


def modules(**answers: str) -> str:
    """Return the reading of several adapters, each of which was asked in vain or not."""
    return json.dumps({name: {"end": "ok", "rc": 0, "error": "", "text": text} for name, text in answers.items()})


def boot_progress(**changed: Any) -> str:
    """Return how far a boot came that came to its end, with changes."""
    came = {step: 1_740_821_400.0 + 10 * nth for nth, step in enumerate(Milestone, start=1)}
    boot = Boot(
        12, NODE, 7, 1_740_821_400.0, 1_740_823_200.0, Identity(frozenset({"b8:3f:d2:00:00:01"})), reached=came
    )
    known = {"boot": 1_740_821_699.0, "dhcp": 1_740_821_410.0}
    return json.dumps(to_json(replace(Progress(boot, READ_AT, beats=known), **changed)))


READ_AT = 1_740_821_700.0
"""The node's clock when it was read: 2025-03-01 09:35:00 UTC, five minutes after its boot."""


def wipe_progress() -> str:
    """Return how far a wipe is that is over: one disk, erased."""
    done = {"key": "disk-S1", "name": "/dev/nvme0n1 (X, serial S1)", "next": "done", "why": "it changed"}
    return json.dumps({"devices": [done | {"method": "sanitize_crypto"}], "missing": []})


def reset_progress() -> str:
    """Return what came of a reset of all GPUs that succeeded."""
    log = {"commands": [{"rc": 0, "output": "All done."}], "units": {"nvidia-persistenced.service": "active"}}
    return json.dumps({"order": {"remedy": "RESET", "because": "all GPUs are reset"}, "report": log})


HEALTHY: dict[str, dict[str, str]] = {
    "network_boot": {"boot_progress": boot_progress()},
    "cloud_init": {"cloud_init": text_of("cloud_init/done.json")},
    "node_up": {"uptime": "2025-03-01 09:30:00\n"},
    "machine_power": {"redfish_systems": text_of("redfish/systems.json")},
    "rebooted": {"uptime": "2025-03-01 09:30:00\n"},
    "steady": {"uptime": "2025-03-01 09:30:00\n", "boot_id": "3f0c2a1e-5b7d-4e9a-8c61-0d2f4a6b8e13"},
    "parts_gpu": {"nvidia_smi": SMI, "dmesg": DMESG},
    "parts_hca": {
        "ibstat": text_of("ibstat/two_rails.txt"),
        "ibstat_list": text_of("ibstat/two_rails_names.txt"),
    },
    "power_supplies": {"redfish_power": text_of("redfish/power.json")},
    "gpu_errors": {"nvidia_smi": SMI},
    "gpu_thermals": {"nvidia_smi": SMI},
    "xid": {"dmesg": DMESG},
    "link_flaps": {"dmesg": DMESG, "uptime": "2025-03-01 09:30:00\n"},
    "optics": {"mlxlink": modules(mlx5_0=text_of("mlxlink/optical.json"), mlx5_1=text_of("mlxlink/copper.json"))},
    "gpu_usage": {"nvidia_smi": SMI},
    "firmware_pins": {"redfish_firmware": text_of("redfish/firmware.json")},
    "bios_settings": {"redfish_bios": text_of("redfish/bios.json")},
    "work_ended": {"work_progress": '{"why": ""}'},
    "wiped": {"wipe_progress": wipe_progress()},
    "gathered": {"gather_progress": '{"files": [{"name": "dmesg.txt", "why": "", "bytes": 9}]}'},
    "resets": {"reset_progress": reset_progress(), "nvidia_smi": SMI},
}
for _kind in KINDS:
    HEALTHY |= _kind.HEALTHY
"""What a healthy node answers, check by check."""


def judged(name: str, texts: Mapping[str, str], expected: Expected = EXPECTED, rc: int = 0) -> Result:
    """Run a check over texts that were read without trouble."""
    readings = {read: Reading(read, ReadEnd.OK, text, rc=rc, at=READ_AT) for read, text in texts.items()}
    return documented(CHECKS[name], run(CHECKS[name], readings, expected))


def documented(check: Check, result: Result) -> Result:
    """Return a result whose every finding is of a kind, and with a remedy, that its check's page names."""
    strange = [each for each in result.findings if not any(_names(code, each) for code in check.codes)]
    assert not strange, f"{check.name}'s codes lack {[(each.code, each.remedy.value) for each in strange]}"
    return result


def _names(code: Code, finding: Finding) -> bool:
    return fnmatchcase(finding.code, code.code) and finding.remedy in code.remedies


def changed(section: str, value: Any) -> Expected:
    """Return what is expected, with another section of the profile."""
    return Expected(NODE, PROFILE | {section: value}, DEVICE, run=EXPECTED.run)


def remedies(result: Result) -> dict[str, Remedy]:
    """Return the remedy of each finding by its code."""
    return {finding.code: finding.remedy for finding in result.findings}


CUTS = 1500
"""Places at which a long text is cut; a shorter one is cut at each."""


def cuts(text: str) -> Iterator[str]:
    """Yield proper beginnings of a text."""
    return (text[:end] for end in range(0, len(text), len(text) // CUTS + 1))
