"""A BMC small enough to be right, and a driver that does what the machine says and may be killed between two effects.

Time is a number of seconds that the test moves. The model refuses, by assertion, what must never happen to a BMC: an
image while another is written, an image that runs or is pending already, power while an image is written, a start of
the host that would do what somebody else has staged.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from fleet_runner.core.firmware.catalogue import Activate
from fleet_runner.core.firmware.flash import Flash, FlashTiming, Seen, Task, TaskEnd

OLD = {"A": "1", "B": "1"}
NEW = {"A": "2", "B": "2"}
PACE = FlashTiming(poll=10.0, settle=100.0, send=60.0, outage=60.0, boot=50.0, stable=3)
SECONDS = 80.0
"""The longest that an update of the model takes is shorter than that, as a catalogue has to say it."""


class Fate(NamedTuple):
    """What becomes of one image: how long it takes, which versions come of it, and what its task says then."""

    seconds: float = 20.0
    brings: tuple[tuple[str, str], ...] = tuple(NEW.items())
    end: TaskEnd = TaskEnd.DONE
    restarts: bool = False  # the BMC restarts by itself when it is done


class BmcBehaviour(NamedTuple):
    """What kind of BMC it is."""

    activate: Activate = Activate.HOST_RESET
    times: int = 1
    gives_address: bool = True
    keeps_tasks: bool = False  # over a restart; a running one has failed then
    reuses_ids: bool = False
    tells_start: bool = True
    away: float = 30.0
    cuts_power: bool = False  # a reset of the host is off, then on: two requests
    dark: bool = False  # the inventory cannot be read while the host is off
    tasks_before: int = 0
    forgets: bool = False  # an ended task after a while, the oldest first
    hides: bool = False  # the tasks of updates, and gives no address
    late: float = 0.0  # after how many seconds it shows what runs
    shows: bool = False  # in a task of an update, which entries it was asked for
    names: bool = True  # a task of an update so
    queue: bool = False  # Dell's: an image is fetched, staged, and written while the host starts

    @property
    def whole(self) -> "BmcBehaviour":
        """Return it with all that a job queue means: it is kept, told of by name, and its jobs need one start."""
        means = {"activate": Activate.HOST_RESET, "times": 1, "keeps_tasks": True, "hides": False, "names": True}
        return self._replace(**means) if self.queue else self  # type: ignore[arg-type]  # names of its fields


class Listed(NamedTuple):
    """A task that it lists; `at` is when it came to its state. `another` is what another client began."""

    state: TaskEnd
    at: float
    began: float
    another: Task | None = None


ANOTHER = "another's end"
"""What a task says that another client began; no flash may."""


FETCH = 5.0
"""Seconds for which a job queue fetches an image before that is staged."""


class LostError(Exception):
    """Nobody knows whether the BMC heard."""


@dataclass
class Update:
    """An image that is being written."""

    ends_at: float
    fate: Fate
    task: str
    fetched: bool = True


@dataclass
class Bmc:
    """The BMC and its host. `now` is the true time; the runner's clock may have been set."""

    habits: BmcBehaviour
    fates: list[Fate]
    now: float = 10_000.0
    running: dict[str, str] = field(default_factory=lambda: dict(OLD))
    pending: dict[str, str] = field(default_factory=dict)
    resets: int = 0
    update: Update | None = None
    staged: Update | None = None
    tasks: dict[str, Listed] = field(default_factory=dict)
    numbers: int = 0
    started_at: float = 9_000.0
    away_until: float = 0.0
    cut_until: float = 0.0
    power: str = "On"
    accepted: int = 0
    coming: list[float] = field(default_factory=list)
    others: dict[str, float] = field(default_factory=dict)
    unlisted_until: float = 0.0
    shown: dict[str, str] = field(default_factory=lambda: dict(OLD))
    shows_at: float = 0.0

    def __post_init__(self) -> None:
        self.habits = self.habits.whole
        for _ in range(0 if self.habits.hides else self.habits.tasks_before):
            self.tasks[self._uri()] = Listed(TaskEnd.DONE, self.now, self.now)

    def pass_time(self, seconds: float) -> None:
        """Let time go by, and what happens in it happen in its order."""
        until = self.now + seconds
        while True:
            ends = [self.update.ends_at] if self.update else []
            due = min([*ends, *self.coming], default=until)
            if due >= until:
                break
            self.now = max(self.now, due)
            if due in self.coming:
                self.coming.remove(due)
                if not self.away:
                    self._accept()
            else:
                self._finish()
        self.now = until
        self._end_others()
        if self.habits.forgets:
            late = self.now - PACE.poll
            goes_on = (RUNNING, TaskEnd.STAGED)
            self.tasks = {uri: each for uri, each in self.tasks.items() if each.state in goes_on or each.at > late}

    @property
    def away(self) -> bool:
        """Whether it restarts."""
        return self.now < self.away_until

    def post(self) -> str:
        """Take an image and say where its task is."""
        self._reach()
        return self._accept()

    def reset(self, how: Activate) -> list[Callable[[], None]]:
        """Return the requests that a reset is."""
        match how:
            case Activate.BMC_RESET:
                return [self._bmc_reset]
            case Activate.AC_DRAIN:
                return [self._drain]
            case _ if self.power == "Off":
                return [self._switch_on]
            case _ if self.habits.cuts_power:
                return [self._switch_off, self._switch_on]
            case _:
                return [self._host_reset]

    def restart(self) -> None:
        """Restart, asked or not: what was being written is lost."""
        self.started_at, self.away_until = self.now, self.now + self.habits.away
        kept = {
            uri: each._replace(state=TaskEnd.FAILED) if each.state is RUNNING else each
            for uri, each in self.tasks.items()
        }
        self.tasks = kept if self.habits.keeps_tasks else {}
        self.numbers = 0 if self.habits.reuses_ids and not self.habits.keeps_tasks else self.numbers
        self.update = None
        self.others.clear()
        self._activate(Activate.BMC_RESET)

    def look(self, clock: float, task: str) -> Seen:
        """Look once, by the runner's clock."""
        at = self.now + clock
        if self.away or self.now < self.cut_until:
            return Seen(at, trouble="connection refused")
        shown = [self._shown(uri, each, clock) for uri, each in self.tasks.items()]
        if self.now < self.unlisted_until:
            own = next((each for each in shown if each.uri == task), None)
            return Seen(at, task=own, trouble="500", partial=True)
        hidden = [each for each in shown if self.habits.hides and not _is_others(each)]
        tasks = {each.uri: each for each in shown if each not in hidden}
        if self.now >= self.shows_at:
            self.shown = dict(self.running)
        unread = self.habits.dark and self.power == "Off"
        return Seen(
            at=at,
            versions=None if unread else dict(self.shown),
            stable=0 if unread else 1,
            tasks=tasks,
            task=tasks.get(task),
            task_gone=bool(task) and task not in tasks,
            power=self.power,
            bmc_reset_at=self.started_at + clock if self.habits.tells_start else None,
            trouble="503" if unread else "",
        )

    def another(self, task: Task, seconds: float) -> None:
        """Begin something of another client's, which goes on for so long and says then how it ended."""
        if not self.away:
            uri = self._uri()
            self.tasks[uri] = Listed(RUNNING, self.now, self.now, task)
            self.others[uri] = self.now + seconds

    def stage(self, task: Task) -> None:
        """Stage something of another client's, until that takes it away."""
        if not self.away and not (self.habits.hides and "Update" in task.name):
            self.tasks[self._uri()] = Listed(TaskEnd.STAGED, self.now, self.now, task)

    def unstage(self) -> None:
        """Take away all that other clients have staged."""
        self.tasks = {uri: each for uri, each in self.tasks.items() if not self._is_staged_by_another(each)}

    @staticmethod
    def _is_staged_by_another(each: Listed) -> bool:
        return each.state is TaskEnd.STAGED and each.another is not None

    def _end_others(self) -> None:
        for uri, at in list(self.others.items()):
            if self.now >= at:
                del self.others[uri]
                if (each := self.tasks.get(uri)) and each.another:
                    self.tasks[uri] = each._replace(state=each.another.state, at=self.now)

    def _shown(self, uri: str, each: Listed, clock: float) -> Task:
        """Return a task as it lists it, with its start by the runner's clock."""
        if each.another:
            return replace(
                each.another, uri=uri, state=each.state, started_at=each.began + clock, messages=(ANOTHER,)
            )
        name = "Firmware Update" if self.habits.names else "Task"
        targets = tuple(NEW) if self.habits.shows else ()
        ended = each.at + clock if each.state in (TaskEnd.DONE, TaskEnd.FAILED) else None
        return Task(uri, each.state, name, None, ("it says why",), each.began + clock, ended, targets=targets)

    def _reach(self) -> None:
        if self.away or self.now < self.cut_until:
            raise LostError

    def _accept(self) -> str:
        assert self.update is None, "an image came while another was being written"
        assert self.staged is None, "an image came while another is staged"
        assert self.running | self.pending != NEW, "an image came that runs or is pending already"
        self.accepted += 1
        fate = self.fates.pop(0) if self.fates else Fate()
        uri = self._uri()
        self.tasks[uri] = Listed(RUNNING, self.now, self.now)
        self.update = Update(self.now + fate.seconds, fate, uri)
        if self.habits.queue:
            self.update = Update(self.now + FETCH, fate, uri, fetched=False)
        return uri if self.habits.gives_address and not self.habits.hides else ""

    def _uri(self) -> str:
        self.numbers += 1
        return f"/t/{self.numbers}"

    def _finish(self) -> None:
        assert self.update
        fate, task = self.update.fate, self.update.task
        if not self.update.fetched:
            self.staged, self.update = self.update, None
            self.tasks[task] = self.tasks[task]._replace(state=TaskEnd.STAGED, at=self.now)
            return
        self.update = None
        self.tasks[task] = self.tasks[task]._replace(state=fate.end, at=self.now)
        failed = fate.end is TaskEnd.FAILED
        if self.habits.queue:  # a job that failed wrote nothing
            self._run({} if failed else dict(fate.brings), self.habits.late)
        elif self.habits.activate is Activate.NONE:  # what a task wrote that failed shows by the time it says so
            self._run(dict(fate.brings), late=0.0 if failed else self.habits.late)
        else:  # and is never complete: its BMC would not run it
            self.pending, self.resets = {} if failed else dict(fate.brings), 0
        if fate.restarts:
            self.restart()

    def _touch_power(self) -> None:
        self._reach()
        assert self.update is None, "power was touched while an image was being written"

    def _bmc_reset(self) -> None:
        self._touch_power()
        self.restart()

    def _drain(self) -> None:
        self._touch_power()
        self.restart()
        self._activate(Activate.AC_DRAIN)

    def _host_reset(self) -> None:
        self._touch_power()
        self._activate(Activate.HOST_RESET)

    def _switch_off(self) -> None:
        self._touch_power()
        self.power = "Off"

    def _switch_on(self) -> None:
        self._touch_power()
        self.power = "On"
        self._activate(Activate.HOST_RESET)

    def _activate(self, how: Activate) -> None:
        if how in (Activate.HOST_RESET, Activate.AC_DRAIN):
            begun = [each.another for each in self.tasks.values() if self._is_staged_by_another(each)]
            assert not begun, f"a start of the host began what somebody else had staged: {begun}"
        if self.staged and how in (Activate.HOST_RESET, Activate.AC_DRAIN):
            fate, task = self.staged.fate, self.staged.task
            self.update, self.staged = Update(self.now + fate.seconds, fate, task), None
            self.tasks[task] = self.tasks[task]._replace(state=RUNNING, at=self.now)
        if self.pending and how is self.habits.activate:
            self.resets += 1
            if self.resets >= self.habits.times:
                self._run(self.pending, self.habits.late)
                self.pending = {}

    def _run(self, versions: dict[str, str], late: float) -> None:
        self.running, self.shows_at = self.running | versions, self.now + late


def _is_others(task: Task) -> bool:
    """Whether another client began it, and it is no update."""
    return task.messages == (ANOTHER,) and "Update" not in task.name


RUNNING = TaskEnd.RUNNING


def a_flash(**more: object) -> Flash:
    """A flash of the model's two entries."""
    told = Flash(
        id=1,
        node="gpu-01",
        component="AB",
        before=OLD,
        targets=NEW,
        image="ab.bin",
        sha256="00",
        activate=Activate.HOST_RESET,
        times=1,
        seconds=SECONDS,
        attempt=1,
        intended_at=1_000.0,
    )
    return replace(told, **more)  # type: ignore[arg-type]  # whatever a test wants to be different
