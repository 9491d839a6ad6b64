"""Updates: an image comes in, is looked at, taken or refused, and written while a task tells how far it is."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fleet_runner.lab.redfish import offers, upload_quirks
from fleet_runner.lab.redfish.chip import Chip
from fleet_runner.lab.redfish.fetch import FetchError, fetch
from fleet_runner.lab.redfish.firmware import Firmware
from fleet_runner.lab.redfish.gate import Gate
from fleet_runner.lab.redfish.lifecycle_controller import LifecycleController
from fleet_runner.lab.redfish.offers import UpdateRequest
from fleet_runner.lab.redfish.rules import Options
from fleet_runner.lab.redfish.tasks import Task, Tasks
from fleet_runner.lab.redfish.trees import clean
from fleet_runner.lab.redfish.wire import Cut, Dropped, Refused, Reply, Request

MEBIBYTE = 1_048_576
Restart = Callable[..., None]


@dataclass(slots=True)
class Update:
    """One update that was taken.

    `outcome` is running, staged, done or failed; `versions` what it writes, by inventory id; `applied` says that a
    start of the host writes it.
    """

    number: int
    task: str
    versions: dict[str, str]
    before: dict[str, str]
    sha256: str
    size: int
    begun: float
    concurrent: bool
    outcome: str = "running"
    ended: float | None = None
    applied: bool = False
    why: str = ""
    work: "asyncio.Task[None] | None" = field(default=None, repr=False)


class Updates:
    """All updates of one BMC, the running one last."""

    def __init__(
        self, chip: Chip, firmware: Firmware, tasks: Tasks, gate: Gate, controller: LifecycleController
    ) -> None:
        self._chip = chip
        self._firmware = firmware
        self._tasks = tasks
        self._gate = gate
        self._controller = controller
        self.start_host: Callable[[], Coroutine[Any, Any, None]] = _nothing
        self.all: list[Update] = []
        self.restart: Restart = lambda *_args, **_options: None
        self.host_on: Callable[[], bool] = lambda: True

    def running(self) -> list[Update]:
        """Return the updates that are under way."""
        return [update for update in self.all if update.outcome == "running"]

    async def push(self, request: Request, service: Mapping[str, object]) -> Reply:
        """Take an image in the body of a request, as multipart or bare."""
        self._chip.emit("upload_begun", uri=request.uri, bytes=request.sending.length)
        try:
            faults = self._chip.rules.fire("upload", uri=request.uri)
            if "drop_before_body" in faults:
                raise Dropped
            self._refuse(faults)
            self._controller.admit()
            self._firmware.copies.admit()
            self._one_at_a_time()
            wish = await offers.receive(request, service, faults)
            self._chip.emit("upload_done", bytes=wish.file.size, sha256=wish.file.digest.hexdigest())
            multipart = request.uri == str(service.get("MultipartHttpPushUri")).rstrip("/")
            reply = self._take(wish, self._chip.habits.image_types if multipart else {})
            return upload_quirks.answered(faults, reply, self.all[-1].task)
        except Cut:
            self._chip.emit("upload_cut", uri=request.uri)
            raise
        except Refused as refused:
            self._say_refused(refused)
            raise

    async def simple(self, request: Request) -> Reply:
        """Take the address of an image, and fetch it."""
        said = await request.json()
        self._chip.emit("upload_begun", uri=said.get("ImageURI"), bytes=None)
        try:
            url, targets = offers.address_of(said), offers.targets_of(said)
            faults = self._chip.rules.fire("upload", uri=request.uri)
            if "drop_before_body" in faults:
                raise Dropped
            self._refuse(faults)
            upload_quirks.head(faults, request)
            upload_quirks.fetched(faults, said)
            self._controller.admit()
            self._firmware.copies.admit()
            self._one_at_a_time()
        except Refused as refused:
            self._say_refused(refused)
            raise
        update, task = self._begin({}, "", 0)
        update.work = self._chip.spawn(self._fetch(update, task, url, (targets, bool(said.get("ForceUpdate")))))
        return self._reply(update)

    def interrupt(self, why: str, host_side: bool) -> None:  # noqa: FBT001  one of two sides
        """End the updates that cannot go on: all, or those of what the host feeds."""
        for update in self.running():
            fetched = self._chip.tree.dell and not update.applied
            own = fetched or (
                update.versions
                and all(self._firmware.how(entry)[0] in ("self", "bmc_reset") for entry in update.versions)
            )
            if host_side and own:
                continue
            if update.work is not None:
                update.work.cancel()
            self._fail(update, why)

    def _take(self, wish: UpdateRequest, image_types: Mapping[str, str]) -> Reply:
        """Take an image that was read in whole, or raise Refused."""
        try:
            versions = self._examine(wish)
            offers.typed(wish, versions, image_types)
        except Refused as refused:
            if not self._chip.habits.checks_in_task:
                raise
            self._one_at_a_time()
            update, _ = self._begin({}, wish.file.digest.hexdigest(), wish.file.size)
            self._fail(update, str(refused))
            return self._reply(update)
        faults = self._chip.rules.fire("accept", components=sorted(versions))
        self._judge(faults, versions, force=wish.force)
        if "drop_unaccepted" in faults:
            raise Dropped
        self._one_at_a_time()
        update, task = self._begin(versions, wish.file.digest.hexdigest(), wish.file.size)
        update.work = self._chip.spawn(self._write(update, task))
        if "drop_after_body" in faults:
            raise Dropped
        return self._reply(update)

    def _begin(self, versions: dict[str, str], sha256: str, size: int) -> tuple[Update, Task]:
        concurrent = bool(self.running())
        uri = self._tasks.begin(_named(versions) if self._chip.tree.dell else "Firmware Update")
        before = {entry: self._firmware.running[entry] for entry in versions}
        number = len(self.all) + 1
        update = Update(number, uri, versions, before, sha256, size, time.time(), concurrent)
        about = {"sha256": sha256, "bytes": size, "concurrent": concurrent, "before": before}
        self._chip.emit("accepted", update=number, task=uri, components=dict(versions), **about)
        self.all.append(update)
        task = self._tasks.get(uri)
        if task is None:
            raise AssertionError(uri)
        task.hidden = self._chip.tree.hpe
        return update, task

    def _reply(self, update: Update) -> Reply:
        if self._chip.tree.hpe:
            return Reply(200, {"error": {"code": "iLO.0.10.ExtendedInfo", "@Message.ExtendedInfo": []}})
        monitor = update.task if self._chip.tree.dell else self._tasks.monitor(update.task)
        where = {"monitor": monitor, "task": update.task}.get(self._chip.habits.location)
        return Reply(202, self._tasks.body(update.task), {"Location": where} if where else {})

    async def _fetch(self, update: Update, task: Task, url: str, asked: tuple[tuple[str, ...], bool]) -> None:
        """Fetch the image of an update, and write it where it is good."""
        try:
            file = await fetch(url)
            wish = UpdateRequest(file, *asked)
            update.sha256, update.size = file.digest.hexdigest(), file.size
            self._chip.emit("upload_done", bytes=file.size, sha256=update.sha256)
            update.versions = self._examine(wish)
            update.before = {entry: self._firmware.running[entry] for entry in update.versions}
            faults = self._chip.rules.fire("accept", components=sorted(update.versions))
            self._judge(faults, update.versions, force=wish.force)
        except (FetchError, Refused) as error:
            self._fail(update, str(error))
            return
        await self._write(update, task)

    async def _write(self, update: Update, task: Task) -> None:
        """Write an image, with all that goes wrong meanwhile."""
        entries = sorted(update.versions)
        about = {"components": dict(update.versions), "before": dict(update.before), "sha256": update.sha256}
        self._chip.emit("update_begun", update=update.number, concurrent=update.concurrent, **about)
        faults = self._chip.rules.fire("update", components=entries)
        task.silent = "no_percent" in faults
        if "controller_waits" in faults:
            task.say("New", "JCP000", "Lifecycle Controller in use. This job will start when it is available.")
            await asyncio.sleep(float(faults["controller_waits"]["seconds"]))
        if self._chip.tree.dell:
            task.say("Downloading", "RED002", "Downloading the update package.")
        if not await self._pass(update, task, faults):
            return
        if self._waits_for_start(update) and "sideband" not in faults:
            await self._stage(update, task, faults)
        else:
            self._finish(update, task, faults)

    def _waits_for_start(self, update: Update) -> bool:
        """Whether it is Dell's, and of a part that only a start of the host writes."""
        ways = {self._firmware.how(entry)[0] for entry in update.versions}
        return self._chip.tree.dell and not ways <= {"self", "none"}

    async def _stage(self, update: Update, task: Task, faults: Mapping[str, Options]) -> None:
        """Leave it to the host's next start."""
        self._chip.emit("staged", update=update.number, components=dict(update.versions), task=update.task)
        update.outcome = "staged"
        self._controller.stage(task, lambda: self._apply(update, task))
        if "restarts_host" in faults:
            self._chip.spawn(self.start_host())

    async def _apply(self, update: Update, task: Task) -> None:
        """Write what was staged, while the host starts; one after the other, each as work of its own."""
        update.outcome, update.applied = "running", True
        update.work = self._chip.spawn(self._apply_now(update, task))
        await asyncio.wait([update.work])

    async def _apply_now(self, update: Update, task: Task) -> None:
        about = {"components": dict(update.versions), "before": dict(update.before), "sha256": update.sha256}
        self._chip.emit("update_begun", update=update.number, concurrent=False, **about)
        faults = self._chip.rules.fire("apply", components=sorted(update.versions))
        task.from_percent = task.to_percent = 0.0
        if await self._pass(update, task, faults):
            self._finish(update, task, faults)
            self._chip.emit("host_reset", override={})  # of the Lifecycle Controller's own, at the end
            self._firmware.activate("host_reset")

    async def _pass(self, update: Update, task: Task, faults: Mapping[str, Options]) -> bool:
        """Let the time pass that it takes, with all that goes wrong meanwhile; whether it came to its end."""
        pace = self._chip.pace
        seconds = pace.write + pace.write_per_mb * update.size / MEBIBYTE
        seconds *= float(faults["slow"]["times"]) if "slow" in faults else 1.0
        done = 0.0
        for at, name in sorted((float(options["at"]), name) for name, options in faults.items() if "at" in options):
            await self._go(task, (done, at), seconds)
            done = max(done, at)
            if not await self._trouble(update, task, name, faults[name]):
                return False
        await self._go(task, (done, 100.0), seconds)
        return True

    async def _go(self, task: Task, way: tuple[float, float], seconds: float) -> None:
        took = max(way[1] - way[0], 0.0) / 100 * seconds
        task.go(way[1], took)
        await asyncio.sleep(took)

    async def _trouble(self, update: Update, task: Task, name: str, options: Options) -> bool:
        """Let a fault happen on the way; whether the update goes on."""
        match name:
            case "fail":
                self._fail(update, str(options["message"]))
                return False
            case "stuck":
                await asyncio.sleep(86_400.0 if options["seconds"] is None else options["seconds"])
            case "lose_task":
                task.hidden = True
            case "lose_session":
                self._gate.forget("fault")
            case "restart":
                self.restart("fault", spare=bool(options["survives"]))
        return True

    def _finish(self, update: Update, task: Task, faults: Mapping[str, Options]) -> None:
        """Write what was meant, or what a fault makes of it."""
        written = dict(update.versions)
        if "wrong_version" in faults:
            written = dict.fromkeys(written, str(faults["wrong_version"]["version"]))
        if "lie" in faults:
            written = {}
        self._chip.emit("update_done", update=update.number, components=written, task=update.task)
        self._firmware.disturb(faults)
        self._firmware.write(written)
        update.outcome, update.ended = "done", time.time()
        task.end("Completed", "OK", "Update.1.0.UpdateSuccessful", "The update has completed.")
        task.deleted = "delete_task" in faults
        if any(self._firmware.how(entry)[0] == "self" for entry in written):
            self.restart("own")

    def _fail(self, update: Update, why: str) -> None:
        task = self._tasks.get(update.task)
        percent = task.percent() if task else 0
        self._chip.emit(
            "update_failed", update=update.number, why=why, components=dict(update.versions), percent=percent
        )
        update.outcome, update.ended, update.why = "failed", time.time(), why
        if task is not None:
            task.end("Exception", "Critical", "Update.1.0.ApplyFailed", f"The update failed: {why}.")

    def _examine(self, wish: UpdateRequest) -> dict[str, str]:
        """Return what would be written; raise Refused where that cannot be."""
        targets = tuple(map(self._named, wish.targets))
        gone = () if self.host_on() else self._chip.habits.host_side
        return offers.examine(self._chip.tree, replace(wish, targets=targets), gone)

    def _named(self, target: str) -> str:
        """A target by the name that the tree has for it."""
        head = f"{self._chip.tree.inventory}/"
        uri = clean(target)
        if not uri.startswith(head):
            return uri
        entry = self._firmware.find(uri.removeprefix(head))
        if entry is None:
            raise Refused(400, f"the target {target} cannot be updated", "ResourceNotFound")
        return f"{head}{entry}"

    def _one_at_a_time(self) -> None:
        if self.running() and not self._chip.habits.accepts_concurrent:
            raise Refused(409, "another update is in progress", "ResourceInUse")

    def _judge(self, faults: Mapping[str, Options], versions: Mapping[str, str], *, force: bool) -> None:
        self._refuse(faults)
        if "needs_force" in faults and not force and offers.any_like(versions, str(faults["needs_force"]["to"])):
            raise Refused(400, "the image is a downgrade, which needs ForceUpdate", "ActionParameterMissing")

    def _refuse(self, faults: Mapping[str, Options]) -> None:
        if "refuse" in faults:
            raise Refused(int(faults["refuse"]["status"]), str(faults["refuse"]["message"]))

    def _say_refused(self, refused: Refused) -> None:
        self._chip.emit("refused", status=refused.reply.status, message=str(refused), busy=bool(self.running()))


async def _nothing() -> None:
    pass


def _named(versions: Mapping[str, str]) -> str:
    """Return what Dell calls the job of an image."""
    return f"Firmware Update: {next(iter(sorted(versions)), 'package').rpartition('__')[2]}"
