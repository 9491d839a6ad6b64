"""The settings of a computer that a profile names: its BIOS's, Secure Boot, and what boots first."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus

from fleet_runner.adapters.redfish import bulk, update_queue
from fleet_runner.adapters.redfish.bios import Bios
from fleet_runner.adapters.redfish.bmc import Bmc
from fleet_runner.adapters.redfish.resources import Body
from fleet_runner.adapters.redfish.wire import ROOT
from fleet_runner.core.base.errors import BmcError, BmcRefused, EvidenceError
from fleet_runner.core.firmware import bios, boot_settings, hpe_boot_order, makers
from fleet_runner.core.firmware.bios import Plan, Seen
from fleet_runner.core.firmware.bios_jobs import Queue
from fleet_runner.core.firmware.bios_values import Value
from fleet_runner.core.firmware.boot_settings import DELL_SECURE, ENABLE, FIRST, SECURE, Shown

NEVER = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED})
"""What a BMC answers that does not take a boot order at all."""


class HostSettings:
    """What is wanted of one computer, and its BMC. What nobody wants is not read.

    `mac` is that of the card that the design names to boot from, "" for none.
    """

    def __init__(self, bmc: Bmc, wanted: Mapping[str, Value], mac: str = "") -> None:
        self._bmc = bmc
        self._bios = Bios(bmc)
        self._mac = mac
        self._wanted = {name: value for name, value in wanted.items() if name not in (SECURE, FIRST)}
        self._boot = {name: value for name, value in wanted.items() if name in (SECURE, FIRST)}

    def plan(self) -> Plan:
        """Return what is still to be done."""
        found = Plan()
        if self._wanted:
            known = self._bios.registry(), self._bios.dependencies(), self._bios.complaints()
            seen = Seen(self._bios.attributes(), self._bios.pending(), *known)
            found = bios.plan(self._wanted, seen)
        return boot_settings.both(found, boot_settings.plan(self._boot, self._shown())) if self._boot else found

    def queue(self) -> Queue:
        """Return the jobs that bring settings into force."""
        return self._bios.queue() if self._wanted or self._dell() else Queue()

    def kept(self) -> str:
        """Say what a reset of the host would begin that is not ours; "" where nothing waits for one.

        Raises:
            BmcError: that cannot be read.
        """
        self._bmc.begin()
        at = self._bmc.resources
        return update_queue.unready(at, at.find(at.service("UpdateService")) or {})

    def commit(self) -> tuple[str, Body]:
        """Return what `make_job` sends, and where to."""
        return self._bios.commit()

    def make_job(self) -> None:
        """Have a job made of the settings that wait."""
        self._bios.make_job()

    def requests(self, changes: Mapping[str, Value]) -> list[tuple[str, Body]]:
        """Return what `set` sends, in order, and where to."""
        attributes = {name: value for name, value in changes.items() if name not in (SECURE, FIRST)}
        boot = {name: value for name, value in changes.items() if name in (SECURE, FIRST)}
        if SECURE in boot and self._dell():
            attributes[DELL_SECURE] = "Enabled" if boot.pop(SECURE) else "Disabled"
        found = [self._bios.request(attributes)] if attributes else []
        if SECURE in boot:
            found.append((self._secure(), {ENABLE: boot[SECURE]}))
        if FIRST in boot:
            order = boot_settings.reordered(self._shown(), boot[FIRST])
            if not order:
                raise BmcError(
                    f"{self._bmc.url} shows no {boot[FIRST]} device in its boot order, which it showed before"
                )
            found.append(self._ordering(order))
        return found

    def set(self, changes: Mapping[str, Value]) -> None:
        """Have settings changed at the next reset.

        Raises:
            BmcRefused: the BMC does not take them.
        """
        for uri, body in self.requests(changes):
            if "Attributes" in body:
                self._bios.set(body["Attributes"])
                continue
            self._bmc.begin()
            try:
                self._bmc.resources.patch(uri, body, "Secure Boot" if ENABLE in body else "the boot order")
            except BmcRefused as error:
                tool = makers.TOOLS.get(makers.maker(self._bmc.resources.get(ROOT), {}))
                if ENABLE in body or tool is None or error.status not in NEVER:
                    raise
                told = BmcRefused(f"{error}; {tool} may change it")
                told.status = error.status
                raise told from error

    def _shown(self) -> Shown:
        """Return what the BMC shows; a Dell's Secure Boot waits among its BIOS settings.

        Raises:
            BmcError: it answers for a part of it alone, or for several computers.
        """
        self._bmc.begin()
        bodies = bulk.gather(self._bmc.resources, boot_settings.PATTERNS)
        if unread := [uri for uri, body in bodies.items() if body is None]:
            raise BmcError(f"{self._bmc.url}{unread[0]} cannot be read, which tells of the boot settings")
        try:
            seen = boot_settings.shown(bodies, self._mac)
        except EvidenceError as error:
            raise BmcError(f"{self._bmc.url}: {error}") from error
        if FIRST in self._boot and (hpe := self._hpe()):
            seen = replace(seen, later=hpe_boot_order.waiting(hpe[1]))
        waits = self._bios.pending().get(DELL_SECURE) if SECURE in self._boot and self._dell() else None
        return seen if waits is None else replace(seen, secure={**seen.secure, ENABLE: waits == "Enabled"})

    def _dell(self) -> bool:
        self._bmc.begin()
        oem = self._bmc.computer().body.get("Oem")
        return isinstance(oem, Mapping) and "Dell" in oem

    def _secure(self) -> str:
        self._bmc.begin()
        uri = self._bmc.resources.link(self._bmc.computer().body, "SecureBoot")
        if uri is None:
            raise BmcError(f"{self._bmc.url} links to no Secure Boot, which it showed before")
        return uri

    def _ordering(self, order: Sequence[str]) -> tuple[str, Body]:
        """Return what changes the boot order, and where to: an HPE's in a settings object of its BIOS."""
        if hpe := self._hpe():
            uri, settings = hpe
            if not (body := hpe_boot_order.request(settings, order)):
                raise BmcError(f"{self._bmc.url}{uri} has no name for one of {', '.join(order):.200}")
            return uri, body
        return self._ordered(), {"Boot": {"BootOrder": list(order)}}

    def _hpe(self) -> tuple[str, Body] | None:
        """Return an HPE's settings object of the boot order; None of any other maker's."""
        self._bmc.begin()
        at = self._bmc.resources
        system = self._bmc.computer().body
        oem = system.get("Oem")
        if not isinstance(oem, Mapping) or "Hpe" not in oem:
            return None
        boot = at.find(at.link(at.find(at.link(system, "Bios")), "Oem", "Hpe", "Links", "Boot"))
        uri = at.link(boot, "@Redfish.Settings", "SettingsObject")
        settings = at.find(uri) or {}
        return (uri, settings) if uri and hpe_boot_order.shows(settings) else None

    def _ordered(self) -> str:
        """Return where the boot order is changed: at the system's settings object, where that has one."""
        self._bmc.begin()
        computer = self._bmc.computer()
        settings = self._bmc.resources.link(computer.body, "@Redfish.Settings", "SettingsObject")
        shown = (self._bmc.resources.find(settings) or {}).get("Boot")
        return settings if settings and isinstance(shown, Mapping) and "BootOrder" in shown else computer.uri
