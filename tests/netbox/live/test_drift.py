"""What was observed against what a NetBox that others hold says: said with both values, and nothing applied."""

import time
from collections.abc import Callable
from pathlib import Path

from fleet_runner.adapters.store import Store
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import Stage
from tests.netbox.live.conftest import Said
from tests.netbox.live.hall import Hall
from tests.netbox.live.place import Place

Run = Callable[..., Said]


def test_another_gpu_is_said_and_proposed_and_nothing_is_changed(
    place: Place, hall: Hall, fleet: Callable[[], Fleet], run: Run, tmp_path: Path
) -> None:
    """The proposal is a table for NetBox's import; NetBox's change log has no line more."""
    devices, _ = hall.of(fleet())
    node = devices[hall.nodes[0]]
    serials = [part.serial or "" for part in node.parts]
    (tmp_path / "state").mkdir()
    with Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}") as store:
        store.register([devices[name] for name in hall.nodes], 1.0)
        seen = Result("parts_gpu", Verdict.PASS, "", (), {"gpus": 2, "serials": [serials[0], "OTHER1"]})
        store.record_by_hand(Stage.HEALTH_PASSIVE, "ada", [Judged(node.name, time.time(), seen)], time.time())
    mark = place.last_change()
    said = run("drift", node.name, "--propose", str(tmp_path / "review"))
    assert said.code == 1, said.words
    assert "OTHER1" in said.words
    assert serials[1] in said.words
    files = "".join(path.read_text("utf-8") for path in (tmp_path / "review").rglob("*") if path.is_file())
    assert "OTHER1" in files
    assert str(hall.items[node.name, "GPU 1"]) in files
    assert place.changes_since(mark) == []
