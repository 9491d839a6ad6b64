"""BMCs that post their events to a real listener: subscribed, lost, made again, refused, ended."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.cli.base.session import Exit
from fleet_runner.core.inventory.records import Device, DeviceType, Fleet
from fleet_runner.lab.redfish import BmcBehaviour, Emulator
from tests.adapters.sitefiles.writer import write_site
from tests.cli.conftest import Type
from tests.lab.redfish.talking import USER, Client, emulator, wait
from tests.services.boot.sites import certificate
from tests.services.signals.hearing import Ear, listening

SERVICE = "/redfish/v1/EventService"
FAILED = {
    "MessageId": "Power.1.0.PowerSupplyFailed", "MessageSeverity": "Critical", "Message": "Power supply 2 failed.",
    "OriginOfCondition": {"@odata.id": "/redfish/v1/Chassis/1/PowerSubsystem/PowerSupplies/2"},
}  # fmt: skip
RESTORED = FAILED | {"MessageId": "Power.1.0.PowerSupplyRestored", "MessageSeverity": "OK"}


@dataclass
class Hall:
    """Two nodes with BMCs, and who listens to them."""

    ear: Ear
    bmcs: dict[str, Emulator]
    typed: Type

    def told(self, *words: str, code: int = Exit.OK) -> dict[str, dict[str, Any]]:
        """Run a command of signals, and return what it says of each node."""
        said = self.typed("signals", *words, "--json")
        assert said.code == code, said
        return {each["node"]: each for each in json.loads(said.out)}

    def members(self, node: str) -> list[dict[str, Any]]:
        """The subscriptions that a BMC has."""
        with Client(self.bmcs[node]) as client:
            listed = client.get(f"{SERVICE}/Subscriptions")["Members"]
            return [client.get(each["@odata.id"]) for each in listed]

    def good(self) -> list[str]:
        """The names of tokens that are good for something."""
        return sorted(each.name for each in self.ear.store.tokens() if not each.refusal(2.0))


Open = Callable[..., Hall]


@pytest.fixture
def hall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: Type) -> Iterator[Open]:
    """Make a hall; what is given goes to the BMCs."""
    with ExitStack() as stack:

        @contextmanager
        def made(**more: Any) -> Iterator[Hall]:
            cert = certificate(tmp_path, "signals")
            files = {"signals_certificate": cert, "signals_certificate_key": cert.with_suffix(".key")}
            with listening(tmp_path, "gpu-01", "gpu-02", bounds=None, **files) as ear, ExitStack() as bmcs:
                nodes = {name: bmcs.enter_context(emulator(**more)) for name in ("gpu-01", "gpu-02")}
                devices = {
                    name: Device(name, "lab", "gpu-server", "hall", context={"fleet_bmc_url": bmc.url})
                    for name, bmc in nodes.items()
                }
                write_site(
                    Fleet(("hall",), {}, {"lab": DeviceType("lab", "Example", "LAB", 1.0)}, devices, ()),
                    tmp_path / "site",
                )
                user = tmp_path / "bmc.yml"
                user.write_text(yaml.safe_dump(dict(zip(("username", "password"), USER, strict=True))))
                user.chmod(0o600)
                told = {"SOURCE": tmp_path / "site", "BMC_CREDENTIALS": user, "SIGNALS_URL": ear.url,
                        "DATABASE_URL": f"sqlite:///{tmp_path / 'fleet.db'}", "SIGNALS_VERIFY": "false",
                        "BMC_NETWORKS": "127.0.0.0/8"}  # fmt: skip
                for name, value in told.items():
                    monkeypatch.setenv(f"FLEET_{name}", str(value))
                yield Hall(ear, nodes, typed)

        yield lambda **more: stack.enter_context(made(**more))


def test_a_supply_that_fails_is_an_alarm_of_its_node_until_it_is_restored(hall: Open) -> None:
    """From the subscription to the alarm, over TLS with a certificate of our own."""
    here = hall()
    said = here.told("subscribe", "--all")
    assert {each["outcome"] for each in said.values()} == {"subscribed"}
    here.bmcs["gpu-01"].tell(FAILED)
    wait(lambda: here.ear.alarms("gpu-01"))
    (alarm,) = here.ear.alarms("gpu-01")
    assert (alarm.code, alarm.component, str(alarm.source)) == ("redfish.Power.PowerSupplyFailed", "2", "redfish")
    assert here.ear.alarms("gpu-02") == ()
    here.bmcs["gpu-01"].tell(RESTORED)
    wait(lambda: not here.ear.alarms("gpu-01"))
    (past,) = here.ear.store.past_alarms("gpu-01")
    assert past.cleared_because == "its sender ended it"
    wait(lambda: here.told("subscriptions", "--all")["gpu-01"]["heard_at"])


def test_a_token_is_good_for_its_own_node_and_shown_to_nobody(hall: Open) -> None:
    """Neither in what commands print nor in what the BMC shows; a BMC cannot speak of its neighbour."""
    here = hall()
    said = [here.typed("signals", "subscribe", "--all"), here.typed("signals", "subscriptions", "--all"),
            here.typed("signals", "token", "list")]  # fmt: skip
    assert here.good() == ["bmc:gpu-01", "bmc:gpu-02", "vector"]
    assert "frs_" not in "".join(f"{each.out}{each.err}" for each in said) + json.dumps(here.members("gpu-01"))
    (token,) = [each for each in here.ear.store.tokens() if each.name == "bmc:gpu-01"]
    assert (token.nodes, [str(each) for each in token.sources]) == (("gpu-01",), ["redfish"])
    here.bmcs["gpu-01"].tell(FAILED | {"Context": "gpu-02"})
    wait(lambda: here.ear.alarms("gpu-01"))
    assert here.ear.alarms("gpu-02") == ()


def test_a_bmc_that_is_elsewhere_is_not_even_reached_and_no_token_is_made(
    hall: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whoever edits a config context would be sent the password, and the token of the node."""
    here = hall()
    with socket.create_server(("127.0.0.1", 0)) as thief:
        thief.settimeout(0)
        elsewhere = f"http://127.0.0.1:{thief.getsockname()[1]}"
        for path in (tmp_path / "site").rglob("*.yml"):
            path.write_text(path.read_text().replace(here.bmcs["gpu-01"].url, elsewhere))
        monkeypatch.setenv("FLEET_BMC_NETWORKS", "10.8.0.0/16")
        told = here.told("subscribe", "--all", code=Exit.NO)
        assert {each["outcome"] for each in told.values()} == {"refused"}
        assert told["gpu-01"]["said"].startswith(f"gpu-01: its BMC at {elsewhere} is not in bmc_networks")
        monkeypatch.setenv("FLEET_BMC_NETWORKS", "")
        told = here.told("subscribe", "--node", "gpu-01", code=Exit.NO)
        assert "which is not its out-of-band address" in told["gpu-01"]["said"]
        with pytest.raises(BlockingIOError):
            thief.accept()
    assert here.good() == ["vector"]


def test_what_is_well_is_left_and_what_a_restart_lost_is_made_again(hall: Open) -> None:
    """With a token of its own; the old one is good for nothing then."""
    here = hall(rules=[{"when": {"event": "bmc_reset"}, "what": "lose_subscriptions"}])
    here.told("subscribe", "--all")
    before = {node: here.members(node) for node in here.bmcs}
    assert {each["outcome"] for each in here.told("subscribe", "--all").values()} == {"as it was"}
    assert {node: here.members(node) for node in here.bmcs} == before
    here.bmcs["gpu-02"].restart()
    assert here.told("subscriptions", "--all")["gpu-02"]["outcome"] == "not subscribed"
    assert here.told("subscribe", "--all", "--dry-run")["gpu-02"]["outcome"] == "would subscribe"
    assert here.members("gpu-02") == []
    said = here.told("subscribe", "--all")
    assert (said["gpu-01"]["outcome"], said["gpu-02"]["said"]) == ("as it was", "it posts here anew")
    here.bmcs["gpu-02"].tell(FAILED)
    wait(lambda: here.ear.alarms("gpu-02"))
    tokens = [each for each in here.ear.store.tokens() if each.name == "bmc:gpu-02"]
    assert [each.refusal(2.0) for each in tokens] == ["revoked", ""]


def test_ours_that_are_there_twice_become_one_and_others_are_left(hall: Open) -> None:
    here = hall()
    here.told("subscribe", "-n", "gpu-01")
    (mine,) = here.members("gpu-01")
    double = {name: mine[name] for name in ("Destination", "Protocol", "Context")}
    theirs = {"Destination": "https://user:secret@else.example/x?key=1", "Protocol": "Redfish", "Context": "theirs"}
    with Client(here.bmcs["gpu-01"]) as client:
        for each in (double, theirs):
            assert client.ask("POST", f"{SERVICE}/Subscriptions", each).status_code == 201
    assert here.told("subscribe", "-n", "gpu-01")["gpu-01"]["said"] == "it posts here, only once now"
    assert [each["Context"] for each in here.members("gpu-01")] == [mine["Context"], "theirs"]
    text = here.typed("signals", "subscriptions", "-n", "gpu-01").out
    assert "also to https://else.example" in text
    assert "secret" not in text
    assert here.told("unsubscribe", "-n", "gpu-01")["gpu-01"]["outcome"] == "unsubscribed"
    assert [each["Context"] for each in here.members("gpu-01")] == ["theirs"]
    assert here.good() == ["vector"]
    assert here.told("unsubscribe", "-n", "gpu-01")["gpu-01"]["outcome"] == "as it was"


@pytest.mark.parametrize("unknown", [("VerifyCertificate", "DeliveryRetryPolicy"), ("HttpHeaders",)])
def test_a_bmc_that_knows_less_is_asked_for_less(hall: Open, unknown: tuple[str, ...]) -> None:
    """One without headers shows the token as the context of its events; the listener takes that, too."""
    here = hall(habits=BmcBehaviour(unknown_to_events=unknown))
    assert here.told("subscribe", "-n", "gpu-01")["gpu-01"]["outcome"] == "subscribed"
    assert here.told("subscribe", "-n", "gpu-01")["gpu-01"]["outcome"] == "as it was"
    if "HttpHeaders" in unknown:
        here.bmcs["gpu-01"].tell(FAILED)
        wait(lambda: here.ear.alarms("gpu-01"))
        assert "frs_" not in here.typed("signals", "subscriptions", "--all").out


def test_a_bmc_that_has_no_room_says_so_and_keeps_no_token(hall: Open) -> None:
    here = hall(habits=BmcBehaviour(subscriptions=0))
    said = here.told("subscribe", "--all", code=Exit.NO)
    assert "takes no more than the 0 subscriptions" in said["gpu-01"]["said"]
    assert here.good() == ["vector"]


def test_a_bmc_without_event_service_or_without_answer_is_unknown_and_harms_no_other(hall: Open) -> None:
    here = hall(changes={"/redfish/v1": {"EventService": None}})
    said = here.told("subscribe", "--all", code=Exit.TROUBLE)
    assert "has no event service" in said["gpu-01"]["said"]
    here.bmcs["gpu-01"].stop()
    said = here.told("subscribe", "--all", code=Exit.TROUBLE)
    assert (said["gpu-01"]["outcome"], said["gpu-01"]["known"]) == ("unknown", False)
    assert "has no event service" in said["gpu-02"]["said"]
    assert here.good() == ["vector"]


def test_an_event_service_that_is_off_is_switched_on(hall: Open) -> None:
    here = hall()
    with Client(here.bmcs["gpu-01"]) as client:
        client.ask("PATCH", SERVICE, {"ServiceEnabled": False})
        assert (
            here.told("subscribe", "-n", "gpu-01")["gpu-01"]["said"] == "it posts here now; its event service was off"
        )
        assert client.get(SERVICE)["ServiceEnabled"] is True


def test_what_a_bmc_repeats_of_a_token_is_not_shown(hall: Open) -> None:
    """A refusal may quote what was posted."""
    echo = {"answer": {"status": 400, "message": "Bearer frs_abcdefghijklmnop is no header"}}
    here = hall(rules=[{"when": {"uri": f"{SERVICE}/Subscriptions", "method": "POST"}, "what": echo}])
    said = here.told("subscribe", "-n", "gpu-01", code=Exit.NO)["gpu-01"]["said"]
    assert "Bearer frs_… is no header" in said
    assert here.good() == ["vector"]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("", "expected where BMCs reach the listener"),
        ("fleet.example:8490", "expected where BMCs reach the listener"),
        ("https://[::1", "expected where BMCs reach the listener"),
        ("https://user:pw@fleet.example", "expected where BMCs reach the listener"),
        ("http://fleet.example:8490", "send tokens in the clear"),
    ],
)
def test_an_address_to_which_no_token_may_go_is_refused(
    hall: Open, monkeypatch: pytest.MonkeyPatch, url: str, said: str
) -> None:
    here = hall()
    monkeypatch.setenv("FLEET_SIGNALS_URL", url)
    ended = here.typed("signals", "subscribe", "--all")
    assert ended.code == Exit.USAGE
    assert said in " ".join(ended.err.split())
    assert here.typed("signals", "subscribe").code == Exit.USAGE


def test_a_bmc_that_breaks_off_is_unknown_and_the_next_run_makes_it_good(hall: Open) -> None:
    """Nobody knows what it did: its token stays until one is made that it certainly has."""
    here = hall(rules=[{"when": {"uri": f"{SERVICE}/Subscriptions", "method": "POST", "times": 1}, "what": "drop"}])
    said = here.told("subscribe", "-n", "gpu-01", code=Exit.TROUBLE)["gpu-01"]
    assert (said["outcome"], said["known"]) == ("unknown", False)
    assert here.told("subscribe", "-n", "gpu-01")["gpu-01"]["outcome"] == "subscribed"
    assert here.good() == ["bmc:gpu-01", "vector"]
    here.bmcs["gpu-01"].tell(FAILED)
    wait(lambda: here.ear.alarms("gpu-01"))


def test_a_node_that_left_is_left_out_and_one_without_a_bmc_is_said_to_have_none(hall: Open, tmp_path: Path) -> None:
    here = hall()
    fleet = Fleet(("hall",), {}, {"lab": DeviceType("lab", "Example", "LAB", 1.0)},
                  {"gpu-01": Device("gpu-01", "lab", "gpu-server", "hall")}, ())  # fmt: skip
    for file in (tmp_path / "site").iterdir():
        file.unlink()
    write_site(fleet, tmp_path / "site")
    assert here.told("subscribe", "--all") == {}
    said = here.told("subscribe", "-n", "gpu-01", code=Exit.TROUBLE)
    assert "no BMC address" in said["gpu-01"]["said"]
