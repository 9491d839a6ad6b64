"""Coverage follows fixtures, tests and what a property says of the code, and not pytest or how examples are drawn."""

import sys
from collections.abc import Callable, Generator
from functools import wraps
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import is_hypothesis_test

if TYPE_CHECKING:
    from _typeshed import TraceFunction

TRACE = pytest.StashKey["TraceFunction | None"]()
"""What measures coverage, if anything does."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Trace nothing of pytest's own: of most tests that is the larger part."""
    item.config.stash[TRACE] = trace = sys.gettrace()
    sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(trace)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(request: pytest.FixtureRequest) -> Generator[None, object, object]:
    """Trace what a fixture makes."""
    before = sys.gettrace()
    sys.settrace(request.config.stash[TRACE])
    try:
        return (yield)
    finally:
        sys.settrace(before)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Trace a test; of a property its examples, and nothing between them, which is almost half of what that costs."""
    trace = pyfuncitem.config.stash[TRACE]
    if trace is None:
        return (yield)
    if not is_hypothesis_test(pyfuncitem.obj):
        sys.settrace(trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
    given = pyfuncitem.obj.hypothesis
    example = given.inner_test
    given.inner_test = _traced(example, trace)
    try:
        return (yield)
    finally:
        given.inner_test = example


def _traced(example: Callable[..., Any], trace: "TraceFunction") -> Callable[..., Any]:
    """Return the example, traced from its beginning to its end."""

    @wraps(example)
    def run(*args: Any, **given: Any) -> Any:
        sys.settrace(trace)
        try:
            return example(*args, **given)
        finally:
            sys.settrace(None)

    return run
