"""Which subscriptions at a BMC are ours and good, and what is asked of BMCs of all kinds."""

from hashlib import sha256
from itertools import pairwise
from typing import Any

import pytest

from fleet_runner.core.faults.signals.subscriptions import Subscription, body, context, fewer, is_full, plan

HERE = "https://fleet.example:8490/signals/redfish/gpu-03"
TOKEN = "frs_" + "a" * 43


def digest(text: str) -> str:
    """The SHA-256 of a text."""
    return sha256(text.encode()).hexdigest()


DIGEST = digest(TOKEN)
GOOD = Subscription("/s/1", HERE, context(DIGEST), "Enabled")
OPENBMC = {"EventFormatTypes": ["Event", "MetricReport"], "RegistryPrefixes": ["Base", "OpenBMC", "TaskEvent"]}
IDRAC = {
    "EventTypesForSubscription": ["StatusChange", "ResourceUpdated", "ResourceAdded", "ResourceRemoved", "Alert"]
}


def planned(*found: Subscription, sha: str = DIGEST) -> tuple[str, list[str], tuple[str, ...]]:
    """What is kept, what is ended, and where others have events sent."""
    made = plan(found, HERE, sha, digest)
    return made.keeps.uri if made.keeps is not None else "", [each.uri for each in made.ends], made.others


def test_one_of_ours_with_the_token_of_today_is_kept() -> None:
    """By the beginning of the token's digest, or the token itself where the BMC knows no headers."""
    assert planned(GOOD) == ("/s/1", [], ())
    assert planned(Subscription("/s/1", HERE, TOKEN)) == ("/s/1", [], ())
    assert planned(Subscription("/s/1", HERE.upper() + "/", context(DIGEST))) == ("/s/1", [], ())


def test_ours_that_are_twice_or_stale_or_asleep_are_ended() -> None:
    twice = Subscription("/s/2", HERE, context(DIGEST))
    stale = Subscription("/s/3", HERE, context(digest("frs_older")))
    asleep = Subscription("/s/4", HERE, context(DIGEST), "Disabled")
    assert planned(asleep, GOOD, twice, stale) == ("/s/1", ["/s/4", "/s/2", "/s/3"], ())
    assert planned(stale) == ("", ["/s/3"], ())
    assert planned(GOOD, sha="") == ("", ["/s/1"], ())


def test_those_of_others_are_left() -> None:
    """Also one that a person made to our address, and one of another fleet-runner; an empty slot is nobody's."""
    by_hand = Subscription("/s/5", HERE, "gpu-03")
    elsewhere = Subscription("/s/6", "https://test.example/signals/redfish/gpu-03", context(DIGEST))
    empty = Subscription("/s/7", "", "")
    assert planned(by_hand, elsewhere, empty) == ("", [], (HERE, elsewhere.destination))


@pytest.mark.parametrize(
    ("service", "chosen"),
    [
        (OPENBMC, {"EventFormatType": "Event", "RegistryPrefixes": ["OpenBMC"]}),
        (IDRAC, {"EventTypes": ["Alert", "StatusChange"]}),
        ({"EventTypesForSubscription": ["Alert"]}, {"EventTypes": ["Alert"]}),
        ({"EventFormatTypes": ["Event"], **IDRAC}, {"EventFormatType": "Event"}),
        ({"RegistryPrefixes": ["Base"], **IDRAC}, {}),
        ({"RegistryPrefixes": "Base", "EventFormatTypes": [None, 7]}, {}),
        ({}, {}),
    ],
)
def test_a_bmc_is_asked_for_events_of_hardware_as_it_tells_them_apart(
    service: dict[str, Any], chosen: dict[str, Any]
) -> None:
    headers = [{"Authorization": f"Bearer {TOKEN}"}]
    named = {"Destination": HERE, "Protocol": "Redfish", "Context": context(DIGEST), "HttpHeaders": headers}
    always = named | {"DeliveryRetryPolicy": "RetryForever"}
    assert body(service, HERE, TOKEN, DIGEST, verify=True) == always | chosen
    assert body(service, HERE, TOKEN, DIGEST, verify=False) == always | chosen | {"VerifyCertificate": False}
    assert TOKEN not in context(DIGEST)


def refusal(*named: object, message: str = "Base.1.12.PropertyUnknown") -> dict[str, Any]:
    """What a BMC answers that does not know something."""
    infos = [{"MessageId": message, "MessageArgs": [each]} if isinstance(each, str) else each for each in named]
    return {"error": {"code": "Base.1.12.GeneralError", "@Message.ExtendedInfo": infos}}


def test_what_a_bmc_names_is_left_out() -> None:
    """As an argument of its message, or as a related property."""
    asked = body(OPENBMC, HERE, TOKEN, DIGEST, verify=False)
    for named in ("VerifyCertificate", {"RelatedProperties": ["#/VerifyCertificate"]}):
        left = fewer(asked, refusal(named), TOKEN)
        assert left == {name: value for name, value in asked.items() if name != "VerifyCertificate"}


def test_a_bmc_without_headers_gets_the_token_as_context() -> None:
    asked = body({}, HERE, TOKEN, DIGEST, verify=True)
    left = fewer(asked, refusal("HttpHeaders"), TOKEN)
    assert left is not None
    assert left["Context"] == TOKEN
    assert "HttpHeaders" not in left


@pytest.mark.parametrize("said", [None, {}, {"error": "no"}, {"error": {"@Message.ExtendedInfo": "no"}}, refusal(7)])
def test_one_that_names_nothing_is_asked_with_less_and_less(said: dict[str, Any] | None) -> None:
    """Until nothing is left out but what is needed."""
    asked: dict[str, Any] | None = body(OPENBMC, HERE, TOKEN, DIGEST, verify=False)
    gone: list[set[str]] = []
    while asked is not None:
        gone.append(set(asked))
        asked = fewer(asked, said, TOKEN)
    assert [sorted(before - after) for before, after in pairwise(gone)] == [
        ["DeliveryRetryPolicy"], ["VerifyCertificate"], ["RegistryPrefixes"], ["EventFormatType"], ["HttpHeaders"],
    ]  # fmt: skip
    assert gone[-1] == {"Destination", "Protocol", "Context"}


def test_one_that_does_not_want_our_address_is_not_asked_again() -> None:
    asked = body(OPENBMC, HERE, TOKEN, DIGEST, verify=True)
    assert fewer(asked, refusal("Destination", message="Base.1.12.PropertyValueFormatError"), TOKEN) is None


def test_a_bmc_that_has_no_room_says_so() -> None:
    assert is_full(refusal("", message="Base.1.12.0.EventSubscriptionLimitExceeded"))
    assert is_full(refusal({"MessageId": "Base.1.8.CreateLimitReachedForResource"}))
    assert not is_full(refusal("HttpHeaders"))
    assert not is_full(None)
