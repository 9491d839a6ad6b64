"""Cases in the store: each change is a line of the node's history, and an ended case stays ended."""

from dataclasses import replace

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError, StoreError
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.tickets.rma_cases import Case, Replaced, exchanged

CASE = Case(0, "gpu-01", "Acme", "C-7", "ann", 10.0, (Replaced("SXM4", "A"),), because="it failed")


def test_a_case_is_opened_changed_and_ended(store: Store) -> None:
    store.register([Device("gpu-01", "t", "gpu-server", "hall")], 1.0)
    assert store.open_case(CASE) == 1
    [case] = store.cases("gpu-01")
    assert (case.id, case.parts, case.ended_at) == (1, CASE.parts, None)
    with pytest.raises(ConflictError, match="is open already"):
        store.open_case(CASE)
    changed = exchanged(case, {}, {"SXM4": "B"})
    store.exchange_parts(changed, "bob", 20.0)
    assert store.cases(open_only=True)[0].parts == (Replaced("SXM4", "A", "B"),)
    store.end_case(changed, "came back", "bob", 30.0)
    assert store.cases("gpu-02") == store.cases(open_only=True) == ()
    assert (store.cases()[0].ended_at, store.cases()[0].because) == (30.0, "came back")
    with pytest.raises(ConflictError, match="is not open any more"):
        store.exchange_parts(changed, "bob", 40.0)
    assert [(each.by, each.sentence) for each in store.history("gpu-01", kind="case")] == [
        ("ann", "Case C-7 opened at Acme: SXM4. it failed"),
        ("bob", "Case C-7 at Acme: SXM4 (A out, B in)"),
        ("bob", "Case C-7 at Acme ended: came back"),
    ]
    assert store.open_case(CASE) == 2, "it may come again"


def test_a_node_is_sent_back_with_its_case_or_not_at_all(store: Store) -> None:
    store.register([Device("gpu-01", "t", "gpu-server", "hall")], 1.0)
    number = store.send_back(CASE, "case C-7 at Acme")
    [intent] = store.intents("gpu-01")
    assert (intent.id, intent.kind, intent.by, intent.reason) == (number, IntentKind.RMA, "ann", "case C-7 at Acme")
    with pytest.raises(ConflictError, match="is open already"):
        store.send_back(CASE, "again")
    assert len(store.intents("gpu-01")) == 1
    with pytest.raises(StoreError, match="nothing was half-written"):
        store.send_back(replace(CASE, node="gpu-02"), "it is not there")
    assert store.cases("gpu-02") == ()
