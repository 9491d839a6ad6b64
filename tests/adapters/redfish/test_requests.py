"""What a dry run says would be sent is what is sent, and to say it nothing is."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.adapters.redfish.updates import Updates, Upload
from tests.adapters.redfish.replay import Replay, image_of, replayed, talk, updating
from tests.examples import UNHURRIED, examples

ENTRIES = [f"/redfish/v1/UpdateService/FirmwareInventory/{name}" for name in ("BIOS", "GPU_1", "GPU_2")]
ACTION = {"#UpdateService.SimpleUpdate": {"target": "/redfish/v1/UpdateService/Actions/SimpleUpdate"}}
WHEN = {"MultipartHttpPushUri@Redfish.OperationApplyTimeSupport": {"SupportedValues": ["Immediate"]}}
SERVICES: dict[str, dict[str, Any]] = {
    "multipart": {"MultipartHttpPushUri": "/upload"},
    "multipart that is told when": {"MultipartHttpPushUri": "/upload", **WHEN},
    "push": {"HttpPushUri": "/push"},
    "push that is told for what": {
        "HttpPushUri": "/push",
        "HttpPushUriTargets": [],
        "HttpPushUriOptions": {"ForceUpdate": True},
    },
    "simple": {"Actions": ACTION},
    "HPE's form": {"HttpPushUri": "/cgi-bin/uploadFile"},
}


def arrived(server: Replay) -> list[tuple[str, str, Any]]:
    """What changed something: method, URI, and the body with an image by its name."""
    images = {image.uri: image for image in server.images}
    found = []
    for method, uri, body, _ in server.asked:
        if method == "GET" or "SessionService" in uri:
            continue
        image = images.get(uri)
        found.append((method, uri, body if image is None else form(image.fields, image.name)))
    return found


def form(fields: dict[str, str], name: str) -> Any:
    """A form as a dry run shows it; a bare image has no fields."""
    if not fields:
        return "image.bin"
    whole = {key: value if key == "sessionKey" else json.loads(value) for key, value in fields.items()}
    return {**whole, "file" if "sessionKey" in fields else "UpdateFile": name}


OEM: list[dict[str, object]] = [{}, {"ImageType": "BMC"}, {"FlashType": "HPMFwUpdate", "Preserve": True, "Slot": 2}]


@settings(max_examples=examples(40), suppress_health_check=UNHURRIED)
@given(
    service=st.sampled_from(sorted(SERVICES)),
    targets=st.sets(st.sampled_from(ENTRIES)),
    oem=st.sampled_from(OEM),
    force=st.booleans(),
)
def test_what_would_be_sent_is_what_is_sent(
    tmp_path: Path, service: str, targets: set[str], oem: dict[str, object], *, force: bool
) -> None:
    image_of(tmp_path / "image.bin", 1000)
    url = "http://127.0.0.1:1/image.bin" if service == "simple" else ""
    upload = Upload(tmp_path / "image.bin", targets=tuple(sorted(targets)), force=force, url=url, oem_parameters=oem)
    with replayed(updating(**SERVICES[service])) as server, talk(server) as bmc:
        said = [tuple(request) for request in Updates(bmc).requests(upload)]
        assert arrived(server) == []
        Updates(bmc).send(upload)
        sent = arrived(server)
    hidden = [
        (method, uri, {**body, "sessionKey": "…"} if "sessionKey" in body else body) for method, uri, body in sent
    ]
    assert said == hidden
    carried = oem if service.startswith("multipart") and oem else None
    assert carried == (sent[-1][2].get("OemParameters") if isinstance(sent[-1][2], dict) else None)


@pytest.mark.parametrize("service", ["multipart", "simple"])
def test_force_is_said_only_where_it_is_asked_for(tmp_path: Path, service: str) -> None:
    image_of(tmp_path / "image.bin", 10)
    upload = Upload(tmp_path / "image.bin", url="http://127.0.0.1:1/image.bin")
    with replayed(updating(**SERVICES[service])) as server, talk(server) as bmc:
        [request] = Updates(bmc).requests(upload)
    assert "ForceUpdate" not in json.dumps(request.body)
