"""Excel workbooks as rows of cells."""

import io
import subprocess
import sys
import zipfile
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime, time

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.adapters.files import workbooks
from fleet_runner.core.base.errors import SourceError
from tests.examples import examples

ROWS = [["Device A", "Port A", "Device B", "Port B"], [], ["gpu-01", "ib0", "leaf-1", 1]]


def saved(**sheets: list[list[object]]) -> bytes:
    """Return a workbook of these sheets."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def repacked(raw: bytes, change: Callable[[str, bytes], bytes], more: int = 0) -> bytes:
    """Return a workbook with changed parts, and more of them."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as before, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as after:
        for part in before.namelist():
            after.writestr(part, change(part, before.read(part)))
        for number in range(more):
            after.writestr(f"xl/{number}", b"")
    return out.getvalue()


def said(raw: bytes) -> str:
    """Why a file is refused."""
    with pytest.raises(SourceError) as caught:
        workbooks.read(raw, "cables.xlsx")
    assert "\n" not in str(caught.value)
    return str(caught.value)


GOOD = saved(cables=ROWS)


@settings(max_examples=examples(200), deadline=None)
@given(
    st.binary().map(lambda tail: b"PK\x03\x04" + tail)
    | st.builds(lambda at, byte: GOOD[:at] + byte + GOOD[at + 1 :], st.integers(0, len(GOOD)), st.binary(max_size=1))
    | st.integers(0, len(GOOD)).map(lambda at: GOOD[:at])
)
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    """Nothing but SourceError."""
    with suppress(SourceError):
        assert all(isinstance(each, workbooks.Table) for each in workbooks.read(raw, "cables.xlsx"))


CELLS = st.none() | st.text("abc 17/-", max_size=6) | st.integers(-9, 10**6) | st.booleans()


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.lists(CELLS, max_size=6), max_size=8))
def test_rows_that_were_saved_are_read_back(rows: list[list[object]]) -> None:
    """With the numbers that Excel shows."""
    (found,) = workbooks.read(saved(cables=rows), "x")
    told = [
        (number, ["" if cell is None else str(cell).strip() for cell in row]) for number, row in enumerate(rows, 1)
    ]
    assert [(number, [*filter(None, row)]) for number, row in found.lines] == [
        (number, [*filter(None, row)]) for number, row in told if any(row)
    ]


def test_each_sheet_is_a_table() -> None:
    """Also one that is hidden, and one that is empty."""
    book = openpyxl.load_workbook(io.BytesIO(saved(cables=ROWS, old=ROWS, notes=[])))
    book["old"].sheet_state = "hidden"
    out = io.BytesIO()
    book.save(out)
    cables, old, notes = workbooks.read(out.getvalue(), "x")
    assert (cables.title, cables.hidden, old.hidden, notes.lines) == ("cables", False, True, ())
    assert [row[0] for row in cables.lines] == [1, 3]
    assert cables.lines[1] == (3, ("gpu-01", "ib0", "leaf-1", "1"))


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (7.0, "7"),
        (1.5, "1.5"),
        (" a ", "a"),
        (datetime(2026, 1, 7), "2026-01-07 00:00:00"),  # noqa: DTZ001  Excel knows no time zones
        (date(2026, 1, 7), "2026-01-07 00:00:00"),
        (time(1, 7), "01:07:00"),
        ("#REF!", "#REF!"),
    ],
)
def test_a_cell_is_what_a_person_reads(value: object, told: str) -> None:
    (found,) = workbooks.read(saved(cables=[["x", value]]), "x")
    assert found.lines[0][1][1] == told


def test_a_sheet_that_says_it_is_larger_than_it_is_is_read() -> None:
    """To its last cell, and not to its last possible one."""

    def change(_: str, data: bytes) -> bytes:
        return data.replace(b'<dimension ref="A1:D3"', b'<dimension ref="A1:XFD1048576"')

    larger = repacked(GOOD, change)
    with zipfile.ZipFile(io.BytesIO(larger)) as packed:
        assert b"XFD1048576" in packed.read("xl/worksheets/sheet1.xml")
    (found,) = workbooks.read(larger, "x")
    assert len(found.lines) == 2


def test_what_begins_otherwise_is_no_workbook() -> None:
    assert workbooks.begins(GOOD)
    assert workbooks.begins(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
    assert not workbooks.begins(b"PKW-01,ib0,leaf-1,1\n")


def test_an_old_file_or_one_with_a_password_is_refused() -> None:
    text = said(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504))
    assert text.startswith("cables.xlsx: it is an Excel file of before 2007, or has a password; save it as")


def test_another_zip_is_refused() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        packed.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
    assert said(out.getvalue()).startswith("cables.xlsx: it is a zip and no Excel workbook that can be read; save it")


def test_a_zip_that_unpacks_to_too_much_is_refused() -> None:
    """By what it says of itself, before anything of it is unpacked; and it may not say less than it has."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed, packed.open("xl/sharedStrings.xml", "w") as part:
        for _ in range(workbooks.MOST_BYTES // 2**20 + 1):
            part.write(bytes(2**20))
    assert len(out.getvalue()) < 2**20
    assert "it unpacks to 129 MiB in 1 parts, expected at most 128 MiB in 2000" in said(out.getvalue())
    assert "in 2009 parts" in said(repacked(GOOD, lambda _, data: data, 2009 - len(parts(GOOD))))
    lying = out.getvalue().replace((129 * 2**20).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    assert "no Excel workbook that can be read" in said(lying)


def parts(raw: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(raw)) as packed:
        return packed.namelist()


def test_a_workbook_whose_xml_declares_a_document_type_is_refused() -> None:
    bomb = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'
    text = said(repacked(GOOD, lambda name, data: bomb + data if name == "xl/workbook.xml" else data))
    assert text.startswith("cables.xlsx: its XML declares a document type, as no Excel does; save it")


@pytest.mark.parametrize(("limit", "most"), [("MOST_ROWS", 3), ("MOST_CELLS", 12)])
def test_a_sheet_of_too_many_cells_is_refused(monkeypatch: pytest.MonkeyPatch, limit: str, most: int) -> None:
    monkeypatch.setattr(workbooks, limit, most)
    assert len(workbooks.read(saved(cables=[["a"] * 4] * 3), "x")[0].lines) == 3
    text = said(saved(cables=[["a"] * 4] * 4))
    assert text.startswith("cables.xlsx, sheet cables: it has more than ")
    assert text.endswith("cells; save the cables alone, or as CSV")


def test_a_cell_far_to_the_right_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row is as wide as its last cell says."""
    monkeypatch.setattr(workbooks, "MOST_CELLS", 100_000)
    book = openpyxl.Workbook()
    for row in range(1, 20):
        book.worksheets[0].cell(row, 16384, "x")
    out = io.BytesIO()
    book.save(out)
    assert "or 100000 cells" in said(out.getvalue())


def test_what_reads_workbooks_is_loaded_only_for_one() -> None:
    """It takes a quarter of a second, and few designs are workbooks."""
    code = "import sys, fleet_runner.cli.cabling.design; sys.exit('openpyxl' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
