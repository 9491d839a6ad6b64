"""The lines a finding is about."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.excerpt import excerpt

LOG = """\
kernel: NVRM: loading NVIDIA UNIX x86_64 Kernel Module
kernel: GPU 0 up
kernel: GPU 3 up

kernel: NVRM: Xid (PCI:0000:9b:00): 79, pid=123, GPU has fallen off the bus.
kernel: eth0 link up
"""


def test_the_line_that_says_it_is_found() -> None:
    """Rare words weigh more than common ones."""
    assert "Xid (PCI:0000:9b:00): 79" in excerpt(LOG, "Xid 79 on GPU 3: it has fallen off the bus", 1)[0]


def test_nothing_shared_is_nothing_shown() -> None:
    """Better silence than a wrong line."""
    assert excerpt(LOG, "voltage") == ()


@given(st.text(), st.text(), st.integers(0, 5))
def test_no_more_lines_come_than_are_asked_for(text: str, message: str, most: int) -> None:
    """And none is longer than a terminal bears."""
    found = excerpt(text, message, most)
    assert len(found) <= most
    assert all(line.strip() == line and len(line) <= 400 for line in found)


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"], exclude_characters="\\")), st.text())
def test_lines_are_the_texts_own(text: str, message: str) -> None:
    """As they stand there."""
    assert all(line in text for line in excerpt(text, message))


def test_lines_inside_json_are_lines() -> None:
    """A job's output comes as one JSON string."""
    assert excerpt('{"output": "GPU 5: OK\\nGPU 6: FAULTY\\n"}', "GPU 6 is faulty", 1) == ("GPU 6: FAULTY",)
