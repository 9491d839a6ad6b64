"""PCI addresses: one spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.faults.pci import canonical


@pytest.mark.parametrize("text", ["0000:9b:00", "0000:9B:00.0", "00000000:9B:00.0", " 0000:9b:00.0\n"])
def test_every_spelling_of_an_address_is_the_same_address(text: str) -> None:
    """nvidia-smi, the kernel and the driver each spell it their own way."""
    assert canonical(text) == "0000:9b:00.0"


def test_a_domain_beyond_zero_is_kept() -> None:
    """GB200 trays have several domains."""
    assert canonical("00000018:01:00.0") == "0018:01:00.0"


@given(st.text(max_size=20))
def test_anything_else_is_no_address(text: str) -> None:
    """And what is one stays the same when read again."""
    found = canonical(text)
    assert found is None or canonical(found) == found
