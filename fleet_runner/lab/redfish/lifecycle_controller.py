"""The Lifecycle Controller of an emulated iDRAC: when it takes jobs, what it has staged, and its turn at a start."""

import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, NamedTuple

from fleet_runner.lab.redfish.chip import Chip
from fleet_runner.lab.redfish.tasks import Task, Tasks
from fleet_runner.lab.redfish.wire import Refused, Reply

STATUS = "DellLCService.GetRemoteServicesAPIStatus"

Work = Callable[[], Coroutine[Any, Any, None]]


class Job(NamedTuple):
    """What is staged: its task, and what the host's next start does."""

    task: Task
    work: Work


class LifecycleController:
    """What Dell has between its BMC and the host; of any other maker's BMC it does nothing."""

    def __init__(self, chip: Chip, tasks: Tasks) -> None:
        self._chip = chip
        self._tasks = tasks
        self._staged: list[Job] = []
        self._until = 0.0  # by the monotonic clock
        self._says: object = "NotReady"

    def stage(self, task: Task, work: Work) -> None:
        """Let a job wait for the host's next start."""
        task.say("Scheduled", "JCP001", "The specified job has been scheduled.")
        self._staged.append(Job(task, work))

    def schedule(self, name: str, seconds: float) -> str:
        """Stage what somebody else wants, which a start does in so many seconds; returns its task."""
        uri = self._tasks.begin(name)
        task = self._tasks.get(uri)
        if task is None:
            raise AssertionError(uri)

        async def work() -> None:
            self._chip.emit("job_begun", task=uri, name=name)
            await task.pass_by(seconds)
            self._chip.emit("job_done", task=uri, name=name)
            task.end("Completed", "OK", "PR19", "The job completed.")

        self.stage(task, work)
        return uri

    def started(self, faults: Mapping[str, Mapping[str, Any]]) -> None:
        """Take the turn that a start of the host is: every staged job, one after the other."""
        self.restarted(faults)
        jobs = [] if "stays_scheduled" in faults else list(self._staged)
        for job in jobs:
            self._staged.remove(job)
            job.task.say("Running", "PR20", "The job is in progress.")
        if jobs:
            self._chip.spawn(self._do(jobs))

    def restarted(self, faults: Mapping[str, Mapping[str, Any]]) -> None:
        """Be not ready for a while, as after each restart of the host or the BMC."""
        fault = faults.get("controller_unready", {})
        self._says = fault.get("state", "NotReady")
        self._until = time.monotonic() + float(fault.get("seconds", self._chip.pace.controller))

    def status(self) -> Reply:
        """Say whether it takes jobs."""
        says = self._says if time.monotonic() < self._until else "Ready"
        whole = "Ready" if says == "Ready" else "NotReady"
        return Reply(200, {"LCStatus": says, "RTStatus": whole, "ServerStatus": "OutOfPOST", "Status": whole})

    def admit(self) -> None:
        """Refuse an update while it takes none."""
        if self._chip.tree.dell and time.monotonic() < self._until:
            raise Refused(503, f"the Lifecycle Controller is {self._says}; retry after a few minutes", "LC060")

    async def _do(self, jobs: list[Job]) -> None:
        for job in jobs:
            await job.work()
