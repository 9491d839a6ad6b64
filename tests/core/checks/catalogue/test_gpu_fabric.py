"""The NVLink fabric as GPUs see it, and Fabric Manager, which makes it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import HEALTHY, judged, remedies
from tests.core.checks.catalogue.looking import GPU, asked, bent, remembering, seen
from tests.core.checks.healthy import text_of

STATE, STATUS = "<state>Completed", "<status>Success"
CLUSTER = ("<clusterUuid>00000000-0000-0000-0000-000000000000", "<clusterUuid>00000000-0000-0000-0000-000000000001")
CLIQUE = ("<cliqueId>0", "<cliqueId>32766")


@pytest.mark.parametrize(
    ("swaps", "found"),
    [
        ([(STATE, "<state>In Progress"), (STATUS, "<status>N/A")], {"gpu.fabric_state": Remedy.WATCH}),
        ([(STATE, "<state>Not Started")], {"gpu.fabric_state": Remedy.WATCH}),
        ([(STATUS, "<status>Insufficient Resources")], {"gpu.fabric_status": Remedy.REBOOT}),
        ([("</health>", "<incorrect_configuration>Insufficient NVLinks</incorrect_configuration></health>")],
         {"gpu.fabric_health": Remedy.TRIAGE}),
        ([("<bandwidth>N/A", "<bandwidth>Degraded")], {"gpu.fabric_health": Remedy.TRIAGE}),
        ([("<route_unhealthy>N/A", "<route_unhealthy>True"), ("<summary>Healthy", "<summary>Unhealthy")],
         {"gpu.fabric_health": Remedy.TRIAGE}),
        ([("<summary>Healthy", "<summary>Unhealthy")], {"gpu.fabric_health": Remedy.TRIAGE}),
        ([("<summary>Healthy", "<summary>Limited Capacity")], {"gpu.fabric_recovering": Remedy.WATCH}),
        ([("<access_timeout_recovery>False", "<access_timeout_recovery>True")],
         {"gpu.fabric_recovering": Remedy.WATCH}),
        ([("<summary>Healthy", "<mood>Sad"), ("</summary>", "</mood>")],
         {}),
        ([("<health>", "<Health>"), ("</health>", "</Health>"), ("cliqueId", "CliqueId")], {}),
    ],
)  # fmt: skip
def test_a_gpu_says_how_its_fabric_is(swaps: list[tuple[str, str]], found: dict[str, Remedy]) -> None:
    """What passes by itself is watched, what does not is looked at, and words nobody knows are not judged."""
    result = seen("gpu_fabric", *swaps)
    assert remedies(result) == found
    assert result.verdict is (Verdict.FAIL if found else Verdict.PASS)


def test_a_gpu_that_is_still_joining_at_the_next_look_is_stuck() -> None:
    """Joining takes minutes."""
    swap = (STATE, "<state>In Progress")
    first = seen("gpu_fabric", swap)
    again = seen("gpu_fabric", swap, expected=remembering("gpu_fabric", first.observed))
    assert remedies(again) == {"gpu.fabric_state": Remedy.REBOOT}
    moved = seen("gpu_fabric", (STATE, "<state>Not Started"), expected=remembering("gpu_fabric", first.observed))
    assert remedies(moved) == {"gpu.fabric_state": Remedy.WATCH}


LATELY, LONG_AGO = "2025-03-01 09:30:00\n", "2025-03-01 06:00:00\n"


@pytest.mark.parametrize(
    ("uptime", "verdict"),
    [(LATELY, Verdict.UNKNOWN), (LONG_AGO, Verdict.FAIL), ("two weeks\n", Verdict.FAIL), ("", Verdict.FAIL)],
)
def test_a_gpu_and_fabric_manager_have_ten_minutes_from_a_boot(uptime: str, verdict: Verdict) -> None:
    """Where nobody tells when that was, none."""
    texts = {"nvidia_smi": bent((STATE, "<state>In Progress"), (STATUS, "<status>N/A")), "uptime": uptime}
    assert judged("gpu_fabric", texts, asked()).verdict is verdict
    assert managed(("=active", "=activating"), uptime=uptime).verdict is verdict
    assert judged("gpu_fabric", HEALTHY["gpu_fabric"] | {"uptime": uptime}, asked()).verdict is Verdict.PASS


def test_what_was_seen_the_day_before_yesterday_does_not_last() -> None:
    """A node that comes back from repair begins anew."""
    swap = (STATE, "<state>In Progress")
    old = remembering("gpu_fabric", seen("gpu_fabric", swap).observed, 2 * 86_400.0)
    assert remedies(seen("gpu_fabric", swap, expected=old)) == {"gpu.fabric_state": Remedy.WATCH}


def test_a_rack_of_gpus_has_a_clique_and_a_cluster() -> None:
    """Where the profile says so; all zero means that the rack's fabric manager does not know the tray."""
    rack = asked("gpu_fabric", cluster=True)
    assert remedies(seen("gpu_fabric", expected=rack)) == {"gpu.fabric_cluster": Remedy.TRIAGE}
    assert remedies(seen("gpu_fabric", CLUSTER, expected=rack)) == {"gpu.fabric_cluster": Remedy.TRIAGE}
    assert seen("gpu_fabric", CLUSTER, CLIQUE, expected=rack).verdict is Verdict.PASS
    assert seen("gpu_fabric", CLUSTER, CLIQUE).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("swaps", "cluster"),
    [
        ([(STATE, "<state>N/A"), (STATUS, "<status>N/A")], False),
        ([(STATE, "<state>Not Supported"), (STATUS, "<status>Unknown Error")], False),
        ([(STATUS, "<status>")], False),
        ([(STATUS, "<status>Unknown Error")], False),
        ([(STATE, "<state>Perplexed")], False),
        ([("<cliqueId>0", "<cliqueId>N/A")], True),
        ([("<fabric>", "<other>"), ("</fabric>", "</other>")], False),
    ],
)
def test_a_fabric_that_is_not_told_is_unknown(swaps: list[tuple[str, str]], cluster: bool) -> None:
    """A GPU without a switch, an older driver, a driver that does not say where it belongs."""
    expected = asked("gpu_fabric", cluster=cluster)
    result = seen("gpu_fabric", *swaps, CLUSTER, expected=expected)
    assert result.verdict is Verdict.UNKNOWN
    assert "does not report" in result.message


def test_gpus_of_one_node_lie_in_one_partition() -> None:
    """Two trays that were taken for one another show here."""
    one = bent(CLUSTER, CLIQUE)
    gpu = one[one.index("\t<gpu") : one.index("</nvidia_smi_log>")]
    other = gpu.replace("1B:00", "9B:00").replace("32766", "4").replace("001b<", "009b<")
    text = one.replace("</nvidia_smi_log>", other + "</nvidia_smi_log>").replace("gpus>1<", "gpus>2<")
    result = judged("gpu_fabric", {"nvidia_smi": text}, asked())
    assert remedies(result) == {"gpu.fabric_apart": Remedy.TRIAGE}
    assert "in 2 partitions" in result.message


UNIT = text_of("fabric_manager/unit.txt")
LOG = text_of("fabric_manager/log.txt")
FRESH = "[Feb 27 2025 16:00:00] [ERROR] [tid 7] {}\n"
MISMATCH = "fabric manager NVIDIA GPU driver interface version 580.65.06 don't match with driver version 580.105.08."


def managed(*swaps: tuple[str, str], rc: int = 0, leave: str = "", **texts: str) -> Result:
    """Judge Fabric Manager with changes of its unit's properties and other readings."""
    said: Mapping[str, Any] = HEALTHY["fabric_manager"] | {"fabric_manager_unit": bent(*swaps, text=UNIT)} | texts
    return judged("fabric_manager", {name: text for name, text in said.items() if name != leave}, asked(), rc)


def codes(result: Result) -> dict[str, Remedy]:
    """Return what is more than recorded."""
    return {code: remedy for code, remedy in remedies(result).items() if remedy is not Remedy.RECORD}


@pytest.mark.parametrize(
    ("swaps", "found"),
    [
        ([("ActiveState=active", "ActiveState=failed"), ("Result=success", "Result=exit-code")],
         {"fabric_manager.down": Remedy.REBOOT}),
        ([("ActiveState=active", "ActiveState=inactive")], {"fabric_manager.down": Remedy.REBOOT}),
        ([("ActiveState=active", "ActiveState=activating")], {"fabric_manager.starting": Remedy.WATCH}),
        ([("NRestarts=0", "NRestarts=3")], {}),
        ([("NRestarts=0", "NRestarts=4")], {"fabric_manager.restarts": Remedy.WATCH}),
        ([("NRestarts=0", "NRestarts=" + "9" * 9)], {"fabric_manager.restarts": Remedy.WATCH}),
    ],
)  # fmt: skip
def test_the_unit_is_active_and_stays_so(swaps: list[tuple[str, str]], found: dict[str, Remedy]) -> None:
    """Without it no GPU reaches another over NVLink."""
    result = managed(*swaps)
    assert codes(result) == found
    assert result.verdict is (Verdict.FAIL if found else Verdict.PASS)


def test_its_result_says_why_it_failed() -> None:
    """exit-code, signal, timeout."""
    result = managed(("ActiveState=active", "ActiveState=failed"), ("Result=success", "Result=exit-code"))
    assert "is failed (exit-code), expected active" in result.message


@pytest.mark.parametrize(
    ("swaps", "texts", "found"),
    [
        ([], {"fabric_manager_version": "Fabric Manager version is : 580.65.06\n"}, Remedy.WATCH),
        ([("=active", "=failed")], {"fabric_manager_version": "Fabric Manager version is : 580.65.06\n"},
         Remedy.REBOOT),
        ([("=active", "=failed")], {"fabric_manager_log": LOG + FRESH.format(MISMATCH)}, Remedy.REBOOT),
    ],
)  # fmt: skip
def test_its_version_is_the_drivers(swaps: list[tuple[str, str]], texts: dict[str, str], found: Remedy) -> None:
    """One of the two was updated alone; what runs runs on until its next start."""
    result = managed(*swaps, **texts)
    assert codes(result)["fabric_manager.version"] is found


@pytest.mark.parametrize(
    ("words", "code", "remedy"),
    [
        ("detected NVSwitch fatal error 20034 on fid 0", "fabric_manager.nvswitch_fatal", Remedy.RESET),
        ("detected number of NVSwitches don't match with any supported system topology, aborting fabric manager",
         "fabric_manager.topology", Remedy.TRIAGE),
        ("request to query NVSwitch device information failed with error:WARNING [NV_WARN_NOTHING_TO_DO]",
         "fabric_manager.no_nvswitch", Remedy.TRIAGE),
        ("failed to find the GPU handle 5410063385821516767 in the multicast team request setup 6130285411925746235.",
         "fabric_manager.multicast", Remedy.WATCH),
    ],
)  # fmt: skip
def test_errors_since_its_start_say_what_follows(words: str, code: str, remedy: Remedy) -> None:
    """An older one, from before its start, was answered by that start."""
    result = managed(fabric_manager_log=LOG + FRESH.format(words))
    assert codes(result) == {code: remedy}
    assert "logged 1 time since its start, last at 2025-02-27 16:00:00" in result.message


def test_errors_that_ask_for_nothing_are_recorded_with_their_count() -> None:
    """A switch's harmless error, and words that nobody knows."""
    result = managed(fabric_manager_log=LOG + FRESH.format("something else") * 2)
    assert result.verdict is Verdict.PASS
    assert remedies(result) == {
        "fabric_manager.nvswitch_error": Remedy.RECORD,
        "fabric_manager.log_error": Remedy.RECORD,
    }
    assert result.observed["errors"] == 3


@pytest.mark.parametrize("leave", ["fabric_manager_log", "fabric_manager_version"])
def test_without_its_log_or_its_version_the_unit_is_judged(leave: str) -> None:
    """They say more where they can be read."""
    assert (result := managed(leave=leave)).verdict is Verdict.PASS
    assert ("Fabric Manager runs" in result.message) is (leave == "fabric_manager_version"), result.message


@pytest.mark.parametrize(
    ("swaps", "texts", "why"),
    [
        ([("LoadState=loaded", "LoadState=not-found")], {}, "is not-found on gpu-01"),
        ([("NRestarts=0\n", "")], {}, "how often it was restarted"),
        ([("InactiveExitTimestamp=Thu 2025-02-27 07:13:16 UTC", "InactiveExitTimestamp=n/a")], {}, "have no age"),
        ([], {"fabric_manager_version": "Fabric Manager version is : 580."}, "its version is not reported"),
        ([], {"fabric_manager_unit": "Failed to connect to bus\n"}, "expected a unit's LoadState"),
    ],
)
def test_what_systemd_does_not_tell_is_unknown(swaps: list[tuple[str, str]], texts: dict[str, str], why: str) -> None:
    """A node without the service may have another image, not another fault."""
    result = managed(*swaps, **texts)
    assert result.verdict is Verdict.UNKNOWN
    assert why in result.message


def test_a_captured_log_of_two_days_has_one_harmless_error(samples: Path) -> None:
    """Multicast teams come and go in between."""
    text = (samples / "gpu" / "gpud_fabricmanager.log").read_text(encoding="utf-8")
    result = managed(fabric_manager_log=text)
    assert result.verdict is Verdict.PASS
    assert remedies(result) == {"fabric_manager.nvswitch_error": Remedy.RECORD}
    assert GPU not in result.message
