"""A BMC's firmware: what it has, what it takes and how, its tasks, and one image sent to it. All of it discovered."""

import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from http import HTTPStatus

from fleet_runner.adapters.redfish import background_copy, image_upload, lifecycle_controller, resets, update_queue
from fleet_runner.adapters.redfish.banks import told_apart
from fleet_runner.adapters.redfish.bmc import Bmc, dated
from fleet_runner.adapters.redfish.exchange import Reply
from fleet_runner.adapters.redfish.image_upload import Offer, Request, Upload
from fleet_runner.adapters.redfish.resources import Body
from fleet_runner.adapters.redfish.wire import DONE
from fleet_runner.core.base.errors import BmcError, BmcRefused
from fleet_runner.core.firmware import tasks
from fleet_runner.core.firmware.flash import Task
from fleet_runner.core.firmware.makers import Maker

__all__ = ["NoTasksError", "Offer", "Request", "Updates", "Upload"]

NONE_THERE = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})
SAYS_NOTHING = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.REQUEST_TIMEOUT,
                          HTTPStatus.TOO_MANY_REQUESTS})  # fmt: skip
"""Refusals that are about who asks and how often, not about what a monitor waits for."""

BUSY = frozenset(
    {"uploading", "downloading", "verifying", "preparing", "writing", "flashing", "updating", "inprogress"}
)
"""What HPE and AMI say of an UpdateService that is about something."""


class NoTasksError(BmcError):
    """A BMC has no list of tasks at all; it is not one that could not be read this time."""


class Updates:
    """The firmware behind a BMC. Each method is a call with a time limit of its own."""

    def __init__(self, bmc: Bmc) -> None:
        self._bmc = bmc
        self._at = bmc.resources

    def offer(self) -> Offer:
        """Return how the BMC takes images."""
        self._bmc.begin()
        return image_upload.offer(self._at, self._service())

    def maker(self) -> Maker:
        """Return whose BMC it is, unknown where it does not say: for words, which nothing else waits for."""
        self._bmc.begin()
        try:
            return image_upload.maker(self._at, self._service())
        except BmcError:
            return Maker.UNKNOWN

    def inventory(self) -> dict[str, Body]:
        """Return {URI: body} of every firmware that the BMC lists, never of a part of them."""
        self._bmc.begin()
        collection = self._at.link(self._service(), "FirmwareInventory")
        if collection is None:
            raise BmcError(f"{self._bmc.url} lists no firmware: its UpdateService has no FirmwareInventory")
        return told_apart(self._at, self._at.all(collection))

    def boards(self) -> tuple[str, ...]:
        """Return the models and part numbers of the BMC's computers and chassis."""
        self._bmc.begin()
        found: list[str] = []
        for name in ("Systems", "Chassis"):
            collection = self._at.service(name)
            for body in self._at.all(collection).values() if collection else ():
                values = (body.get(key) for key in ("Model", "PartNumber"))
                found += [value.strip() for value in values if isinstance(value, str) and value.strip()]
        return tuple(dict.fromkeys(found))

    def tasks(self) -> dict[str, Task]:
        """Return every task that the BMC lists, by its URI.

        Raises:
            NoTasksError: the BMC has no list of them: nobody can tell what it is about.
            BmcError: they cannot be read.
        """
        self._bmc.begin()
        collection = self._tasks_uri()
        if collection is None:
            raise NoTasksError(f"{self._bmc.url} has no list of tasks, so its tasks cannot be seen")
        found = {uri: self._task(uri) for uri in self._at.members(collection)}
        return {uri: task for uri, task in found.items() if task is not None}

    def task(self, uri: str) -> Task | None:
        """Return a task, or what its monitor says of it; None where the BMC knows of none."""
        self._bmc.begin()
        found = self._task(uri)
        if found is None and (job := lifecycle_controller.kept(self._at, uri)):
            found = self._task(job)
        return None if found is None else replace(found, uri=uri)

    def unready(self) -> str:
        """Say why the BMC takes no update just now, though it is at rest; "" where it does."""
        self._bmc.begin()
        return (
            lifecycle_controller.unready(self._at)
            or update_queue.unready(self._at, self._service())
            or background_copy.unready(self._at)
        )

    def updating(self) -> bool:
        """Tell if the BMC's UpdateService itself, or a vendor's part of it, says that an update goes on."""
        return self.said()[0]

    def said(self) -> tuple[bool, str]:
        """Return that, and why its last update failed where it says so: HPE's has no task that would."""
        self._bmc.begin()
        service = self._service()
        return _busy(service), _failure(service)

    def send(self, wanted: Upload) -> str:
        """Send an image, once, and return the URI of its task; "" where the BMC took it and names none.

        Raises:
            BmcRefused: it is certain that the BMC did not take it.
            BmcError: whether the BMC took it is unknown.
        """
        self._bmc.begin()
        try:
            # Reads, which open the session that the image is sent in, if the one from before has run out.
            service = self._service()
            collection = self._tasks_uri()
            offered = image_upload.offer(self._at, service)
            way, _ = image_upload.way(self._bmc.url, offered, wanted)
        except BmcError as error:
            raise BmcRefused(f"nothing was sent: {error}") from error
        reply = image_upload.WAYS[way](self._at, offered, service, wanted)
        self._at.done(reply, f"the image {wanted.path.name}")
        return self._task_of(reply, collection)

    def requests(self, wanted: Upload) -> tuple[Request, ...]:
        """Return what `send` would send, in order; nothing is sent."""
        self._bmc.begin()
        service = self._service()
        offered = image_upload.offer(self._at, service)
        way, _ = image_upload.way(self._bmc.url, offered, wanted)
        return image_upload.requests(self._at, way, offered, service, wanted)

    def reset_bmc(self) -> None:
        """Restart the BMC of the computer, not one of its baseboards'; what it answers last may get lost.

        Raises:
            NoWayError: it offers no way.
            BmcRefused: it did not take it.
        """
        self._bmc.begin()
        resets.bmc(self._bmc)

    def reset_host(self, alive: Callable[[], None] = lambda: None) -> None:
        """Take power from the computer and give it back, or switch on one that is off; `alive` may stop that."""
        resets.host(self._bmc, alive)

    def ac_drain(self) -> None:
        """Take all power away, standby power too, and give it back.

        Raises:
            NoWayError: the BMC offers no way.
            BmcRefused: it did not take it.
        """
        self._bmc.begin()
        resets.ac_drain(self._bmc)

    def bmc_reset_at(self) -> float | None:
        """Return when the BMC started, in epoch seconds by our clock; None where it does not tell."""
        self._bmc.begin()
        return resets.bmc_reset_at(self._bmc)

    def _service(self) -> Body:
        uri = self._at.service("UpdateService")
        if uri is None:
            raise BmcError(f"{self._bmc.url} has no UpdateService; its firmware cannot be read over Redfish")
        return self._at.get(uri)

    def _tasks_uri(self) -> str | None:
        """Return the collection of tasks; of jobs, where there is none."""
        for service, name in (("Tasks", "Tasks"), ("TaskService", "Tasks"), ("JobService", "Jobs")):
            uri = self._at.link(self._at.find(self._at.service(service)), name)
            if uri is not None:
                return uri
        return None

    def _task(self, uri: str) -> Task | None:
        where = self._at.wire.own(uri, anywhere=True)
        reply = self._at.wire.ask("GET", where)
        if reply.status in NONE_THERE:
            return None
        # A monitor answers what the operation came to, a refusal too.
        refused = 400 <= reply.status < 500 and "monitor" in where.lower()  # noqa: PLR2004  HTTP's class
        if reply.status not in DONE and (not refused or reply.status in SAYS_NOTHING):
            raise BmcError(f"{self._bmc.url}{where} answered {reply.status}; what becomes of the task is unknown")
        now = dated(reply)
        return tasks.answered(uri, reply.status, reply.body, time.time() - now.timestamp() if now else 0.0)

    def _task_of(self, reply: Reply, collection: str | None) -> str:
        """Return the task that an answer names: by being it, in its Location, or somewhere in its text."""
        body = reply.body or {}
        named = [body.get("@odata.id") if tasks.is_task(body) else None, reply.headers.get("Location")]
        named += _within(collection, body) if collection else []
        named += [body.get("TaskMonitor")]
        for each in named:
            uri = lifecycle_controller.listed(self._mine(each), collection) if each else ""
            if uri:
                below = collection is not None and uri.startswith(f"{collection.rstrip('/')}/")
                return re.sub(r"/(task)?monitor/?$", "", uri, flags=re.IGNORECASE) if below else uri
        return ""

    def _mine(self, named: object) -> str:
        """Return what a BMC names as a path of its own that can be asked; "" where it is none."""
        try:
            return self._at.wire.own(self._at.wire.exchange.located(named), anywhere=True)
        except BmcError:
            return ""


def _busy(service: Body) -> bool:
    """Tell if a vendor says that an update goes on: HPE's and AMI's words for it, and Redfish's own."""
    status, oem = service.get("Status"), service.get("Oem")
    said = status.get("State") if isinstance(status, Mapping) else None
    vendors = [part for part in oem.values() if isinstance(part, Mapping)] if isinstance(oem, Mapping) else []
    states = [str(part[key]).lower() for part in vendors for key in ("State", "UpdateStatus") if part.get(key)]
    return said == "Updating" or any(state in BUSY for state in states)


def _failure(service: Body) -> str:
    """Return HPE's word for why an update failed, "" where it does not say that one has."""
    oem = service.get("Oem")
    hpe = oem.get("Hpe") if isinstance(oem, Mapping) else None
    if not isinstance(hpe, Mapping) or str(hpe.get("State")).lower() != "error":
        return ""
    result = hpe.get("Result")
    told = result.get("MessageId") if isinstance(result, Mapping) else None
    return told[:200] if isinstance(told, str) and told else "Error"


def _within(collection: str, body: Body) -> list[str]:
    """Return the members of a collection that the texts of a body name."""
    member = re.compile(rf"{re.escape(collection.rstrip('/'))}/[\w.~-]*[\w~-]")
    return [found for text in _texts(body) for found in member.findall(text)]


def _texts(found: object, depth: int = 6) -> Iterable[str]:
    """Return every text in a body."""
    match found:
        case str():
            yield found[:2000]
        case dict() | list() if depth:
            for each in found.values() if isinstance(found, dict) else found:
                yield from _texts(each, depth - 1)
