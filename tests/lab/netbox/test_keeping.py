"""A lab's NetBox is ended and started with its lab, and has what was in it."""

import re

import pytest
from typer.testing import CliRunner

from fleet_runner.cli.lab.lab import app
from fleet_runner.lab.folder import Lab
from fleet_runner.lab.netbox import starting
from fleet_runner.lab.netbox.serving import why_not
from tests.netbox.live.place import Place


def typed(lab: Lab, word: str) -> str:
    """Run a command about the lab, and return what it said."""
    answer = CliRunner().invoke(app, [word, "--dir", str(lab.root)], catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    return answer.output


@pytest.mark.nightly
@pytest.mark.timeout(3600)  # the first start of all installs and migrates it
def test_a_lab_that_was_down_goes_on_with_what_its_netbox_held(lab: Lab) -> None:
    """Objects, users and tokens: the token of before is accepted, at the address that the lab's settings name now."""
    if why := why_not():
        pytest.skip(f"no NetBox can be run here: {why}")
    there = starting.start(lab, print)
    known, names = Place(there.url, there.token), []
    for turn in range(2):  # what was kept once is kept again, with what came since
        names.append(known.make("dcim/sites", name=f"hall-{turn}", slug=f"hall-{turn}")["name"])
        said = typed(lab, "down")
        assert "process(es) ended" in said
        assert not (lab.root / starting.NAME / "netbox.json").exists()
        typed(lab, "up")
        (url,) = re.findall(r'^source = "(http://127\.0\.0\.1:.*)"$', lab.settings.read_text("utf-8"), re.MULTILINE)
        known = Place(url, there.token)
        assert [row["name"] for row in known.rows("dcim/sites", ordering="id")] == names
