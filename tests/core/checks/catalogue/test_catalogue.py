"""The catalogue: every module in it is a check, and is there by its name."""

from pathlib import Path

import pytest

from fleet_runner.core.checks import catalogue
from fleet_runner.core.checks.catalogue import CHECKS


def test_each_module_is_one_check_by_its_name() -> None:
    modules = {path.stem for path in Path(str(catalogue.__file__)).parent.glob("*.py")} - {"__init__"}
    assert set(CHECKS) == modules
    assert len(CHECKS) == len(modules)
    assert all(CHECKS[name].name == name for name in CHECKS)


def test_what_serves_can_load_all_at_once() -> None:
    fresh = catalogue.Catalogue()
    fresh.load()
    assert dict(fresh) == dict(CHECKS)


def test_another_name_is_no_check() -> None:
    assert "of_nobody" not in CHECKS
    assert CHECKS.get("of_nobody") is None
    with pytest.raises(KeyError):
        CHECKS["of_nobody"]
