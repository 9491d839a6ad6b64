"""Which cluster a node is of: what its context says, or nobody knows."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.lifecycle.clusters import Names, cluster_of, names, strangers
from tests.reconcile.scripted import a_fleet

ANYTHING = st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text())


@given(ANYTHING, st.frozensets(st.sampled_from(("", "east", "west"))))
def test_a_node_is_of_the_cluster_that_it_names_or_of_none(said: object, known: frozenset[str]) -> None:
    if (said is None and "" in known) or said in list(known):
        assert cluster_of(said, known) == (said or "")
    else:
        with pytest.raises(EvidenceError, match=r"^kubernetes_cluster [^\n]*$"):
            cluster_of(said, known)


@pytest.mark.parametrize(
    ("said", "known", "why"),
    [
        ("north", ("west", "east"), "kubernetes_cluster is 'north', expected east, west"),
        (None, ("east",), "kubernetes_cluster is not set in its context, expected east"),
        ("", ("east",), "kubernetes_cluster is not set in its context, expected east"),
        ("east", ("",), "kubernetes_cluster is 'east', expected a name in the setting kubernetes_clusters"),
        (3, ("", "3"), "kubernetes_cluster is 3, expected 3"),
    ],
)
def test_a_cluster_that_is_not_known_is_named_with_those_that_are(
    said: object, known: tuple[str, ...], why: str
) -> None:
    with pytest.raises(EvidenceError) as error:
        cluster_of(said, known)
    assert str(error.value) == why


def test_each_cluster_has_its_own_names() -> None:
    """A node that names no cluster, or one that is not known, is of none where there are several."""
    contexts = {
        "gpu-01": {"kubernetes_cluster": "east"},
        "gpu-02": {"kubernetes_cluster": "west", "scheduler_node": "k-2"},
        "gpu-03": {"kubernetes_cluster": "north"},
        "gpu-04": {},
    }
    fleet = a_fleet(4)
    fleet = replace(fleet, devices={name: replace(fleet.devices[name], context=contexts[name]) for name in contexts})
    known = ("east", "west")
    east, west = (names(fleet, each, known) for each in known)
    assert [east.of(each) for each in contexts] == ["gpu-01", "", "", ""]
    assert [west.of(each) for each in contexts] == ["", "k-2", "", ""]
    assert (east.of("gpu-99"), west.of("gpu-99")) == ("", "")
    assert list(strangers(fleet, known)) == ["gpu-03", "gpu-04"]
    assert names(fleet, "", ("", *known)).of("gpu-04") == "gpu-04"


def test_a_single_cluster_has_every_node_but_those_that_name_another() -> None:
    fleet = a_fleet(3)
    contexts = {
        "gpu-01": {},
        "gpu-02": {"scheduler_node": "", "kubernetes_cluster": "x"},
        "gpu-03": {"kubernetes_cluster": "x"},
    }
    fleet = replace(fleet, devices={name: replace(fleet.devices[name], context=contexts[name]) for name in contexts})
    alone = names(fleet, "", ("",))
    assert [alone.of(each) for each in (*contexts, "gpu-99")] == ["gpu-01", "", "", "gpu-99"]
    assert list(strangers(fleet, ("",))) == ["gpu-03"]  # no scheduler has gpu-02, so no cluster is asked for it
    assert names(None, "", ("",)) == Names()
