"""What a play is told is data: Ansible evaluates no template in it, whoever wrote the words."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.adapters.plays.extra_vars import MARKS, written
from tests.playing import Ansible

WORDS = st.text() | st.sampled_from(MARKS) | st.builds(str.__add__, st.sampled_from(MARKS), st.text())
JSON = st.recursive(
    st.none() | st.integers() | WORDS,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@pytest.mark.parametrize(
    "hostile", ["{{ lookup('pipe', 'touch TRAP') }}", "{% if lookup('pipe', 'touch TRAP') %}{% endif %}"]
)
def test_a_neighbour_whose_name_is_a_template_has_nothing_run(tmp_path: Path, hostile: str) -> None:
    trap = tmp_path / "trap"
    name = hostile.replace("TRAP", str(trap))
    told = {"fleet_runs": {"ethernet.hall": {"neighbours": {"gpu-1": {"neighbours": [["eth0", name, "1", ""]]}}}}}
    file = tmp_path / "extravars.json"
    file.write_text(written(told), encoding="utf-8")
    said = Ansible(tmp_path / "home")(
        "ansible",
        "-i",
        "localhost,",
        "localhost",
        "-m",
        "ansible.builtin.debug",
        "-a",
        "var=fleet_runs",
        "-e",
        f"@{file}",
    )
    assert said.returncode == 0, said.stdout + said.stderr
    assert not trap.exists()
    assert json.dumps(name) in said.stdout


@given(st.dictionaries(st.text(), JSON))
def test_every_text_with_a_mark_is_told_to_be_no_template_and_all_else_stays(told: dict[str, Any]) -> None:
    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            assert not any(mark in each for each in value.values() if isinstance(each, str) for mark in MARKS) or (
                [*value] == ["__ansible_unsafe"]
            )
            if [*value] == ["__ansible_unsafe"]:
                return value["__ansible_unsafe"]
            return {key: plain(each) for key, each in value.items()}
        return [plain(each) for each in value] if isinstance(value, list) else value

    assert plain(json.loads(written(told))) == told
