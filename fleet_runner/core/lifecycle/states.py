"""The lifecycle of a node: one table of states, one of transitions, each row with its sentence.

The rest of the product asks this file where a node may go; `docs/lifecycle.md` is generated from it.
CoreWeave's words for the same places are given where the field knows them.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

MINUTE = 60.0
HOUR = 3600.0


class State(StrEnum):
    """Where a node is. Whether it is well is another axis: see Condition."""

    REGISTERED = "registered"
    PROVISION = "provision"
    ONBOARD = "onboard"
    VERIFY = "verify"
    FIRMWARE = "firmware"
    FIRMWARE_FAILED = "firmware_failed"
    BURN_IN = "burn_in"
    PRODUCTION = "production"
    RESET = "reset"
    REBOOT = "reboot"
    TRIAGE = "triage"
    DEBUG = "debug"
    RMA = "rma"
    WIPE = "wipe"
    RETIRED = "retired"
    WATCHED = "watched"


class Event(StrEnum):
    """What happened to a node."""

    START = "start"  # nothing runs on it, or a person wants it to be booted anew
    ADOPTED = "adopted"  # a person wants it as it is, and it was seen to serve
    PASSED = "passed"  # every stage of its state has passed
    FAILED = "failed"  # a stage of its state found a fault
    OVERDUE = "overdue"  # no verdict before the deadline or within the attempt cap
    CERTIFIED = "certified"  # a technician says that it is built as designed
    RESET_NEEDED = "reset_needed"  # a fault that resetting GPUs, or restarting a service, clears
    REBOOT_NEEDED = "reboot_needed"  # a fault that a reboot clears
    TRIAGE_NEEDED = "triage_needed"  # a fault that a reboot does not clear
    FIRMWARE_NEEDED = "firmware_needed"  # a person or a rollout wants its firmware brought to its pins
    RETRY = "retry"  # a person understood what went wrong and asks for another try
    DEBUG = "debug"  # a person takes it apart in place
    RMA = "rma"  # a part or the node goes back to its vendor
    REPAIRED = "repaired"  # a person says that it is whole again
    REPLACED = "replaced"  # a person says that another machine stands in its place
    WIPE = "wipe"  # a person has everything on it erased, for good
    RETIRE = "retire"  # it leaves the fleet for good


class Condition(StrEnum):
    """Facts beside the state; several can hold at once."""

    IN_USE = "in_use"  # a tenant's work runs on it
    CORDONED = "cordoned"  # it takes no new work
    DRAINING = "draining"  # it waits for its work to end
    HELD = "held"  # a person said: nothing moves; wins over all automation
    MAINTENANCE = "maintenance"  # planned work: findings are kept, nothing follows from them
    PENDING = "pending"  # a remedy is decided and waits for the node to be idle
    ADVISED = "advised"  # a remedy would be pending, were the runner not only observing: it, then its faults' keys
    WAIVED = "waived"  # a person cancelled a remedy: nothing follows from the same fault until it has gone


class Stage(StrEnum):
    """A playbook, run for a state or by a schedule."""

    SURVEY = "survey"
    PROVISION = "provision"
    VERIFY = "verify"
    FIRMWARE = "firmware"
    BURN_IN = "burn_in"
    RESET = "reset"
    REBOOT = "reboot"
    DRAIN = "drain"
    RESUME = "resume"
    COLLECT = "collect"
    WIPE = "wipe"
    HEALTH_PASSIVE = "health_passive"
    HEALTH_ACTIVE = "health_active"
    CABLING = "cabling"
    FABRIC = "fabric"
    CHECK = "check"


class StateRow(NamedTuple):
    """One row of the table of states.

    `stages` are run in this order; `deadline` (seconds) is the longest a node may stay, `attempts` how often a
    stage without a verdict is tried again before that. A state without stages rests until a person or a fault
    moves it, and has no deadline.
    """

    meaning: str
    stages: tuple[Stage, ...] = ()
    deadline: float | None = None
    attempts: int = 0
    also: str = ""


STATES: dict[State, StateRow] = {
    State.REGISTERED: StateRow("In the source of truth; it is only observed, and nothing has been changed on it."),
    State.PROVISION: StateRow(
        "Day 0: it boots over the network and reports in.", (Stage.PROVISION,), 1 * HOUR, 3, also="Day 0"
    ),
    State.ONBOARD: StateRow("A technician inspects, cables and certifies it.", also="onboard"),
    State.VERIFY: StateRow(
        "Parts, power and cabling are compared with the design.", (Stage.VERIFY,), 2 * HOUR, 5, also="seatrial"
    ),
    State.FIRMWARE: StateRow(
        "Every firmware component is updated to its pinned version.", (Stage.FIRMWARE,), 6 * HOUR, 3, also="zap"
    ),
    State.FIRMWARE_FAILED: StateRow("No power action until a person understands what happened.", also="zap fail"),
    State.BURN_IN: StateRow("One to two days of full load.", (Stage.BURN_IN,), 52 * HOUR, 20, also="test"),
    State.PRODUCTION: StateRow("In service for tenants; passive checks monitor it.", also="production"),
    State.RESET: StateRow(
        "GPUs reset or a service restarted, then verified before it serves again.",
        (Stage.RESET, Stage.VERIFY),
        1 * HOUR,
        3,
    ),
    State.REBOOT: StateRow(
        "Power-cycled, then verified before it serves again.",
        (Stage.REBOOT, Stage.VERIFY),
        2 * HOUR,
        5,
        also="reboot",
    ),
    State.TRIAGE: StateRow("Out of service; a person decides what to do.", also="triage"),
    State.DEBUG: StateRow("A person works on it in place.", also="debug"),
    State.RMA: StateRow("The node, or a part of it, is with the vendor.", also="RMA"),
    State.WIPE: StateRow("Disks are erased and the TPM is cleared.", (Stage.WIPE,), 24 * HOUR, 5),
    State.RETIRED: StateRow("Removed from the fleet; its history is kept."),
    State.WATCHED: StateRow("A fabric, not a node: its cabling is checked on a schedule."),
}

MOVING = frozenset(state for state, place in STATES.items() if place.stages)
"""States in which the runner works towards the next one; each has a deadline."""

SERVING = frozenset({State.PRODUCTION})
"""States in which a tenant may be using the node: leaving one costs somebody something."""

REMEDIED = frozenset({State.RESET, State.REBOOT})
"""States in which a remedy is carried out."""

ENDED = frozenset({State.RETIRED})
"""States that nothing leaves."""

FABRICS = frozenset({State.WATCHED})
"""States of what is no node: it is looked after as a whole, moves nowhere and serves nobody by itself."""


class Transition(NamedTuple):
    """One row of the table of transitions. `sentence` goes into the history and NetBox's journal as it stands."""

    state: State
    event: Event
    to: State
    sentence: str


_ROWS: tuple[Transition, ...] = (
    Transition(State.REGISTERED, Event.START, State.PROVISION,
               "The node is in the source of truth: Day 0 begins."),
    Transition(State.REGISTERED, Event.ADOPTED, State.PRODUCTION,
               "Already in service and built as designed: adopted as it is, without a reboot."),
    Transition(State.PROVISION, Event.PASSED, State.ONBOARD,
               "The node booted over the network and reported in; a technician must certify it."),
    Transition(State.PROVISION, Event.FAILED, State.TRIAGE,
               "The node did not boot as a node of this fleet; a person must find out why."),
    Transition(State.PROVISION, Event.OVERDUE, State.TRIAGE,
               "The node did not report in before its deadline; a person must find out why."),
    Transition(State.ONBOARD, Event.CERTIFIED, State.VERIFY,
               "A technician certified it as built; parts, power and cabling are verified next."),
    Transition(State.VERIFY, Event.PASSED, State.FIRMWARE,
               "Parts, power and cabling match the design; firmware is next."),
    Transition(State.VERIFY, Event.FAILED, State.ONBOARD,
               "The node differs from the design; a technician must fix it and certify it again."),
    Transition(State.VERIFY, Event.OVERDUE, State.ONBOARD,
               "Verification had no result before its deadline; a person must inspect it and certify it again."),
    Transition(State.FIRMWARE, Event.PASSED, State.BURN_IN,
               "All firmware is at its pinned version; burn-in begins."),
    Transition(State.FIRMWARE, Event.FAILED, State.FIRMWARE_FAILED,
               "Firmware is not at its pinned version; no power action until a person knows why."),
    Transition(State.FIRMWARE, Event.OVERDUE, State.FIRMWARE_FAILED,
               "The firmware update was not finished before its deadline; no power action until a person knows why."),
    Transition(State.FIRMWARE_FAILED, Event.RETRY, State.FIRMWARE,
               "A person has looked into the firmware failure and requested a retry."),
    Transition(State.FIRMWARE_FAILED, Event.TRIAGE_NEEDED, State.TRIAGE,
               "The firmware failure needs work on the machine."),
    Transition(State.BURN_IN, Event.PASSED, State.PRODUCTION,
               "Burn-in passed: the node enters production."),
    Transition(State.BURN_IN, Event.FAILED, State.TRIAGE,
               "Burn-in found a fault; it is not retried, a person decides."),
    Transition(State.BURN_IN, Event.OVERDUE, State.TRIAGE,
               "Burn-in had no result before its deadline; a person decides."),
    Transition(State.PRODUCTION, Event.RESET_NEEDED, State.RESET,
               "Fault that a reset of the GPUs, or of a service, can clear: it is verified before it serves again."),
    Transition(State.PRODUCTION, Event.REBOOT_NEEDED, State.REBOOT,
               "Fault that a reboot can clear: the node is power-cycled and verified before it serves again."),
    Transition(State.PRODUCTION, Event.TRIAGE_NEEDED, State.TRIAGE,
               "Fault that a reboot cannot clear: the node leaves production, a person decides."),
    Transition(State.PRODUCTION, Event.FIRMWARE_NEEDED, State.FIRMWARE,
               "Firmware update: the node leaves production, and passes burn-in before it serves again."),
    Transition(State.RESET, Event.PASSED, State.PRODUCTION,
               "The reset cleared the fault and verification passed: the node returns to production."),
    Transition(State.RESET, Event.FAILED, State.REBOOT,
               "The reset did not clear the fault, or there is a new one: the node is rebooted."),
    Transition(State.RESET, Event.OVERDUE, State.TRIAGE,
               "The reset had no result before its deadline, for example because a GPU is in use; a person decides."),
    Transition(State.RESET, Event.TRIAGE_NEEDED, State.TRIAGE,
               "The node is not healthy after its reset, and no remedy is left; a person decides."),
    Transition(State.REBOOT, Event.PASSED, State.PRODUCTION,
               "The reboot cleared the fault and verification passed: the node returns to production."),
    Transition(State.REBOOT, Event.FAILED, State.TRIAGE,
               "The fault is still there after the reboot, or there is a new one; a person decides."),
    Transition(State.REBOOT, Event.OVERDUE, State.TRIAGE,
               "The node was not healthy again before the deadline of its reboot; a person decides."),
    Transition(State.TRIAGE, Event.DEBUG, State.DEBUG,
               "A person works on the node in place."),
    Transition(State.TRIAGE, Event.RMA, State.RMA,
               "The node, or a part of it, goes back to its vendor."),
    Transition(State.TRIAGE, Event.REPAIRED, State.ONBOARD,
               "Repaired: a technician certifies it, then it passes every stage again."),
    Transition(State.TRIAGE, Event.RETRY, State.PROVISION,
               "A person requested a new network boot: Day 0 begins again."),
    Transition(State.DEBUG, Event.RMA, State.RMA,
               "Debugging showed that the node, or a part of it, must go back to its vendor."),
    Transition(State.DEBUG, Event.REPAIRED, State.ONBOARD,
               "Repaired in place: a technician certifies it, then it passes every stage again."),
    Transition(State.DEBUG, Event.RETRY, State.PROVISION,
               "Repaired in place and booted over the network again: Day 0 begins again."),
    Transition(State.RMA, Event.REPAIRED, State.ONBOARD,
               "Back from its vendor: a technician certifies it, then it passes every stage again."),
    Transition(State.RMA, Event.RETRY, State.PROVISION,
               "Back from its vendor and booted over the network again: Day 0 begins again."),
    Transition(State.ONBOARD, Event.WIPE, State.WIPE,
               "A person requested a wipe before the node continues."),
    Transition(State.TRIAGE, Event.WIPE, State.WIPE,
               "A person requested a wipe before the node leaves, or starts again."),
    Transition(State.DEBUG, Event.WIPE, State.WIPE,
               "A person requested a wipe before the node leaves, or starts again."),
    Transition(State.RMA, Event.WIPE, State.WIPE,
               "Back from its vendor: a person requested a wipe before it starts again."),
    Transition(State.WIPE, Event.PASSED, State.TRIAGE,
               "Disks are erased and the TPM is cleared, with proof; a person decides what is next: rma, retire, "
               "repaired."),
    Transition(State.WIPE, Event.FAILED, State.TRIAGE,
               "Not everything could be erased; each remaining device has a ticket, a person decides."),
    Transition(State.WIPE, Event.OVERDUE, State.TRIAGE,
               "The wipe had no result before its deadline: a person must find out whether everything was erased."),
    Transition(State.WIPE, Event.TRIAGE_NEEDED, State.TRIAGE,
               "A person stopped the wipe: no further device is erased; a device that has begun finishes by itself."),
    Transition(State.WATCHED, Event.RETIRE, State.RETIRED,
               "A person retired the fabric: it is no longer checked; its history is kept."),
)  # fmt: skip

_REPLACED = tuple(
    Transition(state, Event.REPLACED, State.ONBOARD,
               "Its chassis was replaced: a technician certifies it, then it passes every stage again.")
    for state in State
    if state not in ENDED | FABRICS | SERVING | {State.REGISTERED, State.ONBOARD}
)  # fmt: skip

_RETIRE = tuple(
    Transition(state, Event.RETIRE, State.RETIRED, "A person retired the node; its history is kept.")
    for state in State
    if state not in ENDED | FABRICS
)

TRANSITIONS: dict[tuple[State, Event], Transition] = {
    (row.state, row.event): row for row in _ROWS + _REPLACED + _RETIRE
}


class StageRow(NamedTuple):
    """One row of the table of stages. `deadline` (seconds) ends a run that outlives it.

    A run whose end was not seen is asked again; `why` says why that ruins nothing.
    """

    meaning: str
    deadline: float
    why: str


STAGES: dict[Stage, StageRow] = {
    Stage.SURVEY: StageRow("Read what the BMC, the scheduler and the node say.", 10 * MINUTE, "It only reads."),
    Stage.PROVISION: StageRow("Boot over the network; follow each milestone until the node reports in.", 40 * MINUTE,
                          "An empty node loses nothing by one more boot."),
    Stage.VERIFY: StageRow("Compare parts, power and cabling with the design.", 20 * MINUTE, "It only reads."),
    Stage.FIRMWARE: StageRow("Update firmware to its pinned versions.", 6 * HOUR,
                         "A flash is recorded before it is sent, and the BMC is asked for its result."),
    Stage.BURN_IN: StageRow("Start the tests, one after the other, or read their progress.", 30 * MINUTE,
                        "The tests are found again on the node by the stay that they belong to."),
    Stage.RESET: StageRow("Reset the GPUs of an idle node, or restart the service that failed.", 15 * MINUTE,
                      "The role first reads what was reset since the stay began."),
    Stage.REBOOT: StageRow("Power-cycle the node once and wait for it.", 40 * MINUTE,
                       "The role first asks the BMC and the armed boot what has happened."),
    Stage.DRAIN: StageRow("Accept no new jobs, and wait for the running ones.", 10 * MINUTE,
                      "Cordoning twice has the same effect as once."),
    Stage.RESUME: StageRow("Let the scheduler use it again, if fleet-runner had drained it.", 10 * MINUTE,
                       "What fleet-runner did not drain is left as it is."),
    Stage.COLLECT: StageRow("Collect logs and evidence of a node that left production, for whoever inspects it.",
                        20 * MINUTE, "It only reads."),
    Stage.WIPE: StageRow("Erase every disk of the node, clear its TPM, and store the evidence.", 30 * MINUTE,
                     "What each device is doing, or did, is read from it and from the node's log first."),
    Stage.HEALTH_PASSIVE: StageRow("Check a node without disturbing it.", 10 * MINUTE, "It only reads."),
    Stage.HEALTH_ACTIVE: StageRow("Start tests on an idle node, or read their progress; they stop at once for a job.",
                              20 * MINUTE, "The tests are found again on the node by their round."),
    Stage.CABLING: StageRow("Compare a node's links with the design, and read power, firmware and logs from its BMC.",
                        10 * MINUTE, "It only reads."),
    Stage.FABRIC: StageRow("Compare a whole fabric's links with the design.", 20 * MINUTE, "It only reads."),
    Stage.CHECK: StageRow("Run checks that a person requested, now.", 10 * MINUTE, "It only reads."),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an event does not move a node, in one sentence with the next step."""

    sentence: str


def step(state: State, event: Event, conditions: frozenset[Condition] = frozenset()) -> Transition | Refusal:
    """Return the transition an event causes, or why it causes none.

    A held node never moves, whatever happens to it and whoever asks.
    """
    if Condition.HELD in conditions:
        return Refusal(f"The node is held; release it before '{event}' can move it out of {state}.")
    row = TRANSITIONS.get((state, event))
    if row is None:
        known = ", ".join(sorted(known.value for at, known in TRANSITIONS if at is state)) or "nothing"
        return Refusal(f"'{event}' does not apply in {state}; from here it knows: {known}.")
    return row
