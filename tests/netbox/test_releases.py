"""The live suite against the releases before today's, at night: each is installed and migrated once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fleet_runner.lab.netbox.configuration import Options
from fleet_runner.lab.netbox.installation import BEFORE
from fleet_runner.lab.netbox.serving import why_not
from fleet_runner.lab.netbox.starting import running
from tests.netbox.live.plugged import RELEASE

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 3600


@pytest.mark.nightly
@pytest.mark.timeout(2 * SECONDS)
@pytest.mark.parametrize("version", BEFORE)
def test_the_live_suite_passes_on_a_release_before(version: str, tmp_path: Path) -> None:
    if why := why_not():
        pytest.skip(f"no NetBox can be run here: {why}")
    with running(tmp_path / "netbox", lambda line: sys.stderr.write(f"{line}\n"), Options(version)) as there:
        assert there.version == version
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "tests/netbox/live"],
            cwd=ROOT,
            env={**os.environ, "NETBOX_URL": there.url, "NETBOX_TOKEN": there.token, RELEASE: version},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "passed" in done.stdout
