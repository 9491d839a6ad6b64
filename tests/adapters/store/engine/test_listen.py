"""Whoever listens to a database that is away is told so, as of everything that a store cannot do."""

from pathlib import Path

import pytest

from fleet_runner.adapters.store.engine.database import connect
from fleet_runner.adapters.store.engine.listen import Listener
from fleet_runner.core.base.errors import StoreError


def test_a_database_that_is_away_is_an_error_that_can_be_tried_again(tmp_path: Path) -> None:
    """At the first wait and at the next ones: a server's own errors would end the thread that listens."""
    database = connect(f"postgresql://fleet@/fleet?host={tmp_path}")
    ear = Listener(database)
    for _ in range(2):
        with pytest.raises(StoreError, match="notifications stopped"):
            ear.wait(0.0)
    ear.close()
    database.close()
