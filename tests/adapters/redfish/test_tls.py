"""Certificates of BMCs, over real TLS: whom a pinned CA lets in, for reads and for images alike."""

import contextlib
import hashlib
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.redfish import Bmc, credentials, opened
from fleet_runner.adapters.redfish.certificate import fingerprint
from fleet_runner.adapters.redfish.exchange import Exchange, UntrustedError
from fleet_runner.adapters.redfish.streamed_post import TURN_SECONDS
from fleet_runner.adapters.redfish.updates import Updates, Upload
from fleet_runner.core.base.errors import BmcError, BmcRefused, SettingsError
from fleet_runner.settings import Settings
from tests.adapters.redfish.replay import PASSWORD, QUICK, USER, Replay, image_of, replayed, updating
from tests.adapters.vault_server import TOKEN, vaulted

MULTIPART = "/redfish/v1/UpdateService/upload"
UNTRUSTED = "its certificate is not trusted; name its CA in bmc_ca, or set bmc_insecure"


def openssl(*words: str, folder: Path) -> None:
    """Run openssl."""
    subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=folder)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two authorities, and a BMC's certificate of the first: of its address."""
    folder = tmp_path_factory.mktemp("keys")
    new = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    for name in ("ours", "theirs"):
        openssl(*new, "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem", folder=folder)
    signed = ("-CA", "ours.pem", "-CAkey", "ours.key", "-keyout", "bmc.key", "-out", "bmc.pem", "-subj", "/CN=bmc")
    openssl(*new, *signed, "-addext", "subjectAltName=IP:127.0.0.1", folder=folder)
    return folder


@pytest.fixture
def server(keys: Path) -> Iterator[Replay]:
    """A BMC behind TLS."""
    with replayed(updating(MultipartHttpPushUri=MULTIPART)) as made:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(keys / "bmc.pem", keys / "bmc.key")
        made.socket = context.wrap_socket(made.socket, server_side=True, do_handshake_on_connect=False)
        yield made


def address(server: Replay) -> str:
    """Return its address."""
    return server.url.replace("http:", "https:")


def trusting(verify: bool | str, server: Replay) -> Bmc:
    """Return a client that trusts whom it is told to."""
    return Bmc(address(server), USER, PASSWORD, verify=verify, limits=QUICK)


def test_a_pinned_authority_lets_its_own_bmcs_in(keys: Path, server: Replay, tmp_path: Path) -> None:
    digest = image_of(tmp_path / "image", 3_000_000)
    with trusting(str(keys / "ours.pem"), server) as bmc:
        assert Updates(bmc).inventory()
        Updates(bmc).send(Upload(tmp_path / "image"))
    assert [image.sha256 for image in server.images] == [digest]
    assert server.closed == 1


@pytest.mark.parametrize("whom", ["theirs", "all"])
def test_a_certificate_of_another_authority_is_not_trusted_and_hears_no_password(
    keys: Path, server: Replay, whom: str
) -> None:
    verify = True if whom == "all" else str(keys / "theirs.pem")
    with trusting(verify, server) as bmc, pytest.raises(BmcError, match=UNTRUSTED):
        Updates(bmc).inventory()
    assert server.asked == []


def test_an_image_is_not_sent_to_whom_no_longer_has_the_right_certificate(
    keys: Path, server: Replay, tmp_path: Path
) -> None:
    """The reads before had a connection of their own, from when it was still the right one."""
    image_of(tmp_path / "image", 1000)
    with trusting(str(keys / "ours.pem"), server) as bmc:
        Updates(bmc).inventory()
        bmc.resources.wire.exchange.verify = str(keys / "theirs.pem")
        with pytest.raises(BmcRefused, match="certificate verify failed"):
            Updates(bmc).send(Upload(tmp_path / "image"))
    assert server.images == []


def test_a_certificate_of_another_name_is_not_trusted(keys: Path, server: Replay) -> None:
    url = address(server).replace("127.0.0.1", "localhost")
    bmc = Bmc(url, USER, PASSWORD, verify=str(keys / "ours.pem"), limits=QUICK)
    with contextlib.closing(bmc), pytest.raises(BmcError, match=UNTRUSTED):
        Updates(bmc).inventory()


def test_without_a_check_anybody_is_let_in(server: Replay, tmp_path: Path) -> None:
    image_of(tmp_path / "image", 1000)
    with contextlib.closing(trusting(verify=False, server=server)) as bmc:
        Updates(bmc).send(Upload(tmp_path / "image"))
    assert server.images[0].size == 1000


def test_a_refusal_is_heard_over_tls_while_an_image_is_sent(keys: Path, server: Replay, tmp_path: Path) -> None:
    """TLS has words of its own after the handshake, which are no answer."""
    image_of(tmp_path / "image", 12_000_000)

    def early(handler: Any) -> bool:
        handler._send(413, {"error": {"message": "too big"}})
        handler.wfile.flush()
        handler.close_connection = True
        return True

    server.uploaded = early
    with trusting(str(keys / "ours.pem"), server) as bmc:
        with pytest.raises(BmcError) as caught:
            Updates(bmc).send(Upload(tmp_path / "image"))
        assert Updates(bmc).inventory()
    assert len(server.images) == 1
    assert "answered 413" in str(caught.value)


def test_an_image_is_whole_though_the_bmc_stops_taking_it_for_a_while(
    keys: Path, server: Replay, tmp_path: Path
) -> None:
    """And though it thinks before it answers; what TLS could not send at once is sent on as it was."""
    digest = image_of(tmp_path / "image", 12_000_000)

    def slow(handler: Any) -> bool:
        time.sleep(2 * TURN_SECONDS + 0.5)
        return False

    server.uploaded = slow
    with trusting(str(keys / "ours.pem"), server) as bmc:
        Updates(bmc).send(Upload(tmp_path / "image", sha256=digest))
    [came] = server.images
    assert (came.whole, came.sha256) == (True, digest)


def test_a_vault_has_an_authority_of_its_own(keys: Path, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(TOKEN)
    token.chmod(0o600)
    with vaulted() as vault:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(keys / "bmc.pem", keys / "bmc.key")
        vault.socket = context.wrap_socket(vault.socket, server_side=True, do_handshake_on_connect=False)
        url = f"{vault.url.replace('http:', 'https:')}/v1/secret/data/bmc"
        held = Settings(bmc_vault=url, bmc_vault_token_file=token, bmc_vault_ca=keys / "ours.pem")
        assert credentials(held) == ("fleet", "from the vault")
        with pytest.raises(SettingsError, match="its certificate is not trusted; name its CA in bmc_vault_ca"):
            credentials(held.model_copy(update={"bmc_vault_ca": None}))
        assert len(vault.asked) == 1


def test_the_settings_say_whom_to_trust(keys: Path, server: Replay, tmp_path: Path) -> None:
    file = tmp_path / "bmc.yml"
    file.write_text(f"username: {USER}\npassword: {PASSWORD}\n")
    file.chmod(0o600)
    held = Settings(bmc_credentials=file, state_dir=tmp_path / "state", bmc_ca=keys / "ours.pem")
    with opened(held, address(server), QUICK) as bmc:
        assert Updates(bmc).inventory()
    with pytest.raises(SettingsError, match=r"bmc_ca names .*absent\.pem, which is not a file"):
        opened(held.model_copy(update={"bmc_ca": tmp_path / "absent.pem"}), address(server))
    with pytest.raises(SettingsError, match="bmc_ca and bmc_insecure contradict each other"):
        opened(held.model_copy(update={"bmc_insecure": True}), address(server))
    file.with_name("nonsense.pem").write_text("no certificate")
    bmc = opened(held.model_copy(update={"bmc_ca": tmp_path / "nonsense.pem"}), address(server), QUICK)
    with contextlib.closing(bmc), pytest.raises(BmcError, match=UNTRUSTED):
        Updates(bmc).inventory()


def test_a_pinned_fingerprint_lets_that_certificate_in_and_no_other(keys: Path, server: Replay) -> None:
    shown = fingerprint(address(server))
    exchange = Exchange(address(server), verify=False, limits=QUICK)
    exchange.pin(shown)
    assert exchange.send("GET", "/redfish/v1/Systems").status == 200
    exchange.pin("0" * 64)
    before = len(server.asked)
    with pytest.raises(UntrustedError):
        exchange.send("GET", "/redfish/v1/Systems")
    exchange.close()
    assert len(server.asked) == before
    der = subprocess.run(
        ["openssl", "x509", "-in", keys / "bmc.pem", "-outform", "DER"], check=True, capture_output=True
    )
    assert shown == hashlib.sha256(der.stdout).hexdigest()


def test_a_fingerprint_is_of_a_certificate() -> None:
    with replayed({}) as plain:
        with pytest.raises(BmcError, match="no TLS connection"):
            fingerprint(plain.url)
        with pytest.raises(BmcError, match="has no certificate; use https"):
            Exchange(plain.url, verify=False, limits=QUICK).pin("0" * 64)
