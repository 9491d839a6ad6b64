"""The Redfish resources of one server's BMC: the emulator's own small tree, and what is different in the lab."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from fleet_runner.lab import plan, sysfs
from fleet_runner.lab.hardware import NETWORK_TARGETS, POWER_ACTIONS
from fleet_runner.lab.redfish import Tree, load
from fleet_runner.lab.redfish.tasks import moment
from fleet_runner.lab.redfish.trees import OUR_OWN, ROOT

SYSTEM = f"{ROOT}/Systems/1"
CHASSIS = f"{ROOT}/Chassis/1"
MANAGER = f"{ROOT}/Managers/1"
INVENTORY = f"{ROOT}/UpdateService/FirmwareInventory"
TARGETS = ("None", *sorted(NETWORK_TARGETS), "Hdd", "BiosSetup")
PSU_WATTS = 3000
HEALTHY = {"Health": "OK", "State": "Enabled"}
LOG = f"{SYSTEM}/LogServices/Log1"
LOG_SERVICE = {
    "@odata.type": "#LogService.v1_2_0.LogService", "Id": "Log1", "Name": "Event log", "MaxNumberOfRecords": 4096,
    "OverWritePolicy": "WrapsWhenFull", "Entries": {"@odata.id": f"{LOG}/Entries"},
}  # fmt: skip
CPUS = {"Model": "Intel(R) Xeon(R) 8480C", "Status": HEALTHY}

Body = dict[str, Any]


def tree(state: Mapping[str, Any]) -> Tree:
    """Return the resources of a server, with all that does not change while its BMC runs."""
    uuid = plan.uuid(state["index"])
    kind = {"Model": "HGX-H100", "SerialNumber": plan.server_serial(state["index"])}
    boot = {"BootSourceOverrideTarget@Redfish.AllowableValues": list(TARGETS)}
    reset = {"Name": "ResetType", "Required": True, "DataType": "String", "AllowableValues": list(POWER_ACTIONS)}
    links = {name: {"@odata.id": f"{CHASSIS}/{name}"} for name in ("Power", "Thermal")}
    logs, log = {"@odata.id": f"{SYSTEM}/LogServices"}, {"@odata.id": LOG}
    found = _small().changed(
        {
            ROOT: {"UUID": f"1ab00000-0000-4000-8000-{state['index']:012d}"},
            SYSTEM: {**kind, "UUID": uuid, "Boot": boot, "LogServices": logs, "ProcessorSummary": CPUS},
            f"{SYSTEM}/LogServices": {
                "@odata.type": "#LogServiceCollection.LogServiceCollection",
                "Name": "Logs",
                "Members": [log],
            },
            LOG: LOG_SERVICE,
            f"{LOG}/Entries": {"@odata.type": "#LogEntryCollection.LogEntryCollection", "Name": "Entries"},
            f"{SYSTEM}/ResetActionInfo": {"Parameters": [reset]},
            CHASSIS: {**kind, **links},
            f"{CHASSIS}/Power": {"@odata.type": "#Power.v1_7_1.Power", "Id": "Power", "Name": "Power"},
            f"{CHASSIS}/Thermal": {"@odata.type": "#Thermal.v1_7_1.Thermal", "Id": "Thermal", "Name": "Thermal"},
            MANAGER: {"LastResetTime": None},
            **dict.fromkeys((uri for uri in _small().bodies if uri.startswith(f"{INVENTORY}/")), None),
            INVENTORY: {"Members": [{"@odata.id": f"{INVENTORY}/{name}"} for name in sorted(state["firmware"])]},
        }
    )
    return found.changed(dict(_entries(state["firmware"])))


def shows(uri: str, state: Mapping[str, Any], now: float) -> Body:
    """Return what a resource says of the server as it is; a property that is None is not there."""
    if uri.startswith(f"{INVENTORY}/"):
        return {"Version": _version(state, uri.rpartition("/")[2])}
    make = SHOWN.get(uri)
    return make(state, now) if make is not None else {}


@cache
def _small() -> Tree:
    return load(OUR_OWN)


def _entries(versions: Mapping[str, str]) -> Iterator[tuple[str, Body]]:
    for name, version in versions.items():
        kind = {"@odata.type": "#SoftwareInventory.v1_8_0.SoftwareInventory", "Id": name, "Name": name}
        yield f"{INVENTORY}/{name}", {**kind, "Updateable": True, "Version": version, "Status": HEALTHY}


def _system(state: Mapping[str, Any], now: float) -> Body:
    override = state["override"]
    ready = state["boot"]["ready"]
    on = state["power"] == "On"
    return {
        **_chassis(state, now),
        "BiosVersion": _version(state, "BIOS"),
        "Status": {"Health": "OK", "State": "Enabled" if on else "Disabled"},
        "BootProgress": {"LastState": "OSRunning" if on and ready and now >= ready else "None"},
        "Boot": {
            "BootSourceOverrideEnabled": override["enabled"],
            "BootSourceOverrideTarget": override["target"],
            "HttpBootUri": override.get("uri", ""),
        },
        "LastResetTime": moment(state["last_reset"]) if state["last_reset"] else None,
    }


def _chassis(state: Mapping[str, Any], now: float) -> Body:
    del now
    return {"SerialNumber": sysfs.serial(state["index"], state["faults"])}


def _thermal(state: Mapping[str, Any], now: float) -> Body:
    del now
    speed = 4400 if state["power"] == "On" else 0
    dead = state["faults"].get("dead_fan", {}).get("fan")
    fans = [_fan(fan, 0 if fan == dead else speed, dead=fan == dead) for fan in range(plan.FANS)]
    inlet = {"MemberId": "0", "Name": "Inlet Temp", "PhysicalContext": "Intake", "ReadingCelsius": 24,
             "UpperThresholdCritical": 45, "Status": HEALTHY}  # fmt: skip
    return {"Fans": fans, "Temperatures": [inlet]}


def _fan(fan: int, speed: int, *, dead: bool) -> Body:
    health = "Critical" if dead else "OK"
    told = {"Reading": speed, "ReadingUnits": "RPM", "LowerThresholdCritical": 420}
    return {"MemberId": str(fan), "Name": f"FAN{fan + 1}", **told, "Status": {"Health": health, "State": "Enabled"}}


def _power(state: Mapping[str, Any], now: float) -> Body:
    del now
    dead = state["faults"].get("dead_psu")
    supplies = [_supply(state, psu, dead=dead is not None and dead["psu"] == psu) for psu in range(plan.PSUS)]
    group = {"MemberId": "0", "Name": "Power supplies", "Mode": "N+m", "MinNumNeeded": 4}
    health = "Critical" if dead else "OK"
    return {
        "PowerSupplies": supplies,
        "Redundancy": [{**group, "Status": {"Health": health, "State": "Enabled"}}],
    }


def _log(state: Mapping[str, Any], now: float) -> Body:
    del state
    return {"DateTime": moment(now)}


def _logged(state: Mapping[str, Any], now: float) -> Body:
    entry = state["faults"].get("memory_error")
    members = [_memory_error(entry, now)] if entry else []
    return {"Members": members, "Members@odata.count": len(members)}


def _memory_error(options: Mapping[str, Any], now: float) -> Body:
    """Logged just now, whenever it is read."""
    kind = {"@odata.id": f"{LOG}/Entries/1", "@odata.type": "#LogEntry.v1_7_0.LogEntry", "Id": "1", "Name": "Entry 1"}
    told = {"EntryType": "SEL", "EntryCode": "Assert", "Severity": "Critical", "Created": moment(now)}
    sensor = {"SensorType": "Memory", "SensorNumber": 12, "MessageId": "0x01FFFF"}
    return {**kind, **told, **sensor, "Message": f"[MEM-0001] {options['dimm']}, Uncorrectable ECC"}


def _supply(state: Mapping[str, Any], psu: int, *, dead: bool) -> Body:
    drawn = 610 if state["power"] == "On" else 35
    return {
        "@odata.id": f"{CHASSIS}/Power#/PowerSupplies/{psu}",
        "MemberId": str(psu),
        "Name": f"Power Supply Bay {psu + 1}",
        "Model": plan.PSU_MODEL,
        "SerialNumber": plan.psu_serial(state["index"], psu),
        "FirmwareVersion": "1.3",
        "PowerSupplyType": "AC",
        "LineInputVoltage": 0 if dead else 230,
        "PowerCapacityWatts": PSU_WATTS,
        "PowerOutputWatts": 0 if dead else drawn,
        "Status": {"Health": "Critical" if dead else "OK", "State": "Enabled"},
    }


def _manager(state: Mapping[str, Any], now: float) -> Body:
    del now
    return {"FirmwareVersion": _version(state, "BMC")}


def _version(state: Mapping[str, Any], name: str) -> str:
    wrong = state["faults"].get("wrong_firmware")
    version: str = wrong["version"] if wrong and wrong["component"] == name else state["firmware"][name]
    return version


SHOWN = {
    SYSTEM: _system,
    CHASSIS: _chassis,
    f"{CHASSIS}/Power": _power,
    f"{CHASSIS}/Thermal": _thermal,
    LOG: _log,
    f"{LOG}/Entries": _logged,
    MANAGER: _manager,
}
"""What changes, by URI; the entries of the firmware inventory are found by their name."""
