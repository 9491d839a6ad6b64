"""The Redfish resources of one server's BMC, made from the node's state each time they are asked for."""

import hashlib
import json
import time
from collections.abc import Mapping
from typing import Any

from fleet_runner.lab import plan
from fleet_runner.lab.hardware import NETWORK_TARGETS, POWER_ACTIONS

ROOT = "/redfish/v1"
SYSTEM = f"{ROOT}/Systems/1"
CHASSIS = f"{ROOT}/Chassis/1"
MANAGER = f"{ROOT}/Managers/1"
INVENTORY = f"{ROOT}/UpdateService/FirmwareInventory"
SESSIONS = f"{ROOT}/SessionService/Sessions"
RESET = f"{SYSTEM}/Actions/ComputerSystem.Reset"
TARGETS = ("None", *sorted(NETWORK_TARGETS), "Hdd", "BiosSetup")
PSU_WATTS = 3000

Body = dict[str, Any]


def get(uri: str, state: Mapping[str, Any], now: float) -> Body | None:
    """Return the resource at a URI, or None where there is none. `now` is the BMC's clock."""
    uri = uri.rstrip("/") or "/"
    if uri.startswith(f"{INVENTORY}/"):
        return _firmware(uri, state)
    make = RESOURCES.get(uri)
    return {"@odata.id": uri, **make(state, now)} if make is not None else None


def etag(body: Mapping[str, Any]) -> str:
    """Return the entity tag of a resource: it changes whenever the resource does."""
    return f'"{hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:16]}"'


def error(message: str, code: str = "Base.1.13.GeneralError") -> Body:
    """Return Redfish's form of an error."""
    return {"error": {"code": code, "message": message, "@Message.ExtendedInfo": [{"Message": message}]}}


def moment(at: float) -> str:
    """Return a time as Redfish writes it; BMCs know seconds, not parts of them."""
    return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(at))


def _service_root(state: Mapping[str, Any], now: float) -> Body:
    del now
    links = ("Systems", "Chassis", "Managers", "UpdateService", "SessionService")
    return {
        "@odata.type": "#ServiceRoot.v1_13_0.ServiceRoot",
        "Id": "RootService",
        "Name": "Root Service",
        "RedfishVersion": "1.13.0",
        "UUID": f"1ab00000-0000-4000-8000-{state['index']:012d}",
        **{name: {"@odata.id": f"{ROOT}/{name}"} for name in links},
        "Links": {"Sessions": {"@odata.id": SESSIONS}},
    }


def _collection(*members: str) -> Body:
    return {"Members": [{"@odata.id": uri} for uri in members], "Members@odata.count": len(members)}


def _system(state: Mapping[str, Any], now: float) -> Body:
    override = state["override"]
    ready = state["boot"]["ready"]
    on = state["power"] == "On"
    return {
        "@odata.type": "#ComputerSystem.v1_17_0.ComputerSystem",
        "Id": "1",
        "Name": "System",
        "SystemType": "Physical",
        "Manufacturer": "Lab",
        "Model": "HGX-H100",
        "SerialNumber": plan.server_serial(state["index"]),
        "UUID": plan.uuid(state["index"]),
        "BiosVersion": _version(state, "BIOS"),
        "PowerState": state["power"],
        "Status": {"Health": "OK", "State": "Enabled" if on else "Disabled"},
        "BootProgress": {"LastState": "OSRunning" if on and ready and now >= ready else "None"},
        "Boot": {
            "BootSourceOverrideEnabled": override["enabled"],
            "BootSourceOverrideEnabled@Redfish.AllowableValues": ["Disabled", "Once", "Continuous"],
            "BootSourceOverrideMode": "UEFI",
            "BootSourceOverrideTarget": override["target"],
            "BootSourceOverrideTarget@Redfish.AllowableValues": list(TARGETS),
            "HttpBootUri": override.get("uri", ""),
        },
        "ProcessorSummary": {"Count": 2, "Model": "Intel(R) Xeon(R) Platinum 8480C"},
        "MemorySummary": {"TotalSystemMemoryGiB": 2048},
        **({"LastResetTime": moment(state["last_reset"])} if state["last_reset"] else {}),
        "Links": {"Chassis": [{"@odata.id": CHASSIS}], "ManagedBy": [{"@odata.id": MANAGER}]},
        "Actions": {
            "#ComputerSystem.Reset": {
                "target": RESET,
                "@Redfish.ActionInfo": f"{SYSTEM}/ResetActionInfo",
            }
        },
    }


def _reset_info(state: Mapping[str, Any], now: float) -> Body:
    del state, now
    reset = {"Name": "ResetType", "Required": True, "DataType": "String", "AllowableValues": list(POWER_ACTIONS)}
    return {
        "@odata.type": "#ActionInfo.v1_1_2.ActionInfo",
        "Id": "ResetActionInfo",
        "Name": "Reset Action Info",
        "Parameters": [reset],
    }


def _chassis(state: Mapping[str, Any], now: float) -> Body:
    del now
    return {
        "@odata.type": "#Chassis.v1_21_0.Chassis",
        "Id": "1",
        "Name": "Chassis",
        "ChassisType": "RackMount",
        "SerialNumber": plan.server_serial(state["index"]),
        "PowerState": state["power"],
        "Power": {"@odata.id": f"{CHASSIS}/Power"},
        "Thermal": {"@odata.id": f"{CHASSIS}/Thermal"},
        "Links": {"ComputerSystems": [{"@odata.id": SYSTEM}], "ManagedBy": [{"@odata.id": MANAGER}]},
    }


def _power(state: Mapping[str, Any], now: float) -> Body:
    del now
    dead = state["faults"].get("dead_psu")
    supplies = [_supply(state, psu, dead=dead is not None and dead["psu"] == psu) for psu in range(plan.PSUS)]
    return {"@odata.type": "#Power.v1_7_1.Power", "Id": "Power", "Name": "Power", "PowerSupplies": supplies}


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


def _thermal(state: Mapping[str, Any], now: float) -> Body:
    del now
    on = state["power"] == "On"
    fans = [
        {"MemberId": str(fan), "Name": f"FAN{fan + 1}", "Reading": 5400 if on else 0, "ReadingUnits": "RPM",
         "Status": {"Health": "OK", "State": "Enabled"}}
        for fan in range(10)
    ]  # fmt: skip
    inlet = {"MemberId": "0", "Name": "Inlet Temp", "PhysicalContext": "Intake", "ReadingCelsius": 24,
             "UpperThresholdCritical": 45, "Status": {"Health": "OK", "State": "Enabled"}}  # fmt: skip
    kind = {"@odata.type": "#Thermal.v1_7_1.Thermal", "Id": "Thermal", "Name": "Thermal"}
    return {**kind, "Fans": fans, "Temperatures": [inlet]}


def _manager(state: Mapping[str, Any], now: float) -> Body:
    return {
        "@odata.type": "#Manager.v1_18_0.Manager",
        "Id": "1",
        "Name": "Manager",
        "ManagerType": "BMC",
        "Model": "LAB-BMC",
        "FirmwareVersion": _version(state, "BMC"),
        "DateTime": moment(now),
        "DateTimeLocalOffset": "+00:00",
        "Status": {"Health": "OK", "State": "Enabled"},
        "Links": {"ManagerForServers": [{"@odata.id": SYSTEM}], "ManagerForChassis": [{"@odata.id": CHASSIS}]},
    }


def _update_service(state: Mapping[str, Any], now: float) -> Body:
    del state, now
    return {
        "@odata.type": "#UpdateService.v1_11_0.UpdateService",
        "Id": "UpdateService",
        "Name": "Update Service",
        "ServiceEnabled": False,
        "FirmwareInventory": {"@odata.id": INVENTORY},
    }


def _inventory(state: Mapping[str, Any], now: float) -> Body:
    del now
    kind = {"@odata.type": "#SoftwareInventoryCollection.SoftwareInventoryCollection", "Name": "Firmware Inventory"}
    return {**kind, **_collection(*(f"{INVENTORY}/{name}" for name in sorted(state["firmware"])))}


def _firmware(uri: str, state: Mapping[str, Any]) -> Body | None:
    name = uri.rpartition("/")[2]
    if name not in state["firmware"]:
        return None
    return {
        "@odata.id": uri,
        "@odata.type": "#SoftwareInventory.v1_8_0.SoftwareInventory",
        "Id": name,
        "Name": name,
        "Updateable": True,
        "Version": _version(state, name),
        "Status": {"Health": "OK", "State": "Enabled"},
    }


def _version(state: Mapping[str, Any], name: str) -> str:
    wrong = state["faults"].get("wrong_firmware")
    version: str = wrong["version"] if wrong and wrong["component"] == name else state["firmware"][name]
    return version


def _session_service(state: Mapping[str, Any], now: float) -> Body:
    del state, now
    return {
        "@odata.type": "#SessionService.v1_1_8.SessionService",
        "Id": "SessionService",
        "Name": "Session Service",
        "ServiceEnabled": True,
        "SessionTimeout": 30,
        "Sessions": {"@odata.id": SESSIONS},
    }


RESOURCES = {
    ROOT: _service_root,
    f"{ROOT}/Systems": lambda *_: _collection(SYSTEM),
    SYSTEM: _system,
    f"{SYSTEM}/ResetActionInfo": _reset_info,
    f"{ROOT}/Chassis": lambda *_: _collection(CHASSIS),
    CHASSIS: _chassis,
    f"{CHASSIS}/Power": _power,
    f"{CHASSIS}/Thermal": _thermal,
    f"{ROOT}/Managers": lambda *_: _collection(MANAGER),
    MANAGER: _manager,
    f"{ROOT}/UpdateService": _update_service,
    INVENTORY: _inventory,
    f"{ROOT}/SessionService": _session_service,
    SESSIONS: lambda *_: _collection(),
}
"""What answers GET, by URI; the members of the firmware inventory are found by their name."""
