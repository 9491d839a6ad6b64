"""The client and the lab's BMCs, each of which was written without a look at the other: whole updates, end to end."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.adapters.redfish import Bmc, opened
from fleet_runner.adapters.redfish.bios import Bios
from fleet_runner.adapters.redfish.updates import NoTasksError, Updates, Upload
from fleet_runner.core.base.errors import BmcError, BmcRefused
from fleet_runner.core.firmware.flash import TaskEnd
from fleet_runner.lab.redfish import BmcBehaviour, Durations, Emulator, Tree, images, load
from fleet_runner.lab.redfish.trees import OUR_OWN
from fleet_runner.settings import Settings
from tests.adapters.redfish.replay import QUICK
from tests.examples import UNHURRIED, examples

USER = ("admin", "correct horse")
HERE = "/redfish/v1/UpdateService"
NAMES = {"own": ("BIOS", "BMC"), "dgx_h100": ("HostBIOS_0", "HostBMC_0"), "supermicro_hgx_h100": ("BIOS", "BMC")}
Found = TypeVar("Found")


@pytest.fixture(params=list(NAMES))
def tree(request: pytest.FixtureRequest) -> Tree:
    """The lab's own tree, and both captured ones."""
    if request.param == "own":
        return load(OUR_OWN)
    samples: Path = request.getfixturevalue("samples")
    return load(samples / "redfish" / f"{request.param}.json.gz")


@pytest.fixture
def names(request: pytest.FixtureRequest) -> tuple[str, str]:
    """What the tree calls its BIOS and its BMC."""
    return NAMES[request.node.callspec.params["tree"]]


@pytest.fixture
def own() -> Iterator[Emulator]:
    """A BMC of the lab's own kind."""
    with emulated(load(OUR_OWN)) as bmc:
        yield bmc


def emulated(tree: Tree, **said: Any) -> Emulator:
    """Return a quick BMC, not yet started."""
    return Emulator(tree, credentials=USER, pace=Durations.quick(), **said)


def until(ask: Callable[[], Found | None]) -> Found:
    """Ask until there is an answer; a BMC that restarts has none for a while. How long that takes says nothing."""
    deadline = time.monotonic() + 120
    while True:
        try:
            found = ask()
        except BmcError:
            found = None
        if found:
            return found
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.01)


def over(updates: Updates, uri: str) -> bool:
    """Tell if a task is over, or gone with a restart."""
    task = updates.task(uri)
    return task is None or task.state is not TaskEnd.RUNNING


def image(folder: Path, **versions: str) -> Path:
    """Write an image."""
    images.write(folder / "image.bin", versions, size=300_000)
    return folder / "image.bin"


def uri_of(updates: Updates, name: str) -> str:
    """Return the inventory's entry of a name."""
    return next(uri for uri in updates.inventory() if uri.endswith(f"/{name}"))


def test_bios_and_bmc_are_brought_to_new_versions(tree: Tree, names: tuple[str, str], tmp_path: Path) -> None:
    bios, bmc_name = names
    with emulated(tree) as emulator, Bmc(emulator.url, *USER) as bmc:
        updates = Updates(bmc)
        for name in (bmc_name, bios):
            before = set(updates.tasks())
            uri = updates.send(Upload(image(tmp_path, **{name: "9.9"}), targets=(uri_of(updates, name),)))
            assert uri not in before
            assert until(lambda uri=uri: over(updates, uri))
        updates.reset_bmc()
        assert until(lambda: updates.inventory()[uri_of(updates, bmc_name)]["Version"] == "9.9")
        until(lambda: updates.reset_host() or True)
        assert until(lambda: updates.inventory()[uri_of(updates, bios)]["Version"] == "9.9")
        assert [update.outcome for update in emulator.updates()] == ["done", "done"]
        assert emulator.power == "On"
    logins = [event.kind for event in emulator.log if event.kind in ("login", "login_refused")]
    assert len(logins) <= 4, "one session, and one more after each restart of the BMC"


def test_a_task_that_fails_is_seen_to_fail(tree: Tree, names: tuple[str, str], tmp_path: Path) -> None:
    rules = [{"when": {"event": "update"}, "what": {"fail": {"at": 40}}}]
    with emulated(tree, rules=rules) as emulator, Bmc(emulator.url, *USER) as bmc:
        updates = Updates(bmc)
        uri = updates.send(Upload(image(tmp_path, **{names[0]: "9.9"}), targets=(uri_of(updates, names[0]),)))
        task = until(lambda: over(updates, uri) and updates.task(uri))
        assert task
        assert task.state is TaskEnd.FAILED
        assert task.messages


def test_settings_wait_for_a_reset_and_are_in_force_after_it(tree: Tree) -> None:
    with emulated(tree) as emulator, Bmc(emulator.url, *USER) as bmc:
        bios = Bios(bmc)
        now = bios.attributes()
        name = next(name for name, value in now.items() if value in ("Enabled", "Enable", "Disabled"))
        wanted = {"Enabled": "Disabled", "Enable": "Disable", "Disabled": "Enabled"}[now[name]]
        bios.set({name: wanted})
        assert bios.pending() == {name: wanted}
        assert bios.attributes() == now
        Updates(bmc).reset_host()
        assert until(lambda: bios.attributes()[name] == wanted)
        assert bios.pending() == {}


SLOW = {"when": {"event": "update"}, "what": {"slow": {"times": 100_000}}}


def test_a_second_update_while_one_runs_is_refused_for_certain(own: Emulator, tmp_path: Path) -> None:
    with emulated(own.tree, rules=[SLOW]) as emulator, Bmc(emulator.url, *USER) as bmc:
        updates = Updates(bmc)
        targets = (uri_of(updates, "BIOS"),)
        uri = updates.send(Upload(image(tmp_path, BIOS="9.9"), targets=targets))
        with pytest.raises(BmcRefused, match="answered"):
            updates.send(Upload(tmp_path / "image.bin", targets=targets))
        task = updates.task(uri)
        assert task
        assert task.state is TaskEnd.RUNNING
        assert len(emulator.updates()) == 1


FAULTS = st.sampled_from(
    [
        {"when": {"event": "upload"}, "what": {"drop_before_body": {}}},
        {"when": {"event": "upload"}, "what": {"refuse": {"status": 413}}},
        {"when": {"event": "accept"}, "what": {"drop_after_body": {}}},
        {"when": {"event": "accept"}, "what": {"drop_unaccepted": {}}},
        {"when": {"event": "accept"}, "what": {"refuse": {"status": 409}}},
        {"when": {"event": "accept"}, "what": {"needs_force": {}}},
        {"when": {"event": "request", "share": 0.4, "times": 4}, "what": {"answer": {"status": 503}}},
        {"when": {"event": "request", "share": 0.3, "times": 2}, "what": {"answer": {"status": 500}}},
        {"when": {"event": "request", "share": 0.3, "times": 2}, "what": {"drop": {}}},
        {"when": {"event": "request", "share": 0.3, "times": 3}, "what": {"lose_session": {}}},
    ]
)


@settings(max_examples=examples(60), suppress_health_check=UNHURRIED)
@given(rules=st.lists(FAULTS, max_size=3), seed=st.integers(0, 1000))
def test_whatever_goes_wrong_an_image_goes_once_and_what_is_known_of_it_is_true(
    tmp_path_factory: pytest.TempPathFactory, rules: list[Any], seed: int
) -> None:
    """Refused for certain is never taken, a task that is named is there, and the rest is left open."""
    file = image(tmp_path_factory.mktemp("image"), BIOS="9.9")
    with emulated(load(OUR_OWN), rules=rules, seed=seed) as emulator:
        with Bmc(emulator.url, *USER, limits=QUICK) as bmc:
            try:
                uri = Updates(bmc).send(Upload(file, targets=(f"{HERE}/FirmwareInventory/BIOS",)))
            except BmcRefused:
                taken, told = False, ""
            except BmcError:
                taken, told = None, ""
            else:
                taken, told = True, uri
        kinds = [event.kind for event in emulator.log]
        accepted = [event["task"] for event in emulator.log if event.kind == "accepted"]
    assert kinds.count("upload_begun") <= 1
    assert len(accepted) <= 1
    assert taken is None or taken is bool(accepted)
    assert not told or accepted == [told]


@pytest.mark.parametrize("location", ["monitor", "task", "nothing"])
def test_a_task_is_found_however_it_is_named(location: str, tmp_path: Path) -> None:
    with emulated(load(OUR_OWN), habits=BmcBehaviour(location=location)) as emulator, Bmc(emulator.url, *USER) as bmc:
        updates = Updates(bmc)
        uri = updates.send(Upload(image(tmp_path, BIOS="9.9"), targets=(uri_of(updates, "BIOS"),)))
        found = set(updates.tasks())
        assert uri in {*found, ""}
        assert len(found) == 1
        assert until(lambda: all(task.state is TaskEnd.DONE for task in updates.tasks().values()))


def test_a_bmc_that_only_takes_bare_images_gets_one(tmp_path: Path) -> None:
    service = {
        "MultipartHttpPushUri": None,
        "HttpPushUri": f"{HERE}/update",
        "HttpPushUriTargets": [],
        "Actions": None,
    }
    with emulated(load(OUR_OWN), changes={HERE: service}) as emulator, Bmc(emulator.url, *USER) as bmc:
        updates = Updates(bmc)
        assert updates.offer().multipart == updates.offer().simple == ""
        updates.send(Upload(image(tmp_path, BIOS="9.9"), targets=(uri_of(updates, "BIOS"),)))
        assert until(lambda: emulator.pending() == {"BIOS": "9.9"})


def test_power_is_taken_away_where_the_chassis_offers_it(own: Emulator, tmp_path: Path) -> None:
    with Bmc(own.url, *USER) as bmc:
        updates = Updates(bmc)
        updates.send(Upload(image(tmp_path, CPLD_Motherboard="9.9"), targets=(uri_of(updates, "CPLD_Motherboard"),)))
        until(own.pending)
        updates.ac_drain()
        assert until(lambda: updates.inventory()[uri_of(updates, "CPLD_Motherboard")]["Version"] == "9.9")
        started = updates.bmc_reset_at()
        assert started is not None
        assert time.time() - started < 300


def test_an_account_is_never_locked_by_many_who_have_the_wrong_password(own: Emulator, tmp_path: Path) -> None:
    """The lab's BMC locks an account after five."""
    file = tmp_path / "bmc.yml"
    file.write_text(json.dumps({"username": USER[0], "password": "wrong"}))
    file.chmod(0o600)
    held = Settings(bmc_credentials=file, state_dir=tmp_path / "state")
    for _ in range(20):
        with pytest.raises(BmcError, match="do not retry"), opened(held, own.url) as bmc:
            Updates(bmc).inventory()
    with Bmc(own.url, *USER) as bmc:
        assert Updates(bmc).inventory()
    assert [event.kind for event in own.log].count("login_refused") == 1


def test_a_bmc_without_tasks_says_so(tmp_path: Path) -> None:
    root = {"/redfish/v1": {"Tasks": None}}
    with emulated(load(OUR_OWN), changes=root) as emulator, Bmc(emulator.url, *USER) as bmc:
        with pytest.raises(NoTasksError):
            Updates(bmc).tasks()
        targets = (uri_of(Updates(bmc), "BIOS"),)
        assert Updates(bmc).send(Upload(image(tmp_path, BIOS="9.9"), targets=targets))


def test_what_is_known_of_the_settings_of_a_bmc_is_found_through_its_registries(own: Emulator) -> None:
    with Bmc(own.url, *USER) as bmc:
        assert set(Bios(bmc).attributes()) <= set(Bios(bmc).registry())
