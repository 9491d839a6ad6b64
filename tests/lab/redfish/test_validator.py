"""DMTF's redfish-service-validator on emulated BMCs; what captured trees get wrong is listed in deviations/.

It needs DMTF's schemas (DSP8010): in the folder that FLEET_REDFISH_SCHEMAS names, or from dmtf.org. A line of a list
is `URI property: message` with # for numbers; FLEET_WRITE_DEVIATIONS=1 writes the lists anew. Links to resources that
were not captured are not listed: that they are not in the tree is looked up.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.lab.redfish import Tree, load
from fleet_runner.lab.redfish.trees import clean
from tests.lab.redfish.talking import USER, Client, emulator, own, wait
from tests.lab.redfish.validating import NO_SCHEMAS

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1200)]

HERE = Path(__file__).parent
SECONDS = 900
MISSING = "Received HTTP 404"
ENTRIES = [
    ("dgx_h100", "PSU_0"),
    ("supermicro_hgx_h100", "BIOS"),
    ("dell_r750", "Installed-159-1.8.2__BIOS.Setup.1-1"),
    ("hpe_dl385", "2"),
    ("nvidia_gb200", "HGX_FW_CPLD_0"),
]
"""Every captured tree, and what is updated twice on its emulator."""

LINK = re.compile(r"\[Link to: ([^\]]+)\]")


@pytest.fixture(scope="module")
def schemas() -> Path:
    """The folder with DMTF's schemas."""
    cache = Path.home() / ".cache" / "fleet-runner" / "redfish-schemas"
    return Path(os.environ.get("FLEET_REDFISH_SCHEMAS", cache))


def validated(tree: Tree, schemas: Path, folder: Path, updates: tuple[str, ...]) -> dict[str, Any]:
    """Return what the validator says of an emulated BMC with a tree, after updates of which the last still runs."""
    rules = [{"when": {"nth": len(updates)}, "what": "stuck"}]
    with emulator(tree, rules=rules) as bmc, Client(bmc) as client:
        for entry in updates:
            assert client.update(folder, {entry: "9.9"}).ok
            wait(lambda: len(bmc.updates()) == len(updates) or bmc.updates()[-1].outcome in {"done", "staged"})
        said = json.dumps({"url": bmc.url, "user": USER[0], "password": USER[1]})
        words = [sys.executable, str(HERE / "validating.py"), str(schemas)]
        answer = subprocess.run(words, input=said, capture_output=True, text=True, timeout=SECONDS, check=False)
    if answer.returncode == NO_SCHEMAS:
        pytest.skip(f"no schemas in {schemas}, and dmtf.org cannot be reached; FLEET_REDFISH_SCHEMAS names a folder")
    assert answer.returncode == 0, answer.stderr
    found: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return found


def deviations(tree: Tree, failed: list[list[str]]) -> set[str]:
    """Return what is wrong with a tree, as its list says it."""
    lines = set()
    for uri, name, message, value in failed:
        link = LINK.match(value)
        missing = link[1] if name and link else uri
        if MISSING not in message or clean(missing) in tree.bodies:
            lines.add(_plain(f"{uri} {name}: {message}"))
    return lines


def test_our_own_tree_is_without_fault(schemas: Path, tmp_path: Path) -> None:
    found = validated(own(), schemas, tmp_path, ("PSU_0", "BIOS"))
    assert {"/redfish/v1/TaskService/Tasks/1", "/redfish/v1/TaskService/Tasks/2"} <= set(found["uris"])
    assert found["failed"] == []
    assert found["passed"] > 500


@pytest.mark.parametrize(("name", "entry"), ENTRIES)
def test_an_emulated_bmc_gets_nothing_wrong_but_what_its_captured_tree_does(
    samples: Path, schemas: Path, tmp_path: Path, name: str, entry: str
) -> None:  # fmt: skip
    tree = load(samples / "redfish" / f"{name}.json.gz")
    found = validated(tree, schemas, tmp_path, (entry, entry))
    lines = deviations(tree, found["failed"])
    path = HERE / "deviations" / f"{name}.txt"
    if os.environ.get("FLEET_WRITE_DEVIATIONS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in sorted(lines)), "utf-8")
    known = set(path.read_text("utf-8").splitlines())
    assert lines - known == set()
    assert known - lines == set(), "these are put right: take them out of the list"


def _plain(text: str) -> str:
    """A text with one # for every number, so that eight GPUs are one line, and without what newer schemas allow."""
    return re.sub(r"(?<!redfish/v)\d+", "#", re.sub("(allowable values|expression pattern).*", r"\1", text))
