"""A medium goes into the slot of each maker's BMC, is seen to be connected, and only ours is ever taken out."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.redfish import Bmc, virtual_media
from fleet_runner.core.base.errors import BmcError, BmcRefused
from fleet_runner.lab.redfish import BmcBehaviour, Durations, Emulator, load
from fleet_runner.lab.redfish.trees import OUR_OWN
from tests.lab.redfish.talking import wait

CREDENTIALS = ("admin", "secret")
SYSTEM = "/redfish/v1/Systems/1"
MANAGER = "/redfish/v1/Managers/1"
ADDRESS = "http://10.0.0.1:8480/loader/ipxe.iso"
SLOTS = f"{MANAGER}/VirtualMedia"
CAPTURED = {"dell_r750": "Cd", "hpe_dl385": "Cd", "nvidia_gb200": "Cd", "supermicro_hgx_h100": "UsbCd"}


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slot is looked at again soon."""
    monkeypatch.setattr(virtual_media, "PAUSE", 0.01)


def slots(*, actions: bool = True, **more: Any) -> dict[str, Any]:
    """Return the resources of a BMC with one slot."""
    uri = f"{SLOTS}/EXT1"
    names = ("InsertMedia", "EjectMedia") if actions else ()
    offered = {f"#VirtualMedia.{name}": {"target": f"{uri}/Actions/VirtualMedia.{name}"} for name in names}
    body = {"@odata.type": "#VirtualMedia.v1_3_0.VirtualMedia", "Id": "EXT1", "MediaTypes": ["CD"], "Image": ""}
    return {
        SYSTEM: {"Links": {"ManagedBy": [{"@odata.id": MANAGER}]}},
        MANAGER: {"VirtualMedia": {"@odata.id": SLOTS}},
        SLOTS: {"Members": [{"@odata.id": uri}]},
        uri: {**body, "Inserted": False, "ConnectedVia": "NotConnected", "Actions": offered, **more},
    }


@contextmanager
def a_bmc(tree: Path = OUR_OWN, **said: Any) -> Iterator[tuple[Emulator, Bmc]]:
    """Serve a tree, and open it."""
    emulated = Emulator(load(tree), credentials=CREDENTIALS, pace=Durations.quick(), **said)
    with emulated as served, Bmc(served.url, *CREDENTIALS) as bmc:
        yield served, bmc


def done(served: Emulator) -> list[tuple[str, str]]:
    """Return what was inserted and ejected, in order."""
    return [(event.kind, event["image"]) for event in served.events("media_inserted", "media_ejected")]


IN, OUT = ("media_inserted", ADDRESS), ("media_ejected", ADDRESS)


@pytest.mark.parametrize("name", CAPTURED)
def test_every_captured_machine_boots_once_from_our_medium_which_is_then_ejected(samples: Path, name: str) -> None:
    with a_bmc(samples / "redfish" / f"{name}.json.gz") as (served, bmc):
        bmc.can_insert(ADDRESS)
        assert done(served) == []
        for _ in range(2):
            bmc.insert(ADDRESS)
        bmc.boot_once("Cd")
        bmc.power("ForceRestart")
        wait(lambda: served.events("host_reset"))
        assert served.events("host_reset")[0]["override"]["BootSourceOverrideTarget"] == CAPTURED[name]
        assert bmc.eject(ADDRESS)
        assert not bmc.eject(ADDRESS)
        assert done(served) == [IN, OUT]


def test_a_captured_dgx_says_which_setting_keeps_it_from_it(samples: Path) -> None:
    with a_bmc(samples / "redfish" / "dgx_h100.json.gz") as (served, bmc):
        for ask in (bmc.can_insert, bmc.insert):
            with pytest.raises(
                BmcError, match=r"RMediaStatus is Disabled; enable remote media .*without boot_medium"
            ):
                ask(ADDRESS)
        assert done(served) == []


def test_a_medium_of_somebody_else_is_neither_ejected_nor_replaced() -> None:
    theirs = {"Inserted": True, "Image": "http://10.0.0.9/rescue.iso", "ConnectedVia": "URI"}
    with a_bmc(changes=slots(**theirs)) as (served, bmc):
        for ask in (bmc.can_insert, bmc.insert):
            with pytest.raises(BmcError, match=r"has a medium in it that is not ours \('rescue.iso'\)"):
                ask(ADDRESS)
        assert not bmc.eject(ADDRESS)
        assert done(served) == []


def test_a_bmc_without_virtual_media_says_so() -> None:
    with a_bmc() as (_, bmc):
        with pytest.raises(BmcError, match="of its 0 slots for virtual media none takes an image"):
            bmc.can_insert(ADDRESS)
        assert not bmc.eject(ADDRESS)


def test_a_lenovo_without_actions_is_asked_by_patch() -> None:
    changes = {**slots(actions=False), "/redfish/v1": {"Vendor": "Lenovo"}}
    with a_bmc(changes=changes) as (served, bmc):
        bmc.insert(ADDRESS)
        bmc.insert(ADDRESS)
        assert bmc.eject(ADDRESS)
        assert done(served) == [IN, OUT]


def test_what_a_bmc_misses_is_sent_with_the_next_request() -> None:
    with a_bmc(changes=slots(), habits=BmcBehaviour(media_wants=("TransferProtocolType", "TransferMethod"))) as (
        served,
        bmc,
    ):
        bmc.insert(ADDRESS)
        assert done(served) == [IN]


def test_what_a_bmc_wants_and_we_do_not_know_is_told() -> None:
    with a_bmc(changes=slots(), habits=BmcBehaviour(media_wants=("UserName",))) as (served, bmc):
        with pytest.raises(BmcRefused, match=r"answered 400 to the virtual medium .*requires the parameter UserName"):
            bmc.insert(ADDRESS)
        assert done(served) == []


def test_a_name_that_does_not_end_as_an_image_is_refused_by_the_bmc() -> None:
    with a_bmc(changes=slots()) as (_, bmc), pytest.raises(BmcRefused, match="is none that can be inserted"):
        bmc.insert("http://10.0.0.1/loader/ipxe")


def test_a_bmc_without_a_licence_says_so() -> None:
    with a_bmc(changes=slots(), rules=[{"what": "no_media_license"}]) as (served, bmc):
        with pytest.raises(BmcRefused, match=r"has no licence for virtual media .*SFT-DCMS-SINGLE\), or boot"):
            bmc.insert(ADDRESS)
        assert done(served) == []


def test_a_task_is_waited_for() -> None:
    with a_bmc(changes=slots(), rules=[{"what": "media_task"}]) as (served, bmc):
        bmc.insert(ADDRESS)
        assert done(served) == [IN]


def test_a_task_that_fails_is_told() -> None:
    with a_bmc(changes=slots(), rules=[{"what": {"media_task": {"fails": True}}}]) as (served, bmc):
        with pytest.raises(BmcError, match=r"does not connect it \(the image cannot be read from its address\); see"):
            bmc.insert(ADDRESS)
        assert done(served) == []


def test_a_medium_that_is_not_connected_is_not_left_inserted() -> None:
    with a_bmc(changes=slots(), rules=[{"what": "media_unconnected", "when": {"nth": 1}}]) as (served, bmc):
        with pytest.raises(
            BmcError,
            match=r"does not connect it \(after \d+ looks ConnectedVia is 'NotConnected'\); see that the BMC",
        ):
            bmc.insert(ADDRESS)
        assert done(served) == [IN, OUT]
        bmc.insert(ADDRESS)
        assert done(served) == [IN, OUT, IN]


def test_one_that_was_left_unconnected_is_inserted_anew() -> None:
    left = {"Inserted": True, "Image": ADDRESS, "ConnectedVia": "NotConnected"}
    with a_bmc(changes=slots(**left)) as (served, bmc):
        bmc.insert(ADDRESS)
        assert done(served) == [OUT, IN]


def test_a_medium_that_stays_in_is_told() -> None:
    with a_bmc(changes=slots(), rules=[{"what": "eject_fails", "when": {"times": 1}}]) as (served, bmc):
        bmc.insert(ADDRESS)
        with pytest.raises(BmcError, match=r"EXT1 was to be ejected, and still has .*ipxe.iso in it; eject it"):
            bmc.eject(ADDRESS)
        assert bmc.eject(ADDRESS)
        assert done(served) == [IN, OUT]
