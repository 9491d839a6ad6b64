"""The page of an NVLink domain."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from fleet_runner.adapters.store import Store
from fleet_runner.core.access.roles import Role
from fleet_runner.core.cabling.fabrics import NVLINK_TYPE, watched
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.actions import Decision, OpenRun
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.spool import Ended, Judged, PlayEnd
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.web.fabrics import domain
from tests.making import a_node
from tests.web.hall import HOSTILE, NOW, described, made
from tests.web.served import served

DOMAIN = "nvlink.hall-1.nvl-1"


def test_the_design_of_a_domain_costs_no_look_at_cables() -> None:
    """A fabric of cables has none, and no device is read for it; nor are the cables for a domain."""
    plain, unreadable = described(8), cast("Any", None)
    context = {"nvlink_domain": "nvl-1"}
    trays = {f"tray-{at}": Device(f"tray-{at}", "t", "gpu-server", "hall-1", context=context) for at in (1, 2)}
    fleet = replace(plain, devices={**plain.devices, **trays})
    row = a_node(State.WATCHED, name=DOMAIN, device_type=NVLINK_TYPE)
    found = domain(replace(fleet, cables=unreadable), row)
    assert found is not None
    assert found.trays == ("tray-1", "tray-2")
    assert domain(fleet, replace(row, name="nvlink.hall-1.nvl-2")) is None
    assert domain(None, row) is None
    other = replace(row, name="infiniband.hall-1", device_type="infiniband-fabric")
    assert domain(replace(fleet, devices=unreadable), other) is None


def test_a_domain_shows_its_trays_and_what_is_wrong(tmp_path: Path) -> None:
    """Each with its cluster, clique and driver; a word of a tray is no markup."""
    context = {"nvlink_domain": "nvl-1"}
    plain = described(8)
    trays = sorted(name for name in plain.devices if name.startswith("gpu-"))[:3]
    devices = {
        name: replace(device, context=context if name in trays else {}) for name, device in plain.devices.items()
    }
    devices["nvl-switch-1"] = Device("nvl-switch-1", "leaf", "nvlink-switch", "hall-1", context=context)
    fleet = replace(plain, devices=devices)
    message = f"the switch tray nvl-switch-1 is lost {HOSTILE}"
    wrong = Finding("nvlink.switch_tray", "nvl-switch-1", message, Remedy.TRIAGE, "f", (DOMAIN,), ("Find it.",))
    observed = {"places": {trays[0]: ["9c6f5af3", HOSTILE]}, "drivers": {trays[0]: "580.95.05"}}
    with Store.create(f"sqlite:///{tmp_path / 'fleet.db'}") as store:
        made(store)
        store.register([each.record for each in watched(fleet)], NOW - 900)
        row = store.node(DOMAIN)
        assert row is not None
        (run,) = store.apply(row, Decision((OpenRun(Stage.FABRIC, "why", batch="b"),), "", 0.0), NOW - 300)
        said = Judged(DOMAIN, NOW - 250, Result("fabric_nvlink", Verdict.FAIL, message, (wrong,), observed))
        store.ingest("b", 0, 9, [said, Ended(DOMAIN, NOW - 240, PlayEnd.OK)])
        store.close_run(run, Outcome.FAILED, "", NOW - 240)
        with served(store, fleet, tmp_path / "state") as site, site.client(Role.VIEWER) as client:
            text = client.get(f"/fabric/{DOMAIN}").text
            listed = client.get("/fabric").text
    assert "3 for compute, 1 with switches" in text
    assert "9c6f5af3" in text
    assert "580.95.05" in text
    assert text.count("not told") == 2
    assert "nvl-switch-1" in text.split('id="rack"')[1]
    assert text.count("serves; no leak detector is known") == len(trays)
    assert "the switch tray nvl-switch-1 is lost" in text
    assert "does not know this fabric any more" not in text
    assert "<script>alert" not in text
    assert f'href="/fabric/{DOMAIN}"' in listed
