"""What tests of the driver share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.reconcile.firmware.driver.bench import Bench
from tests.reconcile.firmware.driver.bench import bench as benched


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A machine whose BIOS and power supplies are old."""
    with benched(tmp_path, ("BIOS", "PSU")) as made:
        yield made
