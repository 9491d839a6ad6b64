"""UEFI HTTP boot with proof: the BMC alone is given the address that the firmware must load iPXE from."""

import re
from pathlib import Path

import pytest

from fleet_runner.core.boot.boots import Milestone
from tests.booting import namespace
from tests.booting.hall import ADDRESS, hall
from tests.booting.image import Image

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1200)]

NONCE = re.compile(r"/loader/([A-Za-z0-9_-]{16,})/snponly\.efi")


def test_a_node_proves_by_its_bmc_who_it_is_and_gets_its_boot_data(
    boot_image: Image, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The firmware has the nonce from its BMC; the network is never told it, and neither are logs nor results."""
    if why := namespace.why_not():
        pytest.skip(why)
    home = tmp_path_factory.mktemp("h")
    with hall(tmp_path, home, boot_image.images, uefi=True, boot_proof="bmc") as made:
        made.wait_for_a_technician()
        (boot,) = made.boots()
        assert (boot.proved_by, boot.claimed_by) == (ADDRESS, ADDRESS)
        assert list(Milestone) == sorted(boot.reached, key=lambda each: boot.reached[each])
        (nonce,) = set(NONCE.findall(made.machine.said()))
        own = {made.machine.console, made.machine.variables}
        files = [path for path in tmp_path.rglob("*") if path.is_file() and path not in own]
        assert [path for path in files if nonce.encode() in path.read_bytes()] == []
