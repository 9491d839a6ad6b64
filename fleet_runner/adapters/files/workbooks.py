"""Excel workbooks as rows of cells, as text; what the cells say is told elsewhere.

A workbook is a zip, and may unpack to far more than it is: what no workbook of cables needs is refused.
"""

import io
import re
import warnings
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

from fleet_runner.core.base.errors import SourceError

MOST_BYTES = 128 * 1024 * 1024
"""Bytes that a workbook may unpack to: some 500,000 cables."""

MOST_PARTS = 2_000
"""Files that it may hold."""

MOST_ROWS = 500_000
MOST_CELLS = 10_000_000

_ZIP = b"PK\x03\x04"
_OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How Excel's files before 2007 begin, and those of today that have a password."""

_MERGED = re.compile(rb'<(?:\w{1,20}:)?mergeCell\s+ref="([A-Z]{1,3})([0-9]{1,7}):\1([0-9]{1,7})"')
"""Cells of one column that are merged into one."""

_SAVE = "save it as an Excel workbook (.xlsx) without a password, or as CSV"


@dataclass(frozen=True, slots=True)
class Table:
    """A sheet: its title, whether Excel hides it, and its rows that hold anything, each with its number."""

    title: str
    hidden: bool
    lines: tuple[tuple[int, tuple[str, ...]], ...]


def begins(raw: bytes) -> bool:
    """Whether a file begins as workbooks do."""
    return raw.startswith((_ZIP, _OLD))


def read(raw: bytes, name: str) -> tuple[Table, ...]:
    """Return the sheets of a workbook; SourceError names the file, what was found and what to do."""
    if raw.startswith(_OLD):
        raise SourceError(f"{name}: it is an Excel file of before 2007, or has a password; {_SAVE}")
    try:
        _measure(raw, name)
        return _tables(raw, name)
    except SourceError:
        raise
    except Exception as error:  # a zip, XML and openpyxl each raise errors of many kinds on what is broken
        raise SourceError(f"{name}: it is a zip and no Excel workbook that can be read; {_SAVE}") from error


def _measure(raw: bytes, name: str) -> None:
    """Refuse what unpacks to too much, by its table of contents and by what is there."""
    with zipfile.ZipFile(io.BytesIO(raw)) as packed:
        parts = packed.infolist()
        size = sum(part.file_size for part in parts)
        if size > MOST_BYTES or len(parts) > MOST_PARTS:
            raise SourceError(
                f"{name}: it unpacks to {size >> 20} MiB in {len(parts)} parts, expected at most"
                f" {MOST_BYTES >> 20} MiB in {MOST_PARTS}; save the sheets of cables alone, or as CSV"
            )
        if any(b"<!DOCTYPE" in packed.read(part) for part in parts if part.filename.endswith((".xml", ".rels"))):
            raise SourceError(f"{name}: its XML declares a document type, as no Excel does; {_SAVE}")


def _tables(raw: bytes, name: str) -> tuple[Table, ...]:
    import openpyxl  # noqa: PLC0415  it is slow to load, and few designs are workbooks

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of styles and extensions that are not read
        book = openpyxl.load_workbook(io.BytesIO(raw), read_only=True, data_only=True, keep_links=False)
        try:
            return tuple(
                Table(sheet.title, sheet.sheet_state != "visible", _lines(sheet, name, raw))
                for sheet in book.worksheets
            )
        finally:
            book.close()


def _lines(sheet: Any, name: str, raw: bytes) -> tuple[tuple[int, tuple[str, ...]], ...]:
    sheet.reset_dimensions()  # a sheet may say that it is larger than it is
    lines = tuple(_filled(sheet.iter_rows(values_only=True), f"{name}, sheet {sheet.title}"))
    with zipfile.ZipFile(io.BytesIO(raw)) as packed:
        told = packed.read(sheet._worksheet_path)  # noqa: SLF001  openpyxl tells merged cells of whole workbooks only
    spans = [(_column(letters), int(first), int(last)) for letters, first, last in _MERGED.findall(told)]
    if sum(last - first for _, first, last in spans) > MOST_CELLS:
        raise SourceError(f"{name}, sheet {sheet.title}: it has more than {MOST_CELLS} merged cells; split them")
    return _spread(lines, spans) if spans else lines


def _column(letters: bytes) -> int:
    """Return the place of a column, counted from 0: "A" is 0, "AB" 27."""
    place = 0
    for letter in letters:
        place = place * 26 + letter - 64
    return place - 1


def _spread(
    lines: Iterable[tuple[int, tuple[str, ...]]], spans: Iterable[tuple[int, int, int]]
) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """Return the rows with what a merged cell says in each of its rows that holds anything else.

    `spans` are the column (counted from 0), the first and the last row of each.
    """
    rows = {number: list(row) for number, row in lines}
    for column, first, last in spans:
        says = rows[first][column] if first in rows and column < len(rows[first]) else ""
        for number in range(first + 1, last + 1) if says else ():
            if number in rows and column < len(rows[number]):
                rows[number][column] = rows[number][column] or says
    return tuple((number, tuple(row)) for number, row in rows.items())


def _filled(rows: Iterable[tuple[Any, ...]], name: str) -> Iterable[tuple[int, tuple[str, ...]]]:
    count = cells = 0
    for number, row in enumerate(rows, start=1):
        cells += len(row)
        told = tuple(map(_text, row))
        if any(told):
            count += 1
            yield number, told
        if count > MOST_ROWS or cells > MOST_CELLS:
            raise SourceError(
                f"{name}: it has more than {MOST_ROWS} rows or {MOST_CELLS} cells; save the cables alone, or as CSV"
            )


def _text(value: object) -> str:
    """Return a cell as a person reads it: a number that is whole is no fraction, a date is in full."""
    match value:
        case None:
            return ""
        case float() if value.is_integer():
            return str(int(value))
        case datetime() | date() | time():
            return value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()
        case _:
            return str(value).strip()
