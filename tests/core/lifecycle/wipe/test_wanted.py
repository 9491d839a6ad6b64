"""The profile's section wipe: what is not said there in so many words is not erased."""

from typing import Any

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.lifecycle.wipe.methods import OF_DISKS, USUAL, WAYS, Method
from fleet_runner.core.lifecycle.wipe.wanted import HOURS, Row, WipePlan, read

ROW = {"model": "SAMSUNG MZQL2*", "count": 8}


def test_a_section_says_which_disks_and_how() -> None:
    rows = [ROW, {"model": "M*", "count": 2, "methods": ["overwrite"]}]
    found = read({"wipe": {"disks": rows, "tpm": False, "hours": 2}})
    assert found == WipePlan(
        (Row("SAMSUNG MZQL2*", 8, USUAL), Row("M*", 2, (Method.OVERWRITE,))), tpm=False, seconds=7200.0
    )
    assert found.row("SAMSUNG MZQL27T6") == found.rows[0]
    assert found.row("KIOXIA") is None


def test_without_more_words_the_tpm_is_cleared_and_nothing_is_overwritten() -> None:
    found = read({"wipe": {"disks": [ROW]}})
    assert (found.tpm, found.seconds) == (True, HOURS * 3600)
    assert not {Method.OVERWRITE, Method.SECURE_DISCARD} & set(found.rows[0].methods)


def test_a_profile_without_the_section_erases_nothing() -> None:
    with pytest.raises(EvidenceError, match=r"fleet_profile.wipe.* nothing is"):
        read({"parts": {}})


@pytest.mark.parametrize(
    ("section", "key"),
    [
        ([], "wipe"),
        ({"disk": [ROW]}, "wipe.disk"),
        ({}, "wipe.disks"),
        ({"disks": []}, "wipe.disks"),
        ({"disks": ["X"]}, "wipe.disks[0]"),
        ({"disks": [ROW], "tpm": "yes"}, "wipe.tpm"),
        ({"disks": [ROW], "hours": 0}, "wipe.hours"),
        ({"disks": [ROW], "hours": "2"}, "wipe.hours"),
        ({"disks": [{"count": 1}]}, "wipe.disks[0].model"),
        ({"disks": [{"model": "*", "count": 1}]}, "wipe.disks[0].model"),
        ({"disks": [ROW, {"model": "X"}]}, "wipe.disks[1].count"),
        ({"disks": [ROW | {"count": 0}]}, "wipe.disks[0].count"),
        ({"disks": [ROW | {"count": True}]}, "wipe.disks[0].count"),
        ({"disks": [ROW | {"methods": []}]}, "wipe.disks[0].methods"),
        ({"disks": [ROW | {"methods": ["format"]}]}, "wipe.disks[0].methods"),
        ({"disks": [ROW | {"methods": ["tpm_clear"]}]}, "wipe.disks[0].methods"),
        ({"disks": [ROW | {"method": ["overwrite"]}]}, "wipe.disks[0].method"),
    ],
)
def test_a_slip_in_the_section_erases_nothing_and_names_its_key(section: Any, key: str) -> None:
    with pytest.raises(EvidenceError) as refused:
        read({"wipe": section})
    assert str(refused.value).startswith(f"fleet_profile.{key}: ")


def test_every_method_has_a_way_and_every_usual_one_is_of_disks() -> None:
    assert set(WAYS) == set(Method)
    assert set(USUAL) < OF_DISKS
    assert all(bool(way.poll) is bool(way.while_) for way in WAYS.values())
