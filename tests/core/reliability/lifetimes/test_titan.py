"""A published figure, made anew: how long the GPUs of Titan lived (tests/evidence/titan/SOURCE.md)."""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from fleet_runner.core.reliability.lifetimes import survival
from fleet_runner.core.reliability.lifetimes.cohorts import together
from fleet_runner.core.reliability.lifetimes.survival import Sample

EVIDENCE = Path(__file__).parents[3] / "evidence" / "titan"

GRAIN = 0.015
"""Of survival: what counting by the week, and reading a figure, may cost."""

Place = tuple[str, int, int]


def rows(name: str) -> list[dict[str, str]]:
    """Read a table."""
    with (EVIDENCE / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def titan() -> dict[Place, Sample]:
    """Lives in years by batch, cage and node of a cage; of a week the middle is taken."""
    lives: dict[Place, list[tuple[float, bool, int]]] = defaultdict(list)
    for row in rows("lives_by_week.csv"):
        age = (int(row["week"]) + 0.5) * 7 / 365
        place = row["batch"], int(row["cage"]), int(row["node"])
        lives[place] += [(age, True, int(row["failed"])), (age, False, int(row["censored"]))]
    return {place: counted(mine) for place, mine in lives.items()}


def counted(lives: list[tuple[float, bool, int]]) -> Sample:
    """Make a sample of ages with whether they ended in a failure, and how many there were of each."""
    ages, failed, weight = (np.array(column) for column in zip(*(row for row in lives if row[2]), strict=True))
    return Sample(np.zeros(len(ages)), ages.astype(float), failed.astype(bool), weight.astype(float))


def test_the_facts_add_up_to_what_was_published(titan: dict[Place, Sample]) -> None:
    """GPUs and failures of the old batch, as the paper's figure of hazard ratios has them by cage."""
    of_cage = [together(titan["old", cage, node] for node in range(4)) for cage in range(3)]
    assert [int(each.weight.sum()) for each in of_cage] == [6240, 6275, 6322]
    assert [each.failures for each in of_cage] == [1107, 1746, 2174]
    assert sum(each.failures for each in titan.values()) == 5089


def test_the_survival_curves_of_the_paper_come_out(titan: dict[Place, Sample]) -> None:
    """All points of the 24 curves of the figure by cage, batch and node lie where the paper has them.

    Each lies within our interval too, but for where nearly nothing has failed and the interval is finer than the
    figure can be read.
    """
    published = rows("survival_published.csv")
    assert len(published) == 84  # 12 old curves at 5 ages, 12 new ones at 2
    compared = 0
    for row in published:
        curve = survival.curve(titan[row["batch"], int(row["cage"]), int(row["node"])])
        found = curve.at(float(row["years"])) if curve else None
        if found is None:  # too few are left to say anything: the figure goes on to the last GPU
            continue
        compared += 1
        told = float(row["survival"])
        assert found.low is not None
        assert found.high is not None
        assert found.value == pytest.approx(told, abs=GRAIN), row
        assert found.low - 0.001 <= told <= found.high + 0.001, row
    assert compared >= 78


def test_the_upper_cages_die_sooner_by_more_than_chance(titan: dict[Place, Sample]) -> None:
    """The paper's finding: the higher the cage, the warmer the GPU. Its model of five covariates has more."""
    of_cage = [together(titan["old", cage, node] for node in range(4)) for cage in range(3)]
    tested = survival.logrank(of_cage)
    assert tested is not None
    assert tested[1] < 1e-100
    middle, top = (survival.hazard_ratio(each, of_cage[0]) for each in of_cage[1:])
    assert middle is not None
    assert top is not None
    assert 2.8 <= middle.value <= 3.3
    assert top.value > 9
