"""A booting machine gets what its armed boot gives it, once, and only where that boot is at home."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.boot.answers import (
    CONSOLE,
    STATUS,
    BootRequest,
    Denied,
    claimed,
    document,
    phone_home,
    script,
    secrets,
)
from fleet_runner.core.boot.boots import Boot, Identity, Milestone

MAC = "02:00:00:00:00:01"
HOME, OTHER = "10.0.0.1", "10.0.0.2"
ARMED = Boot(7, "a", 1, 100.0, 200.0, Identity(frozenset({MAC}), "S1"))
SAID = Identity(frozenset({MAC}), "S1")
ADDRESSES = st.sampled_from(["", HOME, OTHER, "10.0.0.3"])
MOMENTS = st.none() | st.sampled_from([150.0])
BOOTS = st.builds(
    Boot,
    id=st.just(7),
    node=st.just("a"),
    run=st.none(),
    armed_at=st.just(100.0),
    expires_at=st.just(200.0),
    expected=st.builds(Identity, addresses=st.sampled_from([frozenset[str](), frozenset({HOME})])),
    nonce_hash=st.sampled_from(["", "abcd"]),
    proved_by=ADDRESSES,
    claimed_at=MOMENTS,
    claimed_by=ADDRESSES,
    reached=st.sampled_from([dict[Milestone, float](), {Milestone.PHONE_HOME: 160.0}]),
    closed_at=MOMENTS,
)
ASKED = st.builds(
    BootRequest,
    source=ADDRESSES.filter(bool),
    now=st.sampled_from([150.0, 200.0, 250.0]),
    script_by=ADDRESSES,
    leased=st.frozensets(ADDRESSES.filter(bool), max_size=2),
    proof=st.booleans(),
)


def code(denied: Denied | None) -> str:
    return denied.code if denied else ""


def asked(source: str = HOME, now: float = 150.0, script_by: str = HOME, **more: object) -> BootRequest:
    return replace(BootRequest(source, now, script_by), **more)  # type: ignore[arg-type]  # tests name fields as they need


@given(BOOTS, ASKED)
def test_secrets_are_only_for_an_open_unexpired_unclaimed_boot_at_home(boot: Boot, by: BootRequest) -> None:
    if secrets(boot, by) is None:
        assert boot.closed_at is None
        assert boot.claimed_at is None
        assert by.now < boot.expires_at
        if boot.nonce_hash or by.proof:
            assert by.source == boot.proved_by
        else:
            assert by.source in {by.script_by, *by.leased, *boot.expected.addresses}


@given(BOOTS, ASKED)
def test_who_may_have_secrets_may_have_the_other_documents_too(boot: Boot, by: BootRequest) -> None:
    assert secrets(boot, by) is not None or document(boot, by, "meta-data") is None


@given(BOOTS, ASKED)
def test_nobody_phones_home_for_a_boot_whose_secrets_nobody_had(boot: Boot, by: BootRequest) -> None:
    if phone_home(boot, by) is None:
        assert boot.claimed_at is not None or Milestone.PHONE_HOME in boot.reached


@given(BOOTS, ASKED)
def test_a_script_is_only_for_a_boot_that_may_still_have_its_secrets(boot: Boot, by: BootRequest) -> None:
    if script("a", boot, SAID, by) is None:
        assert secrets(boot, replace(by, script_by=by.script_by or by.source)) is None


@given(BOOTS, ASKED)
def test_every_denial_has_its_status_and_names_the_node(boot: Boot, by: BootRequest) -> None:
    told = (script("a", boot, SAID, by), document(boot, by, "x"), secrets(boot, by), phone_home(boot, by))
    for denied in told:
        if denied is not None:
            assert denied.status == STATUS[denied.code]
            assert denied.sentence.startswith("a")


def test_every_denial_of_a_script_has_words_for_the_console() -> None:
    assert set(CONSOLE) <= set(STATUS)
    assert {"unarmed", "claimed", "expired", "mismatch", "unproved", "address"} <= set(CONSOLE)


def test_an_armed_node_gets_its_script_whatever_its_address() -> None:
    assert script("a", ARMED, SAID, asked(script_by="")) is None


def test_a_second_address_does_not_get_the_script_of_the_first() -> None:
    assert code(script("a", ARMED, SAID, asked(OTHER))) == "address"
    assert script("a", ARMED, SAID, asked(OTHER, leased=frozenset({OTHER}))) is None


def test_only_an_address_that_is_expected_or_that_dhcp_gave_the_node_gets_its_script() -> None:
    """The machine may be the right one all the same: nobody told of its lease."""
    boot = replace(ARMED, expected=replace(ARMED.expected, addresses=frozenset({HOME})))
    denied = script("a", boot, SAID, asked(OTHER, script_by=""))
    assert denied is not None
    assert denied.code == "address"
    assert "no DHCP server reported that lease" in denied.sentence
    assert script("a", boot, SAID, asked(OTHER, script_by="", leased=frozenset({OTHER}))) is None


@pytest.mark.parametrize(
    ("boot", "said", "expected"),
    [
        (None, SAID, "unarmed"),
        (replace(ARMED, closed_at=120.0), SAID, "unarmed"),
        (replace(ARMED, claimed_at=120.0), SAID, "claimed"),
        (replace(ARMED, expires_at=150.0), SAID, "expired"),
        (ARMED, replace(SAID, serial="S2"), "mismatch"),
        (ARMED, replace(SAID, serial=""), "mismatch"),
        (replace(ARMED, nonce_hash="abcd"), SAID, "unproved"),
        (replace(ARMED, nonce_hash="abcd", proved_by=OTHER), SAID, "address"),
        (replace(ARMED, nonce_hash="abcd", proved_by=HOME), SAID, ""),
    ],
)
def test_what_stands_in_the_way_of_a_script(boot: Boot | None, said: Identity, expected: str) -> None:
    assert code(script("a", boot, said, asked())) == expected


def test_a_fleet_that_wants_proof_takes_no_boot_without_a_nonce() -> None:
    assert code(script("a", ARMED, SAID, asked(proof=True))) == "unproved"


def test_documents_without_secrets_may_be_read_again_after_the_claim_and_after_the_time() -> None:
    late = asked(now=250.0)
    assert code(document(ARMED, late, "meta-data")) == "expired"
    assert document(replace(ARMED, claimed_at=190.0), late, "meta-data") is None
    assert code(document(replace(ARMED, closed_at=190.0), asked(), "meta-data")) == "closed"


def test_secrets_are_denied_the_second_time_with_who_had_them() -> None:
    boot = replace(ARMED, claimed_at=120.0, claimed_by=HOME)
    denied = secrets(boot, asked())
    assert denied == claimed(boot)
    assert denied is not None
    assert (denied.status, denied.code) == (410, "claimed")
    assert denied.sentence.endswith("it was given once to 10.0.0.1")
    assert claimed(ARMED).sentence.endswith("it was given once")


def test_without_a_script_before_it_there_is_no_address_to_give_anything_to() -> None:
    denied = secrets(ARMED, asked(script_by=""))
    assert denied is not None
    assert denied.sentence.endswith("asked for from 10.0.0.1, expected nowhere before its script")


@pytest.mark.parametrize(
    ("boot", "expected"),
    [
        (ARMED, "unclaimed"),
        (replace(ARMED, claimed_at=120.0), ""),
        (replace(ARMED, claimed_at=120.0, closed_at=130.0), "closed"),
        (replace(ARMED, claimed_at=120.0, closed_at=130.0, reached={Milestone.PHONE_HOME: 125.0}), ""),
    ],
)
def test_who_may_phone_home(boot: Boot, expected: str) -> None:
    assert code(phone_home(boot, asked(now=500.0))) == expected
    assert code(phone_home(boot, asked(OTHER))) == (expected or "address")
