"""A stand-in NetBox for the tests in this folder."""

from collections.abc import Iterator

import pytest

from tests.netbox.standin import Standin, serving


@pytest.fixture
def standin() -> Iterator[Standin]:
    """An empty NetBox; at the end nothing may have been asked that NetBox would not know."""
    with serving() as standin:
        yield standin
        assert standin.problems() == []
