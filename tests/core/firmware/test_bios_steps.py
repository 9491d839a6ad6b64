"""One try of BIOS settings in a stay, whatever crashes in between: played by chance against a host that boots."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.firmware import bios
from fleet_runner.core.firmware.bios import Plan, Seen
from fleet_runner.core.firmware.bios_jobs import Job, Queue
from fleet_runner.core.firmware.bios_steps import (
    MOST_RESETS,
    Clock,
    Commit,
    Lost,
    Refused,
    Reset,
    Set,
    Settled,
    Try,
    Turn,
    Wait,
    decide,
    first,
    noted,
    taken,
)

BOOT = 900.0
OFF = Plan(changes={"SRIOV": "Enabled"}, wrong={"SRIOV": "Disabled"})
WAITS = Plan(waiting={"SRIOV": "Enabled"}, wrong={"SRIOV": "Disabled"})
NEEDS = replace(WAITS, changes={"Power": "Max"}, later=("Power",))
TRIED = Try({"SRIOV": "Enabled"}, 100.0, 1, 100.0)


def at(now: float, reset: float | None = None) -> Clock:
    return Clock(now, reset, BOOT)


@pytest.mark.parametrize(
    ("plan", "tried", "clock", "turn"),
    [
        (Plan(settled=("SRIOV",)), TRIED, at(5000), Settled()),
        (replace(OFF, refused=("A: no", "B: no")), TRIED, at(5000), Refused("A: no; B: no")),
        (OFF, None, at(200), Set({"SRIOV": "Enabled"})),
        (WAITS, None, at(200), Reset(Try({"SRIOV": "Enabled"}, 200, 1, 200))),
        # Not reset since, as far as is known: sent again where the BMC forgot it, and reset.
        (OFF, TRIED, at(200, 50), Set({"SRIOV": "Enabled"})),
        (WAITS, TRIED, at(2000, 50), Reset(TRIED)),
        # On its way through the reset.
        (OFF, TRIED, at(300, 110), Reset(TRIED)),
        (WAITS, TRIED, at(300, 110), Reset(TRIED)),
        (OFF, TRIED, at(300), Reset(TRIED)),
        # A reset later it is known, and nothing is sent twice.
        (WAITS, TRIED, at(2000, 110), Reset(Try({"SRIOV": "Enabled"}, 100, 2, 2000))),
        (WAITS, TRIED, at(2000), Reset(Try({"SRIOV": "Enabled"}, 100, 2, 100))),
        (OFF, TRIED, at(2000), Set({"SRIOV": "Enabled"})),
        # What needs that which waits: its reset first.
        (NEEDS, None, at(200), Reset(Try({"SRIOV": "Enabled"}, 200, 1, 200))),
        (NEEDS, TRIED, at(200, 50), Reset(TRIED)),
        (replace(NEEDS, waiting={}), TRIED, at(2000, 110), Set({"Power": "Max"})),
        (replace(NEEDS, changes={"Power": "Max", "Fan": 1}), TRIED, at(200, 50), Set({"Power": "Max", "Fan": 1})),
        # A value that this stay has not tried yet.
        (replace(OFF, changes={"SRIOV": "Auto"}), TRIED, at(2000, 110), Set({"SRIOV": "Auto"})),
        # One that is in force, and that somebody else would change at the next reset.
        (replace(OFF, wrong={}), TRIED, at(2000, 110), Set({"SRIOV": "Enabled"})),
    ],
)  # fmt: skip
def test_what_comes_next(plan: Plan, tried: Try | None, clock: Clock, turn: Turn) -> None:
    assert decide(plan, tried, clock) == turn


SCHEDULED = Queue(needed=True, jobs=(Job("JID_1", "Scheduled"),))
BOTH = replace(WAITS, changes={"Boot": "Fast"})
IN_THE_WAY = (
    "SRIOV 'Enabled': not sent, because job JID_1 (Scheduled) waits for a reset of the host, and the BMC takes no"
    " other settings until then; reset the host, or delete that job if nobody needs it"
)


@pytest.mark.parametrize(
    ("plan", "tried", "clock", "queue", "turn"),
    [
        # At work: nothing is certain, neither what is shown as in force nor what is not.
        *((plan, tried, at(2000, 110), Queue(jobs=(Job("JID_1", "Running", "", 34.0),)), Wait(
            "job JID_1 (Running, 34 %) is at the BIOS settings; they are compared again once it has ended"))
          for plan in (OFF, WAITS, Plan(settled=("SRIOV",)), Plan(refused=("no",))) for tried in (None, TRIED)),
        # Somebody else's: told, and neither a setting nor a second job is sent. What is in force needs none of it.
        (OFF, None, at(200), SCHEDULED, Refused(IN_THE_WAY)),
        (OFF, TRIED, at(200, 50), SCHEDULED, Refused(IN_THE_WAY)),
        (Plan(settled=("SRIOV",)), None, at(200), SCHEDULED, Settled()),
        # With ours in it: its reset first, then the others.
        (BOTH, TRIED, at(200, 50), SCHEDULED, Reset(TRIED)),
        (BOTH, TRIED, at(300, 110), SCHEDULED, Reset(TRIED)),
        # What waits has its job, or gets one before its reset.
        (WAITS, None, at(200), SCHEDULED, Reset(Try({"SRIOV": "Enabled"}, 200, 1, 200))),
        (WAITS, None, at(200), Queue(needed=True), Commit(Try({"SRIOV": "Enabled"}, 200, 1, 200))),
        (WAITS, TRIED, at(200, 50), Queue(needed=True), Commit(TRIED)),
        (WAITS, TRIED, at(200, 50), SCHEDULED, Reset(TRIED)),
        (WAITS, TRIED, at(2000, 110), Queue(needed=True), Commit(Try({"SRIOV": "Enabled"}, 100, 2, 2000))),
        (OFF, TRIED, at(200, 50), Queue(needed=True), Set({"SRIOV": "Enabled"})),
        # On its way through the reset, where the job that is over may still show what it applied.
        (WAITS, TRIED, at(300, 110), Queue(needed=True), Reset(TRIED)),
    ],
)  # fmt: skip
def test_what_comes_next_where_jobs_bring_settings_into_force(
    plan: Plan, tried: Try | None, clock: Clock, queue: Queue, turn: Turn
) -> None:
    assert decide(plan, tried, clock, queue) == turn


@pytest.mark.parametrize(
    ("said", "queue", "told"),
    [
        (("first", "SRIOV is locked"), Queue(), "SRIOV is locked"),
        ((), Queue(jobs=(Job("JID_1", "Failed", "no power"),)), "job JID_1 (Failed): no power"),
    ],
)
def test_what_was_reset_in_vain_is_told_with_what_the_bmc_says(said: Any, queue: Queue, told: str) -> None:
    turn = decide(replace(OFF, said=said), TRIED, at(2000, 110), queue)
    assert isinstance(turn, Lost)
    assert turn.why.endswith(f"and it is not in force after the reset; it says: {told}")


BROKEN = "SRIOV is 'Disabled', expected 'Enabled': the BMC took it, and it is not in force after the reset; it says: "


@pytest.mark.parametrize("plan", [OFF, WAITS])
@pytest.mark.parametrize(
    ("ended", "clock", "over"),
    [
        (500.0, at(300, 50), True),
        (500.0, at(300), True),
        (90.0, at(300, 50), False),
        # Without its time, it is this stay's once the host was reset.
        (None, at(300, 110), True),
        (None, at(300, 50), False),
        (None, at(300), False),
    ],
)
def test_a_job_that_failed_ends_the_try_at_once(plan: Plan, ended: float | None, clock: Clock, over: object) -> None:
    failed = Job("JID_2", "Failed", "no power", ended=ended)
    turn = decide(replace(plan, said=("SRIOV is odd",)), TRIED, clock, Queue(jobs=(failed,)))
    assert (turn == Lost(f"{BROKEN}job JID_2 (Failed): no power")) is over
    assert isinstance(decide(plan, TRIED, clock, Queue(jobs=(failed, Job("JID_1", "Scheduled")))), Reset | Refused)
    fresh = Plan(changes={"Power": "Max"}, wrong={"Power": "Min"})
    assert isinstance(decide(fresh, TRIED, clock, Queue(jobs=(failed,))), Set | Reset), "not of what it was for"


@pytest.mark.parametrize(("message", "said"), [("", ""), ("In a window.", "; it says: In a window.")])
@pytest.mark.parametrize("plan", [WAITS, BOTH])
def test_a_job_that_stays_scheduled_over_a_reset_gets_no_second_one(plan: Plan, message: str, said: str) -> None:
    queue = Queue(needed=True, jobs=(Job("JID_1", "Scheduled", message),))
    why = "SRIOV 'Enabled' still waits: job JID_1 (Scheduled) was not carried out at the reset of the host"
    assert decide(plan, TRIED, at(2000, 110), queue) == Lost(why + said)
    assert decide(plan, TRIED, at(2000), queue) == Reset(replace(TRIED, resets=2)), "nobody knows of a reset"


@pytest.mark.parametrize(("clock", "resets"), [(at(2000, 110), 1), (at(2000, 98.5), 1), (at(2000), MOST_RESETS)])
def test_what_was_reset_in_vain_is_lost_and_says_so(clock: Clock, resets: int) -> None:
    """The BMC's clock may be wrong by two seconds; one that does not tell of resets may have had none."""
    why = "SRIOV is 'Disabled', expected 'Enabled': the BMC took it, and it is not in force after the reset"
    assert decide(OFF, replace(TRIED, resets=resets), clock) == Lost(why)


@pytest.mark.parametrize("reset", [None, 1990.0])
def test_what_waits_in_vain_is_given_up(reset: float | None) -> None:
    turn = decide(WAITS, replace(TRIED, resets=MOST_RESETS, reset_from=100.0), at(5000, reset))
    assert turn == Lost("SRIOV 'Enabled' still waits, although the host was to be reset 3 times")


def test_what_is_written_down_holds_all_that_was_tried_in_the_stay() -> None:
    plan = Plan(changes={"B": 2}, waiting={"C": 3})
    assert noted(plan, None, at(7.0)) == Try({"B": 2, "C": 3}, 7.0, 1, 7.0)
    # Counted over the stay, whatever is sent; but the reset that was not done is the one that is asked for again.
    both: dict[str, Any] = {"SRIOV": "Enabled", "B": 2, "C": 3}
    assert noted(plan, TRIED, at(500.0, 110.0)) == noted(plan, TRIED, at(500.0)) == Try(both, 500.0, 2, 500.0)
    assert noted(plan, TRIED, at(500.0, 50.0)) == Try(both, 500.0, 1, 500.0)


@pytest.mark.parametrize("reset", [None, 110.0])
def test_whatever_is_to_be_sent_a_host_is_not_reset_without_an_end(reset: float | None) -> None:
    plan = Plan(changes={"Power": "Max"}, wrong={"Power": "Min"}, later=("Power",))
    assert decide(plan, replace(TRIED, resets=MOST_RESETS), at(2000, reset)) == Lost(
        "Power 'Max': not sent, because the host was to be reset 3 times for BIOS settings since it is in this state"
    )
    assert decide(plan, replace(TRIED, resets=MOST_RESETS - 1), at(2000, reset)) == Set({"Power": "Max"})
    assert decide(plan, replace(TRIED, resets=MOST_RESETS), at(2000, 50)) == Set({"Power": "Max"}), "none was done"


def test_what_a_bmc_drops_of_what_may_come_later_is_not_written_down_as_tried() -> None:
    plan = Plan(changes={"Profile": "Custom", "Power": "Max", "Fan": "Auto"}, later=("Power", "Fan"))
    after = Plan(changes={"Power": "Max", "Profile": "Custom"}, waiting={"Fan": "Auto"})
    assert taken(plan, after).changes == {"Profile": "Custom", "Fan": "Auto"}
    assert first(plan).changes == {"Profile": "Custom"}
    assert taken(plan, Plan()) == plan


@dataclass
class Machine:
    """A BMC and its host: settings, some of which do not stick, and visits that crash."""

    keeps: bool  # whether what is sent comes into force
    takes: bool  # whether a reset takes what waits away, or it goes on waiting
    tells: bool  # whether the BMC tells of its host's last reset
    shows: bool  # whether it shows what waits
    now: float = 1000.0
    inforce: dict[str, Any] = field(default_factory=lambda: {"A": 1, "B": "x"})
    waits: dict[str, Any] = field(default_factory=dict)
    reset_at: float = 500.0
    sent: int = 0
    resets: int = 0
    tried: Try | None = None

    def turn(self, wanted: dict[str, Any]) -> Turn:
        """Return what the next visit does."""
        plan = bios.plan(wanted, Seen(self.inforce, self.waits if self.shows else {}))
        turn = decide(plan, self.tried, Clock(self.now, self.reset_at if self.tells else None, BOOT))
        self.plan = plan
        return turn

    def send(self, changes: Any) -> None:
        """Take settings for the next reset."""
        self.sent += 1
        self.waits |= changes

    def reset(self) -> None:
        """Boot."""
        self.resets += 1
        self.reset_at = self.now
        if self.keeps and self.takes:
            self.inforce |= self.waits
        if self.takes:
            self.waits = {}


CRASHES = st.sampled_from(["", "", "", "sent", "noted", "reset"])


@given(
    st.builds(Machine, st.booleans(), st.booleans(), st.booleans(), st.booleans()),
    st.lists(st.tuples(CRASHES, st.sampled_from([30.0, 2000.0])), max_size=4),
)
def test_a_stay_comes_to_its_end_with_one_try_however_it_crashes(
    machine: Machine, visits: list[tuple[str, float]]
) -> None:
    """Each crash costs one more request or reset at most; without one, nothing is sent twice."""
    wanted = {"A": "2", "B": "y"}
    crashes = 0
    for crash, pause in [*visits, *[("", 2000.0)] * 8]:
        machine.now += pause
        match turn := machine.turn(wanted):
            case Settled() | Lost():
                break
            case Set(changes):
                machine.send(changes)
                if crash == "sent":
                    crashes += 1
                    continue
                since = (machine.tried or Try({}, 0, 1, 0)).reset_from
                clock = Clock(machine.now, machine.reset_at if machine.tells else None, BOOT)
                machine.tried = noted(machine.plan, machine.tried, clock)
                assert machine.tried.reset_from >= since
            case Reset(note):
                machine.tried = note
        assert machine.tried is not None
        if crash == "noted":
            crashes += 1
            continue
        machine.now += 1.0
        if not machine.tells or machine.reset_at <= machine.tried.reset_from:
            machine.reset()
        if crash == "reset":
            crashes += 1
            continue
        machine.now += BOOT
    good = machine.keeps and machine.takes
    assert isinstance(turn, (Settled if good else Lost) if machine.tells or crashes < MOST_RESETS else Settled | Lost)
    assert machine.sent <= (1 if machine.tells else MOST_RESETS) + crashes
    assert machine.resets <= MOST_RESETS + crashes + sum(pause == 30.0 for _, pause in visits)
