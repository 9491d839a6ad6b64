"""What follows from which fault, as people ask for it."""

import json
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import Exit
from fleet_runner.core.inventory.records import Device
from fleet_runner.settings import load
from tests.cli.conftest import Type

MINE = """\
rules:
  - code: xid.79
    device_types: [dgx-*]
    remedy: REBOOT
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A policy of our own, in use."""
    path = tmp_path / "policy.yml"
    path.write_text(MINE, encoding="utf-8")
    monkeypatch.setenv("FLEET_POLICY_FILE", str(path))
    return path


def test_a_good_policy_is_said_to_be_good(typed: Type, mine: Path) -> None:
    said = typed("policy", "check")
    assert (said.code, said.out) == (0, "policy.yml: no errors; 1 rule in addition to the built-in ones\n")
    assert typed("policy", "check", str(mine)).out == said.out


def test_every_slip_is_a_line(typed: Type, tmp_path: Path) -> None:
    """As editors read it; the exit code says that there is one."""
    (tmp_path / "new.yml").write_text("rules:\n  - code: xid.79\n    remdy: RESET\nobserv: true\n", encoding="utf-8")
    said = typed("policy", "check", "new.yml")
    assert said.code == Exit.NO
    assert said.out.splitlines()[-2:] == [
        "new.yml:4: observ: found the key 'observ', expected 'observe'",
        "new.yml: 3 slips",
    ]
    again = typed("policy", "check", "new.yml", "--json")
    assert again.code == Exit.NO
    assert [slip["line"] for slip in json.loads(again.out)] == [2, 3, 4]


def test_without_a_file_there_is_nothing_to_check(
    typed: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLEET_INVENTORY", str(tmp_path / "fleet.yml"))
    said = typed("policy", "check")
    assert said.code == Exit.USAGE
    assert "the built-in rules apply" in said.err


def test_a_device_type_that_no_node_has_is_a_warning(typed: Type, mine: Path) -> None:
    """The fleet may get one; a slip of the pen is a rule that never speaks. Without a store nobody knows."""
    assert typed("policy", "check").err == ""
    with Store.create(load().store_url) as store:
        store.register([Device("gpu-01", "hgx-h100", "gpu-server", "hall")], 1000.0)
        said = typed("policy", "check")
        assert (said.code, said.err) == (
            0,
            "warning: policy.yml:2: no node has the device type dgx-*; there are hgx-h100\n",
        )
        assert json.loads(typed("policy", "check", "--json").out) == []
        store.register([Device("gpu-02", "dgx-h100", "gpu-server", "hall")], 1000.0)
        assert typed("policy", "check").err == ""
    del mine


def test_a_code_shows_what_follows_and_which_rule_says_so(typed: Type, mine: Path) -> None:
    """On one device type, or where no rule names any."""
    said = typed("policy", "show", "xid.79", "--device-type", "dgx-h100").out
    rows = {line.split()[0]: line for line in said.splitlines()[1:]}
    assert "REBOOT" in rows["remedy"]
    assert "policy.yml:2" in said
    there = json.loads(typed("policy", "show", "xid.79", "--json").out)
    assert there["following"]["remedy"] == "POWER_CYCLE"
    assert there["following"]["at_once"] is True
    assert there["says"]["remedy"] == "built in, from NVIDIA's Xid catalogue"
    assert "as it proposes" in typed("policy", "show", "gpu.hot").out
    del mine


@pytest.mark.parametrize(
    ("code", "near"),
    [("nonsense.code", ""), ("xdi.79", "xid.*"), ("79", "xid.79"), ("gpu.remap_faild", "gpu.remap_failed")],
)
def test_a_code_that_nobody_knows_is_said_to_be_so_with_what_is_near(
    typed: Type, mine: Path, code: str, near: str
) -> None:
    """A tool of somebody's may push it all the same; one that a rule of ours names is known."""
    said = typed("policy", "show", code)
    assert f"no check, no signal and no rule knows {code}" in said.words
    assert (f"did you mean {near}?" in said.words) is bool(near)
    there = json.loads(typed("policy", "show", code, "--json").out)
    assert (there["known"], there["near"]) == (False, near)
    mine.write_text("rules: [{code: 'nonsense.*', remedy: WATCH}, {code: '*', quiet: 1h}]\n", encoding="utf-8")
    for named, known in (("nonsense.code", True), ("xid.79", True), ("78", False)):
        assert json.loads(typed("policy", "show", named, "--json").out)["known"] is known


def test_the_whole_policy_shows(typed: Type, mine: Path) -> None:
    said = typed("policy", "show").out
    assert "RESTART → RESET → REBOOT → POWER_CYCLE → TRIAGE" in said
    assert "observe: no" in said
    whole = json.loads(typed("policy", "show", "--json").out)
    assert whole["rules"][-1]["source"] == f"{mine}:2"
    assert whole["deadline"] == "24 h, from the settings, then ask"
    assert whole["budget"] == "from the settings"
    assert whole["breaker"].startswith("share 0.1, same 0.05, least 5, within 60 min, pause 30 min")
    mine.write_text("budget: {rack: 2, domain: 0.25}\nbreaker: {pause: 2h}\n", encoding="utf-8")
    said = typed("policy", "show").words
    assert "budget: rack 2, domain 0.25" in said
    assert "within 60 min, pause 2 h, longest 24 h" in said


def test_a_policy_that_cannot_be_used_is_said_to_be_so(typed: Type, mine: Path) -> None:
    mine.write_text("observe: 3\n", encoding="utf-8")
    said = typed("policy", "show")
    assert said.code == Exit.USAGE
    assert "policy.yml:1: observe: found 3, expected true or false" in said.err
