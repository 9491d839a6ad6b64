"""What a BMC answers: who may ask, what is there, what can be changed, what can be done."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from fleet_runner.lab.redfish.actions import Actions
from fleet_runner.lab.redfish.bodies import Resources
from fleet_runner.lab.redfish.chip import Chip
from fleet_runner.lab.redfish.eventing import Eventing
from fleet_runner.lab.redfish.gate import Gate
from fleet_runner.lab.redfish.host import Host
from fleet_runner.lab.redfish.media import Media
from fleet_runner.lab.redfish.restarts import Restarts
from fleet_runner.lab.redfish.tasks import Tasks
from fleet_runner.lab.redfish.trees import ROOT, merged
from fleet_runner.lab.redfish.updates import Updates
from fleet_runner.lab.redfish.wire import Dropped, Refused, Reply, Request

VERSIONS = "/redfish"
METADATA = f"{ROOT}/$metadata"
OPEN_TO_ALL = frozenset({VERSIONS, ROOT, METADATA, f"{ROOT}/odata"})
CHANGEABLE = frozenset(
    {"AccountService", "Bios", "BootOption", "Chassis", "ComputerSystem", "EthernetInterface", "EventDestination",
     "EventService", "LogService", "Manager", "ManagerAccount", "ManagerNetworkProtocol", "SecureBoot",
     "SessionService", "TaskService", "UpdateService", "VirtualMedia"}
)  # fmt: skip
"""The types of resources that take PATCH."""

FIXED = frozenset({"Id", "Name", "Members", "Links", "Actions", "Status", "Oem"})
"""Properties that nobody changes with PATCH."""


class Answers:
    """The Redfish service of one BMC."""

    def __init__(
        self,
        chip: Chip,
        bodies: Resources,
        parts: tuple[Gate, Tasks, Host, Restarts, Updates, Eventing, Media],
        actions: Actions,
    ) -> None:
        self._chip = chip
        self._bodies = bodies
        self._gate, self._tasks, self._host, self._restarts, self._updates, self._eventing, self._media = parts
        self._actions = actions

    async def handle(self, request: Request) -> Reply:
        """Answer one request."""
        if self._chip.behind is not None and not self._chip.behind.answers():
            raise Dropped
        request.uri = self._chip.tree.spelled(request.uri)
        self._host.look()
        self._chip.emit("request", method=request.method, uri=request.uri)
        await self._disturb(request)
        if self._chip.pace.request:
            await asyncio.sleep(self._chip.pace.request)
        if self._restarts.starting():
            raise Refused(503, "the service is starting", "ServiceTemporarilyUnavailable", Retry_After="1")
        logging_in = request.method == "POST" and request.uri in self._sessions()
        if not logging_in and not (request.method in ("GET", "HEAD") and request.uri in OPEN_TO_ALL):
            self._gate.enter(request)
        if self._host.hides(request.uri):
            raise Refused(
                503, "the GPU baseboard is not there while the host is off", "ServiceTemporarilyUnavailable"
            )
        match request.method:
            case "GET" | "HEAD":
                return self._get(request)
            case "POST":
                return await (self._gate.log_in(request) if logging_in else self._post(request))
            case "PATCH":
                return await self._patch(request)
            case "DELETE":
                return self._delete(request)
        raise self._not_allowed(request)

    async def _disturb(self, request: Request) -> None:
        """Let go wrong what rules say of this request."""
        faults = self._chip.rules.fire("request", uri=request.uri, method=request.method)
        if "lose_session" in faults:
            self._gate.forget("fault")
        if "delay" in faults:
            await asyncio.sleep(float(faults["delay"]["seconds"]))
        if "drop" in faults:
            raise Dropped
        if "answer" in faults:
            raise Refused(int(faults["answer"]["status"]), str(faults["answer"]["message"]))

    def _get(self, request: Request) -> Reply:
        uri = request.uri
        if uri == VERSIONS:
            return Reply(200, {"v1": f"{ROOT}/"})
        if uri == METADATA and self._chip.tree.metadata:
            return Reply(200, self._chip.tree.metadata.encode(), {"Content-Type": "application/xml"})
        if (task := self._tasks.watched(uri)) is not None:
            return self._watch(uri, task)
        said = self._bodies.said(uri)
        if said is None:
            raise self._not_allowed(request)
        text, tag = said
        if request.headers.get("if-none-match") == tag:
            return Reply(304, None, {"ETag": tag})
        status = 202 if self._chip.tree.dell and self._tasks.goes_on(uri) else 200  # as an iDRAC has it
        return Reply(status, text, {"ETag": tag, "Allow": self._allowed(uri)})

    def _watch(self, uri: str, task: str) -> Reply:
        """Answer as a task's monitor: 202 while it runs, then what came of it."""
        body = self._tasks.body(task) or {}
        running = body.get("TaskState") == "Running"
        return Reply(202 if running else 200, body, {"Location": uri, "Retry-After": "1"} if running else {})

    async def _post(self, request: Request) -> Reply:
        tree = self._chip.tree
        service = self._bodies.get(tree.update_service) or {}
        pushed = {service.get("MultipartHttpPushUri"), service.get("HttpPushUri")} - {None}
        if request.uri in {str(uri).rstrip("/") for uri in pushed}:
            return await self._updates.push(request, service)
        if self._eventing.collection and request.uri == self._eventing.collection:
            return await self._eventing.add(request)
        for bios in self._host.bioses:
            if bios.jobs.uri and request.uri == bios.jobs.uri:
                return bios.jobs.post(await request.json(), time.time(), waits=bool(bios.pending))
        if request.uri in self._media.targets:
            return self._media.post(request.uri, await request.json())
        action = tree.actions.get(request.uri)
        if action is None:
            raise self._not_allowed(request)
        if action.name == "UpdateService.SimpleUpdate":
            return await self._updates.simple(request)
        return await self._actions.do(action, await request.json())

    async def _patch(self, request: Request) -> Reply:
        said = await request.json()
        known = self._bodies.said(request.uri)
        if known is None:
            raise self._not_allowed(request)
        match = request.headers.get("if-match")
        if match is None and self._chip.habits.needs_if_match:
            raise Refused(428, "If-Match is missing", "PreconditionRequired")
        if match not in (None, "*", known[1]):
            raise Refused(412, "the resource has changed since it was read", "PreconditionFailed", ETag=known[1])
        for bios in self._host.bioses:
            if request.uri == bios.settings:
                return bios.set(said)
        if request.uri in self._media.uris:
            return self._media.set(request.uri, said)
        if self._boots(request.uri, said):
            return Reply(204)
        self._change(request, said)
        return Reply(200, self._bodies.get(request.uri))

    def _boots(self, uri: str, said: Mapping[str, Any]) -> bool:
        """Change what the host boots, where a resource tells of that."""
        host = self._host
        if uri == host.hpe_boot.uri:
            host.hpe_boot.set(said)
        elif uri in host.secure_boot.uris:
            host.secure_boot.set(uri, said)
        elif set(said) == {"Boot"} and host.boot.knows(uri):
            if not isinstance(said["Boot"], dict):
                raise Refused(400, "Boot is not an object", "PropertyValueTypeError")
            host.boot.set(uri, said["Boot"])
        else:
            return False
        return True

    def _change(self, request: Request, said: Mapping[str, Any]) -> None:
        """Change properties that a resource has; what it has not, or what is not a client's to change, is refused."""
        body = self._bodies.get(request.uri) or {}
        if not said or "PATCH" not in self._allowed(request.uri):
            raise self._not_allowed(request)
        for name in said:
            if name not in body or "@" in name:
                raise Refused(400, f"the property {name} is not known here", "PropertyUnknown")
            if name in FIXED:
                raise Refused(400, f"the property {name} is read only", "PropertyNotWritable")
        self._bodies.changes[request.uri] = merged(self._bodies.changes.get(request.uri, {}), said)

    def _delete(self, request: Request) -> Reply:
        if request.uri.startswith(f"{self._chip.tree.sessions}/"):
            return self._gate.log_out(request.uri)
        if self._eventing.body(request.uri) is not None:
            return self._eventing.remove(request.uri)
        if self._tasks.body(request.uri) and self._tasks.delete(request.uri):
            return Reply(204)
        raise self._not_allowed(request)

    def _sessions(self) -> tuple[str, str]:
        return self._chip.tree.sessions, f"{self._chip.tree.sessions}/Members"

    def _allowed(self, uri: str) -> str:
        """Return the methods that a resource takes."""
        tree = self._chip.tree
        if uri in tree.actions:
            return "POST"
        kind = str(tree.get(uri).get("@odata.type")).lstrip("#").partition(".")[0]
        collections = [tree.sessions, tree.tasks, *filter(None, [self._eventing.collection])]
        deleted = tuple(f"{each}/" for each in collections)
        read_only = any(uri == bios.uri != bios.settings for bios in self._host.bioses)
        posted = {tree.sessions: ", POST", self._eventing.collection: ", POST"}
        more = posted.get(uri, ", PATCH" if kind in CHANGEABLE and not read_only else "")
        return f"GET, HEAD{more}{', DELETE' if uri.startswith(deleted) else ''}"

    def _not_allowed(self, request: Request) -> Refused:
        """405 where something is, 404 where nothing is."""
        if self._bodies.get(request.uri) is None and request.uri not in self._chip.tree.actions:
            return Refused(404, f"there is no resource at {request.uri}", "ResourceMissingAtURI")
        why = f"{request.method} is not possible at {request.uri}"
        return Refused(405, why, "OperationNotAllowed", Allow=self._allowed(request.uri))
