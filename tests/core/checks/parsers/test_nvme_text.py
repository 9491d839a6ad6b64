"""`nvme smart-log` as people print it."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.nvme_text import report
from tests.core.checks.healthy import text_of
from tests.examples import examples

TEXT = text_of("nvme/smart_log_worn.txt")


@settings(max_examples=examples(100), deadline=None)
@given(st.one_of(st.text(), st.integers(0, len(TEXT)).map(lambda at: TEXT[:at])))
def test_any_text_gives_a_report_or_says_why_not(text: str) -> None:
    with suppress(EvidenceError):
        assert report(text)["device"] == {"name": "/dev/nvme0n1"}


def test_fields_have_the_names_of_the_json() -> None:
    assert report(TEXT) == {
        "device": {"name": "/dev/nvme0n1"},
        "critical_warning": 4, "avail_spare": 5, "spare_thresh": 10, "percent_used": 103, "media_errors": 3,
        "unsafe_shutdowns": 12,
    }  # fmt: skip


def test_a_log_without_its_heading_is_refused() -> None:
    with pytest.raises(EvidenceError, match="does not report its device"):
        report(TEXT.partition("\n")[2])
