"""Labs for the tests: small ones whose boots take no time, ended again however the test ends."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_runner.lab.down import down
from fleet_runner.lab.folder import Lab
from fleet_runner.lab.up import up
from tests.lab.bench import boot


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    """A lab of two servers, off."""
    made = up(tmp_path / "a lab", 2, boot_seconds=0.0)
    try:
        yield made
    finally:
        down(made)


@pytest.fixture
def node(lab: Lab) -> str:
    """A server of the lab that has booted over the network."""
    boot(lab, "gpu-01")
    return "gpu-01"
