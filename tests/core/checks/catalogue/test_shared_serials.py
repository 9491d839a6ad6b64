"""GPUs of one board share its serial number, as a GB200's two do: it names the board, and the address the GPU."""

import pytest

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.parsers import nvidia_smi
from fleet_runner.core.checks.shared import gpu_names
from fleet_runner.core.checks.shared.gpus import described
from fleet_runner.core.checks.verdicts import Result, Verdict
from tests.core.checks.catalogue.judging import DEVICE, DMESG, EXPECTED, NODE, PROFILE, SMI

FIRST, SECOND = "1650000000001", "1650000000002"
SHARED = SMI.replace(SECOND, FIRST)
BOARD = Expected(NODE, PROFILE, {"parts": [{**part, "serial": FIRST} for part in DEVICE["parts"][:2]]})
"""One board with both GPUs, by its own serial number."""


def cut(smi: str) -> str:
    """Return a report without its second GPU."""
    at = smi.index('\t<gpu id="00000000:9B')
    return smi[:at].replace("<attached_gpus>2", "<attached_gpus>1") + "</nvidia_smi_log>\n"


def parts(smi: str, expected: Expected) -> Result:
    """Judge a node's GPUs."""
    texts = {"nvidia_smi": smi, "dmesg": DMESG}
    readings = {name: Reading(name, ReadEnd.OK, text) for name, text in texts.items()}
    return run(CHECKS["parts_gpu"], readings, expected)


def test_a_board_with_all_of_its_gpus_passes() -> None:
    """However often its serial number is written down."""
    assert parts(SHARED, BOARD).verdict is Verdict.PASS


def test_a_missing_gpu_of_a_board_is_in_one_of_its_slots() -> None:
    """Nothing tells which; the serial number is the board's."""
    (finding,) = parts(cut(SHARED), BOARD).findings
    assert finding.message == f"1 of 2 GPUs are present; missing: GPU 0 or GPU 1, serial {FIRST}"
    assert finding.component == "GPU 0 or GPU 1"


def test_a_board_that_lacks_more_than_one_of_its_gpus_tells_no_slot() -> None:
    """With three written down and one there, two findings could not be told apart."""
    third = {"slot": "GPU 2", "kind": "gpu", "serial": FIRST}
    profile = {**PROFILE, "parts": {"gpu": {"count": 3}}}
    (finding,) = parts(cut(SHARED), Expected(NODE, profile, {"parts": [*BOARD.device["parts"], third]})).findings
    assert finding.component == "GPUs"


def test_a_gpu_of_a_board_is_described_by_its_address_and_both_slots() -> None:
    """One of them alone might be the other's; a serial number of its own tells the slot."""
    gpus = nvidia_smi.parse(SHARED).gpus
    assert [described(gpu, BOARD) for gpu in gpus] == [
        f"GPU 0000:{bus}:00.0 (GPU 0 or GPU 1, serial {FIRST})" for bus in ("1b", "9b")
    ]
    assert described(nvidia_smi.parse(SMI).gpus[1], EXPECTED) == f"GPU 0000:9b:00.0 (GPU 1, serial {SECOND})"


@pytest.mark.parametrize(
    ("smi", "number", "serial", "name"),
    [
        (SHARED, 0, FIRST, "GPU 0000:1b:00.0"),
        (SHARED, 1, FIRST, "GPU 0000:9b:00.0"),
        (SHARED, 2, FIRST, "GPU 2"),
        (SMI, 0, SECOND, "GPU 0000:9b:00.0"),
        (SMI, 1, "", "GPU 0000:9b:00.0"),
        (SMI, 0, "17", "GPU 0"),
    ],
)
def test_a_tools_number_tells_gpus_of_one_board_apart(smi: str, number: int, serial: str, name: str) -> None:
    """A serial number that one GPU has wins over any number; one that two have is told by the number among them."""
    assert gpu_names.component(nvidia_smi.parse(smi).gpus, number, serial) == name
