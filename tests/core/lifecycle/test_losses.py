"""What cannot be undone is shown before it is asked for again."""

from fleet_runner.core.lifecycle.losses import losses
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from tests.making import a_node, a_run, a_ticket, held


def test_a_node_that_nobody_uses_only_leaves() -> None:
    assert losses(a_node(State.TRIAGE), None, ()) == (
        "gpu-01 leaves the fleet from triage: it takes no more requests.",
    )


def test_one_that_serves_says_all_that_goes_with_it() -> None:
    node = a_node(State.PRODUCTION, conditions={Condition.IN_USE: held()})
    said = losses(node, a_run(Stage.HEALTH_PASSIVE, None), (a_ticket(id=5), a_ticket(id=7)))
    assert said == (
        "gpu-01 leaves the fleet from production: it takes no more requests.",
        "It serves: it is not drained first, and its scheduler is not informed.",
        "Work was seen on it; fleet-runner will no longer watch that work.",
        "health_passive runs on it: the request waits for its end.",
        "Open tickets name it, and no check closes them any more: #5, #7.",
    )
