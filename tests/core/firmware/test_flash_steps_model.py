"""Whatever a BMC does and whenever its driver dies: no image twice, no power meanwhile, and a true end."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from fleet_runner.core.firmware.catalogue import Activate
from fleet_runner.core.firmware.flash import (
    Adopt,
    Conclude,
    End,
    Flash,
    Mark,
    Phase,
    Reset,
    Seen,
    Send,
    Task,
    TaskEnd,
    Wait,
)
from fleet_runner.core.firmware.flash_steps import decide
from fleet_runner.core.firmware.unobserved import gaps
from tests.core.firmware.bmc_model import ANOTHER, NEW, OLD, PACE, Bmc, BmcBehaviour, Fate, LostError, a_flash
from tests.examples import examples

ATTEMPTS = 2
SWALLOWED = 3
"""How many resets a whole test may lose; the machine does `AGAIN` of them again."""

Effects = Iterator[Callable[[], None]]

VERSIONS = st.sampled_from(["1", "2", "3"])
FATES = st.one_of(
    st.just(Fate()),
    st.builds(
        Fate,
        seconds=st.sampled_from([5.0, 20.0, 75.0]),
        brings=st.sampled_from([(), (("A", "2"),), (("A", "3"), ("B", "2")), tuple(NEW.items())]),
        end=st.just(TaskEnd.DONE),
        restarts=st.booleans(),
    ),
    st.builds(
        Fate,
        seconds=st.just(35.0),
        brings=st.sampled_from([(), (("A", "2"),), tuple(NEW.items())]),
        end=st.just(TaskEnd.FAILED),
    ),
)
HABITS = st.builds(
    BmcBehaviour,
    activate=st.sampled_from(Activate),
    times=st.integers(1, 2),
    gives_address=st.booleans(),
    keeps_tasks=st.booleans(),
    reuses_ids=st.booleans(),
    tells_start=st.booleans(),
    away=st.sampled_from([5.0, 30.0, 50.0]),
    cuts_power=st.booleans(),
    dark=st.booleans(),
    tasks_before=st.integers(0, 2),
    forgets=st.booleans(),
    hides=st.booleans(),
    late=st.sampled_from([0.0, 0.0, 70.0]),
    shows=st.booleans(),
    names=st.booleans(),
    queue=st.booleans(),
)
OTHERS = st.builds(
    Task,
    st.just(""),
    st.sampled_from([TaskEnd.DONE, TaskEnd.FAILED]),
    name=st.sampled_from(["Log collection", "Task", "Computer Reset"]),
    asked=st.sampled_from(["", "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset"]),
) | st.builds(
    Task,
    st.just(""),
    st.sampled_from([TaskEnd.DONE, TaskEnd.FAILED]),
    name=st.just("Firmware Update"),
    targets=st.just(("C",)),
)
"""What other clients of a BMC begin: no update, or one that shows what it is for."""

STAGED = st.builds(
    Task,
    st.just(""),
    st.just(TaskEnd.STAGED),
    name=st.sampled_from(["ConfigBIOS:BIOS.Setup.1-1", "Firmware Update: NIC", "Firmware Update: NIC.Slot.1-1"]),
)
"""What they stage; that it is not for these entries is all that its name tells."""

DOWN = st.sampled_from([20.0, 60.0, 200.0, 1_000.0])
KILLS = st.one_of(st.none(), st.integers(0, 5))


class Flashing(RuleBasedStateMachine):
    """A driver with a store that outlives it, a BMC, and everything that can go wrong between them."""

    def __init__(self) -> None:
        super().__init__()
        self.bmc = Bmc(BmcBehaviour(), [])
        self.clock = 0.0
        self.open: Flash | None = None
        self.ended: list[Flash] = []
        self.last: Seen | None = None
        self.looks: list[float] = []
        self.stable = 0
        self.swallowed = 0
        self.lose = False
        self.spared = False

    @initialize(habits=HABITS, fates=st.lists(FATES, max_size=3))
    def unpack(self, habits: BmcBehaviour, fates: list[Fate]) -> None:
        """Choose the BMC, and look at it until its next look lets a flash begin."""
        self.bmc = Bmc(habits, fates)
        for _ in range(PACE.stable - 1):
            self.drive_on(1)

    @rule(kill=KILLS, lose=st.booleans(), seconds=st.sampled_from([10.0, 30.0]))
    def drive(self, kill: int | None, seconds: float, *, lose: bool) -> None:
        """Take one turn; the driver may be killed before any effect of it, and an answer may be lost."""
        self.lose = lose
        self.turn(kill)
        self.bmc.pass_time(seconds)

    @precondition(lambda self: self.open is None)
    @rule(kill=st.integers(1, 4), write=st.sampled_from([0.0, 30.0, 100.0]), down=DOWN, restart=st.booleans())
    def die_sending(self, kill: int, write: float, down: float, *, restart: bool) -> None:
        """The driver is killed around the send; the image may be written meanwhile, and the BMC restart after it."""
        for _ in range(2 * PACE.stable):
            self.turn(kill)
            if self.open is not None:
                break
            self.bmc.pass_time(PACE.poll)
        self.bmc.pass_time(write)
        if restart:
            self.bmc.restart()
        self.bmc.pass_time(down)

    @precondition(lambda self: self.open is not None and self.open.phase in {Phase.UPDATED, Phase.ACTIVATING})
    @rule(kill=st.integers(1, 3), down=DOWN)
    def die_resetting(self, kill: int, down: float) -> None:
        """The driver is killed around a reset, or within it."""
        before = self.open
        for _ in range(20):
            self.turn(kill)
            if self.open is None or before is None or self.open.activations > before.activations:
                break
            self.bmc.pass_time(PACE.poll)
        self.bmc.pass_time(down)

    @rule(turns=st.integers(2, 12))
    def drive_on(self, turns: int) -> None:
        """Take some turns without trouble."""
        for _ in range(turns):
            self.turn(None)
            self.bmc.pass_time(PACE.poll)

    @rule(seconds=DOWN)
    def be_down(self, seconds: float) -> None:
        """No driver for a while."""
        self.stable = 0
        self.bmc.pass_time(seconds)

    @rule()
    def restart(self) -> None:
        """The BMC restarts by itself."""
        self.bmc.restart()

    @rule(task=OTHERS, seconds=st.sampled_from([5.0, 35.0, 150.0]))
    def another(self, task: Task, seconds: float) -> None:
        """Another client of the BMC begins something; it leaves the versions of these entries alone."""
        self.bmc.another(task, seconds)

    @rule(task=STAGED)
    def stage(self, task: Task) -> None:
        """Another client stages something for a start of the host that is its own affair."""
        self.bmc.stage(task)

    @rule()
    def unstage(self) -> None:
        """It takes that away."""
        self.bmc.unstage()

    @rule(seconds=st.sampled_from([10.0, 60.0]))
    def unlist(self, seconds: float) -> None:
        """The BMC fails to list its tasks for a while, and tells of single ones."""
        self.bmc.unlisted_until = self.bmc.now + seconds

    @rule(seconds=st.sampled_from([10.0, 100.0]))
    def cut(self, seconds: float) -> None:
        """The network to the BMC is gone for a while."""
        self.bmc.cut_until = self.bmc.now + seconds

    @precondition(lambda self: self.clock > -300.0)
    @rule(seconds=st.sampled_from([3.0, 45.0, 150.0]))
    def set_back(self, seconds: float) -> None:
        """The runner's clock was ahead."""
        self.clock -= seconds

    @rule(seconds=st.sampled_from([45.0, 150.0, 600.0, 90_000.0]))
    def set_forward(self, seconds: float) -> None:
        """The runner's clock was behind; whether the BMC tells of its start or not."""
        self.clock += seconds

    def teardown(self) -> None:
        """Once nothing goes wrong any more, every flash comes to its end, and the end is true."""
        self.lose = False
        self.bmc.unstage()
        for _ in range(1_000):
            if self.open is None and (self.bmc.running == NEW or len(self.ended) >= ATTEMPTS):
                break
            self.turn(None)
            self.bmc.pass_time(PACE.poll)
        else:
            raise AssertionError(f"it waits for ever: {self.open}, {self.bmc}")

    def turn(self, kill: int | None) -> None:
        """Look, decide, and carry out the effects of what was decided one after the other, up to a kill."""
        for number, effect in enumerate(self.effects(self.look())):
            if number == kill and not self.spared:
                self.stable = 0
                return
            try:
                effect()
            except LostError:
                return

    def look(self) -> Seen:
        """Look, and count how often the versions were the same."""
        seen = self.bmc.look(self.clock, self.open.task if self.open else "")
        same = self.last is not None and self.last.versions == seen.versions
        self.stable = 0 if seen.versions is None else self.stable + 1 if same else 1
        flash = self.open
        since = [at for at in self.looks if flash and at >= flash.intended_at]
        unseen = gaps(since, seen.at, PACE.poll)
        self.looks.append(seen.at)
        self.last = seen = replace(seen, stable=self.stable, gaps=unseen)
        return seen

    def effects(self, seen: Seen) -> Effects:
        """Return what the driver does, effect by effect; a kill comes before one of them."""
        if self.open is None:
            yield from self.begin(seen)
            return
        flash = self.open
        match decide(flash, seen, PACE):
            case Wait(why):
                assert why
            case Send():
                yield lambda: self.note(intended_at=seen.at)
                yield from self.send()
            case Adopt(task):
                yield lambda: self.note(phase=Phase.SENT, task=task, sent_at=seen.at)
            case Mark(phase):
                yield lambda: self.note(phase=phase, updated_at=seen.at)
            case Reset(how, number, task):
                assert not seen.partial, "a reset after a look that broke off"
                yield from self.reset(how, number, seen.at, task or flash.task)
            case Conclude(end, detail):
                yield lambda: self.end(end, detail, seen)

    def begin(self, seen: Seen) -> Effects:
        """Write the next flash down, if the BMC is at rest and there is one to make, and send it."""
        goes_on = (TaskEnd.RUNNING, TaskEnd.STAGED)
        rest = seen.tasks is not None and all(each.state not in goes_on for each in seen.tasks.values())
        if not rest or seen.stable < PACE.stable or seen.versions == NEW or len(self.ended) >= ATTEMPTS:
            return
        flash = a_flash(
            before=dict(seen.versions or {}),
            activate=self.bmc.habits.activate,
            times=self.bmc.habits.times,
            intended_at=seen.at,
            tasks_before=tuple(seen.tasks or ()),
            bmc_reset_before=seen.bmc_reset_at,
        )
        yield lambda: setattr(self, "open", flash)
        yield from self.send()

    def send(self) -> Effects:
        """Send the image: it may arrive after the driver is gone, and the answer may be lost."""
        taken: list[str] = []
        yield lambda: self.bmc.coming.append(self.bmc.now + PACE.send - 1.0)
        yield self.bmc.coming.clear
        yield lambda: taken.append(self.bmc.post())
        yield self.answer
        yield lambda: self.note(phase=Phase.SENT, task=taken[0], sent_at=self.bmc.now + self.clock)

    def reset(self, how: Activate, number: int, at: float, task: str) -> Effects:
        """Write a reset down, do it, and write down that the BMC took it."""
        yield lambda: self.note(phase=Phase.ACTIVATING, activations=number, activated_at=at, task=task)
        self.swallowed += 1  # until it is known to be taken
        self.spared = self.swallowed > SWALLOWED
        self.lose = self.lose and not self.spared
        yield from self.bmc.reset(how)
        yield self.answer
        yield self.note_taken
        self.swallowed -= 1
        self.spared = False

    def note_taken(self) -> None:
        """Write down that the BMC took a reset."""
        assert self.open
        self.note(activated=self.open.activated + 1)

    def answer(self) -> None:
        """Lose the answer to what was done."""
        if self.lose:
            raise LostError

    def note(self, **news: object) -> None:
        """Write down how far the flash has come."""
        assert self.open
        self.open = replace(self.open, **news)  # type: ignore[arg-type]  # names of its fields

    def end(self, end: End, detail: str, seen: Seen) -> None:
        """End the flash, if it is true."""
        assert self.open
        assert self.bmc.update is None, "a flash ended while its image was being written"
        assert (end is End.VERIFIED) is (self.bmc.running == NEW), detail
        assert ANOTHER not in detail, "a flash ended as somebody else's task did"
        for each, version in self.bmc.running.items():
            if version != NEW[each]:
                assert f"{each} is at {version}, expected {NEW[each]}" in detail
        assert self.bmc.pending != NEW, "a flash ended while its versions wait for a reset"
        assert self.bmc.staged is None, "a flash ended while its image is staged"
        self.ended.append(replace(self.open, end=end, detail=detail, ended_at=seen.at))
        self.open = None


def test_no_flash_is_repeated_or_forgotten_and_power_stays_away_from_it() -> None:
    run_state_machine_as_test(Flashing, settings=settings(max_examples=examples(1_000), stateful_step_count=15))


@pytest.mark.nightly
@pytest.mark.parametrize("number", range(100))
def test_the_same_for_an_hour(number: int) -> None:
    """A hundred thousand lives; at one go Hypothesis would remember them all, in 10 GB."""
    run_state_machine_as_test(
        seed(number)(Flashing), settings=settings(max_examples=1_000, stateful_step_count=40, database=None)
    )


def test_an_image_that_no_task_tells_of_has_its_time_though_the_clock_is_set_forward() -> None:
    driven = Flashing()
    driven.unpack(BmcBehaviour(hides=True), [Fate(seconds=75.0)])
    while driven.open is None or driven.open.phase is not Phase.SENT:
        driven.drive_on(1)
    driven.set_forward(600.0)
    assert driven.clock == 600.0
    driven.drive_on(PACE.stable + 1)
    driven.teardown()
    assert (driven.bmc.accepted, driven.bmc.running) == (1, NEW)


def test_an_image_that_is_on_its_way_has_its_time_though_the_clock_is_set_forward_meanwhile() -> None:
    """It comes as late as `send` allows, is written as long as it may be, and no task and no start tell of either."""
    driven = Flashing()
    driven.unpack(BmcBehaviour(Activate.BMC_RESET, tells_start=False, away=5.0, hides=True), [Fate(seconds=75.0)])
    driven.drive(kill=2, lose=False, seconds=10.0)
    assert driven.open is not None
    driven.set_forward(45.0)
    driven.teardown()
    assert (driven.bmc.accepted, driven.bmc.running) == (1, NEW)


def test_what_a_job_queue_has_staged_is_written_in_the_one_start_that_follows() -> None:
    driven = Flashing()
    driven.unpack(BmcBehaviour(queue=True), [])
    driven.teardown()
    assert (driven.bmc.accepted, driven.bmc.running) == (1, NEW)
    assert [(flash.end, flash.activations, flash.updated_at) for flash in driven.ended] == [(End.VERIFIED, 1, None)]


def test_a_version_that_came_late_after_a_restart_and_a_clock_set_back_is_looked_at_again() -> None:
    for late in (0.0, 70.0):
        driven = Flashing()
        driven.unpack(BmcBehaviour(queue=True, late=late), [Fate(seconds=75.0)])
        driven.restart()
        driven.drive_on(3)
        driven.drive(None, 10.0, lose=False)
        driven.set_back(45.0)
        driven.teardown()
        assert (driven.bmc.accepted, driven.bmc.running) == (1, NEW)
        assert [flash.end for flash in driven.ended] == [End.VERIFIED]


def test_a_bmc_without_faults_is_flashed_once_and_verified() -> None:
    for activate in Activate:
        for address in (True, False):
            driven = Flashing()
            driven.unpack(BmcBehaviour(activate=activate, gives_address=address), [])
            driven.teardown()
            assert (driven.bmc.accepted, driven.bmc.running) == (1, NEW), activate
            assert [flash.end for flash in driven.ended] == [End.VERIFIED]
            assert driven.ended[0].before == OLD
