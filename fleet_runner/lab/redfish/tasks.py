"""The tasks of a BMC: how far an update has come, and what became of it."""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any

from fleet_runner.lab.redfish.pace import BmcBehaviour
from fleet_runner.lab.redfish.trees import Body, Tree

JOBS = {"Completed": "Completed", "Exception": "Failed"}
"""What Dell calls the states of an ended job; the other words are its own."""

TASKS = {"Scheduled": "Starting", "Downloading": "Running"}
"""What Dell's task says of a state of its job, where the words differ."""

EAST = 9 * 3_600

ENDED = ("Completed", "Exception", "Killed", "Cancelled")


@dataclass(slots=True)
class Task:
    """One task; `percent` grows by the clock from `from_percent` while it runs, up to `to_percent`."""

    number: int
    name: str
    began: float
    state: str = "Running"
    status: str = "OK"
    seconds: float = 0.0
    since: float = 0.0
    from_percent: float = 0.0
    to_percent: float = 0.0
    ended: float | None = None
    messages: list[tuple[str, str, str]] = field(default_factory=list)  # id, text, severity
    hidden: bool = False
    deleted: bool = False  # as a task; the job is still there
    silent: bool = False  # about its percentage

    def go(self, to_percent: float, seconds: float) -> None:
        """Let it come from where it is to a percentage in so many seconds."""
        self.from_percent, self.since = self.percent(), time.monotonic()
        self.to_percent, self.seconds = to_percent, seconds

    def percent(self) -> int:
        """Return how far it has come."""
        share = min((time.monotonic() - self.since) / self.seconds, 1.0) if self.seconds > 0 else 1.0
        return int(self.from_percent + (self.to_percent - self.from_percent) * share)

    async def pass_by(self, seconds: float) -> None:
        """Let it come from nothing to its end in so many seconds."""
        self.from_percent = self.to_percent = 0.0
        self.go(100.0, seconds)
        await asyncio.sleep(seconds)

    def say(self, state: str, number: str, text: str) -> None:
        """Let it come to a state that is not its end."""
        self.state = state
        self.messages.append((number, text, "OK"))

    def end(self, state: str, status: str, *message: str) -> None:
        """End it, with a message: its id, and its text."""
        self.from_percent = self.to_percent = 100 if state == "Completed" else self.percent()
        self.state, self.status, self.ended = state, status, time.time()
        self.messages.append((message[0], message[1], status))


class Tasks:
    """All tasks: those of the tree, and new ones; the oldest ended ones go when there are too many."""

    def __init__(self, tree: Tree, habits: BmcBehaviour) -> None:
        self._tree = tree
        self._habits = habits
        self._old = [uri for uri in tree.members(tree.tasks) if uri in tree.bodies]
        self._tasks: dict[str, Task] = {}
        numbers = [int(end) for uri in self._old if (end := uri.rpartition("/")[2]).isdecimal()]
        self._next = max(numbers, default=0) + 1
        self._keeps = habits.keeps_tasks or tree.dell
        version = next((tree.get(uri)["@odata.type"] for uri in self._old if "@odata.type" in tree.get(uri)), None)
        self._type = version or "#Task.v1_4_2.Task"

    def begin(self, name: str) -> str:
        """Begin a task and return its URI."""
        uri = f"{self._tree.tasks}/JID_{self._next:012d}" if self._tree.dell else f"{self._tree.tasks}/{self._next}"
        self._tasks[uri] = Task(self._next, name, time.time())
        self._next += 1
        ended = [each for each, task in self._tasks.items() if task.ended is not None]
        over = len(self._old) + len(self._tasks) - self._habits.most_tasks
        del self._old[: max(over, 0)]
        for each in ended[: max(over - len(self._old), 0)]:
            del self._tasks[each]
        return uri

    def get(self, uri: str) -> Task | None:
        """Return a task of ours."""
        return self._tasks.get(uri)

    def goes_on(self, uri: str) -> bool:
        """Whether something is a task of ours that has not ended."""
        task = self._tasks.get(uri)
        return task is not None and task.ended is None

    def forget(self) -> None:
        """Lose what a BMC loses with its memory."""
        if not self._keeps:
            self._old.clear()
            self._tasks.clear()
            self._next = 1 if self._habits.reuses_task_ids else self._next

    def listed(self) -> list[str]:
        """Return the URIs of all tasks, oldest first."""
        return [*self._old, *(uri for uri, task in self._tasks.items() if not (task.hidden or task.deleted))]

    def jobs(self) -> list[str]:
        """Return the URIs of all jobs, those of the tree first."""
        ours = [f"{self._tree.jobs}/{uri.rpartition('/')[2]}" for uri, task in self._tasks.items() if not task.hidden]
        return [*self._tree.members(self._tree.jobs), *ours]

    def job(self, uri: str) -> Body | None:
        """Return the job of a task, which stays when its task is gone; None where there is none of ours."""
        number = uri.rpartition("/")[2]
        task = self._tasks.get(f"{self._tree.tasks}/{number}")
        if task is None or task.hidden:
            return None
        plain = {"@odata.id": uri, "@odata.type": "#Job.v1_0_7.Job", "Id": number}
        ended = {"EndTime": "TIME_NA"} if task.ended is None else {"EndTime": local(task.ended)}
        said = [_message(*message) for message in task.messages]
        return {**plain, **self._dell(task), "StartTime": local(task.began), **ended, "Messages": said}

    def monitor(self, uri: str) -> str:
        """Return where a task's monitor is."""
        return f"{self._tree.task_service}/TaskMonitors/{uri.rpartition('/')[2]}"

    def watched(self, uri: str) -> str | None:
        """Return the task that a monitor watches, None where the URI is no monitor of a task that is known."""
        head, _, number = uri.rpartition("/")
        task = f"{self._tree.tasks}/{number}"
        return task if head == f"{self._tree.task_service}/TaskMonitors" and self.body(task) else None

    def delete(self, uri: str) -> bool:
        """Take a task away; whether there was one."""
        if uri in self._old:
            self._old.remove(uri)
            return True
        return self._tasks.pop(uri, None) is not None

    def body(self, uri: str) -> Body | None:
        """Return a task as it is now, None where there is none."""
        if uri in self._old:
            return self._tree.get(uri)
        task = self._tasks.get(uri)
        if task is None or task.hidden or task.deleted:
            return None
        running = task.ended is None
        oem = {"@odata.type": "#DellJob.v1_4_0.DellJob", **self._dell(task)}
        return {
            "@odata.id": uri,
            "@odata.type": self._type,
            "Id": uri.rpartition("/")[2],
            "Name": task.name,
            "Description": f"Task for {task.name}",
            "TaskState": TASKS.get(task.state, task.state),
            "TaskStatus": task.status,
            **({} if task.silent else {"PercentComplete": task.percent()}),
            "StartTime": moment(task.began),
            **({"TaskMonitor": self.monitor(uri)} if running else {"EndTime": moment(task.ended or 0.0)}),
            "Messages": [_message(*message) for message in task.messages],
            **({"Oem": {"Dell": oem}} if self._tree.dell else {}),
        }

    def _dell(self, task: Task) -> Body:
        percent = {} if task.silent else {"PercentComplete": task.percent()}
        state = JOBS.get(task.state, task.state)
        return {"Name": task.name, "JobState": state, "JobStatus": task.status, **percent}


def moment(at: float) -> str:
    """Return a time as Redfish writes it; BMCs know seconds, not parts of them."""
    return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(at))


def local(at: float) -> str:
    """Return a time as Dell's jobs tell it: without its zone, which here is `EAST` seconds ahead."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at + EAST))


def _message(number: str, text: str, severity: str) -> dict[str, Any]:
    return {
        "@odata.type": "#Message.v1_0_8.Message",
        "MessageId": number,
        "Message": text,
        "MessageArgs": [],
        "Severity": severity,
        "Resolution": "None.",
    }
