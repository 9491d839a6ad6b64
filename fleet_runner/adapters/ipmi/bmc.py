"""One BMC over IPMI, told as Redfish tells it, so that the same checks judge it.

Only what IPMI really tells is told: the power state, the serial numbers of its FRU, and the event log. What it has no
word for (sensors with their limits, health, firmware, BIOS settings) is an error, never good news.
"""

import contextlib
import re
from collections.abc import Iterable
from types import MappingProxyType
from typing import Any, Self

from fleet_runner.adapters.ipmi.tool import Ipmitool
from fleet_runner.core.base.errors import BmcError, NotOfferedError
from fleet_runner.core.checks.parsers import ipmi_sel
from fleet_runner.core.checks.reads import READS

ACTIONS = MappingProxyType({
    "On": "on", "ForceOff": "off", "GracefulShutdown": "soft", "ForceRestart": "reset", "PowerCycle": "cycle",
})  # fmt: skip
"""Redfish's power actions, and what `ipmitool chassis power` calls them."""

SYSTEM, CHASSIS = "/redfish/v1/Systems/ipmi", "/redfish/v1/Chassis/ipmi"

ENTRY_BYTES = 16
"""Of an entry of an event log (IPMI 2.0, 31.6)."""

_POWER = re.compile(r"^Chassis Power is (on|off)\s*$", re.MULTILINE)
_SERIAL = re.compile(r"^ (Product|Chassis) Serial {1,12}: (\S[^\n]{0,79})$", re.MULTILINE)
_CLOCK = re.compile(r"^(\d\d/\d\d/\d{2,4}) (\d\d:\d\d:\d\d)", re.MULTILINE | re.ASCII)
_COUNT = re.compile(r"^(Entries|Free Space) {1,20}: (\d{1,7})\b", re.MULTILINE | re.ASCII)


class IpmiBmc:
    """A BMC by its address. Each question is a session of its own."""

    def __init__(self, tool: Ipmitool) -> None:
        self._tool = tool
        self.url = tool.url

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held open."""

    def power_state(self) -> str | None:
        """Return On or Off.

        Raises:
            BmcError: it says neither.
        """
        text = self._tool.ask("chassis", "power", "status")
        found = _POWER.search(text)
        if found is None:
            raise BmcError(f"{self.url}: ipmitool says {text[:80]!r}, expected Chassis Power is on, or off")
        return found[1].capitalize()

    def power_actions(self) -> tuple[str, ...]:
        """Return the power actions that IPMI knows."""
        return tuple(ACTIONS)

    def power(self, action: str) -> None:
        """Do a power action. It is never sent twice."""
        self._tool.ask("chassis", "power", ACTIONS[action], once=True)

    def last_reset_age(self) -> float | None:
        """Return None: IPMI does not tell when a system was reset."""
        return None

    def system(self) -> dict[str, Any]:
        """Return the system as Redfish has it: its SerialNumber ("" where the FRU holds none) and its PowerState."""
        return self._machine()[SYSTEM]

    def boot_once(self, target: str, http_uri: str = "", mac: str = "") -> None:
        """Let only the next boot start from the network (Pxe), over UEFI; "None" takes such a request back.

        Raises:
            BmcError: it cannot, or does not take it.
        """
        self.can_boot_once(target, http_uri, mac)
        device = "none" if target == "None" else "pxe"
        self._tool.ask("chassis", "bootdev", device, *(["options=efiboot"] if device == "pxe" else []))
        shown = self._tool.ask("chassis", "bootparam", "get", "5")
        if ("Force PXE" in shown) != (device == "pxe"):
            raise BmcError(f"{self.url}: its next boot is not from {device}, though it took that; look at the BMC")

    def can_boot_once(self, target: str, http_uri: str = "", mac: str = "", *, proof: bool = False) -> str:
        """Make sure that `boot_once` has a way, where there is a target; return what is to be told of it.

        Raises:
            NotOfferedError: it has none.
        """
        if proof or http_uri or target not in {"", "None", "Pxe"}:
            raise NotOfferedError(f"{self.url}: IPMI boots from the network by PXE alone, not by UEFI HTTP")
        return "the firmware chooses the network card of the next boot: IPMI names none" if mac else ""

    def read(self, pattern: str) -> dict[str, Any]:
        """Raise BmcError: see `gather`."""
        return self.gather([pattern])

    def gather(self, patterns: Iterable[str]) -> dict[str, Any]:
        """Return {URI: body} of what the reads of a machine, its power and its event log name.

        Raises:
            BmcError: it does not answer, or IPMI does not tell what is asked for.
        """
        asked = tuple(patterns)
        if asked == READS["redfish_logs"].argv:
            return self._log()
        if asked == READS["redfish_machine"].argv:
            return self._machine()
        if asked == READS["redfish_systems"].argv:
            return {SYSTEM: self.system()}
        raise BmcError(f"{self.url} is asked by IPMI, which does not tell {asked[0] if asked else 'that'}")

    def _machine(self) -> dict[str, dict[str, Any]]:
        state, serials = self.power_state(), dict[str, str]()
        with contextlib.suppress(BmcError):  # one whose FRU is empty or broken still has power
            serials = {kind: text.strip() for kind, text in _SERIAL.findall(self._tool.ask("fru", "print", "0"))}
        return {
            SYSTEM: {
                "@odata.type": "#ComputerSystem.ComputerSystem",
                "SerialNumber": serials.get("Product", ""),
                "PowerState": state,
            },
            CHASSIS: {"@odata.type": "#Chassis.Chassis", "SerialNumber": serials.get("Chassis", "")},
        }

    def _log(self) -> dict[str, Any]:
        info = {name: int(value) for name, value in _COUNT.findall(self._tool.ask("sel", "info"))}
        if "Entries" not in info:
            raise BmcError(f"{self.url}: ipmitool sel info does not say how many entries there are")
        text = self._tool.ask("sel", "elist") if info["Entries"] else ""
        found = ipmi_sel.entries(text) if text.strip() else {ipmi_sel.URI: ipmi_sel.collection([])}
        clock = _CLOCK.search(self._tool.ask("sel", "time", "get"))
        service: dict[str, Any] = {"@odata.type": "#LogService.LogService", "OverWritePolicy": "NeverOverWrites"}
        if clock is not None:
            service["DateTime"] = ipmi_sel.created(clock[1], clock[2])
        if "Free Space" in info:
            service["MaxNumberOfRecords"] = info["Entries"] + info["Free Space"] // ENTRY_BYTES
        # Where entries could not be read as such, the log is not whole, and the check says so.
        found[ipmi_sel.URI]["Members@odata.count"] = info["Entries"]
        return {ipmi_sel.LOG: service, **found}
