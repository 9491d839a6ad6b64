"""cloud-init itself takes what is rendered for it."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from fleet_runner.core.boot.network import packed
from fleet_runner.services.boot.documents import Documents
from tests.services.boot import cloud_init, sites
from tests.services.boot.api_server import api_server
from tests.services.boot.sites import known

pytestmark = pytest.mark.skipif(bool(cloud_init.why_not()), reason=cloud_init.why_not())


@pytest.fixture
def save(tmp_path: Path) -> Callable[[str, bytes], Path]:
    """Write a document to a file of its own."""

    def write(name: str, body: bytes) -> Path:
        (tmp_path / name).write_bytes(body)
        return tmp_path / name

    return write


def test_every_document_is_as_its_schema_wants_it(save: Callable[[str, bytes], Path], tmp_path: Path) -> None:
    certificate = sites.certificate(tmp_path, "cluster")
    (tmp_path / "keys").write_text(sites.KEY, "utf-8")
    (tmp_path / "slurm").mkdir()
    with api_server(certificate) as api:
        kubernetes = Documents(sites.settings(boot_join=sites.kubernetes(tmp_path, api.url, certificate)))
        slurm = Documents(
            sites.settings(boot_join=sites.slurm(tmp_path / "slurm"), boot_authorized_keys=tmp_path / "keys")
        )
        bodies = {
            "vendor-root": slurm.vendor_data(known()),
            "vendor-user": slurm.vendor_data(known(ansible_user="fleet")),
            "vendor-nobody": kubernetes.vendor_data(known()),
            "user-slurm": asyncio.run(slurm.user_data(known())).body,
            "user-kubernetes": asyncio.run(kubernetes.user_data(known())).body,
            "user-none": asyncio.run(slurm.user_data(known(boot_join="none"))).body,
            "user-preview": kubernetes.preview(known()),
        }
        kubernetes.close()
    files = [save(name, body) for name, body in bodies.items()]
    wrong = save("wrong", b"#cloud-config\nusers: [{name: 7}]\n")
    *said, told = cloud_init.schema([*files, wrong])
    assert dict(zip(bodies, said, strict=True)) == dict.fromkeys(bodies, "")
    assert "users.0" in told


def test_the_network_on_the_command_line_asks_for_an_address_by_its_mac() -> None:
    body = Documents(sites.settings()).network_config(known())
    [text] = yaml.safe_load(cloud_init.networkd(f"quiet network-config={packed(body)} ro")).values()
    assert f"MACAddress={sites.MAC}" in text
    assert "DHCP=ipv4" in text
