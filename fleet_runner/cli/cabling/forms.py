"""A design in files, each told by what it holds: a workbook, or text in one of several forms; all are one design."""

from collections.abc import Sequence
from pathlib import Path

from fleet_runner.adapters.files import workbooks
from fleet_runner.cli.cabling.captures import STDIN, content, decoded
from fleet_runner.cli.cabling.text import note
from fleet_runner.core.base.errors import FleetError, SourceError
from fleet_runner.core.checks.parsers import cables_forms, cables_table, fabric_capture
from fleet_runner.core.checks.parsers.cables_sheet import Row, Sheet, whole


def read(paths: Sequence[Path]) -> tuple[Row, ...]:
    """Return the cables of all files together; a file on the command line is input, and no source of truth."""
    try:
        sheets = [sheet for path in dict.fromkeys(paths) for sheet in _sheets(path)]
        for sheet in sheets:
            _tell_skipped(sheet)
        return whole(sheets)
    except SourceError as error:
        raise FleetError(str(error)) from error


def _tell_skipped(sheet: Sheet) -> None:
    """Say which rows are taken for no cable."""
    if sheet.skipped:
        (line, words), *others = sheet.skipped
        more = f", and {len(others)} more" if others else ""
        note(f"{sheet.name}: line {line} is taken for no cable ({words:.60}){more}.")


def _sheets(path: Path) -> list[Sheet]:
    name = "standard input" if path == STDIN else path.name
    raw = content(path)
    if workbooks.begins(raw):
        return _workbook(raw, name)
    told = decoded(raw)
    try:
        return [cables_forms.read(told, name)]
    except SourceError as error:
        if not fabric_capture.begins(told):
            raise
        raise SourceError(
            f"{name}: it is what a tool saw of a fabric, expected its design; give it as --observed, or compare two"
            " such files: fleet-runner cabling diff"
        ) from error


def _workbook(raw: bytes, name: str) -> list[Sheet]:
    """Read the sheets whose titles name both ends of cables, and say which of several were left out."""
    tables = workbooks.read(raw, name)
    chosen = [each for each in tables if not each.hidden and cables_table.titled(each.lines)]
    left = [f"{each.title} ({_why(each)})" for each in tables if each not in chosen]
    if not chosen:
        raise SourceError(
            f"{name}: no sheet has a row of titles that names both ends of cables, and cables below it (left out:"
            f" {', '.join(left)}); expected titles such as Device A, Port A, Device B, Port B"
        )
    if len(tables) > 1:
        sheets = "sheet" if len(chosen) == 1 else "sheets"
        out = f"; left out {', '.join(left)}" if left else ""
        note(f"{name}: read {sheets} {', '.join(each.title for each in chosen)}{out}.")
    return [cables_table.read(each.lines, f"{name}, sheet {each.title}") for each in chosen]


def _why(table: workbooks.Table) -> str:
    if table.hidden:
        return "hidden"
    return "no cables" if table.lines else "empty"
