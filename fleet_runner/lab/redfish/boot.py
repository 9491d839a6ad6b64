"""What the host boots from: the override at the system or at its settings object, good for one boot or all.

Makers differ, as is known of them: HPE's boot mode cannot be written, and a device's path comes before its target
(ansible-collections/community.general 3509, 5091); a Supermicro falls back to another mode that it is not told
(DMTF/Redfishtool 106); AMI's wants target and Once together; a Dell knows no address to load
(dsx-ai-factory/libredfish 75). A settings object may hold the boot order alone, as Lenovo's does, or list other
targets than its system, as a BlueField's does, which takes those of both.
"""

from collections.abc import Callable, Mapping
from typing import Any

from fleet_runner.lab.redfish.chip import Chip
from fleet_runner.lab.redfish.trees import ROOT, Body
from fleet_runner.lab.redfish.wire import Refused

ENABLED = "BootSourceOverrideEnabled"
TARGET = "BootSourceOverrideTarget"
MODE, DEVICE, ADDRESS = "BootSourceOverrideMode", "UefiTargetBootSourceOverride", "HttpBootUri"
ORDER = "BootOrder"
ALLOWED = f"{TARGET}@Redfish.AllowableValues"


class Boot:
    """The boot settings of every system that can be reset; the first is the host."""

    def __init__(self, chip: Chip, power: Callable[[], str]) -> None:
        self._chip = chip
        self._power = power
        root = chip.tree.get(ROOT)
        self._maker = str(root.get("Vendor") or "".join(root.get("Oem") or ()))
        self._at: dict[str, dict[str, Any]] = {}  # by the resource they are read and changed at
        self._settings: dict[str, str] = {}  # settings object to system
        self._later: set[str] = set()  # systems whose settings object takes what the next boot is
        for uri in chip.tree.systems:
            self._at[uri] = dict(chip.tree.get(uri).get("Boot") or {})
            settings = chip.tree.settings_of(uri)
            waiting = dict(chip.tree.get(settings).get("Boot") or {})
            if settings:
                self._settings[settings] = uri
                self._at[settings] = waiting
            if settings and (TARGET in waiting or TARGET not in self._at[uri]):
                self._later.add(uri)

    def knows(self, uri: str) -> bool:
        """Whether boot settings can be changed here."""
        return uri in self._at

    def set(self, uri: str, said: Mapping[str, Any]) -> None:
        """Change boot settings; raise Refused for what is not allowed."""
        self._refuse_order(uri, said)
        if uri in self._later and set(said) != {ORDER}:
            settings = self._chip.tree.settings_of(uri)
            raise Refused(405, f"Boot is changed at {settings}", "PropertyNotWritable")
        if self._settings.get(uri, uri) not in {uri, *self._later} and TARGET in said:
            raise Refused(400, f"the property {TARGET} is not known here", "PropertyUnknown")
        boot = self._at[uri]
        listed = [self._at[each].get(ALLOWED) for each in dict.fromkeys((uri, self._settings.get(uri, uri)))]
        allowed = [target for each in listed for target in each or ()] if isinstance(listed[0], list) else None
        if allowed is not None and TARGET in said and said[TARGET] not in allowed:
            raise Refused(400, f"the value {said[TARGET]!r} for {TARGET} is not allowed", "PropertyValueNotInList")
        if said.get(ENABLED, "Once") not in ("Disabled", "Once", "Continuous"):
            raise Refused(400, f"the value {said[ENABLED]!r} for {ENABLED} is not allowed", "PropertyValueNotInList")
        self._refuse_as_its_maker(said, boot)
        self._chip.emit("boot_override", uri=uri, boot=dict(said))
        if self._chip.habits.loses_override_while_off and self._power() != "On":
            return
        boot.update(said)
        if self._maker == "Supermicro" and MODE in boot and MODE not in said:
            boot[MODE] = "Legacy"
        if self._chip.behind is not None:
            self._chip.behind.boot(said)

    def _refuse_order(self, uri: str, said: Mapping[str, Any]) -> None:
        """Refuse a boot order at a system whose settings object has one, and one of options that there are not."""
        if ORDER not in said:
            return
        settings = self._chip.tree.settings_of(uri)
        if settings and ORDER in self._at[settings]:
            raise Refused(405, f"{ORDER} is changed at {settings}", "PropertyNotWritable")
        known = self._at[self._settings.get(uri, uri)].get(ORDER)
        order = said[ORDER]
        if not isinstance(known, list) or not isinstance(order, list) or sorted(order) != sorted(known):
            raise Refused(400, f"{ORDER} does not name each boot option once", "PropertyValueNotInList")

    def _refuse_as_its_maker(self, said: Mapping[str, Any], boot: Mapping[str, Any]) -> None:
        if self._maker == "AMI" and (TARGET in said) is not (ENABLED in said):
            raise Refused(400, f"{TARGET} and {ENABLED} are changed together", "PropertyMissing")
        if self._maker == "HPE" and MODE in said:
            raise Refused(400, f"the property {MODE} is read only", "PropertyNotWritable")
        if self._maker == "HPE" and said.get(TARGET) == "UefiTarget" and boot.get(DEVICE) in (None, "None"):
            raise Refused(400, f"{DEVICE} is set before {TARGET}", "PropertyValueConflict")
        if self._maker == "Dell" and ADDRESS in said:
            raise Refused(400, f"the property {ADDRESS} is not known here", "PropertyUnknown")
        devices = boot.get(f"{DEVICE}@Redfish.AllowableValues")
        if DEVICE in said and isinstance(devices, list) and said[DEVICE] not in devices:
            raise Refused(400, f"the value {said[DEVICE]!r} for {DEVICE} is not allowed", "PropertyValueNotInList")

    def override(self) -> Mapping[str, Any]:
        """Return what the next boot is told: where from, and with which address."""
        boot = next((boot for uri, boot in self._at.items() if uri not in self._later), {})
        return {name: boot[name] for name in (ENABLED, TARGET, "HttpBootUri") if name in boot}

    def reorder(self, order: list[str]) -> None:
        """Have another boot order in force."""
        for uri in self._chip.tree.systems:
            self._at[uri][ORDER] = order

    def start(self) -> None:
        """Take over what waits in settings objects, and use up what was good for one boot."""
        for settings, system in self._settings.items():
            shown = self._at[system]
            waiting = {name: value for name, value in self._at[settings].items() if not isinstance(value, dict)}
            shown.update({name: value for name, value in waiting.items() if name in shown and value != []})
        for boot in self._at.values():
            if boot.get(ENABLED) == "Once":
                boot.update({ENABLED: "Disabled", TARGET: "None"})

    def body(self, uri: str, body: Body) -> Body:
        """Return a resource with its boot settings as they are."""
        return {**body, "Boot": dict(self._at[uri])} if self._at.get(uri) else body
