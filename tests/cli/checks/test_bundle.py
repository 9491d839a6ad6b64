"""One archive of all that is known of a node: with a diagnosis, without secrets, and safe to unpack."""

import gzip
import shutil
import time
from hashlib import sha256
from pathlib import Path

import pytest
import yaml

from fleet_runner.adapters.source import read
from fleet_runner.adapters.store import Store
from fleet_runner.core.checks.answers import about
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from fleet_runner.core.lifecycle.spool import Ended, Evidence, Judged, PlayEnd
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.core.tickets.rma_cases import Case, Replaced
from fleet_runner.settings import load
from tests.adapters.files.test_archive import opened
from tests.cli.conftest import Type
from tests.playing import PROJECT

NODE = "gpu-01"
KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nPLANTED-ssh-key\n-----END OPENSSH PRIVATE KEY-----"
PLANTED = {
    "bmc": "PLANTED-bmc-pw",
    "netbox": "PLANTED-netbox-tok",
    "host": "PLANTED-host-pw",
    "env": "PLANTED-environment",
}
"""Secrets that the controller knows; they are found wherever they stand, without a name beside them."""

SHAPED = f"""\
Kernel command line: BOOT_IMAGE=/v token=PLANTED-cmdline s=http://u:PLANTED-url@10.0.0.1/
Authorization: Bearer PLANTED-bearer-0123
password: PLANTED-plain
{KEY}
bare: {" ".join(PLANTED.values())}
"""
HASH = sha256(SHAPED.encode()).hexdigest()


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: Type) -> Store:
    """A node with a fault, whose texts hold secrets of every kind, and what was gathered of it."""
    site = tmp_path / "site"
    shutil.copytree(PROJECT / "docs/examples/site", site)
    devices = yaml.safe_load((site / "devices.yml").read_text())
    devices[0]["local_context_data"]["ansible_password"] = PLANTED["host"]
    (site / "devices.yml").write_text(yaml.safe_dump(devices))
    monkeypatch.setenv("FLEET_SOURCE", str(site))
    for name, text in (
        ("bmc_credentials", yaml.safe_dump({"username": "root", "password": PLANTED["bmc"]})),
        ("netbox_token_file", PLANTED["netbox"]),
    ):
        (tmp_path / name).write_text(text)
        monkeypatch.setenv(f"FLEET_{name.upper()}", str(tmp_path / name))
    monkeypatch.setenv("FLEET_BMC_PASSWORD", PLANTED["env"])
    made = Store.create(load().store_url)
    made.register(read(load()).devices.values(), time.time())
    component = "GPU 0000:9b:00.0"
    finding = about(NODE, "gpu.remap_failed", component)(
        message=f"{component} (GPU 1, serial 1650000000101) failed: {SHAPED}", remedy=Remedy.RMA
    )
    result = Result("gpu_errors", Verdict.FAIL, SHAPED, (finding,), evidence=(HASH,))
    lines = (
        Evidence(NODE, 5.0, "nvidia_smi", HASH, SHAPED),
        Judged(NODE, 5.0, result),
        Ended(NODE, 6.0, PlayEnd.OK, SHAPED),
    )
    made.record_by_hand(Stage.HEALTH_PASSIVE, "ann", lines, time.time())
    made.open_case(Case(0, NODE, "Acme", "C-1", "ann", 1.0, (Replaced("GPU 1", "A"),), because=SHAPED))
    made.open_case(Case(0, NODE, "Acme", "C-2", "ann", 2.0, (Replaced("GPU 1", "B"),)))
    return made


@pytest.fixture
def gathered(store: Store, tmp_path: Path) -> Path:
    """What a node may have had gathered, with a link that it should not have."""
    folder = load().state_dir / "bundles" / NODE / "1"
    folder.mkdir(parents=True)
    (folder / "dmesg.txt").write_text(SHAPED)
    (folder / "nvidia-bug-report.log.gz").write_bytes(gzip.compress(SHAPED.encode()))
    (tmp_path / "outside").write_text("not the node's")
    (folder / "link.txt").symlink_to(tmp_path / "outside")
    return folder


def test_all_that_is_known_is_in_it_and_no_secret_is(gathered: Path, typed: Type, tmp_path: Path) -> None:
    """Planted in a result, its evidence, a history's sentence, a case, and in what was gathered, packed or not."""
    said = typed("bundle", NODE, "--out", str(tmp_path / "b.tar.gz"))
    assert said.code == 0, said.err
    files = {name.partition("/")[2]: data for name, data in opened(tmp_path / "b.tar.gz").items()}
    texts = {name: gzip.decompress(data) if name.endswith(".gz") else data for name, data in files.items()}
    assert {name: text for name, text in texts.items() if b"PLANTED" in text} == {}
    assert {"README.txt", "results.json", "history.json", "tickets.json", "attempts.json", "alarms.json",
            "cases.json", "runs.json", "firmware.json", "evidence/gpu_errors-1.txt", "gathered/dmesg.txt",
            "gathered/nvidia-bug-report.log.gz"} <= set(files)  # fmt: skip
    assert "gathered/link.txt" not in files
    assert "link.txt" in said.out
    readme = texts["README.txt"].decode()
    assert "1. GPU 0000:9b:00.0 in GPU 1" in readme
    assert "This is the third part to fail in slot GPU 1" in readme
    assert "nvidia-bug-report.sh" in readme
    assert "suspect: GPU 0000:9b:00.0 in GPU 1" in said.words


def test_a_node_of_which_nothing_was_gathered_has_the_rest(store: Store, typed: Type, tmp_path: Path) -> None:
    """As one that never answered again."""
    said = typed("bundle", NODE)
    assert said.code == 0, said.err
    assert "nothing was gathered from the node and its BMC yet" in said.words
    [path] = tmp_path.glob("bundle-gpu-01-*.tar.gz")
    assert any(name.endswith("/README.txt") for name in opened(path))


def test_an_unknown_node_and_another_ending_are_refused(store: Store, typed: Type) -> None:
    assert typed("bundle", "nope").code == 2
    assert typed("bundle", NODE, "--out", "x.zip").code == 2


def test_a_source_of_truth_that_cannot_be_read_is_only_a_warning(
    store: Store, typed: Type, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FLEET_SOURCE", str(tmp_path / "gone"))
    said = typed("bundle", NODE)
    assert (said.code, "warning" in said.err) == (0, True)
