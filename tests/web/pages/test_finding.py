"""Finding by name, serial number or scan; labels to print."""

from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree as ET

import httpx
import pytest
from playwright.sync_api import Browser, expect

from fleet_runner.core.access.roles import Role
from fleet_runner.web.pages.labels import drawn
from tests.waiting import PATIENCE
from tests.web.hall import HOSTILE, Hall
from tests.web.looking import PHONE, accessible, fits, opened, shot
from tests.web.served import Served, served


@pytest.fixture(scope="module")
def site(hall: Hall, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The hall, with a hostile name in a rack, reached from phones."""
    first = hall.fleet.devices[hall.names[0]]
    odd = replace(first, name=f"a/{HOSTILE}", serial=f"S/{HOSTILE}?q=&", position=40.0, parts=())
    fleet = replace(hall.fleet, devices={**hall.fleet.devices, odd.name: odd})
    with served(hall.store, fleet, tmp_path_factory.mktemp("state"), web_url="http://fleet.example/") as found:
        yield found


@pytest.fixture
def technician(site: Served) -> Iterator[httpx.Client]:
    with site.client(Role.TECHNICIAN) as client:
        yield client


@pytest.mark.parametrize(
    ("text", "to"),
    [
        ("GPU-00001", "/nodes/gpu-00001"),
        ("sn000002", "/nodes/gpu-00002"),
        ("gp000010", "/nodes/gpu-00002"),
        ("#1", "/tickets/1"),
        ("hall-1/R003", "/fleet/racks/hall-1/R003"),
    ],
)
def test_the_one_thing_that_is_meant_is_opened(technician: httpx.Client, text: str, to: str) -> None:
    answer = technician.get("/find", params={"q": text})
    assert (answer.status_code, answer.headers.get("location")) == (303, to)


def test_what_may_be_meant_is_listed_up_to_a_number(technician: httpx.Client) -> None:
    text = technician.get("/find", params={"q": "gpu-"}).text
    assert text.count(">NODE<") == 32
    many = technician.get("/find", params={"q": "000"}).text
    assert many.count('class="task"') <= 50
    leaf = technician.get("/find", params={"q": "leaf-3"})
    assert (leaf.status_code, "hall-1 rack unknown" in leaf.text) == (200, True)


@pytest.mark.parametrize(
    "text", ["", " ", "%00", "nothing-like-it", HOSTILE, "#", "#99999999999999", "١٢", "'; DROP--"]
)
def test_what_is_nothing_says_so(technician: httpx.Client, text: str) -> None:
    answer = technician.get("/find", params={"q": text})
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text
    assert technician.get("/find", params={"q": "x" * 101}).status_code == 422


def test_labels_are_of_a_rack_or_of_one_device(technician: httpx.Client) -> None:
    text = technician.get("/labels", params={"rack": "hall-1/R001"}).text
    assert text.count('class="label"') == 5
    assert "<script>alert" not in text
    assert technician.get("/labels", params={"node": "gpu-00007"}).text.count('class="label"') == 1
    assert "has nothing there" in technician.get("/labels", params={"node": HOSTILE}).text


def test_a_label_is_a_picture_without_a_style(technician: httpx.Client, site: Served) -> None:
    for name in ("gpu-00001", f"a%2F{httpx.QueryParams({'n': HOSTILE})}".replace("n=", "").replace("+", "%20")):
        answer = technician.get(f"/labels/{name}.svg")
        assert answer.status_code == 200, name
        assert answer.headers["content-type"] == "image/svg+xml"
        assert "style" not in answer.text
        ET.fromstring(answer.text)  # noqa: S314  our own output
    assert technician.get("/labels/nothing.svg").status_code == 404
    assert drawn("http://fleet.example/find?q=SN000001") == technician.get("/labels/gpu-00001.svg").content
    with site.client(Role.VIEWER) as viewer:
        assert viewer.get("/labels").status_code == 403
        assert viewer.get("/labels/gpu-00001.svg").status_code == 403
    with site.client(Role.TENANT, "Acme") as tenant:
        assert tenant.get("/find", params={"q": "gpu-00001"}).status_code == 403


def test_without_web_url_it_is_said_what_to_set(hall: Hall, tmp_path_factory: pytest.TempPathFactory) -> None:
    with served(hall.store, hall.fleet, tmp_path_factory.mktemp("bare")) as bare, bare.client() as client:
        text = client.get("/labels", params={"node": "gpu-00001"}).text
        assert "The setting web_url is empty" in text
        assert "/labels/gpu-00001.svg" not in text
        assert client.get("/labels/gpu-00001.svg").status_code == 404


def test_without_a_source_of_truth_names_are_found(
    hall: Hall, site: Served, tmp_path_factory: pytest.TempPathFactory
) -> None:
    token = site.token(Role.TECHNICIAN)
    with served(hall.store, None, tmp_path_factory.mktemp("blind")) as blind:
        blind.tokens[Role.TECHNICIAN.value] = token
        with blind.client(Role.TECHNICIAN) as client:
            assert client.get("/find", params={"q": "gpu-00001"}).headers["location"] == "/nodes/gpu-00001"
            assert "could not be read yet" in client.get("/find", params={"q": "rack"}).text
            assert "could not be read yet" in client.get("/labels").text
            assert client.get("/tickets").status_code == 200
            assert "could not be read yet" in client.get("/tickets/1").text
            assert "No place in a rack" in client.get("/tickets/1/rack.svg").text


@pytest.mark.parametrize("dark", [False, True])
def test_somebody_finds_a_node_by_keyboard(site: Served, browser: Browser, dark: bool) -> None:
    with opened(browser, site, Role.TECHNICIAN, size=PHONE, dark=dark) as page:
        page.goto(site.url)
        page.focus("#find")
        page.keyboard.type("leaf")
        page.keyboard.press("Enter")
        expect(page.locator(".task").first).to_contain_text("leaf-0")
        accessible(page)
        fits(page)
        shot(page, f"find-{dark}")
        page.goto(f"{site.url}/labels?rack=hall-1/R001")
        accessible(page)
        fits(page)
        shot(page, f"labels-{dark}")


def test_whoever_scans_a_label_before_logging_in_comes_to_it_afterwards(site: Served) -> None:
    token = site.token(Role.TECHNICIAN)
    with httpx.Client(base_url=site.url, headers={"accept": "text/html"}, timeout=PATIENCE) as client:
        asked = client.get("/find", params={"q": "SN000002"}).headers["location"]
        assert asked == "/login?next=/find%3Fq%3DSN000002"
        form = client.get(asked).text
        assert 'value="/find?q=SN000002"' in form
        answer = client.post("/login", data={"token": token, "next": "/find?q=SN000002"})
        assert client.get(answer.headers["location"]).headers["location"] == "/nodes/gpu-00002"


DETECTOR = """
class Reader {
  static async getSupportedFormats() { return ["code_128", "qr_code", "ean_13"]; }
  constructor({ formats }) { window.asked = formats; }
  async detect(video) { return video.videoWidth ? [{ rawValue: window.name }] : []; }
}
window.BarcodeDetector = Reader;
navigator.mediaDevices.getUserMedia = async () => {
  const picture = document.createElement("canvas");
  picture.getContext("2d").fillRect(0, 0, 9, 9);
  const stream = picture.captureStream(20);
  setInterval(() => picture.getContext("2d").fillRect(0, 0, Math.random() * 9, 9), 30);
  return stream;
};
"""
"""What a phone's browser has, and Debian's has not."""


@pytest.mark.parametrize(
    ("code", "to"),
    [
        ("http://fleet.example/find?q=SN000002", "/nodes/gpu-00002"),
        ("SN000003", "/nodes/gpu-00003"),
        ("https://elsewhere.example/find?q=SN000004", "/nodes/gpu-00004"),
        ("http://fleet.example/tickets/1", "/tickets/1"),
        ("https://elsewhere.example/evil", "/find?q=https%3A%2F%2Felsewhere.example%2Fevil"),
    ],
)
def test_a_label_before_the_camera_opens_its_device(site: Served, browser: Browser, code: str, to: str) -> None:
    with opened(browser, site, Role.TECHNICIAN, size=PHONE) as page:
        page.add_init_script(DETECTOR)
        page.goto(f"{site.url}/tickets")
        page.evaluate("code => { window.name = code; }", code)
        accessible(page)
        page.get_by_role("button", name="Scan a label").click()
        page.wait_for_url(f"{site.url}{to}")


def test_without_a_reader_there_is_the_field(site: Served, browser: Browser) -> None:
    with opened(browser, site, Role.TECHNICIAN, size=PHONE) as page:
        page.goto(f"{site.url}/find")
        expect(page.locator("#again")).to_be_visible()
        expect(page.locator("#scan")).to_be_hidden()


def test_a_node_and_a_ticket_show_their_codes(site: Served, technician: httpx.Client) -> None:
    assert "/labels/gpu-00001.svg" in technician.get("/nodes/gpu-00001").text
    assert "/tickets/1/code.svg" in technician.get("/tickets/1").text
    assert technician.get("/tickets/1/code.svg").content == drawn("http://fleet.example/tickets/1")
    assert technician.get("/tickets/999/code.svg").status_code == 404
    with site.client(Role.VIEWER) as viewer:
        assert "/labels/gpu-00001.svg" not in viewer.get("/nodes/gpu-00001").text
