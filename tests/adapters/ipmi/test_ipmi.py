"""A BMC that speaks IPMI alone: a real one, simulated by OpenIPMI, asked by the real ipmitool."""

import json
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from fleet_runner import settings
from fleet_runner.adapters import ipmi, redfish
from fleet_runner.adapters.ipmi import tool
from fleet_runner.adapters.plays.credentials import PASSWORD as PASSWORD_VARIABLE
from fleet_runner.adapters.plays.credentials import USERNAME
from fleet_runner.adapters.redfish import power
from fleet_runner.core.base.errors import BmcError, BmcRefused, NotOfferedError, SettingsError
from fleet_runner.core.checks.catalogue import machine_power, sel
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.reads import READS
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.reconcile.firmware.driver import identity
from fleet_runner.settings import Settings
from tests.ipmi import PASSWORD, SUITE, USER, Simulated, simulated

UNCORRECTABLE = "0x04 0x0c 0x10 0x6f 0xa1 0xff 0x01"
CLOCK = 1_796_000_000
PRESENCE = "0x04 0x08 0x10 0x6f 0xa0 0xff 0xff"


@pytest.fixture
def bmc(tmp_path: Path) -> Iterator[Simulated]:
    """A BMC of the machine SN-0042."""
    with simulated(tmp_path / "bmc", serial="SN-0042") as found:
        yield found


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings with its credentials, and an ipmitool that knows what the simulated BMC speaks."""
    pretend(tmp_path / "quick", f'exec {shutil.which("ipmitool")} {" ".join(SUITE)} "$@"', monkeypatch)
    monkeypatch.setenv(USERNAME, USER)
    monkeypatch.setenv(PASSWORD_VARIABLE, PASSWORD)
    return settings.load().model_copy(update={"state_dir": tmp_path / "state"})


def reading(name: str, bmc: ipmi.PowerBmc) -> Reading:
    """Read what a check reads."""
    return Reading(name, ReadEnd.OK, json.dumps(bmc.gather(READS[name].argv)), at=2e9)


def judged(bmc: ipmi.PowerBmc) -> Result:
    """Have the event log judged, for a node that is in its state for a day."""
    profile = {"sel": {"days": 3650, "full_share_max": 0.9}}
    expected = replace(Expected("gpu-01"), profile=profile)
    return sel.judge({"redfish_logs": reading("redfish_logs", bmc)}, expected)


def test_a_system_is_switched_off_and_on_and_says_so(bmc: Simulated, configured: Settings) -> None:
    with ipmi.opened(configured, bmc.url) as found:
        assert (found.power_state(), found.last_reset_age()) == ("On", None)
        power.switch_off(found, lambda: None)
        assert found.power_state() == "Off"
        found.power("On")
        told = machine_power.judge({"redfish_systems": reading("redfish_systems", found)}, Expected("gpu-01"))
        assert told.observed["power"] == "On"
        with pytest.raises(NotOfferedError, match="cannot take all power away"):
            power.drain(found, lambda: None)
        for action in set(found.power_actions()) - {"On"}:
            with suppress(BmcError):  # a soft shutdown is more than the simulated computer can
                found.power(action)
    assert bmc.sent()[:2] == ["power 0", "power 1"]


def test_it_is_known_whose_bmc_it_is(bmc: Simulated, configured: Settings) -> None:
    with ipmi.opened(configured, bmc.url) as found:
        assert found.system()["SerialNumber"] == "SN-0042"
        assert identity.stranger(found, {"serial": "SN-0042"}) == ""
        assert "SN-0042" in identity.stranger(found, {"serial": "SN-0043"})


def test_its_log_is_judged_as_any_other(bmc: Simulated, configured: Settings) -> None:
    with ipmi.opened(configured, bmc.url) as found:
        assert judged(found).verdict is Verdict.PASS
        bmc.set_clock(CLOCK)
        bmc.log(PRESENCE, UNCORRECTABLE)
        result = judged(found)
    assert [each.code for each in result.findings] == ["sel.memory_uncorrectable"]
    assert "Uncorrectable ECC" in result.findings[0].message


def test_entries_from_before_its_clock_was_set_are_not_dated_by_guess(bmc: Simulated, configured: Settings) -> None:
    bmc.log(UNCORRECTABLE)
    with ipmi.opened(configured, bmc.url) as found:
        assert judged(found).verdict is Verdict.UNKNOWN


def test_a_log_that_takes_nothing_more_is_told(tmp_path: Path, configured: Settings) -> None:
    with simulated(tmp_path / "small", most=4) as small, ipmi.opened(configured, small.url) as found:
        small.log(*[PRESENCE] * 4)
        assert [each.code for each in judged(found).findings] == ["sel.full"]


def test_what_ipmi_does_not_tell_is_an_error_and_no_good_news(bmc: Simulated, configured: Settings) -> None:
    with ipmi.opened(configured, bmc.url) as found:
        for name in ("redfish_health", "redfish_sensors", "redfish_supplies"):
            with pytest.raises(BmcError, match="IPMI, which does not tell /redfish/v1/") as told:
                found.gather(READS[name].argv)
            assert not isinstance(told.value, BmcRefused)  # what else is to be read of it still is
        with pytest.raises(BmcError, match="does not tell"):
            found.read(READS["redfish_firmware"].path)
        with pytest.raises(NotOfferedError, match="PXE alone"):
            found.can_boot_once("UefiHttp", "http://127.0.0.1/x")
        found.can_boot_once("Pxe")
    with pytest.raises(NotOfferedError, match="asked by IPMI"):
        redfish.opened(configured, bmc.url)
    assert bmc.sent() == []


def test_a_refused_password_is_tried_once_and_stands_nowhere(
    bmc: Simulated, configured: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[list[str]] = []
    real = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda words, **more: (begun.append(list(words)), real(words, **more))[1])
    with ipmi.opened(configured, bmc.url) as found:
        assert found.power_state() == "On"
    monkeypatch.setenv(PASSWORD_VARIABLE, "another-password")
    for user in (USER, "nobody"):
        monkeypatch.setenv(USERNAME, user)
        with ipmi.opened(configured, bmc.url) as found:
            with pytest.raises(BmcRefused, match="refused the BMC credentials") as told:
                found.power("ForceOff")
            tried = len(begun)
            with pytest.raises(BmcError, match="do not retry"):
                found.power("ForceOff")
            assert len(begun) == tried
            assert "another-password" not in str(told.value)
    assert not any(secret in word for words in begun for word in words for secret in (PASSWORD, "another-password"))
    assert bmc.sent() == []
    kept = "".join(path.read_text() for path in (configured.state_dir / "bmc").glob("*.json"))
    assert "another-password" not in kept


def test_a_bmc_that_is_not_there_was_certainly_not_told(bmc: Simulated, configured: Settings) -> None:
    with ipmi.opened(configured, "ipmi://127.0.0.1:9") as found, pytest.raises(BmcRefused, match="does not answer"):
        found.power("ForceOff")
    with pytest.raises(SettingsError, match="expected ipmi://ADDRESS"):
        ipmi.opened(configured, "ipmi://")
    assert bmc.sent() == []


def pretend(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put an ipmitool before the real one."""
    folder.mkdir()
    program = folder / "ipmitool"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("echo; exit 0", "expected Chassis Power is on, or off"),
        ("echo 'Chassis Power is on fire'", "expected Chassis Power is on, or off"),
        ("echo 'Get Chassis Power failed' >&2; exit 1", "Get Chassis Power failed"),
        ("exit 1", "it said nothing"),
        ("exec sleep 60", "did not end within"),
    ],
    ids=["nothing", "nonsense", "error", "silence", "hung"],
)
def test_an_odd_answer_is_no_power_state(
    script: str, says: str, tmp_path: Path, configured: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(tmp_path / "bin", script, monkeypatch)
    limits = redfish.Limits(total_seconds=1.0 if "sleep" in script else 60.0)
    with ipmi.opened(configured, "ipmi://127.0.0.1:9", limits) as found, pytest.raises(BmcError, match=says):
        found.power_state()


def test_a_power_action_is_one_packet_and_a_question_several(
    tmp_path: Path, configured: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(tmp_path / "bin", f'echo "$*" >>{tmp_path}/asked; echo "Chassis Power is on"', monkeypatch)
    with ipmi.opened(configured, "ipmi://127.0.0.1:9") as found:
        found.power("ForceOff")
        found.power_state()
    action, question = (tmp_path / "asked").read_text().splitlines()
    assert action.endswith("-R 1 chassis power off")
    assert question.endswith(f"-R {tool.PACKETS} chassis power status")


def test_a_log_of_which_entries_could_not_be_read_is_not_whole(
    tmp_path: Path, configured: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = " 1 | 11/30/2026 | 17:33:30 | Memory DIMM_A3 | Correctable ECC | Asserted"
    script = f'case "$*" in *info*) echo "Entries : 2";; *elist*) echo "{entry}"; echo "half a li";; esac'
    pretend(tmp_path / "bin", script, monkeypatch)
    with ipmi.opened(configured, "ipmi://127.0.0.1:9") as found:
        result = judged(found)
    assert result.verdict is Verdict.UNKNOWN
    assert "not all of its entries" in result.message


def test_a_log_that_tells_no_count_is_an_error(
    tmp_path: Path, configured: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(tmp_path / "bin", "echo 'Version : 1.5'", monkeypatch)
    with ipmi.opened(configured, "ipmi://127.0.0.1:9") as found, pytest.raises(BmcError, match="how many entries"):
        found.gather(READS["redfish_logs"].argv)


def test_only_the_next_boot_comes_from_the_network_and_it_can_be_taken_back(
    bmc: Simulated, configured: Settings
) -> None:
    with ipmi.opened(configured, bmc.url) as found:
        found.boot_once("Pxe")
        found.boot_once("None")
    assert bmc.sent() == ["boot pxe", "boot none"]


def test_a_boot_that_a_bmc_says_it_took_and_does_not_show_is_an_error(
    tmp_path: Path, configured: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(tmp_path / "bin", f'echo "$*" >>{tmp_path}/asked; echo "Boot Device Selector : No override"', monkeypatch)
    with (
        ipmi.opened(configured, "ipmi://127.0.0.1:9") as found,
        pytest.raises(BmcError, match="not from pxe"),
    ):
        found.boot_once("Pxe")
    assert "chassis bootdev pxe options=efiboot" in (tmp_path / "asked").read_text()


def test_without_ipmitool_nobody_can_ask(configured: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """That is our own trouble, and no node's."""
    monkeypatch.setattr(tool.shutil, "which", lambda _: None)
    with ipmi.opened(configured, "ipmi://127.0.0.1:9") as found, pytest.raises(SettingsError, match="apt install"):
        found.power_state()
