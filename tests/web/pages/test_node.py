"""The page of a node: what stands in it, for whom, and that nothing from a node becomes a part of it."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from fleet_runner.adapters.store.lifecycle import history
from fleet_runner.core.access.roles import Role
from fleet_runner.core.cabling.fabrics import fabrics
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.runs import Entry, IntentKind
from fleet_runner.core.lifecycle.states import State
from fleet_runner.web.pages.results import LONGEST
from tests.web.hall import NOW, Hall
from tests.web.served import Served, served
from tests.web.told import TEXT, told


@pytest.fixture(scope="module")
def client(site: Served) -> Iterator[httpx.Client]:
    """An operator."""
    with site.client() as found:
        yield found


@pytest.fixture(scope="module")
def failed(hall: Hall) -> str:
    """A node whose checks said a lot."""
    return told(hall)


def number_of(hall: Hall, name: str, check: str) -> int:
    """The newest result of a check."""
    return next(each.id for each in hall.store.latest_results(name) if each.result.check == check)


def test_a_node_says_where_it_is_and_why(client: httpx.Client, hall: Hall) -> None:
    held = hall.in_state(State.PRODUCTION)[0]
    said = client.get(f"/nodes/{held}").text
    for words in (held, "held by alice", "its fans are being looked at", "hall-1 rack R001 U1", "hgx-h100", "Acme"):
        assert words in said
    assert "Release" in said
    assert 'value="hold"' not in said


def test_every_state_has_its_page_with_its_way(client: httpx.Client, hall: Hall) -> None:
    for name in hall.names:
        answer = client.get(f"/nodes/{name}")
        assert answer.status_code == 200, name
        assert answer.text.count("never") > 2
        assert " here" in answer.text


def test_its_life_is_a_band_with_its_tickets(client: httpx.Client, hall: Hall) -> None:
    said = client.get(f"/nodes/{hall.in_state(State.PRODUCTION)[4]}").text
    band = said[said.index('<svg class="life"') : said.index("</svg>", said.index('<svg class="life"'))]
    assert band.count("<rect class=") == 7
    assert band.index("<title>burn_in from") < band.index("<title>production from")
    assert band.count('<a href="/tickets/') == 1
    assert "until now</title>" in band


def test_nothing_that_a_node_said_is_a_part_of_a_page(client: httpx.Client, hall: Hall, failed: str) -> None:
    draining = hall.in_state(State.PRODUCTION)[1]
    results = [f"/nodes/{failed}/results/{each.id}" for each in hall.store.latest_results(failed)]
    evidence = [
        f"/nodes/{failed}/evidence/{digest}"
        for each in hall.store.latest_results(failed)
        for digest in each.result.evidence
    ]
    for path in (f"/nodes/{failed}", f"/nodes/{draining}", *results, *evidence):
        said = client.get(path).text
        assert "<script>alert" not in said, path
        assert "\u202e" not in said, path
    assert "&lt;script&gt;alert" in client.get(f"/nodes/{failed}").text


def test_odd_facts_are_a_bounded_table(client: httpx.Client, hall: Hall, failed: str) -> None:
    answer = client.get(f"/nodes/{failed}/results/{number_of(hall, failed, 'odd_facts')}")
    assert "nested.deep.0.a" in answer.text
    assert "(300000 characters)" in answer.text
    assert len(answer.text) < 60_000


def test_evidence_is_bounded_in_a_page_and_whole_as_a_file(client: httpx.Client, hall: Hall, failed: str) -> None:
    number = number_of(hall, failed, "odd_facts")
    (digest,) = hall.store.stored([number])[0].result.evidence
    shown = client.get(f"/nodes/{failed}/evidence/{digest}", params={"result": number})
    assert f"the first {LONGEST} of {len(TEXT)} characters" in shown.text
    assert len(shown.text) < LONGEST + 10_000
    saved = client.get(f"/nodes/{failed}/evidence/{digest}/text", params={"result": number})
    assert saved.text == TEXT
    assert saved.headers["content-type"] == "text/plain; charset=utf-8"
    assert saved.headers["content-disposition"].startswith("attachment; ")


def test_of_what_others_were_judged_from_nobody_is_told_here(client: httpx.Client, hall: Hall, failed: str) -> None:
    number, other = number_of(hall, failed, "odd_facts"), hall.names[9]
    (digest,) = hall.store.stored([number])[0].result.evidence
    for path in (
        f"/nodes/{other}/results/{number}",
        f"/nodes/{other}/evidence/{digest}",
        f"/nodes/{other}/evidence/{digest}?result={number}",
        f"/nodes/{failed}/evidence/{digest}?result={number_of(hall, failed, 'time_sync')}",
        f"/nodes/{failed}/evidence/{digest[:12]}",
        f"/nodes/{failed}/results/999999",
    ):
        assert client.get(path).status_code == 404, path


def test_links_stand_as_designed_beside_as_seen(client: httpx.Client, failed: str) -> None:
    said = client.get(f"/nodes/{failed}").text.partition('id="links"')[2].partition('id="past"')[0]
    assert said.count('<b class="differs">differs</b>') == 1
    assert said.count('<b class="unsure">not known</b>') == 1
    assert said.count('<b class="good">as designed</b>') == 6
    assert said.count('<g class="differs">') == 1


def test_firmware_stands_beside_its_pins_or_why_not(client: httpx.Client, failed: str) -> None:
    said = client.get(f"/nodes/{failed}").text.partition('id="firmware"')[2].partition('id="links"')[0]
    assert "The pinned versions are unknown" in said
    assert '<td class="differs">drift</td>' in said


def test_the_past_can_be_narrowed(client: httpx.Client, hall: Hall, failed: str) -> None:
    def past(kind: str) -> str:
        return client.get(f"/nodes/{failed}", params={"kind": kind}).text.partition('<ol class="moves past">')[2]

    assert 'class="transition"' in past("moves")
    assert 'class="ticket"' not in past("moves")
    assert f"/results/{number_of(hall, failed, 'odd_facts')}" in past("findings")
    assert "(alice)" in past("people")
    assert "(runner)" not in past("people")
    assert past("nonsense") == past("")
    assert client.get(f"/nodes/{failed}", params={"before": "nonsense"}).status_code == 200


def test_a_long_past_is_cut_into_pages_of_a_bounded_size(client: httpx.Client, hall: Hall) -> None:
    name = hall.in_state(State.PRODUCTION)[-1]
    lines = (Entry(0, name, NOW - 5000 + at // 4, "intent", f"(reason {at}.)", "carol") for at in range(5000))
    with hall.store._database.write() as connection:
        history.add(connection, lines)
    seen: list[str] = []
    path, sizes = f"/nodes/{name}?kind=requests", list[int]()
    while path:
        text = client.get(path).text
        past = text.partition('<ol class="moves past">')[2]
        seen += [line.partition(".")[0] for line in past.split("(reason ")[1:]]
        sizes.append(len(past))
        older = past.partition('<a class="button quiet" href="')[2].partition('"')[0].replace("&amp;", "&")
        path = older.partition("#")[0]
    assert len(seen) == len(set(seen)) == 5000
    assert max(sizes) < 100_000
    assert len(client.get(f"/nodes/{name}").text) < 400_000


def test_a_node_that_is_not_there_has_near_names(client: httpx.Client) -> None:
    answer = client.get("/nodes/gpu-000100")
    assert answer.status_code == 404
    assert "gpu-00010" in answer.text
    assert client.get("/nodes/%3Cscript%3E").status_code == 404
    assert client.get(f"/nodes/{'x' * 300}").status_code == 422


def test_a_node_that_the_source_does_not_describe_has_its_page(client: httpx.Client, hall: Hall) -> None:
    hall.store.register([Device("stray-01", "unheard-of", "gpu-server", "hall-9")], NOW)
    said = client.get("/nodes/stray-01").text
    assert "does not describe this node any more" in said
    assert "no cable of this node" in said


def test_without_the_source_the_page_says_so(hall: Hall, tmp_path: Path) -> None:
    with served(hall.store, None, tmp_path) as bare, bare.client(Role.VIEWER, "elsewhere") as client:
        said = client.get(f"/nodes/{hall.names[0]}").text
    assert said.count("The source of truth could not be read yet") == 2


def test_a_fabric_is_shown_elsewhere(client: httpx.Client, hall: Hall) -> None:
    fabric = fabrics(hall.fleet)[0]
    hall.store.register([fabric.record], NOW)
    answer = client.get(f"/nodes/{fabric.name}")
    assert (answer.status_code, answer.headers["location"]) == (303, f"/fabric/{fabric.name}")
    assert client.post(f"/nodes/{fabric.name}/requests", data={"kind": "hold"}).status_code == 409


@pytest.mark.parametrize(
    ("role", "codes"),
    [
        (Role.OPERATOR, (200, 303, 303, 200)),
        (Role.TECHNICIAN, (200, 303, 403, 403)),
        (Role.VIEWER, (200, 403, 403, 403)),
        (Role.TENANT, (403, 403, 403, 403)),
        (None, (401, 401, 401, 401)),
    ],
)
def test_who_may_what(site: Served, hall: Hall, role: Role, codes: tuple[int, ...]) -> None:
    path = f"/nodes/{hall.in_state(State.ONBOARD)[0]}"
    with site.client(role, "Acme" if role is Role.TENANT else "") as asker:
        sees = asker.get(path)
        certifies = asker.post(f"{path}/requests", data={"kind": "certify"})
        holds = asker.post(f"{path}/requests", data={"kind": "hold"})
        looks = asker.get(f"{path}/requests/hold")
    assert tuple(each.status_code for each in (sees, certifies, holds, looks)) == codes


def test_who_may_only_look_is_offered_nothing(site: Served, hall: Hall) -> None:
    name = hall.in_state(State.ONBOARD)[0]
    with site.client(Role.VIEWER) as viewer, site.client(Role.TECHNICIAN) as technician:
        assert "<textarea" not in viewer.get(f"/nodes/{name}").text
        said = technician.get(f"/nodes/{name}").text
    assert 'value="certify"' in said
    assert "retire" not in said.partition('id="actions"')[2].partition("</section>")[0]


@pytest.mark.parametrize("state", [State.WIPE, State.FIRMWARE, State.REBOOT, State.BURN_IN, State.PROVISION])
def test_a_technician_begins_no_stage_that_does_more_than_look(state: State, site: Served, hall: Hall) -> None:
    name = hall.in_state(state)[0]
    before = len(hall.store.intents(name))
    with site.client(Role.TECHNICIAN) as technician:
        said = technician.get(f"/nodes/{name}/requests/run").text
        page = technician.post(f"/nodes/{name}/requests", data={"kind": "run", "stage": state.value})
        body = {"kind": "run", "detail": state.value}
        api = technician.post(f"/api/v1/nodes/{name}/requests", json=body)
        assert (page.status_code, api.status_code) == (403, 403)
        assert (
            f'value="{state.value}"' not in said + technician.get(f"/nodes/{name}").text.partition("Run a stage")[2]
        )
        assert len(hall.store.intents(name)) == before
        looks = technician.post(f"/nodes/{name}/requests", data={"kind": "run", "stage": "health_passive"})
        assert looks.status_code == 303
    with site.client(Role.OPERATOR) as operator:
        assert f'value="{state.value}"' in operator.get(f"/nodes/{name}/requests/run").text


def test_what_costs_something_is_asked_once_more(client: httpx.Client, hall: Hall) -> None:
    name = hall.in_state(State.PRODUCTION)[5]
    before = len(hall.store.intents(name))
    answer = client.post(f"/nodes/{name}/requests", data={"kind": "retire"})
    assert answer.headers["location"] == f"/nodes/{name}/requests/retire"
    assert len(hall.store.intents(name)) == before
    assert "cannot be undone" in client.get(answer.headers["location"]).text
    again = client.post(f"/nodes/{name}/requests", data={"kind": "retire", "sure": "true"})
    assert again.headers["location"] == f"/nodes/{name}/requests/retire"
    assert len(hall.store.intents(name)) == before
    asked_twice = client.get(answer.headers["location"]).text
    assert "it is not drained first" in asked_twice
    token = asked_twice.partition('name="confirm" value="')[2].partition('"')[0]
    other = hall.in_state(State.PRODUCTION)[6]
    strange = client.post(f"/nodes/{other}/requests", data={"kind": "retire", "sure": "true", "confirm": token})
    assert strange.headers["location"] == f"/nodes/{other}/requests/retire"
    said = client.post(f"/nodes/{name}/requests", data={"kind": "retire", "sure": "true", "confirm": token})
    assert "?asked=" in said.headers["location"]
    assert hall.store.intents(name)[-1].kind is IntentKind.RETIRE
    client.post(f"/nodes/{name}/requests", data={"kind": "reboot", "sure": "true", "reason": " it\nhangs "})
    asked = hall.store.intents(name)[-1]
    assert (asked.kind, asked.reason, asked.by) == (IntentKind.REBOOT, "it hangs", "operator")


def test_what_no_page_takes_is_refused_with_what_does(client: httpx.Client, hall: Hall) -> None:
    triage, gone = hall.in_state(State.TRIAGE)[0], hall.in_state(State.RETIRED)[0]
    for intent, words in (("wipe", "fleet-runner wipe"), ("firmware", "fleet-runner firmware update")):
        answer = client.post(f"/nodes/{triage}/requests", data={"kind": intent, "sure": "true"})
        assert answer.status_code == 409
        assert words in answer.text
    assert "is retired" in client.post(f"/nodes/{gone}/requests", data={"kind": "hold"}).text
    assert client.post(f"/nodes/{triage}/requests", data={"kind": "run", "stage": "burn_in"}).status_code == 409
    assert client.post(f"/nodes/{triage}/requests", data={"kind": "dance"}).status_code == 422
    assert client.post(f"/nodes/{triage}/requests", data={"kind": "debug", "reason": "x" * 501}).status_code == 422
    assert client.post(f"/nodes/{triage}/requests", data={"kind": "debug", "reason": "\0"}).status_code == 400
    assert client.get(f"/nodes/{triage}/requests/dance").status_code == 422
    assert "does not apply" in client.get(f"/nodes/{triage}/requests/certify").text
    assert hall.store.intents(triage) == ()


def test_an_rma_opens_its_case(client: httpx.Client, hall: Hall) -> None:
    name, at_work = hall.in_state(State.TRIAGE)[0], hall.in_state(State.PRODUCTION)[4]
    asked = {"kind": "rma", "sure": "true", "vendor": "Maker", "case": "C-1"}
    assert client.post(f"/nodes/{name}/requests", data={**asked, "case": " "}).status_code == 409
    assert client.post(f"/nodes/{at_work}/requests", data=asked).status_code == 409
    assert hall.store.cases() == ()
    assert client.post(f"/nodes/{name}/requests", data=asked).status_code == 303
    assert client.post(f"/nodes/{name}/requests", data=asked).status_code == 409  # the case is open already
    (case,) = hall.store.cases(name)
    assert (case.vendor, case.number, case.by) == ("Maker", "C-1", "operator")
    assert [each.reason for each in hall.store.intents(name)] == ["case C-1 at Maker"]
    assert "Case C-1 at Maker" in client.get(f"/nodes/{name}").text


def test_another_sites_form_asks_for_nothing(site: Served, hall: Hall) -> None:
    name = hall.in_state(State.PRODUCTION)[3]
    with site.browser_client() as browser:
        assert browser.post(f"/nodes/{name}/requests", data={"kind": "hold"}).status_code == 403
    assert hall.store.intents(name) == ()
