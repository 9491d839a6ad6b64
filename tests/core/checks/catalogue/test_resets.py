"""What came of a reset or a restart: proven, failed, or not known because somebody was in the way."""

import json
from typing import Any

import pytest

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import ReadEnd, Reading
from fleet_runner.core.checks.parsers import nvidia_smi
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from fleet_runner.core.faults.reset.plan import Order
from fleet_runner.core.faults.reset.progress import READ, parse, to_json
from tests.core.checks.catalogue.judging import EXPECTED, READ_AT, SMI, documented, text_of

FIRST, SECOND = (gpu.pci for gpu in nvidia_smi.parse(SMI).gpus)
UNIT = text_of("fabric_manager/unit.txt")


def told(order: Order, *, check: bool = False, trouble: str = "", **report: Any) -> str:
    """Return the reading of a reset that succeeded, with changes to the node's log."""
    log = {"commands": [{"argv": [], "rc": 0, "output": "All done."}], "units": {}, "holders": [], **report}
    return json.dumps(to_json(order.to_json(), check=check, trouble=trouble, report=log))


def judged(progress: str, smi: str | None = SMI, unit: str | None = UNIT) -> Result:
    """Judge it with what is seen on the node since."""
    texts = {READ: progress, "nvidia_smi": smi, "fabric_manager_unit": unit}
    readings = {name: Reading(name, ReadEnd.OK, text, at=READ_AT) for name, text in texts.items() if text is not None}
    return documented(CHECKS["resets"], run(CHECKS["resets"], readings, EXPECTED))


ONE = Order(Remedy.RESET, gpus=(FIRST,), because="reset for xid.48")
ALL = Order(Remedy.RESET, because="all")
SERVICE = Order(Remedy.RESTART, units=("nvidia-fabricmanager.service",), because="restarted for it")


@pytest.mark.parametrize("order", [ONE, ALL])
def test_gpus_that_answer_after_their_reset_pass(order: Order) -> None:
    result = judged(told(order, units={"nvidia-persistenced.service": "active"}))
    assert result.verdict is Verdict.PASS, result.message
    assert "nvidia-persistenced.service runs again" in result.message


def test_a_reset_of_before_is_told_as_that() -> None:
    """The second run of a stay finds it in the node's log."""
    assert "already before" in judged(told(ONE, again=True)).message


def test_a_service_that_runs_again_passes() -> None:
    result = judged(told(SERVICE, units={"nvidia-fabricmanager.service": "active"}), smi=None)
    assert (result.verdict, result.message) == (
        Verdict.PASS,
        "nvidia-fabricmanager.service was restarted and runs",
    )


@pytest.mark.parametrize(
    ("progress", "words"),
    [
        (told(ONE, trouble="no service is known"), "no service is known"),
        (told(ONE, check=True), f"GPU {FIRST} would be reset for xid.48"),
        (told(SERVICE, check=True), "the service would be restarted for it"),
        (told(ONE, holders=["python3 (4711)"]), "python3 (4711) uses GPUs; nothing was reset"),
        (told(ONE, commands=[]), "does not show that it began"),
        (told(ONE, commands=[{"rc": 4, "output": "Insufficient permissions"}]), "it must be run by root"),
        (told(ONE, commands=[{"rc": 127}]), "it is not on the node"),
        (
            told(ONE, commands=[{"rc": 255, "output": "GPU 0: In use by another client"}]),
            "nvidia-smi says that the GPUs are in use",
        ),
        (told(SERVICE, error="x.service is not on this node"), "x.service is not on this node"),
        (told(SERVICE, units={"x.service": "activating"}), "x.service is activating; check again"),
    ],
)
def test_what_is_no_fault_of_the_node_is_unknown(progress: str, words: str) -> None:
    """Somebody's process, a missing tool, a service that is still coming up."""
    result = judged(progress)
    assert result.verdict is Verdict.UNKNOWN
    assert words in result.message


@pytest.mark.parametrize(
    ("progress", "code"),
    [
        (told(Order(Remedy.RESET, gpus=(FIRST,), gone=("0000:ff:00.0",))), "reset.gpu_lost"),
        (told(ONE, commands=[{"rc": 255, "output": "Unknown Error"}]), "reset.failed"),
        (told(ONE, commands=[{"rc": 255}]), "reset.failed"),
        (told(SERVICE, commands=[{"rc": 1, "output": "Job failed."}]), "reset.service_down"),
        (told(SERVICE, units={"x.service": "failed"}), "reset.service_down"),
        (told(ONE, units={"x.service": ""}), "reset.service_down"),
        (told(Order(Remedy.RESET, gpus=("0000:ff:00.0",))), "reset.gpu_lost"),
    ],
)
def test_what_a_reset_could_not_do_asks_for_a_reboot(progress: str, code: str) -> None:
    result = judged(progress)
    assert result.verdict is Verdict.FAIL
    assert {(each.code, each.remedy) for each in result.findings} == {(code, Remedy.REBOOT)}


def test_a_driver_that_still_asks_for_a_recovery_was_not_helped() -> None:
    asking = SMI.replace("<reset_required>No", "<reset_required>Yes", 1)
    result = judged(told(ONE), asking)
    assert [each.code for each in result.findings] == ["reset.not_enough"]
    assert "still asks for: Reset" in result.message


def test_a_gpu_that_another_reset_did_not_touch_says_nothing_about_it() -> None:
    asking = SMI.replace("<reset_required>No", "<reset_required>Yes", 1)
    assert judged(told(Order(Remedy.RESET, gpus=(SECOND,))), asking).verdict is Verdict.PASS


def test_fabric_manager_must_run_after_a_reset() -> None:
    assert [each.code for each in judged(told(ONE), unit=UNIT.replace("=active", "=failed")).findings] == [
        "reset.service_down"
    ]


@pytest.mark.parametrize("unit", [None, UNIT.replace("=loaded", "=not-found").replace("=active", "=inactive")])
def test_a_node_without_fabric_manager_needs_none(unit: str | None) -> None:
    assert judged(told(ONE), unit=unit).verdict is Verdict.PASS


def test_a_gpu_on_its_way_into_the_fabric_is_asked_again() -> None:
    joining = SMI.replace("<processes>", "<fabric><state>In Progress</state></fabric><processes>")
    result = judged(told(ALL), joining)
    assert result.verdict is Verdict.UNKNOWN
    assert "still joining the NVLink fabric" in result.message


@pytest.mark.parametrize("smi", [None, "No devices were found\n"])
def test_gpus_that_nothing_tells_of_since_are_unknown(smi: str | None) -> None:
    assert judged(told(ALL), smi).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("raw", ["", "[]", "{}", '{"report": {"commands": 3}}', '{"order": 3, "report": []}'])
def test_what_is_no_log_is_unknown(raw: str) -> None:
    assert judged(raw).verdict is Verdict.UNKNOWN


def test_a_flood_in_a_nodes_log_is_cut() -> None:
    """A node may say anything; what is kept of it is bounded."""
    found = parse(told(ONE, holders=["x" * 5000] * 5000, units={f"{at}{'y' * 999}": "z" * 999 for at in range(999)}))
    assert (len(found.holders), len(found.holders[0])) == (50, 300)
    assert (len(found.units), len(found.units[0][0]), len(found.units[0][1])) == (50, 300, 300)
