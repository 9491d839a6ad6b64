"""cloud-init asks for its seed: secrets are given once, to whom they belong, and what fails claims nothing."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from fleet_runner.core.base.errors import JoinError, StoreError
from fleet_runner.core.boot.boots import Claim, Milestone, Told
from fleet_runner.core.boot.facts import Facts
from fleet_runner.services.boot.documents import Documents, Filled
from tests.services.boot.desks import HOME, OTHER, Hall, node, play

OPEN_DOCUMENTS = ("meta-data", "vendor-data", "network-config")


def filled_by(give: Callable[[int], Awaitable[Filled]]) -> type[Documents]:
    """Documents whose user-data is made by a function of how often it was asked for."""

    class Scripted(Documents):
        asked = 0

        async def user_data(self, facts: Facts) -> Filled:
            del facts
            Scripted.asked += 1
            return await give(Scripted.asked)

    return Scripted


def with_documents(hall: Hall, made: type[Documents]) -> None:
    """Have a hall render with other documents."""
    hall.desk.documents.close()
    hall.desk.documents = made(hall.desk.settings)


def test_a_boot_gets_its_four_documents_and_the_one_with_secrets_once(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        key = await hall.booting()
        answer = await hall.ask(f"/seed/{key}/meta-data")
        assert answer.text == 'instance-id: "gpu-01-1"\nlocal-hostname: "gpu-01"\n'
        assert (await hall.ask(f"/seed/{key}/user-data")).text.startswith("#cloud-config\n")
        assert f"phone-home/{key}" in (await hall.ask(f"/seed/{key}/vendor-data")).text
        assert '"macaddress": "02:00:00:00:00:01"' in (await hall.ask(f"/seed/{key}/network-config")).text
        again = await hall.ask(f"/seed/{key}/user-data")
        assert (again.status_code, again.text) == (410, "claimed\n")
        await hall.settled()
        (boot,) = hall.store.boots("gpu-01")
        assert (boot.claimed_by, boot.claimed_at) == (HOME, hall.now)
        assert list(boot.reached) == [Milestone.SCRIPT, Milestone.CLOUD_INIT]
        assert hall.refusals() == ["claimed"]

    play(tmp_path, story)


def test_of_many_who_ask_at_once_one_gets_the_secrets_and_nothing_more_is_minted(tmp_path: Path) -> None:
    revoked: list[int] = []

    async def give(count: int) -> Filled:
        async def revoke() -> None:
            revoked.append(count)

        await asyncio.sleep(0)
        return Filled(b"#cloud-config\n{}\n", revoke)

    async def story(hall: Hall) -> None:
        made = filled_by(give)
        with_documents(hall, made)
        key = await hall.booting()
        answers = await asyncio.gather(*(hall.ask(f"/seed/{key}/user-data") for _ in range(20)))
        assert sorted(answer.status_code for answer in answers) == [200] + [410] * 19
        assert getattr(made, "asked", 0) == 1
        assert revoked == []

    play(tmp_path, story)


def test_a_claim_that_another_boot_service_won_gives_nothing_and_takes_the_token_back(tmp_path: Path) -> None:
    revoked: list[int] = []

    async def story(hall: Hall) -> None:
        key = await hall.booting()
        (boot,) = hall.store.open_boots()

        async def give(count: int) -> Filled:
            async def revoke() -> None:
                revoked.append(count)

            assert hall.store.tell([Claim(boot.id, hall.now, OTHER)]) == (True,)
            return Filled(b"SECRET", revoke)

        with_documents(hall, filled_by(give))
        answer = await hall.ask(f"/seed/{key}/user-data")
        assert (answer.status_code, answer.text) == (410, "claimed\n")
        assert revoked == [1]

    play(tmp_path, story)


def test_what_cannot_be_minted_claims_nothing_and_may_be_asked_for_again(tmp_path: Path) -> None:
    async def give(count: int) -> Filled:
        if count == 1:
            raise JoinError("API server https://k8s:6443 answered 503; SECRET")
        return Filled(b"#cloud-config\n{}\n")

    async def story(hall: Hall) -> None:
        with_documents(hall, filled_by(give))
        key = await hall.booting()
        first = await hall.ask(f"/seed/{key}/user-data")
        assert (first.status_code, first.text) == (503, "join\n")
        assert (await hall.ask(f"/seed/{key}/user-data")).status_code == 200
        await hall.settled()
        assert hall.refusals() == ["join"]

    play(tmp_path, story)


def test_a_store_that_cannot_be_written_gives_no_secrets_and_takes_the_token_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    revoked: list[int] = []

    async def give(count: int) -> Filled:
        async def revoke() -> None:
            revoked.append(count)

        return Filled(b"SECRET", revoke)

    async def story(hall: Hall) -> None:
        with_documents(hall, filled_by(give))
        key = await hall.booting()
        await hall.settled()
        with monkeypatch.context() as patch:

            def broken(_told: tuple[Told, ...]) -> tuple[bool, ...]:
                raise StoreError("store: disk full")

            patch.setattr(hall.store, "tell", broken)
            answer = await hall.ask(f"/seed/{key}/user-data")
            assert answer.status_code == 503
            assert "disk" not in answer.text
            assert (await hall.ask("/health")).status_code == 503
        assert revoked == [1]
        (boot,) = hall.store.open_boots()
        assert boot.claimed_at is None

    play(tmp_path, story)


def test_a_template_error_stops_its_node_alone_and_its_history_has_the_line(tmp_path: Path) -> None:
    templates = tmp_path / "templates"
    templates.mkdir()
    (templates / "user-data.broken.yaml.j2").write_text("#cloud-config\n\nruncmd: {{ nobody.knows }}\n", "utf-8")

    async def story(hall: Hall) -> None:
        broken, well = await hall.booting(1), await hall.booting(2, source=OTHER)
        assert (await hall.ask(f"/seed/{broken}/user-data")).status_code == 503
        assert (await hall.ask(f"/seed/{well}/user-data", source=OTHER)).status_code == 200
        await hall.settled()
        (event,) = [each for each in hall.store.boot_events("gpu-01") if each.kind == "refused"]
        assert event.code == "template"
        assert "user-data.broken.yaml.j2:3" in event.sentence
        assert hall.store.open_boots()[0].claimed_at is None

    play(tmp_path, story, node(1, device_type="broken"), node(2), boot_templates=templates)


def test_another_address_gets_no_document(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        key = await hall.booting()
        for document in (*OPEN_DOCUMENTS, "user-data"):
            answer = await hall.ask(f"/seed/{key}/{document}", source=OTHER)
            assert (answer.status_code, answer.text) == (403, "address\n")
        await hall.settled()
        assert set(hall.refusals()) == {"address"}

    play(tmp_path, story)


def test_an_expired_boot_gets_no_secrets(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        key = await hall.booting()
        hall.now += 1800
        answer = await hall.ask(f"/seed/{key}/user-data")
        assert (answer.status_code, answer.text) == (410, "expired\n")

    play(tmp_path, story)


def test_the_key_of_a_boot_that_was_armed_anew_opens_nothing(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        old = await hall.booting()
        new = await hall.booting()
        assert (await hall.ask(f"/seed/{old}/user-data")).text == "closed\n"
        assert (await hall.ask(f"/seed/{new}/user-data")).status_code == 200

    play(tmp_path, story)


def test_a_key_that_was_not_made_here_opens_nothing(tmp_path: Path) -> None:
    keys = ("", "1", "1-", "1-" + "0" * 32, "999-" + "f" * 32, "x" * 200, "1-é", "..", "%00")

    async def story(hall: Hall) -> None:
        await hall.booting()
        for key in keys:
            for document in (*OPEN_DOCUMENTS, "user-data"):
                assert (await hall.ask(f"/seed/{key}/{document}")).status_code in {403, 404}
            assert (await hall.ask(f"/seed/{key}")).status_code == 404

    play(tmp_path, story)


def test_where_there_is_tls_secrets_go_over_tls_alone(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        key = await hall.booting()
        assert "s=https://10.0.0.1:8443/seed/" in await hall.script()
        assert (await hall.ask(f"/seed/{key}/user-data")).status_code == 403
        assert (await hall.ask(f"/seed/{key}/user-data", secure=True)).status_code == 200
        assert (await hall.phone(key, instance_id="gpu-01-1")).text == "plain\n"
        assert Milestone.PHONE_HOME not in hall.store.boots("gpu-01")[0].reached
        form = {"instance_id": "gpu-01-1"}
        assert (await hall.ask(f"/phone-home/{key}", "POST", secure=True, data=form)).status_code == 200

    play(tmp_path, story, boot_secure_url="https://10.0.0.1:8443")


def test_a_second_boot_service_goes_on_where_the_first_began(tmp_path: Path) -> None:
    keys: list[str] = []

    async def first(hall: Hall) -> None:
        keys.append(await hall.booting())

    async def second(hall: Hall) -> None:
        (key,) = keys
        assert (await hall.ask(f"/seed/{key}/user-data", source=OTHER)).status_code == 403
        assert (await hall.ask(f"/seed/{key}/meta-data")).status_code == 200
        assert (await hall.ask(f"/seed/{key}/user-data")).status_code == 200

    play(tmp_path, first)
    play(tmp_path, second)


def test_no_log_line_and_no_store_row_has_a_key_or_a_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def give(_count: int) -> Filled:
        return Filled(b"#cloud-config\nmunge: SECRET\n")

    async def story(hall: Hall) -> None:
        with_documents(hall, filled_by(give))
        key = await hall.booting()
        for _ in range(2):
            await hall.ask(f"/seed/{key}/user-data")
        await hall.ask(f"/seed/{key}x/user-data")
        await hall.ask(f"/seed/{key}/user-data", source=OTHER)
        await hall.phone(key, instance_id="gpu-01-9")
        await hall.settled()
        told = "".join(capsys.readouterr()) + repr(hall.store.boot_events()) + repr(hall.desk.sessions)
        told += "".join(map(repr, hall.store.history("gpu-01")))
        assert "refused" in told
        assert key.partition("-")[2] not in told
        assert "SECRET" not in told

    play(tmp_path, story)
