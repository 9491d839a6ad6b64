"""A BMC of another machine is flashed with nothing, set to nothing, and its power is left alone."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.adapters.redfish import Bmc
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.firmware import catalogue
from fleet_runner.core.firmware.bios_text import SettingStatus
from fleet_runner.reconcile.firmware.driver import BiosContext, DriverContext, Target, drive, identity, set_bios
from fleet_runner.reconcile.firmware.driver.lease import Lease
from fleet_runner.reconcile.firmware.driver.look import BmcReadings
from fleet_runner.reconcile.firmware.driver.visit import Visit
from tests.playing import Ansible, inventory
from tests.reconcile.firmware.driver.bench import Bench, bench
from tests.reconcile.firmware.driver.child import QUICK
from tests.reconcile.firmware.driver.scenes import CREDENTIALS, LEASE_SECONDS, NODE, PACE

OWN, OTHER = {"serial": " lab00000001"}, {"serial": "LAB00000002"}
WORDS = "says serial number LAB00000001, the source of truth LAB00000002"
TARGET = Target(NODE, "one", since=0.0, by="jane")


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Bench]:
    """A machine with an old BIOS."""
    with bench(tmp_path, ["BIOS"]) as found:
        yield found


def opened(here: Bench) -> Bmc:
    """Return its BMC."""
    return Bmc(here.bmc.url, *CREDENTIALS, limits=QUICK)


def means(here: Bench, store: Store, device: dict[str, Any]) -> DriverContext:
    """Return what its firmware is brought to its pins with, as the source of truth describes it."""
    wanted = catalogue.read(here.scene.profile)
    given = {"pace": PACE, "lease_seconds": LEASE_SECONDS, "device": device}
    return DriverContext(store, lambda: opened(here), wanted, here.scene.images, **given)


@pytest.mark.parametrize("device", [OWN, {}, {"serial": "Default string"}])
def test_a_bmc_that_says_the_serial_number_or_is_known_by_none_is_no_stranger(
    here: Bench, device: dict[str, Any]
) -> None:
    """In whichever case it is written; the proof before the play asks for more."""
    with opened(here) as bmc:
        assert identity.stranger(bmc, device) == ""


def test_a_chassis_may_be_what_the_source_of_truth_means(tmp_path: Path) -> None:
    """Its serial number is read where the system says another one."""
    uri = "/redfish/v1/Systems/1"
    with bench(tmp_path, ["BIOS"], changes={uri: {"SerialNumber": "BOARD7"}}) as here, opened(here) as bmc:
        assert identity.stranger(bmc, OWN) == ""
        assert "says serial number BOARD7 or LAB00000001, the source" in identity.stranger(bmc, OTHER)


def test_no_flash_begins_on_another_machine(here: Bench) -> None:
    """Nothing is written down either; it is told each time."""
    with Store.open(here.store) as store:
        report = drive(TARGET, means(here, store, OTHER), until=time.time() + 30)
        assert (report.stand.value, store.flashes(NODE)) == ("unread", ())
    assert WORDS in report.message
    assert here.sent() == []


def test_a_flash_that_is_open_sends_nothing_more_to_another_machine(here: Bench) -> None:
    """The BMC's address may lead elsewhere since it began."""
    with Store.open(here.store) as store, opened(here) as bmc:
        known = means(here, store, OTHER)
        visit = Visit(TARGET, known, Lease(store, TARGET, LEASE_SECONDS), BmcReadings(bmc), time.time() + 30)
        with pytest.raises(ConflictError, match=WORDS):
            visit.confirm()
        here.bmc.stop()
        with pytest.raises(ConflictError, match="the connection failed"):
            replace(visit, means=known).confirm()


def test_no_setting_is_sent_to_another_machine(here: Bench) -> None:
    """Nor is a reset asked for."""
    with Store.open(here.store) as store:
        wanted = {"QuietBoot": False}
        known = BiosContext(store, lambda: opened(here), wanted, PACE, LEASE_SECONDS, OTHER)
        report = set_bios(TARGET, known)
    assert (report.stand, here.sent()) == (SettingStatus.REFUSED, [])
    assert WORDS in report.message


@pytest.mark.parametrize(("device", "sent"), [(OWN, ["power", "power"]), (OTHER, [])])
def test_no_power_is_switched_at_another_machine(
    here: Bench, tmp_path: Path, device: dict[str, Any], sent: list[str]
) -> None:
    """Where it is, the BMC tells of it twice: told to, and done."""
    folder = tmp_path / "play"
    folder.mkdir()
    (folder / "bmc.yml").write_text(yaml.safe_dump(dict(zip(("username", "password"), CREDENTIALS, strict=True))))
    (folder / "bmc.yml").chmod(0o600)
    task = {"name": "It is switched", "redfish_power": {"action": "off"}}
    play = {"name": "Play", "hosts": "nodes", "gather_facts": False, "tasks": [task]}
    (folder / "play.yml").write_text(yaml.safe_dump([play]))
    variables = {"FLEET_STATE_DIR": str(folder / "none"), "FLEET_BMC_CREDENTIALS": str(folder / "bmc.yml")}
    nodes = inventory(folder / "nodes.yml", {NODE: {"fleet_bmc_url": here.bmc.url, "fleet_device": device}})
    answer = Ansible(folder / "home", variables)("ansible-playbook", "-i", nodes, folder / "play.yml")
    assert here.sent() == sent, answer.stdout + answer.stderr
    assert (WORDS in answer.stdout + answer.stderr) is not bool(sent)
