"""A machine of another making behind an emulated BMC: it is switched, shown, and started by others as well."""

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import requests

from fleet_runner.lab.redfish import Emulator
from tests.lab.redfish.talking import Client, emulator, over, wait

SYSTEM = "/redfish/v1/Systems/1"


class Box:
    """A machine that somebody else has made."""

    def __init__(self) -> None:
        self.on = False
        self.there = True
        self.count = 0
        self.booted: dict[str, Any] = {}
        self.versions: dict[str, str] = {}
        self.threads: set[str] = set()

    def answers(self) -> bool:
        """Whether it is there."""
        return self.there

    def power(self) -> str:
        """Its power."""
        return "On" if self.on else "Off"

    def starts(self) -> int:
        """How often it was started."""
        return self.count

    def act(self, action: str) -> None:
        """Switch it."""
        self.threads.add(threading.current_thread().name)
        self.on = action not in ("ForceOff", "GracefulShutdown")
        self.count += self.on

    def boot(self, boot: Mapping[str, Any]) -> None:
        """Be told what to boot."""
        self.booted |= boot

    def run(self, versions: Mapping[str, str]) -> None:
        """Be told what runs."""
        self.versions |= versions

    def shows(self, uri: str) -> Mapping[str, Any]:
        """What is different."""
        return {"AssetTag": "mine", "LastResetTime": None} if uri == SYSTEM else {}


@pytest.fixture
def box() -> Box:
    """The machine."""
    return Box()


@pytest.fixture
def bmc(box: Box) -> Iterator[Emulator]:
    """Its BMC."""
    with emulator(behind=box) as started:
        yield started


def test_it_is_switched_and_shown(box: Box, bmc: Emulator) -> None:
    with Client(bmc) as client:
        assert client.get(SYSTEM)["PowerState"] == "Off"
        assert client.power("On").status_code == 204
        assert box.on
        body = client.get(SYSTEM)
        assert (body["PowerState"], body["AssetTag"]) == ("On", "mine")
        assert "LastResetTime" not in body
        assert client.ask("PATCH", SYSTEM, {"Boot": {"BootSourceOverrideTarget": "Pxe"}}).ok
        assert box.booted == {"BootSourceOverrideTarget": "Pxe"}
        assert not any("redfish" in name for name in box.threads)  # it may take its time


def test_a_start_by_somebody_else_makes_versions_run(box: Box, bmc: Emulator, tmp_path: Path) -> None:
    with Client(bmc) as client:
        client.update(tmp_path, {"BIOS": "2.1"})
        assert over(bmc) == "done"
        assert box.versions == {}
        box.act("On")
        assert client.get("/redfish/v1/UpdateService/FirmwareInventory/BIOS")["Version"] == "2.1"
        assert box.versions == {"BIOS": "2.1"}


def test_all_power_is_taken_from_it_and_given_back(box: Box, bmc: Emulator) -> None:
    box.act("On")
    bmc.drain()
    wait(lambda: box.on)
    assert box.count == 2
    box.act("ForceOff")
    bmc.drain()
    assert not box.on


def test_a_bmc_that_is_not_there_ends_connections(box: Box, bmc: Emulator) -> None:
    with Client(bmc) as client:
        box.there = False
        with pytest.raises(requests.ConnectionError):
            client.ask("GET", "/redfish/v1")
        box.there = True
        assert client.ask("GET", "/redfish/v1").ok
