"""The BIOS settings behind a BMC: those in force, those that wait for a reset, what is known of each, and changes."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fleet_runner.adapters.redfish.bmc import Bmc
from fleet_runner.adapters.redfish.resources import Body
from fleet_runner.core.base.errors import BmcError
from fleet_runner.core.firmware import bios, bios_jobs, bios_messages
from fleet_runner.core.firmware.bios_jobs import Queue

SETTINGS = "@Redfish.Settings"
APPLY = "@Redfish.SettingsApplyTime"
ON_RESET = "OnReset"


class Bios:
    """The settings of the computer behind a BMC. Each method is a call with a time limit of its own."""

    def __init__(self, bmc: Bmc) -> None:
        self._bmc = bmc
        self._at = bmc.resources
        self._file: Body | None = None  # the registry, once it was read

    def attributes(self) -> dict[str, Any]:
        """Return the settings in force, by name."""
        self._bmc.begin()
        uri, body = self._bios()
        found = body.get("Attributes")
        if not isinstance(found, dict):
            raise BmcError(f"{self._bmc.url}{uri} shows no Attributes; expected them once the computer has booted")
        return found

    def pending(self) -> dict[str, Any]:
        """Return the settings that will be in force after a reset and are not yet; none where none wait."""
        self._bmc.begin()
        uri, body = self._bios()
        where = self._future(body)
        if where is None or where == uri:
            return {}
        future = (self._at.find(where) or {}).get("Attributes")
        now = body.get("Attributes")
        return bios.pending(now if isinstance(now, dict) else {}, future)

    def complaints(self) -> tuple[str, ...]:
        """Return what the BMC says that the host did not do as it was told, when it last took settings up."""
        self._bmc.begin()
        return bios_messages.complaints(self._bios()[1])

    def queue(self) -> Queue:
        """Return the jobs that bring settings into force, where the settings object links to such (Dell's do)."""
        self._bmc.begin()
        where, jobs = self._jobs()
        if jobs is None:
            return Queue()
        found = self._at.newest(jobs, bios_jobs.NEWEST)
        bodies = [body or self._at.find(uri) or {} for uri, body in found.items()]
        return Queue(needed=True, jobs=bios_jobs.read(bodies, where))

    def commit(self) -> tuple[str, Body]:
        """Return what `make_job` sends, and where to.

        Raises:
            BmcError: there is no place for jobs.
        """
        self._bmc.begin()
        return self._job()

    def make_job(self) -> None:
        """Have a job made of the settings that wait, which the next reset of the host carries out.

        Raises:
            BmcRefused: the BMC makes none.
        """
        self._bmc.begin()
        uri, body = self._job()
        self._at.done(self._at.wire.ask("POST", uri, body), "a job for the BIOS settings that wait")

    def registry(self) -> dict[str, Body]:
        """Return what the BMC says of each setting (Type, Value, ReadOnly, limits), by name; {} if nothing."""
        return {str(each["AttributeName"]): each for each in self._entries("Attributes") if each.get("AttributeName")}

    def dependencies(self) -> list[Body]:
        """Return what the registry says that settings make of others; [] if nothing."""
        return self._entries("Dependencies")

    def request(self, changes: Mapping[str, Any]) -> tuple[str, Body]:
        """Return what `set` sends, and where to."""
        self._bmc.begin()
        return self._request(changes)

    def set(self, changes: Mapping[str, Any]) -> None:
        """Have settings changed at the next reset.

        Raises:
            BmcRefused: the BMC does not take them.
        """
        self._bmc.begin()
        uri, change = self._request(changes)
        self._at.patch(uri, change, f"the BIOS settings {', '.join(changes)}")

    def _entries(self, kind: str) -> list[Body]:
        """Return the entries of one kind of the registry, which is read once: it is large."""
        if self._file is None:
            self._bmc.begin()
            _, body = self._bios()
            name = body.get("AttributeRegistry")
            self._file = (self._registry_file(str(name)) if name else None) or {}
        entries = self._file.get("RegistryEntries")
        listed = entries.get(kind) if isinstance(entries, Mapping) else None
        return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []

    def _request(self, changes: Mapping[str, Any]) -> tuple[str, Body]:
        uri, body = self._bios()
        change: Body = {"Attributes": dict(changes)}
        said = body.get(SETTINGS)
        values = said.get("SupportedApplyTimes") if isinstance(said, Mapping) else None
        if isinstance(values, list) and ON_RESET in values:
            change[APPLY] = {"ApplyTime": ON_RESET}
        return self._future(body) or uri, change

    def _jobs(self) -> tuple[str, str | None]:
        """Return where settings wait, and the collection of the jobs that apply them; None where it has none."""
        uri, body = self._bios()
        where = self._future(body) or uri
        waiting = body if where == uri else self._at.find(where)
        return where, self._at.link(waiting, "Oem", "Dell", "Jobs")

    def _job(self) -> tuple[str, Body]:
        where, jobs = self._jobs()
        if jobs is None:
            raise BmcError(f"{self._bmc.url}{where} links to no jobs; expected some once settings wait for one")
        return jobs, {"TargetSettingsURI": where}

    def _bios(self) -> tuple[str, Body]:
        uri = self._at.link(self._bmc.computer().body, "Bios")
        if uri is None:
            raise BmcError(f"{self._bmc.url} shows no BIOS settings: its system has no link to them")
        return uri, self._at.get(uri)

    def _future(self, body: Body) -> str | None:
        return self._at.link(body, SETTINGS, "SettingsObject")

    def _registry_file(self, name: str) -> Body | None:
        """Return the registry of a name: the resource itself, or the file that its entry names in our language."""
        collection = self._at.service("Registries")
        if collection is None or self._at.find(collection) is None:
            return None
        uris = self._at.members(collection)
        first = [uri for uri in uris if _stem(uri.rstrip("/").rpartition("/")[2]) == _stem(name)]
        alike: list[Body] = []
        for uri in [*first, *(uri for uri in uris if uri not in first)]:
            entry = self._at.find(uri) or {}
            named = [str(entry.get(key) or "") for key in ("Registry", "Id", "RegistryPrefix")]
            if any(_same(each, name) for each in named):
                return self._whole(entry)
            alike += [entry] if _stem(name) in map(_stem, named) else []
        # A Dell's BIOS names version 1.0.3 of its registry, and the only one that is listed calls itself 1.0.0.
        return self._whole(alike[0]) if len(alike) == 1 else None

    def _whole(self, entry: Body) -> Body | None:
        return entry if "RegistryEntries" in entry else self._located(entry)

    def _located(self, entry: Body) -> Body | None:
        locations = entry.get("Location")
        known = [each for each in locations if isinstance(each, Mapping)] if isinstance(locations, list) else []
        known.sort(key=lambda each: not str(each.get("Language", "")).startswith("en"))
        for each in known:
            try:
                where = self._at.wire.own(each.get("Uri"), anywhere=True)  # Supermicro's lies outside of /redfish
            except BmcError:  # another server's, which we do not ask
                continue
            reply = self._at.wire.ask("GET", where)
            if reply.status != HTTPStatus.NOT_FOUND:
                return self._at.done(reply, where).body
        return None


def _stem(name: str) -> str:
    return re.sub(r"(\.\d+)+$", "", _plain(name))


def _same(entry: str, name: str) -> bool:
    """Tell if two names are one registry's: vendors write a version as "1.1.3", "v1_1_3", or leave it out."""
    return _plain(entry) in {_plain(name), _stem(name)}


def _plain(name: str) -> str:
    """Return a name without its language, with its version as "1.1.3"."""
    lower = re.sub(r"\.[a-z]{2}-[a-z]{2}(?=\.|$)", "", name.lower().removesuffix(".json"))
    return re.sub(r"\.v(?=\d)", ".", lower).replace("_", ".")
