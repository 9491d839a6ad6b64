"""What is saved of a BMC has no secrets, and reads back as it was."""

import json

import pytest
from hypothesis import given

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.bmc.look import look
from fleet_runner.core.bmc.saved import from_saved, to_saved, without_secrets
from fleet_runner.core.bmc.tree import ROOT
from tests.core.bmc.test_tree import NESTED
from tests.core.bmc.trees import SYSTEM, captured, merged, surveyed


def test_a_saved_look_reads_back_as_the_same_look() -> None:
    tree, _ = surveyed(captured())
    tree.lose(f"{ROOT}/Fabrics", "slow")
    back = from_saved(json.loads(json.dumps(to_saved(tree))))
    assert back.bodies == tree.bodies
    assert list(back.unread) == [f"{ROOT}/Fabrics"]
    assert look(back).devices == look(tree).devices


@given(NESTED)
def test_what_is_no_tree_is_refused_in_a_sentence(found: object) -> None:
    with pytest.raises(EvidenceError, match="bmc look --save"):
        from_saved(found)


def test_a_tree_without_a_root_is_refused() -> None:
    with pytest.raises(EvidenceError, match="has no /redfish/v1"):
        from_saved({SYSTEM: {}})


@pytest.mark.parametrize(
    "name",
    [
        "Password",
        "UserPasswd",
        "AuthToken",
        "CommunityNames",
        "SharedSecret",
        "PrivateKey",
        "LicenseKey",
        "apikey",
        "PSK",
    ],
)
def test_texts_of_properties_that_are_named_like_secrets_are_removed(name: str) -> None:
    assert without_secrets({"Oem": [{name: ["one", {"x": "stays"}]}]}) == {
        "Oem": [{name: ["(removed)", {"x": "stays"}]}]
    }


def test_what_is_no_secret_stays() -> None:
    kept = {"SerialNumber": "S1", "MinPasswordLength": 8, "PasswordSet": True, "Password": None, "Token": "",
            "HostName": "h", "PSKU": "x"}  # fmt: skip
    assert without_secrets(kept) == kept
    assert to_saved(surveyed(merged(captured(), SYSTEM, Oem={"Password": "x"}))[0])[SYSTEM]["Oem"] == {
        "Password": "(removed)"
    }
