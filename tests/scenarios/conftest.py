"""Scenarios tick in the same worlds as the reconciler's own tests."""

from tests.reconcile.conftest import make_world

__all__ = ["make_world"]
