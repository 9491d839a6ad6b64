"""A node whose checks said a lot: hostile words, odd facts, a swapped link, firmware that drifts."""

from fleet_runner.core.checks.evidence import ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.lifecycle.spool import Evidence, Judged
from fleet_runner.core.lifecycle.states import Stage, State
from tests.web.hall import HOSTILE, NOW, Hall

ODD = "x" * 300_000
TEXT = HOSTILE + ODD
VERSIONS = {"BIOS": "2.0", "BMC": HOSTILE}


def told(hall: Hall) -> str:
    """Have a hall's third node in production answer, and return its name."""
    name = hall.in_state(State.PRODUCTION)[2]
    port = f"{name} ib0"
    evidence = Evidence(name, NOW - 50, f"odd {HOSTILE}", Reading("odd", ReadEnd.OK, TEXT).hash, HOSTILE + ODD)
    swap = Finding("cabling.swap", f"{port}, leaf-0 p9", f"{port} is swapped {HOSTILE}", Remedy.RECABLE, "f", (name,))
    drift = Finding("firmware.drift", "BIOS", "BIOS has 2.0, expected 2.1", Remedy.REFLASH, "d", (name,))
    odd = {
        "nested": {"deep": [{"a": None}, HOSTILE]},
        "none": None,
        "huge": ODD,
        HOSTILE: 1,
        "many": list(range(5000)),
    }
    seen = {"designed": 8, "unsure": [[name, "leaf-1"]]}
    results = (
        Result("cabling_infiniband", Verdict.FAIL, swap.message, (swap,), seen),
        Result("firmware_pins", Verdict.FAIL, drift.message, (drift,), {"versions": VERSIONS}),
        Result("odd_facts", Verdict.FAIL, "odd", (), odd, (evidence.hash,)),
        Result("skipped_check", Verdict.SKIPPED, "nobody asks"),
    )
    lines = (evidence, *(Judged(name, NOW - 50, each) for each in results))
    hall.store.record_by_hand(Stage.CHECK, "alice", lines, NOW - 50)
    return name
