"""Coverage follows what a property says of the code, and not how Hypothesis draws its examples."""

import sys
from collections.abc import Callable, Generator
from functools import wraps
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import is_hypothesis_test

if TYPE_CHECKING:
    from _typeshed import TraceFunction


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Trace nothing between a property's examples: that is almost half of what measuring coverage costs."""
    trace = sys.gettrace()
    if trace is None or not is_hypothesis_test(pyfuncitem.obj):
        return (yield)
    given = pyfuncitem.obj.hypothesis
    example = given.inner_test
    given.inner_test = _traced(example, trace)
    sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(trace)
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
