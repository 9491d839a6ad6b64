"""Resources as they are now: the tree's, with what has changed written over it."""

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from fleet_runner.lab.redfish.chip import Chip
from fleet_runner.lab.redfish.eventing import Eventing
from fleet_runner.lab.redfish.firmware import Firmware
from fleet_runner.lab.redfish.gate import Gate
from fleet_runner.lab.redfish.host import Host
from fleet_runner.lab.redfish.media import Media
from fleet_runner.lab.redfish.restarts import Restarts
from fleet_runner.lab.redfish.tasks import Tasks, moment
from fleet_runner.lab.redfish.trees import ROOT, Body, Tree, clean, merged
from fleet_runner.lab.redfish.updates import Updates

Make = Callable[[str], Body | None]


class Resources:
    """Every resource of one BMC."""

    def __init__(
        self, chip: Chip, parts: tuple[Gate, Tasks, Firmware, Host, Restarts, Updates, Eventing], media: Media
    ) -> None:
        self._chip = chip
        self._gate, self._tasks, self._firmware, self._host, self._restarts, self._updates, self._eventing = parts
        self.changes: dict[str, Mapping[str, Any]] = {}  # what clients have changed
        tree = chip.tree
        self._made: dict[str, Make] = {
            tree.sessions: lambda uri: _collection(tree, uri, self._gate.listed()),
            tree.tasks: lambda uri: _collection(tree, uri, self._tasks.listed()),
            f"{tree.task_service}/TaskMonitors": lambda _: None,
            **{each: self._subscriptions for each in (self._eventing.collection,) if each},
            **({tree.jobs: lambda uri: _collection(tree, uri, self._tasks.jobs())} if tree.jobs else {}),
            tree.inventory: self._inventory,
            tree.update_service: self._service,
            **dict.fromkeys(tree.managers, self._manager),
            **{uri: self._system for uri in (*tree.systems, *map(tree.settings_of, tree.systems)) if uri},
            **dict.fromkeys(self._firmware.copies.uris, self._firmware.copies.body),
            **dict.fromkeys(self._host.secure_boot.uris, self._host.secure_boot.body),
            **dict.fromkeys(media.uris, media.body),
            **{each: self._host.hpe_boot.body for each in (self._host.hpe_boot.uri,) if each},
            **{bios.jobs.uri: bios.jobs.body for bios in self._host.bioses if bios.jobs.uri},
            **{each: bios.body for bios in self._host.bioses for each in (bios.uri, bios.settings)},
        }
        self._chassis = _powered(tree)

    def get(self, uri: str) -> Body | None:
        """Return a resource as it is now, None where there is none."""
        tree = self._chip.tree
        if (make := self._made.get(uri)) is not None:
            body = make(uri)
        elif uri.startswith(f"{tree.sessions}/"):
            body = self._gate.body(uri)
        elif self._eventing.collection and uri.startswith(f"{self._eventing.collection}/"):
            body = self._eventing.body(uri)
        elif uri.startswith(f"{tree.inventory}/"):
            body = self._entry(uri)
        elif uri.startswith(f"{tree.tasks}/"):
            body = self._tasks.body(uri)
        elif tree.jobs and uri.startswith(f"{tree.jobs}/"):
            body = self._tasks.job(uri) or tree.bodies.get(uri)
        elif uri in self._chassis:
            body = {**tree.get(uri), "PowerState": self._power()}
        else:
            jobs = (bios.jobs.body(uri) for bios in self._host.bioses)
            body = next(filter(None, jobs), None) or tree.bodies.get(uri)
        if body is not None and uri in self.changes:
            body = merged(body, self.changes[uri])
        behind = self._chip.behind
        return body if body is None or behind is None else merged(body, behind.shows(uri))

    def said(self, uri: str) -> tuple[bytes, str] | None:
        """Return a resource as it is sent, with its entity tag; None where there is none."""
        tree = self._chip.tree
        if self._chip.behind is not None:
            return self._sent(uri)
        passing = uri.startswith((f"{tree.sessions}/", f"{tree.tasks}/", f"{tree.inventory}/"))
        if passing or uri in self._made or uri in self.changes or uri in self._chassis or uri not in tree.bodies:
            return self._sent(uri)
        if uri not in tree.said:
            tree.said[uri] = _as_sent(tree.bodies[uri])
        return tree.said[uri]

    def _sent(self, uri: str) -> tuple[bytes, str] | None:
        body = self.get(uri)
        return None if body is None else _as_sent(body)

    def _subscriptions(self, uri: str) -> Body:
        return _collection(self._chip.tree, uri, self._eventing.listed())

    def _inventory(self, uri: str) -> Body:
        body = dict(self._chip.tree.get(uri))
        shown = self._firmware.shown()
        members = [each for each in body.get("Members") or () if _end(each) in shown or _end(each) not in self._ids()]
        self._firmware.read()
        now = [self._whole(each) for each in members]
        return {**body, "Members": now, "Members@odata.count": len(now)}

    def _whole(self, member: Mapping[str, Any]) -> Mapping[str, Any]:
        """A member of a collection, as it is now where the collection shows more than its link."""
        uri = f"{clean(member['@odata.id']).rpartition('/')[0]}/{self._firmware.name(_end(member))}"
        return {"@odata.id": uri} if set(member) == {"@odata.id"} else self.get(uri) or member

    def _ids(self) -> Mapping[str, str]:
        return self._chip.tree.entries

    def _entry(self, uri: str) -> Body | None:
        """An entry of the inventory, by the name that it has now; what else is below the inventory is the tree's."""
        shown = self._firmware.shown()
        end = uri.removeprefix(f"{self._chip.tree.inventory}/")
        entry = self._firmware.find(end)
        if entry is None and end not in self._ids():
            return self._chip.tree.bodies.get(uri)
        if entry is None or entry not in shown:
            return None
        body = {**self._chip.tree.get(self._ids()[entry]), "Version": shown[entry]}
        return body if end == entry else {**body, "@odata.id": uri, "Id": end}

    def _manager(self, uri: str) -> Body:
        body = dict(self._chip.tree.get(uri))
        now = time.time()
        if "DateTime" in body:
            body["DateTime"] = moment(now)
        first = uri == self._chip.tree.managers[0]
        if first and "LastResetTime" in body and self._restarts.last_reset is not None:
            body["LastResetTime"] = moment(self._restarts.last_reset)
        return self._changed(body, "FirmwareVersion", self._image(uri, "*BMC*" if first else ""))

    def _system(self, uri: str) -> Body:
        body = self._host.boot.body(uri, dict(self._chip.tree.get(uri)))
        if uri not in self._chip.tree.systems:
            return body
        body["PowerState"] = self._power()
        if self._host.last_reset is not None and "LastResetTime" in body:
            body["LastResetTime"] = moment(self._host.last_reset)
        if "BootProgress" in body and (self._host.last_reset is not None or self._host.state != "On"):
            body["BootProgress"] = {**(body["BootProgress"] or {}), "LastState": self._host.progress()}
        return self._changed(body, "BiosVersion", self._image(self._chip.tree.link(uri, "Bios"), "*BIOS*"))

    def _power(self) -> str:
        return self._host.state

    def _image(self, uri: str, glob: str) -> str:
        """The inventory id of what runs on a resource: the image that it names, or the first of such a name."""
        named = self._chip.tree.link(uri, "Links", "ActiveSoftwareImage").rpartition("/")[2]
        ids = [entry for entry in self._ids() if fnmatchcase(entry, glob) and "ROT" not in entry.upper()]
        ids = [entry for entry in ids if not entry.startswith(("HGX", "Backup", "Golden", "Staging", "Capsule"))]
        return named if named in self._ids() else next(iter(ids), "")

    def _changed(self, body: Body, name: str, entry: str) -> Body:
        """Show a version that is no longer the tree's; until then what the tree writes, in whatever form, is kept."""
        uri = self._ids().get(entry)
        if uri is None or name not in body or self._firmware.running[entry] == self._chip.tree.get(uri)["Version"]:
            return body
        return {**body, name: self._firmware.running[entry]}

    def _service(self, uri: str) -> Body:
        """The update service; AMI's also says how far a flash has come."""
        body = dict(self._chip.tree.get(uri))
        running = self._updates.running()
        oem = body.get("Oem")
        ami = oem.get("Ami") if isinstance(oem, dict) else None
        if running and isinstance(oem, dict) and isinstance(ami, dict) and "FlashPercentage" in ami:
            task = self._tasks.get(running[-1].task)
            said = f"{task.percent() if task else 0}% done."
            flash = {**ami, "FlashPercentage": said, "UpdateStatus": "Flashing", "UpdateTarget": "Firmware"}
            body["Oem"] = {**oem, "Ami": flash}
        hpe = oem.get("Hpe") if isinstance(oem, dict) else None
        if isinstance(hpe, dict) and isinstance(oem, dict):
            body["Oem"] = {**oem, "Hpe": {**hpe, **self._state()}}
        return body

    def _state(self) -> Body:
        """What HPE says of the newest update: that it is written, is complete, or failed and why."""
        newest = self._updates.all[-1] if self._updates.all else None
        if newest is None:
            return {"State": "Idle"}
        if newest.outcome == "running":
            task = self._tasks.get(newest.task)
            return {"State": "Updating", "FlashProgressPercent": task.percent() if task else 0}
        if newest.outcome == "failed":
            return {"State": "Error", "Result": {"MessageId": f"iLO.2.14.{newest.why}"}}
        return {"State": "Complete", "FlashProgressPercent": 100, "Result": {"MessageId": "iLO.2.14.Success"}}


def _collection(tree: Tree, uri: str, members: list[str]) -> Body:
    kind = {tree.sessions: "Session", tree.tasks: "Task", tree.jobs: "Job"}.get(uri, "EventDestination")
    plain = {"@odata.type": f"#{kind}Collection.{kind}Collection", "Name": f"{kind} Collection"}
    links = [{"@odata.id": each} for each in members]
    return {"@odata.id": uri, **plain, **tree.get(uri), "Members": links, "Members@odata.count": len(links)}


def _powered(tree: Tree) -> frozenset[str]:
    """The chassis that say On or Off with the host."""
    listed = tree.members(tree.link(ROOT, "Chassis") or f"{ROOT}/Chassis")
    hosted = [uri for uri in listed if tree.get(uri).get("PowerState") in ("On", "Off")]
    return frozenset(uri for uri in hosted if _systems(tree.get(uri)) & set(tree.systems))


def _systems(body: Mapping[str, Any]) -> set[str]:
    links = body.get("Links")
    listed = links.get("ComputerSystems") if isinstance(links, dict) else None
    return {clean(each["@odata.id"]) for each in listed or () if isinstance(each, dict) and "@odata.id" in each}


def _end(member: Any) -> str:
    uri = member.get("@odata.id") if isinstance(member, dict) else None
    return clean(uri).rpartition("/")[2] if isinstance(uri, str) else ""


def _as_sent(body: Body) -> tuple[bytes, str]:
    plain = {name: value for name, value in body.items() if name != "@odata.etag"}
    tag = f'"{hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]}"'
    return json.dumps({**plain, "@odata.etag": tag} if "@odata.etag" in body else plain).encode(), tag
