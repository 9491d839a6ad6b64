"""How far automation may go at a node, from what people said of it and of where it stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.budgets.modes import (
    ACTING,
    OF_STAGES,
    READING,
    Kind,
    Mode,
    Modes,
    Scope,
    Setting,
    Where,
    is_above_observe,
    modes,
    told,
)
from fleet_runner.core.budgets.modes import standing as holding
from fleet_runner.core.inventory.records import Device, Fleet, Place
from fleet_runner.core.lifecycle.states import Stage

HERE = Where("gpu-01", "hall", "hall/A03", "hgx-h100", "acme")
NAMES = {scope: HERE.named(scope) for scope in Scope}
SETTINGS = st.lists(
    st.builds(
        Setting,
        st.sampled_from(list(Scope)),
        st.sampled_from([*NAMES.values(), "elsewhere"]),
        st.sampled_from([None, *Kind]),
        st.sampled_from([None, *Mode]),
        st.floats(0, 1e9),
        st.just("ann"),
    ),
    max_size=12,
)


def said(
    scope: Scope, mode: Mode | None, kind: Kind | None = None, *, name: str | None = None, at: float = 1.0
) -> Setting:
    """What Ann said of this node, or of where it stands."""
    return Setting(scope, NAMES[scope] if name is None else name, kind, mode, at, "ann", "because")


@given(SETTINGS)
def test_where_everything_is_more_than_observed_so_is_each_node(settings: list[Setting]) -> None:
    """And it is said so of no fleet of which nobody spoke, nor of one from which a place is taken out."""
    everywhere = [*settings, said(Scope.FLEET, Mode.ADVISE, at=1e9)]
    if is_above_observe(holding(everywhere)):
        assert modes(everywhere, HERE).highest is not Mode.OBSERVE
    assert is_above_observe(holding([said(Scope.FLEET, Mode.ADVISE)]))
    assert not is_above_observe(holding([said(Scope.NODE, Mode.ACT)]))
    assert not is_above_observe(holding([said(Scope.FLEET, Mode.ACT), said(Scope.RACK, Mode.OBSERVE)]))


@given(SETTINGS)
def test_a_node_of_which_nobody_spoke_is_observed(settings: list[Setting]) -> None:
    """Whatever was said of others."""
    others = [each for each in settings if each.scope is not Scope.FLEET and each.name == "elsewhere"]
    found = modes(others, HERE)
    assert {found.mode(kind) for kind in Kind} == {Mode.OBSERVE}
    assert found.highest is Mode.OBSERVE


@given(SETTINGS, st.sampled_from(list(Mode)), st.sampled_from(list(Kind)))
def test_the_word_about_the_node_and_the_kind_comes_before_every_other(
    settings: list[Setting], mode: Mode, kind: Kind
) -> None:
    assert modes([*settings, said(Scope.NODE, mode, kind)], HERE).mode(kind) is mode


@given(SETTINGS)
def test_who_takes_every_word_back_is_where_they_began(settings: list[Setting]) -> None:
    back = [Setting(each.scope, each.name, each.kind, None, 2e9, "bob") for each in settings]
    assert holding([*settings, *back]) == ()
    assert modes([*settings, *back], HERE).highest is Mode.OBSERVE


@given(SETTINGS)
def test_a_closed_store_acts_nowhere(settings: list[Setting]) -> None:
    found = Modes(modes(settings, HERE).of, closed="it is another fleet's")
    assert not any(found.acts(kind) for kind in Kind)


def test_a_narrower_scope_comes_before_a_wider_one() -> None:
    settings = [said(Scope.FLEET, Mode.OBSERVE), said(Scope.SITE, Mode.ADVISE), said(Scope.RACK, Mode.ACT)]
    assert modes(settings, HERE).acts(Kind.REBOOT)
    assert modes(settings, Where("gpu-02", "hall")).mode(Kind.REBOOT) is Mode.ADVISE
    assert modes(settings, Where("gpu-03", "annex")).mode(Kind.REBOOT) is Mode.OBSERVE


def test_of_rack_type_and_tenant_the_most_careful_counts() -> None:
    settings = [said(Scope.RACK, Mode.ACT), said(Scope.TENANT, Mode.OBSERVE, Kind.REBOOT)]
    found = modes(settings, HERE)
    assert found.mode(Kind.REBOOT) is Mode.OBSERVE
    assert found.mode(Kind.RESET) is Mode.ACT


def test_a_word_about_a_kind_comes_before_one_about_all_whenever_it_was_said() -> None:
    settings = [said(Scope.SITE, Mode.ADVISE, Kind.FIRMWARE), said(Scope.SITE, Mode.ACT)]
    found = modes(settings, HERE)
    assert found.mode(Kind.FIRMWARE) is Mode.ADVISE
    assert found.highest is Mode.ACT


def test_a_node_that_the_source_does_not_place_takes_no_mode_of_a_place_without_a_name() -> None:
    """Two racks without a name are not one rack."""
    assert modes([said(Scope.RACK, Mode.ACT, name="")], Where("gpu-01")).highest is Mode.OBSERVE


def test_since_is_the_last_word_that_counts_for_the_node() -> None:
    settings = [
        said(Scope.FLEET, Mode.ACT, at=5.0),
        said(Scope.SITE, None, at=7.0),
        said(Scope.SITE, Mode.ACT, name="x", at=9.0),
    ]
    assert modes(settings, HERE).since == 7.0


def test_where_a_node_belongs_is_what_the_source_says_of_it() -> None:
    device = Device("gpu-01", "hgx-h100", "gpu-server", "hall", "A03", tenant="acme")
    other = Device("gpu-02", "hgx-h100", "gpu-server", "hall")
    fleet = Fleet((), {}, {}, {"gpu-01": device, "gpu-02": other}, ())
    assert Where.of(fleet, "gpu-01") == HERE
    assert Where.of(fleet, "gpu-02") == Where("gpu-02", "hall", "", "hgx-h100")
    assert Where.of(fleet, "gpu-09") == Where("gpu-09")


def test_what_was_said_of_a_rack_holds_for_its_node_whose_record_cannot_be_used() -> None:
    """People had their rack observed: it stays so, whatever happens to the record."""
    unread = Fleet((), {}, {}, {}, (), last_places={"gpu-01": Place("hall", "hall/A03", "", "acme")})
    assert Where.of(unread, "gpu-01") == HERE._replace(device_type="")
    settings = [said(Scope.FLEET, Mode.ACT), said(Scope.RACK, Mode.OBSERVE)]
    assert modes(settings, Where.of(unread, "gpu-01")).mode(Kind.REBOOT) is Mode.OBSERVE


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ([], "Mode: observe everywhere."),
        ([said(Scope.FLEET, Mode.ACT)], "Mode: act everywhere."),
        (
            [said(Scope.SITE, Mode.ACT), said(Scope.DEVICE_TYPE, Mode.ADVISE, Kind.REBOOT)],
            "Mode: act at site hall, advise for reboot at device type hgx-h100, observe everywhere else.",
        ),
        (
            [said(Scope.FLEET, Mode.ADVISE), *(said(Scope.NODE, Mode.ACT, name=f"gpu-0{n}") for n in range(1, 7))],
            (
                "Mode: act at node gpu-01, act at node gpu-02, act at node gpu-03, act at node gpu-04,"
                " 2 more (fleet-runner mode), advise everywhere else."
            ),
        ),
    ],
)
def test_what_holds_is_one_sentence(settings: list[Setting], sentence: str) -> None:
    assert told(holding(settings)) == sentence


def test_a_place_is_named_as_people_read_it() -> None:
    assert said(Scope.FLEET, Mode.ACT).place == "the fleet"


def test_every_stage_reads_or_asks_for_a_kind() -> None:
    """A new stage is put where it belongs, or this fails."""
    assert set(Stage) == READING | set(OF_STAGES) | {Stage.DRAIN, Stage.RESUME}
    assert not READING & set(OF_STAGES)
    assert {
        Stage.SURVEY, Stage.VERIFY, Stage.COLLECT, Stage.HEALTH_PASSIVE, Stage.CABLING, Stage.FABRIC, Stage.CHECK
    } == READING  # fmt: skip
    assert all(ACTING.acts(kind) for kind in Kind)
