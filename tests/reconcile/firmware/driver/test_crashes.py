"""Drivers that are killed at any point, on BMCs with faults: no flash is repeated, none is forgotten, none lies.

What is drawn is run many at a time, because most of it is waiting.
"""

import itertools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from fleet_runner.lab.redfish import load
from fleet_runner.lab.redfish.trees import OUR_OWN
from tests.reconcile.firmware.driver import dell, scenes, witness
from tests.reconcile.firmware.driver.chance import Scenario, scenarios
from tests.reconcile.firmware.driver.stage import Stage

SOME, ROUNDS = 10, 2
"""Scenarios that are played at once, and how often; of what is drawn a little cannot be used."""

MANY, ALL_ROUNDS, ALL_SCENARIOS = 25, 10, 200
"""At night; as many are played at least."""

HOP = "1.5-hop"


MAKERS = {"AMI": (load(OUR_OWN), scenes.SMALL), "Dell": (dell.tree(), dell.PARTS)}
"""Trees, and what of them can be old."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where scenarios have their files."""
    return tmp_path_factory.mktemp("crashes")


def played(maker: str, folder: Path, number: int, drawn: Scenario) -> list[str]:
    """Play a scenario, and return what was wrong with it."""
    tree, has = MAKERS[maker]
    parts = [part for part in has if part.name in drawn.components]
    entries = scenes.entries(tree, parts)
    scene = scenes.scene(
        folder / f"{maker}-images-{number}", parts, entries, dict.fromkeys(entries, scenes.OLD), size=200_000,
        accept_old=drawn.accept_old, hop=HOP if drawn.hop and not drawn.accept_old else "",
    )  # fmt: skip
    stage = Stage(scene, folder / f"{maker}-node-{number}", folder, drawn.rules, drawn.kills, drawn.habits)
    what = stage.play(tree, drawn.seed)
    return [*witness.crimes(what), *witness.untrue(what, scene.pins)]


@pytest.mark.parametrize(
    ("rounds", "at_once", "least"),
    [(ROUNDS, SOME, SOME), pytest.param(ALL_ROUNDS, MANY, ALL_SCENARIOS, marks=pytest.mark.nightly)],
    ids=["some", "many"],
)
@pytest.mark.parametrize("maker", MAKERS)
def test_a_driver_that_is_killed_anywhere_repeats_no_flash_forgets_none_and_tells_the_truth(
    folder: Path, rounds: int, at_once: int, least: int, maker: str
) -> None:
    """None is shrunk when it goes wrong: each takes real time, and says what was drawn."""
    numbers = itertools.count()
    some = scenarios([part.name for part in MAKERS[maker][1]], dell=maker == "Dell")

    @settings(
        max_examples=rounds,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
        derandomize=True,
        database=None,
    )
    @given(drawn=st.lists(some, min_size=at_once, max_size=at_once))
    def a_round(drawn: Sequence[Scenario]) -> None:
        with ThreadPoolExecutor(at_once) as pool:
            found = pool.map(lambda each: played(maker, folder, next(numbers), each), drawn)
            wrong = {str(scenario): told for scenario, told in zip(drawn, found, strict=True) if told}
        assert wrong == {}, "\n".join(f"{told}: {scenario}" for scenario, told in wrong.items())

    a_round()
    assert next(numbers) >= least
