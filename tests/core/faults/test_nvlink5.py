"""What the words of an NVLink 5 error say."""

import csv
import re
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.nvlink5 import LINK_DOWN, UNITS, Decoded, decode
from fleet_runner.core.faults.xid import NVLINK5

WORD = st.integers(0, 2**32 - 1)


def line(name: str, unit: int, error: int, severity: str = "Nonfatal") -> str:
    """Return what the driver prints behind the code."""
    return (
        f"{name} {severity} XC0 i0 Link 08 (0x{unit:08x} 0x{error:08x} 0x00000000 0x00000000 0x00000000 0x00000000)"
    )


@given(code=st.sampled_from(sorted(NVLINK5)), text=st.text(max_size=200))
def test_any_other_text_is_not_decoded(code: int, text: str) -> None:
    """And nothing is raised."""
    assert decode(code, text) is None


@given(code=st.sampled_from(sorted(NVLINK5)), unit=WORD, error=WORD, data=st.data())
def test_whatever_the_words_are_the_answer_is_reset_record_or_none(
    code: int, unit: int, error: int, data: st.DataObject
) -> None:
    """A GPU is never sent back by them."""
    names = [name for rows in UNITS.values() for row in rows for name in row.names]
    name = data.draw(st.sampled_from([*names, "NETIR_LINK_EVT", "NETIR", "MSE_WATCHDOG"]))
    found = decode(code, line(name, unit, error))
    assert found is None or found.remedy in {Remedy.RESET, Remedy.RECORD}


@pytest.mark.parametrize(
    ("code", "text", "decoded"),
    [
        # Both layouts of the unit, an error that resets and one that does not.
        (145, line("RLW_REMAP", 0x082, 0x40), Decoded("RLW_REMAP", 8, Remedy.RESET, "")),
        (145, line("RLW_REMAP", 0x004, 0x100), Decoded("RLW_REMAP", 8, Remedy.RECORD, "")),
        # Several bits at once: the hardest counts.
        (145, line("RLW_REMAP", 0x004, 0x141), Decoded("RLW_REMAP", 8, Remedy.RESET, "")),
        # The first word's own bit says that it came often, of some errors.
        (145, line("RLW_RXPIPE", 0x006, 0x1), Decoded("RLW_RXPIPE", 8, Remedy.RECORD, "")),
        (145, line("RLW_RXPIPE", 0x086, 0x1), Decoded("RLW_RXPIPE", 8, Remedy.RESET, "")),
        (145, line("RLW_RXPIPE", 0x4C2, 0x2), Decoded("RLW_RXPIPE", 8, Remedy.RESET, "")),
        (145, line("RLW_RXPIPE", 0x4C2, 0x8), Decoded("RLW_RXPIPE", 8, Remedy.RECORD, "")),
        (146, line("TLW_RX/TLW_RX_PIPE1", 0x00B, 0x4), Decoded("TLW_RX/TLW_RX_PIPE1", 8, Remedy.RESET, "")),
        (149, line("NETIR_MFDE_EVENT", 0x014, 0x5), Decoded("NETIR_MFDE_EVENT", 8, Remedy.RESET, "")),
        (149, line("NETIR_MFDE_EVENT", 0x014, 0x3), Decoded("NETIR_MFDE_EVENT", 8, Remedy.RECORD, "")),
        (150, line("MSE_WATCHDOG", 0x0, 0x0), Decoded("MSE_WATCHDOG", 8, Remedy.RESET, "")),
        (150, line("MSE Degraded", 0x0, 0xFFFF_FFFF), Decoded("MSE Degraded", 8, Remedy.RESET, "")),
        # What the table does not know is not guessed.
        (145, line("RLW_REMAP", 0x004, 0x1000), None),
        (145, line("RLW_REMAP", 0x004, 0x0), None),
        (145, line("RLW_REMAP", 0x007, 0x40), None),
        (144, line("RLW_REMAP", 0x004, 0x40), None),
        (149, line("NETIR_MFDE_EVENT", 0x014, 0x2), None),
        (149, line("NETIR_LINK_EVT", 0x3F0001C6, 0x0), None),
        (149, line("NETIR_LINK_EVT", 0x02500012, 0x0), None),
        (149, line("NETIR", 0x019, 0x0), None),
        (150, line("MSE_WATCHDOG", 0x1, 0x0), None),
        (150, line("RLW_REMAP", 0x0, 0x0), None),
    ],
)  # fmt: skip
def test_a_line_says_what_its_bits_say(code: int, text: str, decoded: Decoded | None) -> None:
    """In the layout before driver R575 and in that from it on."""
    assert decode(code, text) == decoded


@pytest.mark.parametrize("unit", [0x1C6, 0x011])
@pytest.mark.parametrize("reason", sorted(LINK_DOWN))
def test_a_link_that_went_down_says_why(unit: int, reason: int) -> None:
    """Of a real line: 0x025001c6 is reason 0x25, which the other end knows more of."""
    found = decode(149, line("NETIR_LINK_EVT/NETIR_LINK_DOWN", reason << 20 | unit, 0, "Fatal"))
    assert found == Decoded("NETIR_LINK_EVT/NETIR_LINK_DOWN", 8, *LINK_DOWN[reason])


@pytest.mark.parametrize(("name", "look"), [("NETIR_INT", "alone"), ("NETIR_BER_EVENT", "the link's signal")])
def test_it_is_said_where_to_look(name: str, look: str) -> None:
    """An interrupt that comes alone, and an error rate that rises."""
    found = decode(149, line(name, 0x18 if name == "NETIR_INT" else 0x13, 0))
    assert found is not None
    assert look in found.look


ACTIONS = {"RESET_GPU": Remedy.RESET, "IGNORE": Remedy.RECORD, "XID_154_EVAL": Remedy.RECORD}


def words(pattern: str) -> int:
    """Return a word of the catalogue's table, with what it leaves open set to 0."""
    return int(pattern.replace("-", "0"), 2)


def test_every_row_of_nvidias_table_is_decoded_as_it_says(samples: Path) -> None:
    """95 rows, in both layouts; some say more where the error came often."""
    with (samples / "gpu" / "xid_144_150_decode.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 95
    for row, layout in product(rows, ("v1", "v2")):
        pattern = row[f"{layout}_lt_r575_intrinfo" if layout == "v1" else f"{layout}_ge_r575_intrinfo"]
        errors = [int(each, 16) for each in re.findall(r"0x[0-9A-Fa-f]+", row["error_status"])] or [0]
        for error in errors:
            found = decode(int(row["xid"]), line(row["subcode"], words(pattern), error))
            assert found is not None, row
            assert found.remedy is ACTIONS[row["immediate_action"]], row
            if row["action2"]:
                often = decode(int(row["xid"]), line(row["subcode"], words(row[f"{layout}_action2_decode"]), error))
                assert often is not None
                assert often.remedy is ACTIONS[row["action2"]], row


def test_every_line_of_a_capture_is_decoded_but_the_unfinished_and_the_old(samples: Path) -> None:
    """Invented ones among them, whose words the table does not have, are left alone."""
    text = (samples / "gpu" / "xid_lines_gpud.txt").read_text(encoding="utf-8")
    lines = re.findall(r"Xid \(PCI:[0-9a-f:]+\): (14[4-9]|150), (.*)", text)
    left = [said for code, said in lines if decode(int(code), said) is None]
    assert len(lines) == 68
    assert left == [
        "SAW_EGR Nonfatal XC0 i0 Link 00 (0x00000004 0x00000001 0x00000000 0x00000000)",
        "SAW_MVB Nonfatal XC0 i0 Link 00 (0x00000003 0x80000000 0x00000000 0x00000000)",
        "%s %s XC0 i0 Link 00 (%s %s 0x00000000 0x00000000)",
        "Placeholder message",
        "NETIR Fatal XC0 i0 Link -1 (0x000fe406",
    ]


def test_a_process_may_be_named_like_an_error() -> None:
    """What counts is the end of the line."""
    lie = line("RLW_REMAP", 0x004, 0x40)
    found = decode(145, f"pid=7, name={lie}, {line('RLW_CTRL', 0x003, 0x8000_0000)}")
    assert found == Decoded("RLW_CTRL", 8, Remedy.RECORD, "")
