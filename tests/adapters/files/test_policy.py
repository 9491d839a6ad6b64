"""The policy file: its rules, and what is wrong with it, by line."""

from pathlib import Path

import pytest

from fleet_runner.adapters.files import policy
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.rule import SAID
from fleet_runner.core.faults.rules.rules import DEFAULT
from fleet_runner.settings import Settings, load

GOOD = """\
# Ours.
rules:
  - code: xid.31
    repeats: 3
  - code: xid.79
    device_types: [dgx-*]
    remedy: REBOOT
"""

BAD = """\
observe: maybe
rules:
  - code: xid.79
    remdy: REBOOT
  - code: xid.79
    remedy: REBOOT
    remedy: RESET
"""


def in_use(folder: Path, text: str | None) -> Settings:
    """Settings with an inventory beside which such a policy lies."""
    if text is not None:
        (folder / "policy.yml").write_text(text, encoding="utf-8")
    return load(inventory=folder / "fleet.yml")


def test_the_rules_of_the_file_come_after_the_built_in_ones(tmp_path: Path) -> None:
    """Each knows its line."""
    rules = policy.rules(in_use(tmp_path, GOOD))
    assert rules.of("dgx-h100", "xid.79").remedy is Remedy.REBOOT
    assert rules.sayings("dgx-h100", "xid.79")["remedy"].source == f"{tmp_path / 'policy.yml'}:5"
    assert rules.of("any", "xid.31").repeats == 3


@pytest.mark.parametrize("text", [None, "{}\n"])
def test_without_a_policy_the_built_in_rules_hold(tmp_path: Path, text: str | None) -> None:
    """No file, or one that says so."""
    assert policy.rules(in_use(tmp_path, text)) == DEFAULT


@pytest.mark.parametrize("text", ["", " \n", "# nothing yet\n", "---\n", "null\n"])
def test_a_file_without_anything_in_it_is_no_policy(tmp_path: Path, text: str) -> None:
    """It may be one that is being written; what it said before must not end by that."""
    with pytest.raises(SettingsError, match=r"policy\.yml:1: found nothing, expected a policy; \{\} leaves it"):
        policy.rules(in_use(tmp_path, text))


def test_every_slip_is_told_with_its_line(tmp_path: Path) -> None:
    """And none of it is used."""
    path = tmp_path / "policy.yml"
    path.write_text(BAD, encoding="utf-8")
    assert [str(slip) for slip in policy.check(path).slips] == [
        f"{path}:1: observe: found 'maybe', expected true or false",
        f"{path}:3: rules[0]: found an empty rule, expected one of {', '.join(SAID)} in it",
        f"{path}:4: rules[0].remdy: found the key 'remdy', expected 'remedy'",
        f"{path}:7: rules[1].remedy: found again, expected once; it stands in line 6",
    ]
    with pytest.raises(SettingsError, match=r"policy\.yml:1: observe.*; and 3 more; correct it: fleet-runner policy"):
        policy.rules(in_use(tmp_path, None))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("rules: [\n", "policy.yml:2: this is no YAML"), ("\0", "policy.yml:1: this cannot be read")],
)
def test_what_is_no_yaml_is_said(tmp_path: Path, text: str, expected: str) -> None:
    """With the line in which it ceased to be."""
    with pytest.raises(SettingsError, match=expected):
        policy.rules(in_use(tmp_path, text))


def test_a_file_that_the_settings_name_must_be_there(tmp_path: Path) -> None:
    """A wrong path is no policy of its own."""
    with pytest.raises(SettingsError, match=r"missing\.yml:1: this cannot be read"):
        policy.rules(load(policy_file=tmp_path / "missing.yml"))


def test_its_stamp_tells_when_to_read_it_again(tmp_path: Path) -> None:
    """No file has none."""
    path = tmp_path / "policy.yml"
    assert policy.stamp(None) is policy.stamp(path) is None
    path.write_text(GOOD, encoding="utf-8")
    before = policy.stamp(path)
    assert before is not None
    assert before == policy.stamp(path)
    path.write_text(GOOD + "\n", encoding="utf-8")
    assert before != policy.stamp(path)
