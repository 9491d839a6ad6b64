"""What would be sent to a node, as a person reads it: all of it, in order, and nothing of it is sent."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import Exit
from fleet_runner.core.firmware.excluded import WITHHELD
from fleet_runner.core.inventory.records import Device, DeviceType, Fleet, Management
from tests.adapters.sitefiles.writer import write_site
from tests.cli.conftest import Said, Type
from tests.reconcile.firmware.driver import scenes
from tests.reconcile.firmware.driver.bench import Bench, bench
from tests.reconcile.firmware.driver.scenes import NODE
from tests.waiting import until

BIOS = "/redfish/v1/UpdateService/FirmwareInventory/BIOS"
LAB = DeviceType("lab", "Example", "LAB", 1.0)
SETTINGS = {"attributes": {"SRIOVEnable": "Enabled"}}
Plan = Callable[..., Said]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """An emulated machine whose BIOS and power supplies are old, in a fleet of its own."""
    (tmp_path / "bench").mkdir()
    with ExitStack() as stack:
        made = stack.enter_context(bench(tmp_path / "bench", ("BIOS", "PSU"), hop="1.0"))
        device = Device(NODE, "lab", "gpu-server", "hall", context={"fleet_bmc_url": made.bmc.url})
        fleet = Fleet(("hall",), {}, {"lab": LAB}, {NODE: device}, ())
        write_site(fleet, tmp_path / "site")
        (tmp_path / "bmc.yml").write_text(
            yaml.safe_dump(dict(zip(("username", "password"), scenes.CREDENTIALS, strict=True)))
        )
        (tmp_path / "bmc.yml").chmod(0o600)
        told = {
            "SOURCE": tmp_path / "site",
            "INVENTORY": tmp_path / "inventory" / "fleet.yml",
            "FIRMWARE_IMAGES": made.scene.images,
            "BMC_CREDENTIALS": tmp_path / "bmc.yml",
            "BMC_NETWORKS": "127.0.0.0/8",
            "DATABASE_URL": made.store,
        }
        for name, value in told.items():
            monkeypatch.setenv(f"FLEET_{name}", os.fspath(value))
        yield made


@pytest.fixture
def plan(machine: Bench, tmp_path: Path, typed: Type) -> Plan:
    """Ask for a plan by a profile: the scene's, with what the test changes of it."""

    def run(*words: str, bios: Any = None, **components: Any) -> Said:
        profile: dict[str, Any] = json.loads(json.dumps(machine.scene.profile))
        rows = profile["firmware"]["components"]
        changed = [{**row, **components.get(row["component"], {})} for row in rows]
        profile["firmware"]["components"] = [
            {key: value for key, value in row.items() if value is not None} for row in changed
        ]
        if bios:
            profile["bios"] = bios
        file = tmp_path / "inventory" / "group_vars" / "device_type_lab.yml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump({"fleet_profile": profile}, sort_keys=False))
        return typed("firmware", "plan", NODE, *words)

    return run


def test_a_plan_is_every_request_in_order_and_none_is_sent(plan: Plan, machine: Bench) -> None:
    """Over hops, with the resets, and each exclusive entry by itself; the terminal is 80 columns wide."""
    said = plan(bios=SETTINGS)
    assert (said.code, said.err) == (0, "")
    assert "gpu-01: 4 requests would be sent, in this order; nothing was sent" in said.out
    at = [said.words.index(text) for text in (
        "1. BIOS from 0.9 to 1.0, on the way to", "2. BIOS from 1.0 to",
        "3. PSU from 0.9", ": PSU_0 PSU_0 0.9", "4. PSU from 0.9", ": PSU_1 PSU_1 0.9",
        "BIOS settings: to be set at the next reset of the host: SRIOVEnable 'Enabled'",
    )]  # fmt: skip
    assert at == sorted(at)
    assert f'UpdateParameters {{"Targets": ["{BIOS}"]}} UpdateFile "BIOS-1.0.bin"' in said.words
    assert "then the host is reset" in said.words
    assert 'PATCH /redfish/v1/Systems/1/Bios/Settings Attributes {"SRIOVEnable": "Enabled"}' in said.words
    assert all(len(line) <= 80 for line in said.out.splitlines())
    assert machine.sent() == []
    with Store.open(machine.store) as store:
        assert store.flashes(NODE) == ()
        assert store.firmware_holder(NODE, 0.0) is None


def test_what_is_planned_is_what_is_sent(plan: Plan, machine: Bench) -> None:
    """Step for step, and a second plan finds nothing to do."""
    steps = json.loads(plan("--json").out)["steps"]
    assert machine.drive()["state"] == "done"
    accepted = [dict(event["components"]) for event in machine.bmc.events("accepted")]
    assert accepted == [{entry: to for entry, (_, to) in step["versions"].items()} for step in steps]
    said = plan()
    assert (said.code, said.words) == (0, "gpu-01: every firmware component has an accepted version")


def test_force_is_shown_where_it_is_sent(plan: Plan, machine: Bench) -> None:
    """It stands in the request, at the top, and nowhere where it is not sent."""
    assert "ForceUpdate" not in plan().out
    row = next(each for each in machine.scene.profile["firmware"]["components"] if each["component"] == "BIOS")
    forced = {version: {**image, "force": True} for version, image in row["images"].items()}
    assert f'UpdateParameters {{"Targets": ["{BIOS}"], "ForceUpdate": true}}' in plan(BIOS={"images": forced}).words


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"inventory_id": "NoSuch"}, "the BMC lists no BIOS (NoSuch); is the host on?"),
        ({"transport": "simple"}, "takes no image by simple"),
        ({"images": None}, "the catalogue has no image of"),
    ],
)
def test_what_may_not_be_sent_is_said_with_exit_code_1(plan: Plan, machine: Bench, row: Any, why: str) -> None:
    said = plan(BIOS=row, PSU={"images": None, "accepted": ["0.9"]})
    assert (said.code, machine.sent()) == (Exit.NO, [])
    assert why in said.words


def test_what_is_stuck_is_told_after_what_is_sent_before(plan: Plan) -> None:
    """As the play does it: a row that is only compared fails the node once the others are done."""
    said = json.loads(plan("--json", BIOS={"images": None}).out)
    assert [step["component"] for step in said["steps"]] == ["PSU", "PSU"]
    assert "and then it has failed: BIOS (BIOS) is at 0.9" in said["message"]


def test_a_customers_network_adapters_are_withheld_and_the_plan_says_so(
    plan: Plan, machine: Bench, tmp_path: Path
) -> None:
    """At first delivery, too: everything else is planned as for any node."""
    device = Device(NODE, "lab", "gpu-server", "hall", context={"fleet_bmc_url": machine.bmc.url})
    customers = replace(device, management=Management.CUSTOMER)
    write_site(Fleet(("hall",), {}, {"lab": LAB}, {NODE: customers}, ()), tmp_path / "site")
    said = plan(BIOS={"component": "HCA"})
    assert (said.code, machine.sent()) == (Exit.OK, [])
    assert "2 requests would be sent" in said.words
    assert f"note: BIOS (HCA) stays at 0.9, not {machine.scene.pins['BIOS'][0]}: {WITHHELD}" in said.words
    assert (
        "every firmware component that is ours has an accepted version"
        in plan(BIOS={"component": "HCA"}, PSU={"component": "NIC"}).words
    )


def test_bios_settings_that_do_not_exist_are_refused(plan: Plan) -> None:
    said = plan(bios={"attributes": {"SRIOVEnabled": "Enabled"}})
    assert said.code == Exit.NO
    assert "SRIOVEnabled: found no such setting" in said.words


def test_a_bmc_that_does_not_answer_is_trouble_and_no_plan(plan: Plan, machine: Bench) -> None:
    machine.bmc.stop()
    assert plan().code == Exit.TROUBLE


def begun(machine: Bench) -> None:
    """Visit it until a flash is under way: a visit on a busy computer may end before it has begun one."""

    def under_way() -> bool:
        machine.drive(seconds=0.05)
        with Store.open(machine.store) as store:
            return store.open_flash(NODE) is not None

    until(under_way)


def test_an_open_flash_is_told_of_in_place_of_a_plan(plan: Plan, machine: Bench) -> None:
    """Until it is over nobody knows what comes next."""
    begun(machine)
    said = plan()
    assert said.code == 0
    assert "BIOS 0.9 → 1.0" in said.words
    assert "requests would be sent" not in said.words


def test_a_bmc_that_does_not_answer_is_trouble_with_an_open_flash_too(plan: Plan, machine: Bench) -> None:
    """What it is at is in the store; what the BMC says now is not known."""
    begun(machine)
    machine.bmc.stop()
    said = plan()
    assert said.code == Exit.TROUBLE
    assert "and the BMC does not say how far it is: " in said.words


@pytest.mark.nightly
def test_why_nothing_is_known_is_said_once(plan: Plan, machine: Bench) -> None:
    machine.bmc.stop()
    assert "BIOS settings: also unknown, for the same reason" in plan(bios=SETTINGS).words


def test_the_inventory_stands_beside_the_catalogue(plan: Plan, typed: Type) -> None:
    """With the boards' names that a catalogue needs, and without the images that do not run."""
    plan(PSU={"accepted": ["0.9"]})
    said = typed("firmware", "inventory", NODE)
    assert (said.code, said.err) == (0, "")
    assert "gpu-01, boards LAB-HGX-8, LAB-0001" in said.words
    assert "BIOS 0.9 BIOS drift" in said.words
    assert "PSU_0 0.9 PSU accepted" in said.words
    assert "NIC_0 28.39.3560 - in no row" in said.words
    assert "Backup_BIOS" not in said.out
    found = json.loads(typed("firmware", "inventory", NODE, "--json").out)
    assert {each["entry"]["id"]: each["component"] for each in found["entries"]}["PSU_1"] == "PSU"


def test_a_bmc_is_listed_although_its_catalogue_is_only_being_written(plan: Plan, typed: Type) -> None:
    plan(BIOS={"targett": "2"})
    said = typed("firmware", "inventory", NODE)
    assert said.code == 0
    assert "warning: fleet_profile.firmware.components[0].targett" in said.err
    assert "BIOS 0.9 - in no row" in said.words


def test_a_catalogue_that_cannot_be_read_says_who_names_its_lines(plan: Plan) -> None:
    said = plan(BIOS={"targett": "2"})
    assert said.code == Exit.USAGE
    assert "fleet-runner firmware check lists each line" in said.err


def test_a_node_without_a_bmc_is_not_asked(plan: Plan, tmp_path: Path) -> None:
    device = Device(NODE, "lab", "gpu-server", "hall")
    fleet = Fleet(("hall",), {}, {"lab": DeviceType("lab", "Example", "LAB", 1.0)}, {NODE: device}, ())
    for file in (tmp_path / "site").iterdir():
        file.unlink()
    write_site(fleet, tmp_path / "site")
    said = plan()
    assert said.code == Exit.USAGE
    assert "give the device an out-of-band address" in said.err
