"""What a made-up healthy machine answers, built from a profile: as many parts as it has, each as the profile says."""

import json
import re
from collections.abc import Mapping
from typing import Any

from fleet_runner.core.inventory.profile import gpu_maker
from tests.core.checks.catalogue.amd_evidence import rows as amd_rows
from tests.core.checks.catalogue.amd_evidence import texts as amd_texts
from tests.core.checks.healthy import gpu as nvidia
from tests.core.checks.healthy import text_of

Profile = Mapping[str, Any]

UUID = "GPU-{:08x}-0000-0000-0000-000000000000"


def texts(profile: Profile, *, gpus: int | None = None) -> dict[str, str]:
    """Return the texts of a healthy machine by their reads; with another number of GPUs it is not."""
    parts = profile["parts"]
    count = parts["gpu"]["count"] if gpus is None else gpus
    found = _amd(count) if gpu_maker(profile) == "AMD" else _nvidia(profile, count)
    found |= {"dmesg": text_of("dmesg/boot.txt"), "lscpu": _lscpu(parts.get("cpu", {}))}
    found |= {"dmidecode": _dmidecode(parts.get("dimm", {})), "nvme_controllers": _drives(parts.get("nvme", {}))}
    found |= {"pci_devices": _devices(profile.get("pcie_devices", {}).get("devices", {}))}
    found |= {"redfish_power": _supplies(parts.get("psu", {})), "redfish_sensors": _sensors(profile)}
    return found


def _nvidia(profile: Profile, count: int) -> dict[str, str]:
    one = nvidia.ONE
    head, _, rest = one.partition("<gpu ")
    block, _, tail = rest.partition("</gpu>")
    model = profile["parts"]["gpu"].get("model", "NVIDIA made up")
    block = re.sub("<product_name>[^<]*", f"<product_name>{model}", block)
    if "gpu_power" in profile:
        watts = f"{profile['gpu_power']['limit_watts']:.2f} W"
        block = re.sub("(<(?:current|default)_power_limit>)[0-9.]+ W", rf"\g<1>{watts}", block)
    if profile.get("gpu_fabric", {}).get("cluster"):
        block = re.sub("<cliqueId>[^<]*", "<cliqueId>1", block)
        block = re.sub("<clusterUuid>[^<]*", "<clusterUuid>1f2e3d4c-0000-0000-0000-000000000001", block)
    every = "".join(f"<gpu {_own(block, number)}</gpu>" for number in range(count))
    head = re.sub("<attached_gpus>[0-9]+", f"<attached_gpus>{count}", head)
    links = profile.get("nvlink", {})
    lines = [
        line
        for number in range(count)
        for line in (
            f"GPU {number}: {model} (UUID: {UUID.format(number)})",
            *(f"\t Link {link}: {links.get('gbytes_per_second')} GB/s" for link in range(links.get("links", 0))),
        )
    ]
    whole = "No devices were found\n" if count == 0 else head + every + tail
    return {"nvidia_smi": whole, "nvlink_status": "\n".join(lines) + "\n"}


def _own(block: str, number: int) -> str:
    """Return a GPU with an address, a UUID and a serial number of its own."""
    block = re.sub('id="[^"]*"', f'id="00000000:{number + 16:02X}:00.0"', block, count=1)
    block = re.sub("<pci_bus_id>[^<]*", f"<pci_bus_id>00000000:{number + 16:02X}:00.0", block)
    block = re.sub("<uuid>[^<]*", f"<uuid>{UUID.format(number)}", block)
    return re.sub("<serial>[^<]*", f"<serial>16500000000{number:02d}", block)


def _amd(count: int) -> dict[str, str]:
    return amd_texts({name: mine[:count] for name, mine in amd_rows().items()})


def _lscpu(wanted: Profile) -> str:
    fields = {
        "Model name:": wanted.get("model", "CPU"),
        "Socket(s):": wanted.get("sockets", 2),
        "Core(s) per socket:": wanted.get("cores_per_socket", 8),
        "Thread(s) per core:": wanted.get("threads_per_core", 2),
        "NUMA node(s):": wanted.get("numa_nodes", 2),
        "On-line CPU(s) list:": "0-15",
    }
    return json.dumps({"lscpu": [{"field": name, "data": str(value)} for name, value in fields.items()]})


def _dmidecode(wanted: Profile) -> str:
    speed = wanted.get("megatransfers", 4800)
    modules = "".join(
        f"Handle 0x{number + 16:04X}, DMI type 17, 92 bytes\nMemory Device\n\tSize: {wanted.get('gib', 64)} GB\n"
        f"\tLocator: DIMM{number}\n\tBank Locator: B{number}\n\tSpeed: {speed} MT/s\n\tManufacturer: M\n"
        f"\tSerial Number: S{number}\n\tPart Number: P\n\tConfigured Memory Speed: {speed} MT/s\n\n"
        for number in range(wanted.get("count", 1))
    )
    end = "Handle 0xFEFF, DMI type 127, 4 bytes\nEnd Of Table\n\n"
    return f"# dmidecode 3.3\nGetting SMBIOS data from sysfs.\nSMBIOS 3.3.0 present.\n\n{modules}{end}"


def _drives(wanted: Profile) -> str:
    sectors = int(wanted.get("gigabytes_min", 1000) * 1e9 / 512) + 1
    found: dict[str, str] = {"/sys/module/nvme/version": "1.0"}
    for number in range(wanted.get("count", 1)):
        name = f"/sys/class/nvme/nvme{number}"
        found |= {
            f"{name}/address": f"0000:{number + 64:02x}:00.0", f"{name}/model": "D", f"{name}/serial": f"S{number}",
            f"{name}/firmware_rev": "1", f"{name}/state": "live", f"{name}/transport": "pcie",
            f"{name}/nvme{number}n1/size": str(sectors),
        }  # fmt: skip
    return json.dumps(found)


def _devices(wanted: Profile) -> str:
    found: dict[str, str] = {}
    for kind, (name, each) in enumerate(wanted.items()):
        vendor, device = each["ids"][0].split(":")
        for number in range(each["count"]):
            at = f"/sys/bus/pci/devices/{kind:04x}:{number + 1:02x}:00.0"
            found |= {
                f"{at}/vendor": f"0x{vendor}", f"{at}/device": f"0x{device}",
                f"{at}/class": "0x068000" if name == "NVSwitch" else "0x020700",
                f"{at}/current_link_speed": "32.0 GT/s PCIe", f"{at}/max_link_speed": "32.0 GT/s PCIe",
                f"{at}/current_link_width": "16", f"{at}/max_link_width": "16",
            }  # fmt: skip
    return json.dumps(found)


def _supplies(wanted: Profile) -> str:
    rows = [
        {"Name": f"PSU{number}", "Model": wanted.get("model", "P"), "LineInputVoltage": 230,
         "SerialNumber": f"S{number}", "Status": {"State": "Enabled", "Health": "OK"}}
        for number in range(wanted.get("count", 0))
    ]  # fmt: skip
    redundant = [{"Name": "PS Redundancy", "Status": {"State": "Enabled", "Health": "OK"}}]
    body = {"@odata.type": "#Power.v1_5_0.Power", "PowerSupplies": rows, "Redundancy": redundant}
    return json.dumps({"/redfish/v1/Chassis/1/Power": body})


def _sensors(profile: Profile) -> str:
    wanted = profile.get("sensors", {})
    fine = {"State": "Enabled", "Health": "OK"}
    fans = [
        {
            "Name": f"FAN{number}",
            "Reading": 9000,
            "ReadingUnits": "RPM",
            "LowerThresholdCritical": 500,
            "Status": fine,
        }
        for number in range(wanted.get("fans", 1))
    ]
    air = [
        {"Name": name, "ReadingCelsius": 22, "UpperThresholdCritical": 50, "Status": fine}
        for name in (*wanted.get("inlet", ()), "CPU Temp")
    ]
    body = {"@odata.type": "#Thermal.v1_6_0.Thermal", "Fans": fans, "Temperatures": air}
    leaks = {
        f"/redfish/v1/Chassis/1/LeakDetectors/{number}": {
            "@odata.type": "#LeakDetector.v1_1_0.LeakDetector", "Id": str(number), "DetectorState": "OK",
            "Status": fine,
        }
        for number in range(wanted.get("leak_detectors", 0))
    }  # fmt: skip
    return json.dumps({"/redfish/v1/Chassis/1/Thermal": body, **leaks})
