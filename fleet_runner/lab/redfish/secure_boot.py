"""Secure Boot of a host: wished at its resource, in force from the next start on, never without a key."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fleet_runner.lab.redfish.bios import Bios
from fleet_runner.lab.redfish.chip import Chip
from fleet_runner.lab.redfish.trees import Body
from fleet_runner.lab.redfish.wire import Refused

ENABLE, CURRENT, MODE = "SecureBootEnable", "SecureBootCurrentBoot", "SecureBootMode"

SETTING = "SecureBoot"
"""A Dell's BIOS setting, which its resource mirrors (bmc-toolbox/bmclib 471)."""


class SecureBoot:
    """The Secure Boot of each system that has one."""

    def __init__(self, chip: Chip, bioses: Callable[[], Iterable[Bios]]) -> None:
        self._chip = chip
        self._bioses = bioses
        found = [chip.tree.link(system, "SecureBoot") for system in chip.tree.systems]
        self._at = {uri: dict(chip.tree.get(uri)) for uri in found if ENABLE in chip.tree.get(uri)}

    @property
    def uris(self) -> tuple[str, ...]:
        """Where they are."""
        return tuple(self._at)

    def set(self, uri: str, said: Mapping[str, Any]) -> None:
        """Wish for the next start; raise Refused for anything else."""
        if set(said) != {ENABLE} or not isinstance(said[ENABLE], bool):
            raise Refused(400, f"only {ENABLE} can be changed here, to true or false", "PropertyNotWritable")
        self._chip.emit("secure_boot_set", enable=said[ENABLE])
        self._at[uri][ENABLE] = said[ENABLE]

    def start(self) -> None:
        """Bring what is wished into force, as a start of the host does."""
        for body in self._at.values():
            body[CURRENT] = "Enabled" if body[ENABLE] and body.get(MODE) != "SetupMode" else "Disabled"

    def body(self, uri: str) -> Body:
        """Return the resource as it is."""
        now = next((bios.running.get(SETTING) for bios in self._bioses()), None) if self._chip.tree.dell else None
        return {**self._at[uri], **({} if now is None else {ENABLE: now == "Enabled", CURRENT: now})}
