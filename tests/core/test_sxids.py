"""The table of SXids."""

import csv
from pathlib import Path

from fleet_runner.core import sxids

CLASSES = {"fatal": sxids.FATAL, "always_fatal": sxids.ALWAYS_FATAL, "non_fatal": sxids.NON_FATAL}


def test_a_code_is_of_one_class() -> None:
    """And what is about cooling is among them."""
    assert not sxids.FATAL & sxids.ALWAYS_FATAL
    assert not (sxids.FATAL | sxids.ALWAYS_FATAL) & sxids.NON_FATAL
    assert sxids.COOLING < sxids.FATAL


def test_every_code_of_nvidias_guide_has_its_class(samples: Path) -> None:
    """93 of them."""
    with (samples / "gpu" / "sxid_table_from_gpud.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(map(len, CLASSES.values()))
    assert all(int(row["sxid"]) in CLASSES[row["class"]] for row in rows)
