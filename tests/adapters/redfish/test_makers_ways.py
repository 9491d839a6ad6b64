"""What each maker's BMC is told beside an image, on captured trees and on small ones; shown before, and then sent."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.redfish.updates import Updates, Upload
from fleet_runner.core.base.errors import BmcError, BmcRefused
from fleet_runner.core.firmware.makers import Maker
from tests.adapters.redfish.replay import Replay, image_of, replayed, talk, updating

HERE = "/redfish/v1/UpdateService"
BIOS, BMC, DPU_OS = (f"{HERE}/FirmwareInventory/{name}" for name in ("BIOS", "BMC", "DPU_OS"))
ACTION = {"#UpdateService.SimpleUpdate": {"target": f"{HERE}/Actions/UpdateService.SimpleUpdate"}}
URL = "http://10.8.0.1/bf3.bfb"
PUSHED = {"HttpPushUri": f"{HERE}/update"}


@pytest.fixture
def image(tmp_path: Path) -> Path:
    image_of(tmp_path / "image.bin", 1000)
    return tmp_path / "image.bin"


def captured(samples: Path, name: str) -> dict[str, Any]:
    """Return a captured tree."""
    tree: dict[str, Any] = json.loads(gzip.decompress((samples / "redfish" / f"{name}.json.gz").read_bytes()))
    return tree


def told(server: Replay) -> list[Any]:
    """Return what the UpdateService was told."""
    return [body for uri, body in server.said("PATCH") if uri == HERE]


@pytest.mark.parametrize(
    ("name", "maker"),
    [
        ("supermicro_hgx_h100", Maker.SUPERMICRO),
        ("dgx_h100", Maker.NVIDIA),
        ("nvidia_gb200", Maker.NVIDIA),
        ("dell_r750", Maker.DELL),
        ("hpe_dl385", Maker.HPE),
    ],
)
def test_a_captured_machine_says_whose_it_is(samples: Path, name: str, maker: Maker) -> None:
    with replayed(captured(samples, name)) as server, talk(server) as bmc:
        assert Updates(bmc).offer().maker is maker


@pytest.mark.parametrize(
    ("entry", "resource", "kept"),
    [
        ("BMC", "/redfish/v1/Managers/1", ("PreserveCfg", "PreserveSdr", "PreserveSsl")),
        ("BIOS", "/redfish/v1/Systems/1/Bios", ("PreserveME", "PreserveNVRAM", "PreserveSMBIOS")),
    ],
)
def test_a_supermicro_is_told_the_resource_and_what_it_keeps(
    samples: Path, image: Path, entry: str, resource: str, kept: tuple[str, ...]
) -> None:
    """In the parameters, not in a part of their own as AMI's."""
    upload = Upload(image, targets=(f"{HERE}/FirmwareInventory/{entry}",), oem_parameters={kept[0]: False})
    with replayed(captured(samples, "supermicro_hgx_h100")) as server, talk(server) as bmc:
        [said] = Updates(bmc).requests(upload)
        Updates(bmc).send(upload)
        [came] = server.images
    assert isinstance(said.body, dict)
    assert (
        json.loads(came.fields["UpdateParameters"])
        == said.body["UpdateParameters"]
        == {
            "Targets": [resource],
            "@Redfish.OperationApplyTime": "Immediate",
            "Oem": {"Supermicro": {entry: {kept[0]: False, **dict.fromkeys(kept[1:], True)}}},
        }
    )
    assert "OemParameters" not in came.fields


def test_a_supermicros_other_images_go_as_they_are_named(samples: Path, image: Path) -> None:
    target = f"{HERE}/FirmwareInventory/CPLD_Motherboard"
    with replayed(captured(samples, "supermicro_hgx_h100")) as server, talk(server) as bmc:
        Updates(bmc).send(Upload(image, targets=(target,)))
        [came] = server.images
    assert json.loads(came.fields["UpdateParameters"]) == {
        "Targets": [target],
        "@Redfish.OperationApplyTime": "Immediate",
    }


def test_a_gb200_is_told_its_targets_and_the_force(samples: Path, image: Path) -> None:
    """And nothing at all where the catalogue has them untargeted: its BMC finds out by itself (libredfish #39)."""
    target = f"{HERE}/FirmwareInventory/HGX_FW_ERoT_CPU_0"
    when = {"@Redfish.OperationApplyTime": "Immediate"}
    with replayed(captured(samples, "nvidia_gb200")) as server, talk(server) as bmc:
        Updates(bmc).send(Upload(image, targets=(target,), force=True))
        Updates(bmc).send(Upload(image))
        said = [json.loads(came.fields["UpdateParameters"]) for came in server.images]
    assert said == [{"Targets": [target], "ForceUpdate": True, **when}, when]


def test_an_older_nvidia_has_the_targets_of_a_bare_image_set_before_it(samples: Path, image: Path) -> None:
    tree = captured(samples, "nvidia_gb200")
    tree[HERE] = {**tree[HERE], "MultipartHttpPushUri": None, "@odata.etag": '"1"'}
    target = f"{HERE}/FirmwareInventory/HGX_FW_BMC_0"
    with replayed(tree) as server, talk(server) as bmc:
        upload = Upload(image, targets=(target,))
        said = [request.method for request in Updates(bmc).requests(upload)]
        Updates(bmc).send(upload)
        assert (said, told(server)) == (["PATCH", "POST"], [{"HttpPushUriTargets": [target]}])
        [tag] = [headers["If-Match"] for verb, uri, _, headers in server.asked if (verb, uri) == ("PATCH", HERE)]
        Updates(bmc).send(Upload(image))
        assert told(server)[1:] == [{"HttpPushUriTargets": []}], "what the last one left there is not for this one"
    assert tag == '"1"'


@pytest.mark.parametrize(
    ("service", "wanted", "why"),
    [
        ({"HttpPushUriTargets": []}, {"targets": (BIOS,)}, "took HttpPushUriTargets and does not show it"),
        (
            {"HttpPushUriTargets": [], "HttpPushUriTargetsBusy": False},
            {"targets": (BIOS,)},
            "took HttpPushUriTargets and does not show it",
        ),
        ({"HttpPushUriOptions": {"ForceUpdate": False}}, {"force": True}, "could be refused as a downgrade"),
        ({"HttpPushUriOptions": {"ForceUpdate": True}}, {}, "could be written by force"),
    ],
)
def test_a_service_that_takes_a_change_and_forgets_it_gets_no_image(
    image: Path, service: dict[str, Any], wanted: dict[str, Any], why: str
) -> None:
    """It is asked twice."""
    with replayed(updating(**PUSHED, **service)) as server, talk(server) as bmc:
        server.forgets = True
        with pytest.raises(BmcRefused, match=f"nothing was sent: .*{why}"):
            Updates(bmc).send(Upload(image, **wanted))
        assert server.images == []
        [patched] = [at for at, each in enumerate(server.asked) if each[0] == "PATCH"]
        assert [each[:2] for each in server.asked[patched + 1 :]] == [("GET", HERE)] * 2


def test_a_service_that_shows_a_change_late_gets_the_image(image: Path) -> None:
    """With a slash at the end of each target, as some have it."""
    with replayed(updating(**PUSHED, HttpPushUriTargets=[])) as server, talk(server) as bmc:
        before = dict(server.tree[HERE])
        reads: list[list[str]] = [[BIOS + "/"], []]

        def late(handler: Any) -> None:
            told = any(each[0] == "PATCH" for each in server.asked)
            shown = reads.pop() if told and handler.command == "GET" else []
            handler._send(200, {**before, "HttpPushUriTargets": shown})

        server.broken[HERE] = late
        Updates(bmc).send(Upload(image, targets=(BIOS,)))
        assert (reads, len(server.images)) == ([], 1)


@pytest.mark.parametrize("theirs", [[], [BIOS], [BMC], None, 5, True])
def test_a_service_that_another_client_has_reserved_gets_nothing(image: Path, theirs: object) -> None:
    """Whatever its targets are: nobody here reserves any, so it is never us."""
    service = {**PUSHED, "HttpPushUriTargets": theirs, "HttpPushUriTargetsBusy": True}
    with replayed(updating(**service)) as server, talk(server) as bmc:
        for targets in ((BIOS,), ()):
            with pytest.raises(BmcRefused, match=r"nothing was sent: another client .* set HttpPushUriTargetsB"):
                Updates(bmc).send(Upload(image, targets=targets))
        assert (server.images, told(server)) == ([], [])


@pytest.mark.parametrize("theirs", [5, True, "x", None])
def test_targets_that_are_no_list_are_set_like_any(image: Path, theirs: object) -> None:
    service = {**PUSHED, "HttpPushUriTargets": theirs, "HttpPushUriTargetsBusy": False}
    with replayed(updating(**service)) as server, talk(server) as bmc:
        Updates(bmc).send(Upload(image, targets=(BIOS,)))
        assert told(server) == [{"HttpPushUriTargets": [BIOS]}]
        assert len(server.images) == 1


def test_when_a_service_applies_a_bare_image_is_left_as_it_is(image: Path) -> None:
    options = {"HttpPushUriApplyTime": {"ApplyTime": "OnReset"}}
    with replayed(updating(**PUSHED, HttpPushUriOptions=options)) as server, talk(server) as bmc:
        said = [request.body for request in Updates(bmc).requests(Upload(image))]
        Updates(bmc).send(Upload(image))
        assert (said, told(server)) == (["image.bin"], [])
        assert server.images[0].headers["Content-Type"] == "application/octet-stream"


def test_a_maker_is_unknown_where_the_bmc_does_not_say() -> None:
    """And then nothing else is read of it; how it takes images has to be known."""
    asked = {"target": f"{HERE}/Actions/x", "@Redfish.ActionInfo": "/redfish/v1/Info"}
    tree = updating(**PUSHED, Actions={"#UpdateService.SimpleUpdate": asked}, Oem={"Lenovo": {}})
    with replayed(tree) as server, talk(server) as bmc:
        server.raw["/redfish/v1/Info"] = b"nonsense"
        assert Updates(bmc).maker() is Maker.LENOVO
        with pytest.raises(BmcError):
            Updates(bmc).offer()
        server.raw[HERE] = b"nonsense"
        assert Updates(bmc).maker() is Maker.UNKNOWN


@pytest.mark.parametrize("parameters", [5, True, "x", None, [5], {"Name": "Targets"}])
def test_an_action_that_does_not_say_what_it_takes_is_offered_all_the_same(parameters: object) -> None:
    asked = {"target": f"{HERE}/Actions/x", "@Redfish.ActionInfo": "/redfish/v1/Info"}
    tree = updating(Actions={"#UpdateService.SimpleUpdate": asked})
    tree["/redfish/v1/Info"] = {"@odata.id": "/redfish/v1/Info", "Parameters": parameters}
    with replayed(tree) as server, talk(server) as bmc:
        offered = Updates(bmc).offer()
    assert (offered.simple, offered.targets_allowed) == (f"{HERE}/Actions/x", ())


def test_a_supermicro_that_its_root_alone_names_is_one(image: Path) -> None:
    """What is refused and what is sent go by the same."""
    tree = updating(MultipartHttpPushUri=f"{HERE}/upload")
    tree["/redfish/v1"] = {**tree["/redfish/v1"], "Oem": {"Supermicro": {}}}
    with replayed(tree) as server, talk(server) as bmc:
        Updates(bmc).send(Upload(image, targets=(BIOS,)))
        [came] = server.images
    assert json.loads(came.fields["UpdateParameters"]) == {
        "Targets": [BIOS],
        "@Redfish.OperationApplyTime": "Immediate",
        "Oem": {"Supermicro": {"BIOS": {"PreserveNVRAM": True, "PreserveSMBIOS": True}}},
    }


def bluefield(**oem: Any) -> dict[str, Any]:
    """A BlueField's UpdateService, and its Manager's part of NVIDIA's."""
    tree = updating(Actions=ACTION, MultipartHttpPushUri=f"{HERE}/update-multipart")
    manager = "/redfish/v1/Managers/Bluefield_BMC"
    tree["/redfish/v1"] = {**tree["/redfish/v1"], "Managers": {"@odata.id": "/redfish/v1/Managers"}}
    tree["/redfish/v1/Managers"] = {"@odata.id": "/redfish/v1/Managers", "Members": [{"@odata.id": manager}]}
    tree[manager] = {"@odata.id": manager, "Oem": {"Nvidia": {"@odata.id": f"{manager}/Oem/Nvidia"}}}
    if oem:
        tree[f"{manager}/Oem/Nvidia"] = {"@odata.id": f"{manager}/Oem/Nvidia", **oem}
    return tree


@pytest.mark.parametrize("oem", [{}, {"BmcRShim": {"BmcRShimEnabled": True}}])
def test_a_bfb_is_fetched_by_a_bluefields_bmc(tmp_path: Path, oem: dict[str, Any]) -> None:
    """By host and path, with the protocol beside; one may tell nothing of rshim (dpu-update #53)."""
    upload = Upload(tmp_path / "bf3.bfb", targets=(DPU_OS,), url=URL)
    with replayed(bluefield(**oem)) as server, talk(server) as bmc:
        said = [request.body for request in Updates(bmc).requests(upload)]
        Updates(bmc).send(upload)
        sent = [body for uri, body in server.said("POST") if "SimpleUpdate" in uri]
    assert said == sent == [{"ImageURI": "10.8.0.1/bf3.bfb", "Targets": [DPU_OS], "TransferProtocol": "HTTP"}]


def test_a_bfb_keeps_its_protocol_or_is_not_asked_for(tmp_path: Path) -> None:
    """Its address is sent bare, so that a BMC that does not know HTTPS would fetch it by something else."""
    tree = bluefield()
    allowed = {"TransferProtocol@Redfish.AllowableValues": ["SCP", "HTTP"]}
    tree[HERE]["Actions"] = {name: {**action, **allowed} for name, action in ACTION.items()}
    with replayed(tree) as server, talk(server) as bmc:
        upload = Upload(tmp_path / "bf3.bfb", targets=(DPU_OS,), url=URL.replace("http:", "https:"))
        with pytest.raises(BmcRefused, match=r"nothing was sent: .* fetches a BFB by SCP, HTTP, not HTTPS"):
            Updates(bmc).send(upload)
        assert [uri for uri, _ in server.said("POST") if "SimpleUpdate" in uri] == []


def test_a_bfb_waits_until_the_bmc_has_rshim(tmp_path: Path) -> None:
    upload = Upload(tmp_path / "bf3.bfb", targets=(DPU_OS,), url=URL)
    with replayed(bluefield(BmcRShim={"BmcRShimEnabled": False})) as server, talk(server) as bmc:
        with pytest.raises(BmcRefused, match=r"nothing was sent: .* has no rshim .* bfb-install over rshim"):
            Updates(bmc).send(upload)
        assert [uri for uri, _ in server.said("POST") if "SimpleUpdate" in uri] == []


def test_a_bfb_without_a_url_to_fetch_it_from_is_not_sent_in_a_form(tmp_path: Path) -> None:
    with replayed(bluefield()) as server, talk(server) as bmc:
        with pytest.raises(BmcRefused, match=r"takes no image by simple; .* set firmware_url"):
            Updates(bmc).send(Upload(tmp_path / "bf3.bfb", targets=(DPU_OS,)))
        assert server.images == []


def test_an_error_within_a_success_leaves_open_whether_the_image_was_taken(image: Path) -> None:
    wrong = {"error": {"@Message.ExtendedInfo": [{"Severity": "Critical", "Message": "No space\x1b[31m left."}]}}
    fine = {"error": {"code": "Base.1.0.Success", "@Message.ExtendedInfo": [{"Severity": "OK", "Message": "Done."}]}}
    with replayed(updating(MultipartHttpPushUri=f"{HERE}/upload")) as server, talk(server) as bmc:
        server.answer = (200, wrong, {})
        with pytest.raises(BmcError, match=r"in its text an error: No space.* left") as error:
            Updates(bmc).send(Upload(image))
        assert not isinstance(error.value, BmcRefused)
        assert "\x1b" not in str(error.value)
        server.answer = (200, fine, {})
        assert Updates(bmc).send(Upload(image)) == ""


def test_an_error_within_a_success_of_what_is_to_be_fetched_leaves_it_open(image: Path) -> None:
    wrong = {"error": {"@Message.ExtendedInfo": [{"Severity": "Critical", "Message": "No space left."}]}}
    with replayed(updating(Actions=ACTION)) as server, talk(server) as bmc:
        server.raw[str(ACTION["#UpdateService.SimpleUpdate"]["target"])] = json.dumps(wrong).encode()
        with pytest.raises(BmcError, match="in its text an error: No space left") as error:
            Updates(bmc).send(Upload(image, url="http://10.8.0.1/image.bin"))
        assert not isinstance(error.value, BmcRefused)
