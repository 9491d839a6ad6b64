"""Designed cables as people keep them in CSV; what the cells say is told in `cables_table`.

A header may look like a comment, as NDT's does ("#StartDevice" or "#Fields:StartDevice" is its first title). Cells
may stand between semicolons or tabs as well, or between bars as in Markdown.
"""

import csv
from collections.abc import Iterable

from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.checks.parsers import cables_fused
from fleet_runner.core.checks.parsers.cables_sheet import Row, Sheet, ended, whole
from fleet_runner.core.checks.parsers.cables_table import COLUMNS, PREFACE, Line
from fleet_runner.core.checks.parsers.cables_table import read as read_table

_MARKS = ",;\t|"


def parse(text: str, name: str) -> tuple[Row, ...]:
    """Return every cable; SourceError names the file, the line, what was found and what was expected."""
    return whole([read(text, name)])


def read(text: str, name: str) -> Sheet:
    """Return the cables of one file of several; SourceError likewise."""
    if cables_fused.begins(text):
        return ended(read_table(cables_fused.rows(text, name), name), text)
    return ended(read_table(_rows(text, name), name), text)


def _rows(text: str, name: str) -> Iterable[Line]:
    if "\0" in text:
        raise SourceError(f"{name}: it holds NUL characters; expected UTF-8, or UTF-16 with its byte order mark")
    lines = text.lstrip("\ufeff").splitlines()
    reader = csv.reader((f"{line}\n" for line in lines), strict=True, delimiter=_delimiter(lines))
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise SourceError(f"{name}:{reader.line_num}: {error}; expected comma-separated values") from error


def _delimiter(lines: Iterable[str]) -> str:
    """Return what stands between the cells of the first row that has enough for a cable, near the top; or a comma."""
    top = [line for line in lines if line.strip(" ,;\t|") and not line.startswith("# ")][:PREFACE]
    fewest = len(COLUMNS) - 1
    first = next((line for line in top if any(line.count(mark) >= fewest for mark in _MARKS)), "")
    return max(_MARKS, key=lambda mark: min(first.count(mark), fewest))
