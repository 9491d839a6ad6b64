"""A leak in a domain is told to its other trays, and by the domain itself."""

from fleet_runner.core.cabling.fabrics import NVLINK_TYPE
from fleet_runner.core.cabling.sweeps import watch as watch_domain
from fleet_runner.core.inventory.records import Termination
from fleet_runner.core.lifecycle.production import watch
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.core.lifecycle.view import Timing
from fleet_runner.core.nvlink.rack import leak_sentence
from tests.making import NOW, a_node, a_run, a_view

LEAK = leak_sentence(["a03-tray-7"])


def test_another_tray_serves_on_and_says_who_leaks() -> None:
    """Whoever looks at it is warned before they touch the rack."""
    runs = (a_run(Stage.HEALTH_PASSIVE), a_run(Stage.CABLING))
    decision = watch(a_view(domain_leak=LEAK, runs=runs), Timing(), NOW)
    assert (decision.actions, decision.waiting) == ((), f"it serves; in its NVLink domain {LEAK}")


def test_what_is_wrong_with_a_tray_itself_is_said_beside_it() -> None:
    """That its own check had no answer is not hidden by another tray's leak."""
    runs = (a_run(Stage.HEALTH_PASSIVE), a_run(Stage.CABLING, outcome=Outcome.UNKNOWN, detail="its BMC is mute"))
    said = watch(a_view(domain_leak=LEAK, runs=runs), Timing(), NOW).waiting
    assert said == f"it serves; in its NVLink domain {LEAK}; UNKNOWN: cabling: its BMC is mute"


def test_the_domain_says_it_first() -> None:
    """Before how its last sweep went."""
    node = a_node(State.WATCHED, device_type=NVLINK_TYPE)
    runs = (a_run(Stage.FABRIC),)
    seen = {"observers": (Termination("a03-tray-1", ""),), "runs": runs}
    plain = watch_domain(a_view(node, **seen), Timing(), NOW).waiting
    assert watch_domain(a_view(node, domain_leak=LEAK, **seen), Timing(), NOW).waiting.startswith(f"{LEAK}; ")
    assert "leaks" not in plain


def test_a_tray_that_waits_for_its_domain_in_a_rollout_says_so_besides() -> None:
    """It serves meanwhile, and a leak elsewhere comes first."""
    runs = (a_run(Stage.HEALTH_PASSIVE), a_run(Stage.CABLING))
    turn = "rollout 3 updates one NVLink domain at a time, now nvlink.hall.a: it was begun (1 done, 2 waiting)"
    assert watch(a_view(domain_turn=turn, runs=runs), Timing(), NOW).waiting == f"it serves; {turn}"
