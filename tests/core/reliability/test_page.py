"""The tables of the guide to foresight."""

from fleet_runner.core.reliability.lemons.weights import SIGNALS
from fleet_runner.core.reliability.page import filled
from fleet_runner.core.reliability.trends.silence import Silence

LISTS = ("lemons", "silences")
PAGE = "\n\n".join(f"Above.\n\n<!-- {name} -->\noutdated\n<!-- end of {name} -->\n\nBelow." for name in LISTS)


def test_each_signal_and_each_reason_has_its_row() -> None:
    page = filled(PAGE)
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| `")]
    assert {row[0].strip("|` ") for row in rows} == {*SIGNALS, *Silence}
    assert ["| `xids`", "different Xids that point to hardware", "1.5", "6 |"] in rows
    assert "outdated" not in page
    assert page.count("Above.") == page.count("Below.") == 2
    assert filled(page) == page
