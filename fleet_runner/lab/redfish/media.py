"""Virtual media: slots that take an image by its address, and hold it until it is ejected.

Nothing is fetched. Makers differ, as is known of them: a Supermicro offers the ejection only of what is in; an
ejection of nothing gets 500; a slot in use and a name that does not end as an image's are refused; some want more
than the address (openstack/sushy).
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from fleet_runner.lab.redfish.chip import Chip
from fleet_runner.lab.redfish.tasks import Tasks
from fleet_runner.lab.redfish.trees import Body
from fleet_runner.lab.redfish.wire import Refused, Reply

INSERT, EJECT = "VirtualMedia.InsertMedia", "VirtualMedia.EjectMedia"
SUFFIXES = (".iso", ".img")
EMPTY: Body = {"Image": None, "ImageName": None, "Inserted": False, "ConnectedVia": "NotConnected"}


class Media:
    """Every slot of one BMC."""

    def __init__(self, chip: Chip, tasks: Tasks) -> None:
        self._chip = chip
        self._tasks = tasks
        tree = chip.tree
        kinds = {uri: str(body.get("@odata.type")) for uri, body in tree.bodies.items()}
        self._at: dict[str, Body] = {
            uri: {name: value for name, value in tree.get(uri).items() if name in EMPTY}
            for uri, kind in kinds.items()
            if kind.startswith("#VirtualMedia.")
        }
        self._hidden = {uri for uri in self._at if self._action(uri, INSERT) and not self._action(uri, EJECT)}
        described = [(where, each) for where, each in tree.actions.items() if each.name in (INSERT, EJECT)]
        self.targets = {where: (each.resource, each.name) for where, each in described}
        self.targets |= {f"{uri}/Actions/{EJECT}": (uri, EJECT) for uri in self._hidden}

    @property
    def uris(self) -> tuple[str, ...]:
        """Where they are."""
        return tuple(self._at)

    def body(self, uri: str) -> Body:
        """Return a slot as it is."""
        body = {**self._chip.tree.get(uri), **self._at[uri]}
        if uri in self._hidden and self._at[uri].get("Inserted"):
            body["Actions"] = {**body["Actions"], f"#{EJECT}": {"target": f"{uri}/Actions/{EJECT}"}}
        return body

    def set(self, uri: str, said: Mapping[str, Any]) -> Reply:
        """Insert or eject by PATCH, where a slot has no actions."""
        if self._action(uri, INSERT):
            raise Refused(405, f"a medium is inserted by {INSERT}", "OperationNotAllowed")
        return self._eject(uri) if said.get("Image") is None else self._insert(uri, said)

    def post(self, target: str, said: Mapping[str, Any]) -> Reply:
        """Do an action of a slot."""
        uri, name = self.targets[target]
        return self._insert(uri, said) if name == INSERT else self._eject(uri)

    def _insert(self, uri: str, said: Mapping[str, Any]) -> Reply:
        faults = self._chip.rules.fire("insert", uri=uri)
        if "no_media_license" in faults:
            raise Refused(403, str(faults["no_media_license"]["message"]), "InsufficientPrivilege")
        image = str(said.get("Image") or "")
        if missing := next((name for name in self._chip.habits.media_wants if name not in said), ""):
            raise Refused(400, f"the action requires the parameter {missing}", "ActionParameterMissing")
        if self._at[uri].get("Inserted"):
            raise Refused(409, "a medium is in the slot already", "ResourceInUse")
        if not image.endswith(SUFFIXES):
            raise Refused(400, f"the image {image!r} is none that can be inserted", "ActionParameterValueFormatError")
        if task := faults.get("media_task"):
            return self._later(uri, image, task, faults)
        self._put(uri, image, faults)
        return Reply(204)

    def _later(self, uri: str, image: str, how: Mapping[str, Any], faults: Mapping[str, Any]) -> Reply:
        task = self._tasks.begin("Insert Media")
        self._chip.spawn(self._follow(task, (uri, image), how, faults))
        return Reply(202, self._tasks.body(task), {"Location": self._tasks.monitor(task)})

    async def _follow(
        self, uri: str, slot: tuple[str, str], how: Mapping[str, Any], faults: Mapping[str, Any]
    ) -> None:
        await asyncio.sleep(float(how["seconds"]))
        task = self._tasks.get(uri)
        if task is not None and how["fails"]:
            task.end("Exception", "Critical", "Base.1.0.InternalError", "the image cannot be read from its address")
        elif task is not None:
            self._put(*slot, faults)
            task.end("Completed", "OK", "TaskEvent.1.0.TaskCompletedOK", "The task has completed.")

    def _put(self, uri: str, image: str, faults: Mapping[str, Any]) -> None:
        self._chip.emit("media_inserted", uri=uri, image=image)
        via = "NotConnected" if "media_unconnected" in faults else "URI"
        name = image.rpartition("/")[2]
        self._at[uri].update({"Image": image, "ImageName": name, "Inserted": True, "ConnectedVia": via})

    def _eject(self, uri: str) -> Reply:
        if not self._at[uri].get("Inserted"):
            raise Refused(500, "no medium is in the slot", "InternalError")
        faults = self._chip.rules.fire("eject", uri=uri)
        if "eject_fails" in faults:
            raise Refused(500, "the medium is in use", "InternalError")
        self._chip.emit("media_ejected", uri=uri, image=self._at[uri].get("Image"))
        self._at[uri].update(EMPTY)
        return Reply(204)

    def _action(self, uri: str, name: str) -> bool:
        return f"#{name}" in (self._chip.tree.get(uri).get("Actions") or {})
