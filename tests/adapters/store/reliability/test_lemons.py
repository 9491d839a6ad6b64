"""What the store tells of nodes and parts for foresight, and the analyses that are made of it."""

from pathlib import Path

import pytest
from pydantic import ValidationError
from sqlalchemy import insert

from fleet_runner.adapters.reliability import lemons
from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.schema.core import journal
from fleet_runner.adapters.store.schema.remedies import attempts
from fleet_runner.adapters.store.schema.trends import episodes, stays
from fleet_runner.core.reliability.lemons.signals import JOBS, Ended
from fleet_runner.core.reliability.report.rows import Hold, PastRemedy
from fleet_runner.core.tickets.rma_cases import Case
from fleet_runner.settings import Settings

NOW = 1_000 * 86_400.0


def test_what_befell_nodes_is_read_for_lemons(stocked: Store) -> None:
    """Holds without planned work, remedies that ended, and cases."""
    tried = {"node": "gpu-01", "remedy": "REBOOT", "faults": [], "by": "runner", "because": ""}
    line = {"node": "gpu-01", "kind": "condition", "by": "ann", "results": []}
    said = [(200.0, "Held: odd"), (201.0, "Maintenance: fans"), (202.0, "Released"), (50.0, "Held: before")]
    with stocked._database.write() as connection:
        connection.execute(insert(attempts), [{**tried, "at": 200.0, "ended_at": 300.0, "helped": False}])
        connection.execute(insert(attempts), [{**tried, "at": 400.0, "ended_at": None, "helped": None}])
        connection.execute(insert(journal), [{**line, "at": at, "sentence": sentence} for at, sentence in said])
    stocked.open_case(Case(0, "gpu-02", "Vendor", "7", "ann", 250.0))
    told: list[str] = []
    past = stocked.past_of_nodes(100.0, 1_000.0, told.append)
    assert past.holds == (Hold("gpu-01", 200.0, "ann", "odd", begins=True),)
    assert past.ended == (Ended(PastRemedy("gpu-01", "REBOOT", 200.0, helped=False), 300.0),)
    assert (past.cases, past.fixes, len(told)) == ({"gpu-02": [250.0]}, (), 2)


def test_both_analyses_are_made_of_a_store_that_knows_little(stocked: Store, tmp_path: Path) -> None:
    """Each says so; a part's history is found by its number and by its node's name."""
    assert lemons.parts(stocked, NOW).foresights() == ()
    told = lemons.lemons(stocked, Settings(state_dir=tmp_path), NOW).to_json()
    assert told["sentences"][0].startswith("Not enough data")
    assert {each["name"] for each in told["absent"]} == JOBS
    place = {"node": "gpu-01", "component": "GPU 3"}
    with stocked._database.write() as connection:
        row = {**place, "kind": "gpu", "serial": "S1", "slot": "", "first_at": 100.0, "last_at": NOW}
        connection.execute(insert(stays), [row])
        fault = {**place, "code": "xid.79", "fault": "f", "check": "xid", "serial": "S1", "seen": 1}
        connection.execute(insert(episodes), [{**fault, "first_at": 200.0, "last_at": 200.0}])
    by_part, by_node = lemons.history(stocked, "S1"), lemons.history(stocked, "gpu-01")
    assert [each.sentence for each in by_part] == ["gpu S1 first seen here", "failed with xid.79"]
    assert (by_node, lemons.history(stocked, "nobody")) == (by_part, ())
    assert lemons.parts(stocked, 400.0).failures == 1


def test_a_weight_of_no_signal_is_refused() -> None:
    """And of one it is taken."""
    assert Settings(lemon_weights={"tickets": 0.0}).lemon_weights == {"tickets": 0.0}
    with pytest.raises(ValidationError, match="there is no signal 'luck'"):
        Settings(lemon_weights={"luck": 1.0})
