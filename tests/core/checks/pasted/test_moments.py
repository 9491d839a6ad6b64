"""Times of logs, as seconds that can be compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.pasted.moments import moment


@given(st.text())
def test_any_text_is_a_time_or_none(text: str) -> None:
    assert moment(text) is None or isinstance(moment(text), float)


@pytest.mark.parametrize(
    ("at", "seconds"),
    [
        ("2025-03-01T09:40:00,500000+00:00", 1740822000.5),
        ("2025-03-01T09:40:00+0000", 1740822000.0),
        ("2025-03-01T09:40:00", 1740822000.0),
        ("Sat Mar  1 09:40:00 2025", 1740822000.0),
        ("Sat 2025-03-01 09:40:00 UTC", 1740822000.0),
        ("1740822000.000000", 1740822000.0),
        ("123.456789", 123.456789),
        ("Feb 29 00:00:00", 951782400.0),
        ("Mär 01 09:40:00", None),
        ("Abc 31 09:40:00", None),
        ("Feb 31 09:40:00", None),
        ("", None),
    ],
)
def test_a_time_is_read_as_it_stands(at: str, seconds: float | None) -> None:
    assert moment(at) == seconds
