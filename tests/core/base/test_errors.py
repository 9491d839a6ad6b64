"""Errors that carry more than their sentence."""

import pytest

from fleet_runner.core.base.errors import SchemaError


@pytest.mark.parametrize("newer", [False, True])
def test_a_schema_that_is_another_releases_says_which_way(newer: bool) -> None:
    error = SchemaError("its schema is another one", newer=newer)
    assert (str(error), error.newer) == ("its schema is another one", newer)
