"""The strongest proof: UEFI HTTP boot from an address that only the BMC was given, and secrets over TLS alone."""

import re
from pathlib import Path

import pytest

from fleet_runner.core.boot.boots import Milestone
from tests.booting import image, namespace
from tests.booting.hall import ADDRESS, MUNGE, SECRET, certificate, hall
from tests.booting.namespace import SERVER

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1200)]

NONCE = re.compile(r"/loader/([A-Za-z0-9_-]{16,})/snponly\.efi")
SECURE = f"{SERVER}:8443"


def test_a_node_proves_by_its_bmc_who_it_is_and_has_its_secrets_over_tls(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The image trusts the site's certificate; the nonce stays between BMC, firmware and boot service."""
    if why := namespace.why_not() or image.why_not():
        pytest.skip(why)
    certificate(tmp_path, "boot", SERVER)
    images, home = tmp_path_factory.mktemp("i"), tmp_path_factory.mktemp("h")
    image.play(images, boot_image_certificates=[str(tmp_path / "boot.pem")])
    secure = {"boot_secure_url": f"https://{SECURE}", "boot_secure_listen": SECURE,
              "boot_certificate": "boot.pem", "boot_certificate_key": "boot.key"}  # fmt: skip
    with hall(tmp_path, home, images, uefi=True, boot_proof="bmc", **secure) as made:
        made.reconcile()
        made.wait_for_a_technician()
        (boot,) = made.boots()
        assert list(Milestone) == sorted(boot.reached, key=lambda each: boot.reached[each])
        assert (boot.proved_by, boot.claimed_by) == (ADDRESS, ADDRESS)
        assert f"s=https://{SECURE}/seed/" in made.machine.said()
        assert made.on_the_node(f'print(open("{SECRET}").read())') == f"{made.secrets[MUNGE]}\n"
        (nonce,) = set(NONCE.findall(made.machine.said()))
        own = {made.machine.console, made.machine.variables}
        files = [path for path in tmp_path.rglob("*") if path.is_file() and path not in own]
        assert [path for path in files if nonce.encode() in path.read_bytes()] == []
