"""A lab's node reads its seed and phones home as cloud-init does."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from fleet_runner.core.boot.network import packed
from fleet_runner.lab import cloudinit
from fleet_runner.lab.cloudinit import NoSeedError, Seed

LINE = "console=ttyS0 ds=nocloud-net;s=http://boot/seed/1-k/"
DOCUMENTS = {
    "meta-data": b"instance-id: gpu-01-1\nlocal-hostname: gpu-01.hall.example\n",
    "user-data": b"#cloud-config\nruncmd: [join]\n",
    "vendor-data": b"#cloud-config\nruncmd: [nothing]\nphone_home: {url: http://boot/$INSTANCE_ID, post: all}\n",
}


def read(folder: Path, arguments: str = LINE, **changed: bytes) -> Seed:
    """Read a seed of these documents."""
    found = DOCUMENTS | {name.replace("_", "-"): text for name, text in changed.items()}
    return cloudinit.seed(arguments, lambda url: found[url.removeprefix("http://boot/seed/1-k/")], folder)


def test_user_data_goes_before_vendor_data_and_all_of_it_is_kept(tmp_path: Path) -> None:
    seed = read(tmp_path / "seed", f"{LINE} network-config={packed(b'version: 2')}")
    assert seed.config["runcmd"] == ["join"]
    assert "phone_home" in seed.config
    assert (tmp_path / "seed" / "network-config").read_bytes() == b"version: 2"
    assert {path.name for path in (tmp_path / "seed").iterdir()} == {*DOCUMENTS, "network-config"}


def test_where_there_is_no_seed_it_says_what_it_found(tmp_path: Path) -> None:
    with pytest.raises(NoSeedError, match="has no ds=nocloud-net"):
        read(tmp_path, "console=ttyS0")
    with pytest.raises(NoSeedError, match="begins with b'<html>', expected b'#cloud-config'"):
        read(tmp_path, user_data=b"<html>")


def test_it_phones_home_with_what_it_is_asked_for() -> None:
    told: dict[str, Mapping[str, str]] = {}
    seed = Seed(
        {"instance-id": "gpu-01-1", "local-hostname": "gpu-01.hall.example"},
        {"phone_home": {"url": "u/$INSTANCE_ID"}},
    )
    key = cloudinit.host_key("gpu-01")
    cloudinit.phone_home(seed, told.__setitem__, key)
    assert told["u/gpu-01-1"] == {
        "pub_key_ed25519": key,
        "instance_id": "gpu-01-1",
        "hostname": "gpu-01",
        "fqdn": "gpu-01.hall.example",
    }
    some = Seed(seed.meta, {"phone_home": {"url": "v", "post": ["hostname", "pub_key_rsa"]}})
    cloudinit.phone_home(some, told.__setitem__, key)
    assert told["v"] == {"hostname": "gpu-01", "pub_key_rsa": "N/A"}
    cloudinit.phone_home(Seed(seed.meta, {}), told.__setitem__, key)
    assert len(told) == 2
