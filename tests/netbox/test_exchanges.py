"""The stand-in answers what a real NetBox answered, exchange for exchange, and the product asks what it asked then.

Recorded by tests/netbox/record.py; a scenario that changes is recorded again.
"""

import json
from collections.abc import Mapping

import pytest

from fleet_runner.lab.netbox.installation import VERSION
from tests.netbox import exchanging, standin
from tests.netbox.exchanging import Exchange
from tests.netbox.product import ALL
from tests.netbox.scenarios import Site


@pytest.fixture(scope="module")
def repeated() -> Mapping[str, list[Exchange]]:
    """Every scenario, with the stand-in: one after the other, as they were recorded."""
    found = {}
    with standin.serving() as there:
        for name, scenario in ALL.items():
            there.exchanges.clear()
            scenario(Site(there.url, there.token))
            found[name] = [exchanging.exchange(*each, there.url) for each in there.exchanges]
    return found


@pytest.mark.parametrize("name", ALL)
def test_the_stand_in_answers_like_a_real_netbox(repeated: Mapping[str, list[Exchange]], name: str) -> None:
    recorded = exchanging.load(name)
    assert [each.request for each in repeated[name]] == [each.request for each in recorded]
    for at, (mine, real) in enumerate(zip(repeated[name], recorded, strict=True)):
        assert mine == real, f"{name}, exchange {at}: {real.request}"


def test_nothing_is_recorded_that_no_scenario_asks() -> None:
    assert {path.stem for path in exchanging.FOLDER.iterdir()} == set(ALL)


def test_recordings_and_description_are_of_the_release_that_is_installed() -> None:
    """One that changes is recorded again: `python -m tests.netbox.record`."""
    heads = {path.read_text("utf-8").partition("\n")[0] for path in exchanging.FOLDER.iterdir()}
    assert [json.loads(each) for each in heads] == [{"netbox": VERSION}]
    assert standin.VERSION == VERSION


def test_recordings_stay_small() -> None:
    assert sum(path.stat().st_size for path in exchanging.FOLDER.iterdir()) <= 300_000
    assert exchanging.FOLDER.joinpath("..", "openapi.json").stat().st_size <= 200_000
