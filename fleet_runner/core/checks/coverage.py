"""What other collections of checks look at, against ours: which checks a page names, and which it does not."""

import re
from collections.abc import Collection, Mapping

from fleet_runner.core.checks.check import Check

ROW = re.compile(r"^\|[^|\n]*\|[^|\n]*\|([^|\n]*)\|$", re.MULTILINE)
"""A line of a table of three columns; ours are named in the third."""

NAME = re.compile(r"`([^`]+)`")

BEYOND = re.compile(r"(?<=<!-- beyond -->\n).*(?=<!-- end of beyond)", re.DOTALL)
"""Where the checks stand that no row names."""


def named(page: str) -> frozenset[str]:
    """Return what the tables name in their third column."""
    above = BEYOND.sub("", page)
    return frozenset(name for cell in ROW.findall(above) for name in NAME.findall(cell))


def strangers(page: str, checks: Collection[str]) -> frozenset[str]:
    """Return names in the third column that are no checks."""
    return named(page).difference(checks)


def filled(page: str, checks: Mapping[str, Check]) -> str:
    """Return the page with the checks that no row names."""
    left = sorted(checks.keys() - named(page))
    rows = [f"| `{name}` | {checks[name].question} |" for name in left]
    table = "\n".join(["| ours | asks |", "| --- | --- |", *rows])
    return BEYOND.sub(lambda _: f"\n{table}\n\n", page)
