"""perftest's tables, in each of their units."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.perftest import Measured, Row, measured, parse
from tests.core.checks.healthy import text_of

HEAD = " RDMA_Write BW Test\n Dual-port       : OFF\tDevice         : mlx5_0\n"


@given(gbitps=st.floats(1, 799).map(lambda rate: round(rate, 2)))
def test_the_units_say_the_same(gbitps: float) -> None:
    """Megabytes are 2 to the 20th bytes, under either name."""
    mebibytes = gbitps * 1e9 / 8 / 2**20
    for unit, rate in (("Gb/sec", gbitps), ("MB/sec", mebibytes), ("MiB/sec", mebibytes)):
        heading = f" #bytes #iterations BW peak[{unit}] BW average[{unit}] MsgRate[Mpps]"
        (table,) = parse(f"{HEAD}{heading}\n 65536 5000 0.00 {rate:.9f} 1\n")
        assert table.rows[0].gbitps == pytest.approx(gbitps, abs=0.01)


def test_the_captured_loopback_is_read_at_both_ends(samples: Path) -> None:
    """24,056.72 "MB/sec" of an HDR adapter: 201.8 Gb/s, for the data never leaves it."""
    tables = parse((samples / "gpu" / "superbench_ib_loopback_8M.log").read_text(encoding="utf-8"))
    assert [(table.device, table.rows) for table in tables] == [("ib0", (Row(8388608, 201.802, None),))] * 2


def test_a_sweep_in_both_directions_reads_as_it_is() -> None:
    """All sizes, both directions together."""
    (table,) = parse(text_of("perftest/sweep_both_ways.txt"))
    assert (table.device, table.both_ways) == ("mlx5_4", True)
    assert [row.bytes for row in table.rows] == [2, 65536, 8388608]
    assert table.rows[2].gbitps == pytest.approx(769.66, abs=0.01)


def test_our_programs_lines_are_read_rail_by_rail() -> None:
    """Bandwidth and latency."""
    found = measured(text_of("perftest/two_rails.jsonl"))
    assert [each.rail for each in found] == ["mlx5_0", "mlx5_0", "mlx5_1", "mlx5_1"]
    assert found[0].table is not None
    assert found[0].table.rows == (Row(8388608, 392.41, None),)
    assert found[1].table is not None
    assert found[1].table.rows == (Row(2, None, 1.66),)


def test_what_perftest_printed_itself_is_read_too() -> None:
    """By its device."""
    (found,) = measured(text_of("perftest/sweep_both_ways.txt"))
    assert (found.rail, found.peer, found.trouble) == ("mlx5_4", "mlx5_4", "")


def test_a_measurement_that_failed_says_why() -> None:
    """In the tool's last complaint."""
    (table,) = parse(text_of("perftest/retries.txt"))
    assert (table.rows, table.trouble) == ((), "Failed status 12: wr_id 0 syndrom 0x81")
    columns = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
    half = f"{HEAD}\n{columns}\n65536 403504 0.00 42.31 0.080701\n"
    half += " Failed status 12: wr_id 0 syndrom 0x81\nscnt=1\n Failed to complete\n"
    assert (parse(half)[0].rows, parse(half)[0].trouble) == ((), "Failed status 12: wr_id 0 syndrom 0x81")
    bare = parse(f"{HEAD}\n")[0]
    assert bare.trouble == "it has no result"
    assert parse(" RDMA_Write BW Test\n\n")[0].device == ""


def test_a_table_whose_heading_was_cut_off_is_read() -> None:
    """It tells no device."""
    text = text_of("perftest/sweep_both_ways.txt")
    (table,) = parse(text[text.index(" #bytes") :])
    assert (table.device, len(table.rows)) == ("", 3)


@pytest.mark.parametrize(
    ("line", "trouble"),
    [
        ({"error": "it hung for 65 s"}, "it hung for 65 s"),
        (
            {"rc": 1, "output": "Unable to find the Infiniband/RoCE device"},
            "this is no output of perftest: Unable to find",
        ),
        ({"rc": 1, "output": HEAD}, "it has no result"),
        ({"rc": 1, "output": text_of("perftest/sweep_both_ways.txt")}, "ib_write_bw exited with 1"),
        ({"rc": 0, "output": text_of("perftest/retries.txt")}, "Failed status 12"),
    ],
)
def test_a_rail_that_was_not_measured_has_its_reason(line: dict[str, object], trouble: str) -> None:
    """The others count all the same."""
    told = {"program": "ib_write", "target": "mlx5_0", "peer": "mlx5_1", "test": "ib_write_bw"} | line
    (found,) = measured(f"{json.dumps(told)}\n{json.dumps({'program': 'ib_write', 'ended': True})}\n")
    assert (found.rail, found.peer) == ("mlx5_0", "mlx5_1")
    assert found.trouble.startswith(trouble)


def test_a_line_that_names_no_rail_is_no_measurement() -> None:
    """It is the node's own text."""
    text = '{"program": "ib_write", "target": 7, "output": "x"}\n{"program": "ib_write", "ended": true}\n'
    assert measured(text) == (Measured("", "", None, "None"),)


@pytest.mark.parametrize(
    ("row", "rows"),
    [
        (" 65536 0 5000 0.00 11.00 0.1", (Row(65536, 11.0, None),)),
        (" 65536 0 5000 0.00 0.00 0.0", ()),
        (" 65536.5 0 5000 0.00 11.00 0.1", ()),
        (" 65536 0 5000 0.00 fast 0.1", ()),
    ],
)
def test_rows_are_read_by_their_heading(row: str, rows: tuple[Row, ...]) -> None:
    """With service levels, too; 0 was not measured."""
    heading = " #bytes    #sl      #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
    assert parse(f" 1 2 3\n{HEAD} 4 5 6\n{heading}\n{row}\n")[0].rows == rows


def test_more_rails_than_a_node_has_are_refused() -> None:
    """A node may print anything."""
    line = '{"program": "ib_write", "target": "x", "peer": "x", "output": ""}\n'
    with pytest.raises(EvidenceError, match="printed 257 measurements, expected at most 256"):
        measured(line * 257 + '{"program": "ib_write", "ended": true}\n')


@pytest.mark.parametrize("text", ["", "bash: ib_write_bw: command not found\n", text_of("perftest/no_device.txt")])
def test_anything_else_is_refused(text: str) -> None:
    """A missing device measures nothing."""
    with pytest.raises(EvidenceError, match="no output of perftest"):
        measured(text)
