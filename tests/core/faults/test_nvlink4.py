"""What the registers of an Xid 74 say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.nvlink4 import ROWS, Decoded, Row, decode

WORD = st.integers(0, 2**32 - 1)


def line(*registers: int, link: int = 14) -> str:
    """Return what the driver prints behind the code."""
    seven = (*registers, *[0] * (7 - len(registers)))
    return (
        f"pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link {link}({', '.join(map(hex, seven))})"
    )


@given(st.text(max_size=200))
def test_any_other_text_is_not_decoded(text: str) -> None:
    """And nothing is raised."""
    assert decode(text) is None


@given(st.lists(WORD, min_size=7, max_size=7))
def test_a_gpu_is_never_sent_back_by_its_registers(registers: list[int]) -> None:
    """Whatever stands in them."""
    found = decode(line(*registers))
    assert found is None or found.remedy in {Remedy.RESET, Remedy.RECORD}


@given(st.sampled_from(ROWS), st.data())
def test_each_bit_means_what_its_row_says(row: Row, data: st.DataObject) -> None:
    """Alone in its register."""
    place, bits = data.draw(st.sampled_from(row.bits))
    registers = [0] * 7
    registers[place] = 1 << data.draw(st.sampled_from(sorted(bits)))
    assert decode(line(*registers, link=3)) == Decoded(3, row.remedy, row.meaning)


@pytest.mark.parametrize(
    ("registers", "remedy", "words"),
    [
        ((0x0, 0x0, 0x10000), Remedy.RESET, "field diagnostic"),
        ((0x10000,), Remedy.RESET, "connections"),
        ((0x200000,), Remedy.RESET, "weak signal"),
        ((0x10,), Remedy.RESET, "ECC"),
        # The weightiest speaks: what follows from another error says less.
        ((0x12,), Remedy.RESET, "ECC"),
        ((0x2,), Remedy.RESET, "other end"),
        ((0x0, 0x0, 0x0, 0x40000), Remedy.RESET, "fabric"),
        ((0x0, 0x0, 0x0, 0x0, 0x100000), Remedy.RECORD, "corrected"),
        # A bit that nobody knows is as fatal as the line says, with or without one that is harmless.
        ((0x0, 0x0, 0x0, 0x0, 0x100001), Remedy.RESET, ""),
        ((0x0, 0x1), Remedy.RESET, ""),
    ],
)
def test_a_line_says_what_its_bits_say(registers: tuple[int, ...], remedy: Remedy, words: str) -> None:
    """By NVIDIA's workflow for NVLink errors."""
    found = decode(line(*registers))
    assert found is not None
    assert found.remedy is remedy
    assert words in found.meaning
    assert bool(words) == bool(found.meaning)


@pytest.mark.parametrize("text", [line(), line(0x40800001), "NVLink: fatal error detected on link 6"])
def test_registers_that_say_nothing_are_not_decoded(text: str) -> None:
    """Bits 0, 23 and 30 of the first one mean nothing."""
    assert decode(text) is None
