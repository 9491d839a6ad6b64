"""A bootstrap token is minted for each boot, ends by itself, and can be taken back; the API server may misbehave."""

import asyncio
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.adapters.join.kubernetes import Cluster, Timeouts, Token, TokenIssuer
from fleet_runner.core.base.errors import DocumentError, FleetError, JoinError, SettingsError
from fleet_runner.services.boot import tokens
from fleet_runner.services.boot.documents import Documents
from tests.services.boot import sites
from tests.services.boot.api_server import Api, api_server
from tests.services.boot.sites import known

QUICK = Timeouts(total_seconds=0.3)
NOW = datetime(2026, 11, 22, tzinfo=UTC).timestamp()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sites.certificate(tmp_path_factory.mktemp("tls"), "cluster")


@pytest.fixture
def api(certificate: Path) -> Iterator[Api]:
    with api_server(certificate) as found:
        yield found


@pytest.fixture
def cluster(api: Api, certificate: Path, tmp_path: Path) -> Cluster:
    sites.kubernetes(tmp_path, api.url, certificate)
    return Cluster(api.url, tmp_path / "ca.pem", tmp_path / "token", ("system:bootstrappers:a",), 1800.0)


@pytest.fixture
def minter(cluster: Cluster) -> Iterator[TokenIssuer]:
    made = TokenIssuer(cluster)
    yield made
    made.close()


@pytest.fixture
def documents(api: Api, certificate: Path, tmp_path: Path) -> Iterator[Documents]:
    file = sites.kubernetes(tmp_path, api.url, certificate)
    made = Documents(sites.settings(boot_join=file))
    yield made
    made.close()


def files(body: bytes) -> dict[str, Any]:
    """Return the YAML files that a document writes, by name."""
    return {Path(each["path"]).name: each for each in yaml.safe_load(body)["write_files"]}


def test_a_token_is_kept_as_kubernetes_expects_it(minter: TokenIssuer, api: Api) -> None:
    token = minter.mint("gpu-01, boot 17", NOW)
    assert re.fullmatch(r"[a-z0-9]{6}\.[a-z0-9]{16}", token.text)
    kept = api.secrets[f"bootstrap-token-{token.id}"]
    assert kept["stringData"] == {
        "token-id": token.id,
        "token-secret": token.secret,
        "description": "fleet-runner: gpu-01, boot 17",
        "expiration": "2026-11-22T00:30:00Z",
        "usage-bootstrap-authentication": "true",
        "auth-extra-groups": "system:bootstrappers:a",
    }
    assert token.secret not in repr(token)


def test_each_boot_has_a_token_of_its_own(documents: Documents, api: Api) -> None:
    async def boots() -> list[bytes]:
        return [
            each.body for each in await asyncio.gather(*(documents.user_data(known(boot=n)) for n in range(1, 31)))
        ]

    found = {
        yaml.safe_load(files(body)["join.yaml"]["content"])["discovery"]["tlsBootstrapToken"]
        for body in asyncio.run(boots())
    }
    assert len(found) == len(api.secrets) == 30
    assert {each["stringData"]["description"] for each in api.secrets.values()} == {
        f"fleet-runner: gpu-01, boot {n}" for n in range(1, 31)
    }


def test_user_data_has_what_kubeadm_joins_with(documents: Documents, api: Api, certificate: Path) -> None:
    body = asyncio.run(documents.user_data(known())).body
    found = files(body)
    joining, cluster = (yaml.safe_load(found[name]["content"]) for name in ("join.yaml", "cluster.yaml"))
    assert joining["kind"] == "JoinConfiguration"
    assert joining["discovery"]["file"]["kubeConfigPath"] == found["cluster.yaml"]["path"]
    assert f"bootstrap-token-{joining['discovery']['tlsBootstrapToken'].partition('.')[0]}" in api.secrets
    assert joining["nodeRegistration"] == {"name": "gpu-01"}
    [entry] = cluster["clusters"]
    assert entry["cluster"]["server"] == api.url
    assert sites.decoded(entry["cluster"]["certificate-authority-data"]) == certificate.read_bytes()
    assert {each["permissions"] for each in found.values()} == {"0600"}


def test_no_secret_is_in_the_arguments_of_a_command(documents: Documents, api: Api) -> None:
    body = asyncio.run(documents.user_data(known())).body
    commands = str(yaml.safe_load(body)["runcmd"])
    [kept] = api.secrets.values()
    assert kept["stringData"]["token-secret"] in body.decode()
    assert kept["stringData"]["token-secret"] not in commands


def test_a_token_that_nobody_got_is_taken_back(documents: Documents, api: Api) -> None:
    async def lost() -> None:
        filled = await documents.user_data(known())
        assert len(api.secrets) == 1
        assert filled.revoke is not None
        await filled.revoke()
        await filled.revoke()

    asyncio.run(lost())
    assert api.secrets == {}


def test_a_token_is_taken_back_where_the_template_fails(api: Api, certificate: Path, tmp_path: Path) -> None:
    file = sites.kubernetes(tmp_path, api.url, certificate)
    folder = sites.templates(tmp_path / "templates", user_data="#cloud-config\na: {{ nobody | tojson }}\n")
    documents = Documents(sites.settings(boot_join=file, boot_templates=folder))
    with pytest.raises(DocumentError, match=":2: 'nobody' is undefined"):
        asyncio.run(documents.user_data(known()))
    documents.close()
    assert [each.partition(" ")[0] for each in api.asked] == ["POST", "DELETE"]
    assert api.secrets == {}


def test_a_token_that_cannot_be_taken_back_troubles_nobody(documents: Documents, api: Api) -> None:
    async def lost() -> None:
        filled = await documents.user_data(known())
        api.answers = [500]
        assert filled.revoke is not None
        await filled.revoke()

    asyncio.run(lost())
    assert len(api.secrets) == 1


def test_a_preview_asks_the_cluster_nothing(documents: Documents, api: Api) -> None:
    joining = yaml.safe_load(files(documents.preview(known()))["join.yaml"]["content"])
    assert joining["discovery"]["tlsBootstrapToken"] == "hidden"
    assert api.asked == []


def test_an_id_that_is_taken_is_not_used_again(minter: TokenIssuer, api: Api) -> None:
    api.answers = [409, 409]
    assert f"bootstrap-token-{minter.mint('a', NOW).id}" in api.secrets
    api.answers = [409, 409, 409]
    with pytest.raises(JoinError, match="knows 3 new token ids already"):
        minter.mint("a", NOW)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "write a valid service account's token"),
        (403, "let the service account create and delete secrets in kube-system"),
        (429, "the node asks again by itself"),
        (500, "look into the API server's log"),
        (302, "look into the API server's log"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_to_do(minter: TokenIssuer, api: Api, status: int, said: str) -> None:
    api.answers = [status, status]
    with pytest.raises(JoinError, match=f"HTTP {status}: 'as the test wants it'.*{said}") as refused:
        minter.mint("a", NOW)
    with pytest.raises(JoinError, match="refused the end of bootstrap token abcdef"):
        minter.revoke(Token("abcdef", "0123456789abcdef"))
    assert "minter-token" not in str(refused.value)
    assert len(api.asked) == 2


def test_a_wrong_token_of_ours_is_refused_by_the_server(minter: TokenIssuer, api: Api) -> None:
    api.token = "another"
    with pytest.raises(JoinError, match="HTTP 401: 'Unauthorized'"):
        minter.mint("a", NOW)


def test_a_trial_leaves_nothing_behind(minter: TokenIssuer, api: Api) -> None:
    minter.mint("a trial", NOW, dry=True)
    assert len(api.asked) == 1
    assert api.secrets == {}


def test_a_server_that_hangs_is_given_up(cluster: Cluster, api: Api) -> None:
    api.hangs.set()
    with pytest.raises(JoinError, match="no answer in time"):
        TokenIssuer(cluster, QUICK).mint("a", NOW)


def test_a_server_that_is_not_there_is_said_to_be_so(cluster: Cluster) -> None:
    gone = Cluster("https://127.0.0.1:1", cluster.ca, cluster.token_file, (), 60.0)
    with pytest.raises(JoinError, match="the connection failed"):
        TokenIssuer(gone).mint("a", NOW)


def test_a_server_of_another_ca_gets_no_token_of_ours(cluster: Cluster, api: Api, tmp_path: Path) -> None:
    other = Cluster(api.url, sites.certificate(tmp_path, "other"), cluster.token_file, (), 60.0)
    with pytest.raises(JoinError, match="its certificate is not of the CA"):
        TokenIssuer(other).mint("a", NOW)
    assert api.asked == []


@pytest.mark.parametrize("body", [b"\xff\x00", b"[]", b'{"message": 7}', b"[" * 100_000])
def test_an_answer_that_is_no_status_is_a_refusal_without_a_reason(
    minter: TokenIssuer, api: Api, body: bytes
) -> None:
    api.answers, api.body = [500], body
    with pytest.raises(JoinError, match="HTTP 500: no reason given"):
        minter.mint("a", NOW)


def test_an_answer_without_end_is_cut_off(minter: TokenIssuer, api: Api) -> None:
    api.body = b" " * 1_000_000
    with pytest.raises(JoinError, match="answers without end"):
        minter.mint("a", NOW)


@pytest.mark.parametrize(
    ("text", "mode"), [("", 0o600), ("two words", 0o600), ("té", 0o600), ("minter-token", 0o644)]
)
def test_a_token_file_that_is_none_is_said_to_be_so(
    minter: TokenIssuer, cluster: Cluster, text: str, mode: int
) -> None:
    cluster.token_file.write_text(text, "utf-8")
    cluster.token_file.chmod(mode)
    with pytest.raises(FleetError, match=re.escape(str(cluster.token_file))) as refused:
        minter.mint("a", NOW)
    assert isinstance(refused.value, JoinError | SettingsError)
    assert "two words" not in str(refused.value)


def test_a_new_token_of_ours_counts_at_once(minter: TokenIssuer, cluster: Cluster, api: Api) -> None:
    minter.mint("a", NOW)
    api.token = "renewed"
    cluster.token_file.write_text("renewed", "utf-8")
    minter.mint("b", NOW)
    assert len(api.secrets) == 2


def test_who_comes_when_too_many_wait_is_told_to_come_back(
    api: Api, certificate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "WAITING", 2)
    api.hangs.set()
    documents = Documents(sites.settings(boot_join=sites.kubernetes(tmp_path, api.url, certificate)), QUICK)

    async def storm() -> list[str]:
        asking = [documents.user_data(known(boot=n)) for n in range(1, 6)]
        return sorted(str(each) for each in await asyncio.gather(*asking, return_exceptions=True))

    said = asyncio.run(storm())
    documents.close()
    assert sum("is too slow: 2 nodes wait" in each for each in said) == 3
    assert sum("no answer in time" in each for each in said) == 2
