"""The next boot alone from the network, as each maker's BMC takes it, and read again afterwards."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.redfish import Bmc, boot
from fleet_runner.core.base.errors import BmcError, BmcRefused
from fleet_runner.lab.redfish import BmcBehaviour, Durations, Emulator, load
from fleet_runner.lab.redfish.trees import OUR_OWN
from tests.lab.redfish.talking import wait

SYSTEM = "/redfish/v1/Systems/1"
CREDENTIALS = ("admin", "secret")
HTTP4 = "PciRoot(0x7)/Pci(0x1,0x1)/MAC(B83FD2D7F74A,0x1)/IPv4(0.0.0.0)/Uri()"


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """A BMC that does not show what it took is looked at again at once."""
    monkeypatch.setattr(boot, "PAUSE", 0.0)


@contextmanager
def a_bmc(tree: Path = OUR_OWN, **said: Any) -> Iterator[tuple[Emulator, Bmc]]:
    """Serve a tree, and open it."""
    emulated = Emulator(load(tree), credentials=CREDENTIALS, pace=Durations.quick(), **said)
    with emulated as served, Bmc(served.url, *CREDENTIALS) as bmc:
        yield served, bmc


def asked(served: Emulator) -> list[dict[str, Any]]:
    """Return what was taken as boot settings."""
    return [dict(event["boot"]) for event in served.events("boot_override")]


@pytest.mark.parametrize("name", ["", "dell_r750", "hpe_dl385", "nvidia_gb200", "dgx_h100", "supermicro_hgx_h100"])
def test_every_captured_machine_boots_once_from_the_network(request: pytest.FixtureRequest, name: str) -> None:
    tree = request.getfixturevalue("samples") / "redfish" / f"{name}.json.gz" if name else OUR_OWN
    with a_bmc(tree) as (served, bmc):
        bmc.boot_once("Pxe")
        assert asked(served)[-1]["BootSourceOverrideTarget"] == "Pxe"
        bmc.power("ForceRestart")
        wait(lambda: served.events("host_reset"))
        [start] = served.events("host_reset")
        assert (start["override"]["BootSourceOverrideEnabled"], start["override"]["BootSourceOverrideTarget"]) == (
            "Once", "Pxe",
        )  # fmt: skip


@pytest.mark.parametrize("name", ["hpe_dl385", "dgx_h100", "supermicro_hgx_h100"])
def test_captured_machines_boot_once_over_http(samples: Path, name: str) -> None:
    with a_bmc(samples / "redfish" / f"{name}.json.gz") as (served, bmc):
        bmc.boot_once("UefiHttp", "http://10.0.0.1/loader/snponly.efi")
        assert asked(served)[-1]["HttpBootUri"] == "http://10.0.0.1/loader/snponly.efi"


def test_a_captured_dell_boots_over_http_as_its_bios_says(samples: Path) -> None:
    with a_bmc(samples / "redfish" / "dell_r750.json.gz") as (served, bmc):
        bmc.boot_once("UefiHttp")
        with pytest.raises(BmcError, match="HttpDev1Uri is not the address"):
            bmc.boot_once("UefiHttp", "http://10.0.0.1/loader/snponly.efi")
        assert asked(served) == [{"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "UefiHttp"}]


def test_a_bmc_that_boots_over_http_by_a_device_gets_its_path_first() -> None:
    options = f"{SYSTEM}/BootOptions"
    device = {
        "BootSourceOverrideTarget@Redfish.AllowableValues": ["None", "Pxe", "UefiTarget"],
        "UefiTargetBootSourceOverride": "None",
        "BootOptions": {"@odata.id": options},
        "HttpBootUri": None,
    }
    changes = {
        "/redfish/v1": {"Vendor": "HPE"},
        SYSTEM: {"Boot": device},
        options: {"Members": [{"@odata.id": f"{options}/Boot0001"}]},
        f"{options}/Boot0001": {"UefiDevicePath": HTTP4},
    }
    with a_bmc(changes=changes) as (served, bmc):
        bmc.boot_once("UefiHttp")
        once = {"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "UefiTarget"}
        path = {"UefiTargetBootSourceOverride": HTTP4}
        assert asked(served) == [path, {**once, **path}]


def test_a_supermicro_that_falls_back_to_another_mode_is_told_its_own() -> None:
    with a_bmc(changes={"/redfish/v1": {"Vendor": "Supermicro"}}) as (served, bmc):
        bmc.boot_once("Pxe")
        assert [each.get("BootSourceOverrideMode") for each in asked(served)] == [None, "UEFI"]


def test_a_bmc_that_refuses_the_mode_is_asked_without_it() -> None:
    modes = {"BootSourceOverrideMode": "Legacy", "BootSourceOverrideMode@Redfish.AllowableValues": ["Legacy", "UEFI"]}
    with a_bmc(changes={"/redfish/v1": {"Vendor": "HPE"}, SYSTEM: {"Boot": modes}}) as (served, bmc):
        bmc.boot_once("UefiHttp")
        assert asked(served) == [{"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "UefiHttp"}]


def test_a_bmc_that_forgets_it_while_the_host_is_off_is_told_and_nothing_is_switched() -> None:
    with a_bmc(habits=BmcBehaviour(loses_override_while_off=True)) as (served, bmc):
        bmc.power("ForceOff")
        wait(lambda: served.power == "Off")
        why = (
            "took the boot override Pxe, and shows BootSourceOverrideEnabled 'Disabled', BootSourceOverrideTarget 'N"
        )
        with pytest.raises(BmcError, match=why):
            bmc.boot_once("Pxe")
        assert served.events("host_reset") == []


def test_what_a_bmc_refuses_without_having_done_it_is_told() -> None:
    rule = {"when": {"event": "request", "method": "PATCH"}, "what": {"answer": {"status": 400}}}
    with a_bmc(rules=[rule]) as (served, bmc):
        with pytest.raises(BmcRefused, match="answered 400 to the boot override Pxe"):
            bmc.boot_once("Pxe")
        assert asked(served) == []


def test_what_a_bmc_refuses_although_it_did_it_counts_as_done() -> None:
    """ansible-collections/community.general 5091: a 13th generation Dell."""
    rule = {"when": {"event": "request", "method": "PATCH", "nth": 2}, "what": {"answer": {"status": 400}}}
    with a_bmc(rules=[rule]) as (served, bmc):
        bmc.boot_once("Pxe")
        bmc.boot_once("Pxe")
        assert len(asked(served)) == 1
