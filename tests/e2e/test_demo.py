"""The demo is the product's promise: it is played here as a newcomer plays it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.lifecycle.states import Condition, State
from fleet_runner.lab.past import hall
from fleet_runner.lab.past.hall import PREFIX

EARNED = [State.PROVISION, State.ONBOARD, State.VERIFY, State.FIRMWARE, State.BURN_IN, State.PRODUCTION]


@pytest.mark.timeout(600)
@pytest.mark.nightly
def test_the_story_is_told_as_promised(tmp_path: Path) -> None:
    """One node boots late, one is recabled, one ends in triage, one comes back from a reboot, the others arrive."""
    folder, began = tmp_path / "demo", time.time()
    told = subprocess.run(
        [sys.executable, "-m", "fleet_runner.cli", "lab", "demo", "--dir", str(folder)],
        capture_output=True,
        text=True,
        timeout=590,
        check=False,
    )
    assert told.returncode == 0, told.stdout + told.stderr
    assert "8 servers are back in production; by the machines' own log, no power was switched." in told.stdout
    store = Store.open(f"sqlite:///{folder / 'state' / 'fleet.db'}")
    try:
        paths = {
            node.name: [entry.to for entry in store.history(node.name) if entry.kind == "transition"]
            for node in store.nodes()
            if not node.name.startswith(PREFIX)
        }
        simulated = [node for node in store.nodes() if node.name.startswith(PREFIX)]
        moved = {each.node for each in store.moves([node.name for node in simulated], began)}
        tickets = [
            each for each in store.tickets(open_only=False) if not all(name.startswith(PREFIX) for name in each.nodes)
        ]
    finally:
        store.close()
    assert (len(simulated), moved) == (len(hall.spots()), set())
    assert all(Condition.HELD in node.conditions for node in simulated)
    assert paths.pop("gpu-01") == [*EARNED, State.REBOOT, State.PRODUCTION]
    assert paths.pop("gpu-03") == [State.PROVISION, State.ONBOARD, State.VERIFY, *EARNED[1:]]
    assert paths.pop("gpu-05") == [State.PROVISION, State.TRIAGE, *EARNED]
    assert paths.pop("gpu-06") == [*EARNED[:5], State.TRIAGE]
    assert set(map(tuple, paths.values())) == {tuple(EARNED)}
    assert len(paths) == 4
    silent, cable, slow = sorted(
        tickets, key=lambda ticket: ("network_boot", "cabling_infiniband", "gpu_burn").index(ticket.check)
    )
    assert (silent.nodes, silent.closed_at is None) == (("gpu-05",), False)
    assert "never asked for its iPXE script" in silent.title
    assert (cable.remedy, cable.closed_at is None) == ("RECABLE", False)
    for word in ("gpu-03", "ib2", "ib5", "leaf-3", "leaf-6", "rack", "U"):
        assert word in cable.body
    assert (slow.nodes, slow.closed_at) == (("gpu-06",), None)
    told_why = subprocess.run(
        [sys.executable, "-m", "fleet_runner.cli", "explain", "gpu-01"],
        env={**os.environ, "FLEET_CONFIG": str(folder / "fleet.toml"), "COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "Xid" in told_why.stdout
    assert "79" in told_why.stdout
