"""Numbers put into a YAML file, everything else left as it is."""

import difflib
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.adapters.files.yaml_numbers import edited
from fleet_runner.core.base.errors import SettingsError

TEXT = """\
---
# What healthy means.
fleet_profile:
  parts:
    gpu: {count: 8}  # eight
  # Marks.
  active:
    dcgm: {level: 3}
    fio:  # disks
      read_gbps_min: 1.5  # measured
      # nothing yet on writing

    empty: {}
  burn_in:
    seconds: 172800

# The end.
"""


def at(text: str, key: str) -> Any:
    """Return the value at a key."""
    found = yaml.safe_load(text)
    for name in key.split("."):
        found = found[name]
    return found


KEYS = (
    "fleet_profile.active.fio.read_gbps_min",
    "fleet_profile.active.fio.write_gbps_min",
    "fleet_profile.active.dcgm.some_min",
    "fleet_profile.active.empty.x_min",
    "fleet_profile.active.empty.deep.x_min",
    "fleet_profile.active.other.bus_gbps_min",
    "fleet_profile.burn_in.gpu_gflops_min",
    "fleet_profile.limits.a_min",
    "other.a",
)


@given(st.dictionaries(st.sampled_from(KEYS), st.floats(1e-9, 1e14).map(lambda value: float(f"{value:.3g}"))))
def test_what_was_put_is_there_and_nothing_else_moved(numbers: dict[str, float]) -> None:
    """Every line that is gone held a number that changed or a brace; every comment is still there."""
    text = edited(TEXT, numbers)
    assert all(at(text, key) == value for key, value in numbers.items())
    gone = [line[2:] for line in difflib.ndiff(TEXT.splitlines(), text.splitlines()) if line.startswith("- ")]
    assert all("read_gbps_min" in line or "{" in line for line in gone)
    for comment in ("# eight", "# Marks.", "# disks", "# measured", "# nothing yet on writing", "# The end."):
        assert comment in text
    before = yaml.safe_load(TEXT)["fleet_profile"]
    assert yaml.safe_load(text)["fleet_profile"]["parts"] == before["parts"]


def test_one_example_to_read() -> None:
    """A number in place, one in braces, one below its neighbours, and a section that is new."""
    text = edited(TEXT, dict(zip(KEYS[:3], (2.0, 3.5, 4.0), strict=True)) | {"fleet_profile.limits.a_min": 5.0})
    difference = [line for line in difflib.ndiff(TEXT.splitlines(), text.splitlines()) if line[0] in "+-"]
    assert difference == [
        "-     dcgm: {level: 3}",
        "+     dcgm: {level: 3, some_min: 4}",
        "-       read_gbps_min: 1.5  # measured",
        "+       read_gbps_min: 2  # measured",
        "+       write_gbps_min: 3.5",
        "+   limits:",
        "+     a_min: 5",
    ]


def test_a_file_without_an_end_of_line_gets_one() -> None:
    """And a block at its end is not run together with what is added."""
    assert edited("a: 1", {"b": 2.0}) == "a: 1\nb: 2\n"
    assert edited("a:\n  - x\n  - y", {"b": 2.0}) == "a:\n  - x\n  - y\nb: 2\n"
    assert yaml.safe_load(edited("a: |\n  text\nb: 1\n", {"c": 2.0})) == {"a": "text\n", "b": 1, "c": 2}
    assert yaml.safe_load(edited("a: 1\nb: |\n  text\n", {"c": 2.0})) == {"a": 1, "b": "text\n", "c": 2}


@pytest.mark.parametrize(
    ("text", "key", "why"),
    [
        ("a: [", "a", "it is not YAML"),
        ("a: 1", "a.b", "a is no mapping, expected one with b in it"),
        ("- 1", "a", "the file is no mapping"),
        ("", "a", "the file is no mapping"),
        ("a: {b: 1}", "a", "a holds more than a number"),
    ],
)
def test_what_cannot_be_put_is_refused(text: str, key: str, why: str) -> None:
    """Before anything is changed."""
    with pytest.raises(SettingsError, match=why):
        edited(text, {key: 1.0})


def test_a_secret_in_the_file_stays_as_it_is() -> None:
    """Its tag is Ansible's."""
    text = "a: !vault |\n  $ANSIBLE_VAULT;1.1\nb: {c: 1}\n"
    assert edited(text, {"b.c": 2.0}) == text.replace("{c: 1}", "{c: 2}")


@pytest.mark.parametrize("name", ["sys_821ge_tnhr", "dgxh100"])
def test_the_shipped_files_take_a_mark(project: Path, name: str) -> None:
    """In one line."""
    text = (project / "inventory" / "group_vars" / f"device_type_{name}.yml").read_text()
    new = edited(text, {"fleet_profile.active.nccl_allreduce.bus_gbps_min": 455.0})
    assert [line[0] for line in difflib.ndiff(text.splitlines(), new.splitlines()) if line[0] in "+-"] == ["-", "+"]
