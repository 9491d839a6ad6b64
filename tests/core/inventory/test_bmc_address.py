"""Credentials of BMCs go to BMCs: to the networks that the settings name, or to the out-of-band address."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.boot.arguments import elsewhere
from fleet_runner.core.inventory.ansible import bmc_url
from fleet_runner.core.inventory.bmc_address import networks, refusal

OOB = "10.8.0.7/24"
ALLOWED = networks("10.8.0.0/16, fd00:8::/32")
OURS = ("http://10.0.0.1:8480", "")


@pytest.mark.parametrize(
    "url",
    [
        "https://10.8.0.7",
        "http://10.8.0.7:8443/",
        "https://[fd00:8::7]:443",
        "ipmi://10.8.0.7",
        "ipmi://10.8.0.7:624",
    ],
)
def test_a_bmc_in_the_networks_may_be_asked(url: str) -> None:
    assert refusal("gpu-01", url, None, ALLOWED) == ""


@pytest.mark.parametrize(
    "url", ["https://10.9.0.7", "https://[fd00:9::7]", "https://bmc.example", "http://127.0.0.1:9"]
)
def test_outside_of_the_networks_none_may_wherever_the_source_has_it(url: str) -> None:
    said = refusal("gpu-01", url, url.removeprefix("https://"), ALLOWED)
    assert said == (
        f"gpu-01: its BMC at {url} is not in bmc_networks (10.8.0.0/16, fd00:8::/32), so it is given no credentials;"
        " correct its address in the source of truth, or add its network to the setting"
    )


@pytest.mark.parametrize("url", ["https://10.8.0.7", "https://10.8.0.7:8443"])
def test_without_networks_a_bmc_is_where_its_out_of_band_address_is(url: str) -> None:
    assert refusal("gpu-01", url, OOB, ()) == ""


@pytest.mark.parametrize(
    ("url", "oob", "shown"),
    [
        ("https://10.8.0.8", OOB, "10.8.0.7"),
        ("https://bmc.example", OOB, "10.8.0.7"),
        ("http://127.0.0.1:8443", None, "it has none"),
    ],
)
def test_without_networks_every_other_address_is_refused_with_the_setting(
    url: str, oob: str | None, shown: str
) -> None:
    assert refusal("gpu-01", url, oob, ()) == (
        f"gpu-01: its config context names the BMC {url}, which is not its out-of-band address ({shown}), so it is"
        " given no credentials; correct it, or name the network of that address in the setting bmc_networks"
    )


@pytest.mark.parametrize(
    "url",
    [
        "https://10.8.0.7@192.0.2.66",
        "https://192.0.2.66\\@10.8.0.7",
        "https://192.0.2.66#@10.8.0.7",
        "https://10.8.0.7/redfish",
        "https://10.8.0.7 ",
        "ftp://10.8.0.7",
        "{{ lookup('pipe', 'id') }}",
        "https://",
        "10.8.0.7",
    ],
)
def test_what_two_programs_could_read_in_two_ways_is_no_address(url: str) -> None:
    assert "expected https://ADDRESS" in refusal("gpu-01", url, OOB, ALLOWED)
    assert "expected https://ADDRESS" in refusal("gpu-01", url, OOB, ())


@given(st.ip_addresses())
def test_the_address_that_the_source_gives_out_of_band_is_always_its_own(address: object) -> None:
    assert refusal("gpu-01", bmc_url(f"{address}/24"), f"{address}/24", ()) == ""


def test_what_is_no_network_is_named() -> None:
    assert networks(" ") == ()
    with pytest.raises(ValueError, match=r"'bmc\.example' is no network"):
        networks("10.0.0.0/8, bmc.example")
    with pytest.raises(ValueError, match="host bits set"):
        networks("10.0.0.1/8")


@pytest.mark.parametrize("said", ["", "nomodeset iommu=pt", "inst.repo=http://10.0.0.1:8480/extra", "x=y;z"])
def test_kernel_arguments_may_name_the_boot_service(said: str) -> None:
    assert elsewhere("gpu-01", said, OURS) == ""


@pytest.mark.parametrize(
    "word",
    [
        "ds=nocloud;s=/x",
        "cloud-config-url=http://192.0.2.66/x",
        "a=http://10.0.0.1:8480@192.0.2.66/",
        "u=x://10.0.0.1",
    ],
)
def test_kernel_arguments_that_fetch_elsewhere_are_named_with_the_setting(word: str) -> None:
    said = elsewhere("gpu-01", f"quiet {word}", OURS)
    assert said.startswith(f"gpu-01: boot_arguments in its config context has {word!r}")
    assert "boot_url (10.0.0.1:8480)" in said
