"""What the analysis of lifetimes reads: stories, burn-ins, what took nodes out, and parts."""

from sqlalchemy import insert

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.reliability import lifetimes
from fleet_runner.adapters.store.schema.core import journal
from fleet_runner.adapters.store.schema.trends import episodes, stays
from fleet_runner.core.reliability.lifetimes.burn_in import Visit
from tests.adapters.store.builders import device

HOUR = 3600.0

WAY = (
    (0.0, "registered", "start", "provision"),
    (1.0, "provision", "passed", "burn_in"),
    (25.0, "burn_in", "failed", "triage"),
    (30.0, "triage", "repaired", "burn_in"),
    (78.0, "burn_in", "passed", "production"),
    (100.0, "production", "reboot_needed", "reboot"),
)
"""Hours, and the transitions of a node that failed its first burn-in."""


def test_stories_burn_ins_and_parts_are_read(store: Store) -> None:
    """A fault that was seen during a burn-in counts from its first sight, not from when it was decided on."""
    store.register([device("gpu-01")], 0.0)
    moved = [{"node": "gpu-01", "at": at * HOUR, "kind": "transition", "sentence": "", "by": "runner", "results": [],
              "state": state, "event": event, "to": to} for at, state, event, to in WAY]  # fmt: skip
    stay = {"id": 1, "kind": "gpu", "serial": "S", "node": "gpu-01", "component": "GPU 0", "slot": "",
            "first_at": 0.0, "last_at": 9.0}  # fmt: skip
    fault = {"id": 1, "node": "gpu-01", "component": "GPU 0", "code": "xid.79", "fault": "f", "check": "",
             "serial": "S", "first_at": 4 * HOUR, "last_at": 4 * HOUR, "seen": 1}  # fmt: skip
    with store._database.write() as connection:
        for table, rows in ((journal, moved), (stays, [stay]), (episodes, [fault])):
            connection.execute(insert(table), rows)
    given = lifetimes.read(store, {"S": "H100"}, 200 * HOUR)
    assert given.visits == [Visit("gpu-01", 3.0, found=True), Visit("gpu-01", 48.0, found=False)]
    assert given.born == {"gpu-01": 0.0}
    (story,) = (each for each in given.found.stories if each.node == "gpu-01")
    assert story.served == ((78 * HOUR, 100 * HOUR),)
    assert [each.ends for each in story.exclusions] == [None]
    assert (len(given.stays), len(given.episodes), given.models) == (1, 1, {"S": "H100"})
