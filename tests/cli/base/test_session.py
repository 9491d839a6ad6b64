"""What every command shares."""

import json
from dataclasses import dataclass

import pytest

from fleet_runner.cli.base.session import age, plain, print_json
from fleet_runner.core.lifecycle.states import Condition, State
from tests.making import a_node, conditions


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-1, "0 s"), (119, "119 s"), (120, "2 min"), (7199, "120 min"), (7200, "2 h"), (172_800, "2 d")],
)
def test_durations_are_said_as_people_say_them(seconds: float, said: str) -> None:
    """Two units of a size before the larger one."""
    assert age(seconds) == said


def test_values_become_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Dataclasses, enums as keys and values, tuples."""
    print_json([a_node(conditions=conditions(Condition.HELD))])
    (node,) = json.loads(capsys.readouterr().out)
    assert node["state"] == "production"
    assert node["conditions"]["held"]["by"] == "ann"


def test_a_class_is_not_a_value() -> None:
    """Only instances are taken apart."""

    @dataclass
    class Empty:
        pass

    assert plain(Empty) is Empty
    assert plain({State.VERIFY: (1, 2)}) == {"verify": [1, 2]}
