"""The table of SXids."""

import csv
from pathlib import Path

from fleet_runner.core.faults import sxid

CLASSES = {"fatal": sxid.FATAL, "always_fatal": sxid.ALWAYS_FATAL, "non_fatal": sxid.NON_FATAL}


def test_a_code_is_of_one_class() -> None:
    """And what is about cooling is among them."""
    assert not sxid.FATAL & sxid.ALWAYS_FATAL
    assert not (sxid.FATAL | sxid.ALWAYS_FATAL) & sxid.NON_FATAL
    assert sxid.COOLING < sxid.FATAL


def test_every_code_of_nvidias_guide_has_its_class(samples: Path) -> None:
    """93 of them."""
    with (samples / "gpu" / "sxid_table_from_gpud.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(map(len, CLASSES.values()))
    assert all(int(row["sxid"]) in CLASSES[row["class"]] for row in rows)
