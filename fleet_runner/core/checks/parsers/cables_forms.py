"""Designed cables in any form of text, told by what the text says and never by the name of its file."""

import re

from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.checks.parsers import cables_csv, cables_dot, cables_topo
from fleet_runner.core.checks.parsers.cables_sheet import Sheet

_JSON = re.compile(r"[\s\ufeff]*[{\[]\s*[{\[\"]")


def read(text: str, name: str) -> Sheet:
    """Return the cables of one file; SourceError names it, the line, what was found and what was expected."""
    if cables_dot.begins(text):
        return cables_dot.read(text, name)
    if cables_topo.begins(text):
        return cables_topo.read(text, name)
    if _JSON.match(text):
        raise SourceError(
            f"{name}: it is JSON, expected a list of cables as CSV, Excel workbook, topology file or DOT; export one"
            " of these"
        )
    return cables_csv.read(text, name)
