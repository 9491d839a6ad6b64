"""What cloud-init would be given can be seen and checked before any node boots."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Type
from tests.services.boot import sites
from tests.services.boot.api_server import api_server


@pytest.fixture
def site(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Write fleet.toml beside the example site."""

    def write(**settings: Path | str) -> None:
        lines = [f'{name} = "{value}"\n' for name, value in settings.items()]
        source = project / "docs" / "examples" / "site"
        (tmp_path / "fleet.toml").write_text(f'source = "{source}"\n{"".join(lines)}', "utf-8")

    (tmp_path / "keys").write_text(sites.KEY, "utf-8")
    write(boot_url="http://10.0.0.1:8480", boot_authorized_keys="keys")
    return write


def test_every_document_of_a_node_is_shown(typed: Type, site: Callable[..., None]) -> None:
    said = typed("boot", "render", "gpu-01")
    assert said.code == 0
    assert said.err == ""
    for text in ("meta-data", "vendor-data", "network-config", "user-data", "02:00:00:00:01:00", "/phone-home/"):
        assert text in said.out


def test_one_document_is_as_it_is_sent(typed: Type, site: Callable[..., None]) -> None:
    said = typed("boot", "render", "gpu-01", "--document", "vendor-data")
    assert said.out.startswith("#cloud-config\n")
    assert yaml.safe_load(said.out)["users"][0]["ssh_authorized_keys"] == [sites.KEY]


def test_secrets_are_hidden(typed: Type, site: Callable[..., None], tmp_path: Path) -> None:
    site(boot_join=sites.slurm(tmp_path), boot_url="http://10.0.0.1:8480")
    (tmp_path / "munge.key").unlink()
    said = typed("boot", "render", "gpu-01", "--document", "user-data")
    assert yaml.safe_load(said.out)["write_files"][0]["content"] == "aGlkZGVu"


@pytest.mark.parametrize("name", ["gpu-99", "leaf-1"])
def test_what_is_no_node_has_no_documents(typed: Type, site: Callable[..., None], name: str) -> None:
    said = typed("boot", "render", name)
    assert said.code == 2
    assert f"no node '{name}'" in said.err


def test_all_is_well_with_the_built_in_templates(typed: Type, site: Callable[..., None]) -> None:
    said = typed("boot", "check")
    assert said.code == 0
    assert said.out == "2 nodes: all documents are valid for cloud-init\n"


def test_missing_settings_are_warned_of(typed: Type, site: Callable[..., None]) -> None:
    site()
    said = typed("boot", "check")
    assert said.code == 0
    assert "boot_url is not set" in said.err
    assert "boot_authorized_keys is not set" in said.err


def test_what_is_wrong_is_told_once(typed: Type, site: Callable[..., None], tmp_path: Path) -> None:
    wrong = "#cloud-config\na: {{ nobody | tojson }}\n"
    site(boot_templates=sites.templates(tmp_path / "templates", user_data=wrong, metadata=""))
    said = typed("boot", "check")
    assert said.code == 1
    unused, wrong = said.out.splitlines()
    assert "metadata.yaml.j2: no document or device type has this name" in unused
    assert wrong.startswith("user-data of gpu-01: ")
    assert wrong.endswith(":2: 'nobody' is undefined (and 1 other)")


def test_a_document_is_as_long_in_a_pipe_as_it_is(typed: Type, site: Callable[..., None]) -> None:
    whole, one = typed("boot", "render", "gpu-01"), typed("boot", "render", "gpu-01", "--document", "network-config")
    assert any(len(line) > 80 for line in one.out.splitlines())
    assert one.out in whole.out
    assert "NODE" in typed("boot", "render", "--help").out


@pytest.mark.parametrize("token", [
    (0o644, "minter-token", "can be read by others than its owner"),
    (0o600, "", "expected a service account's token"),
    (0o600, "two words", "holds no token"),
    (0o600, None, "No such file or directory"),
])  # fmt: skip
def test_the_secret_that_tokens_are_minted_with_is_looked_at_and_not_shown(
    typed: Type, site: Callable[..., None], tmp_path: Path, token: tuple[int, str | None, str]
) -> None:
    mode, text, told = token
    certificate = sites.certificate(tmp_path, "cluster")
    site(boot_join=sites.kubernetes(tmp_path, "https://127.0.0.1:6443", certificate))
    assert typed("boot", "check").code == 0
    (tmp_path / "token").unlink()
    if text is not None:
        (tmp_path / "token").write_text(text, "utf-8")
        (tmp_path / "token").chmod(mode)
    said = typed("boot", "check")
    assert said.code == 1
    (line,) = said.out.splitlines()
    assert line.startswith(str(tmp_path / "token"))
    assert told in line
    assert not text or text not in said.out + said.err


def test_the_key_of_munge_is_looked_at_and_not_shown(typed: Type, site: Callable[..., None], tmp_path: Path) -> None:
    site(boot_join=sites.slurm(tmp_path))
    assert typed("boot", "check").code == 0
    (tmp_path / "munge.key").chmod(0o644)
    said = typed("boot", "check")
    assert (said.code, len(said.out.splitlines())) == (1, 1)
    assert f"{tmp_path / 'munge.key'} can be read by others" in said.out
    (tmp_path / "munge.key").unlink()
    assert "munge.key: No such file or directory" in typed("boot", "check").out


def test_the_files_that_settings_name_are_looked_at(typed: Type, site: Callable[..., None]) -> None:
    site(
        boot_join="no.yml", boot_templates="no-templates", boot_authorized_keys="no-keys", boot_dhcp_token="no-token"
    )
    said = typed("boot", "check")
    assert said.code == 1
    assert [name for name in ("no.yml", "no-templates", "no-keys", "no-token") if said.out.count(name) != 1] == []


def test_nodes_that_cannot_be_told_apart_are_warned_of(
    typed: Type, site: Callable[..., None], project: Path, tmp_path: Path
) -> None:
    shutil.copytree(project / "docs" / "examples" / "site", tmp_path / "site")
    for file in (tmp_path / "site").rglob("*.yml"):
        file.write_text(file.read_text("utf-8").replace("02:00:00:00:02:00", "02:00:00:00:01:00"), "utf-8")
    (tmp_path / "fleet.toml").write_text('source = "site"\n', "utf-8")
    said = typed("boot", "check")
    assert said.code == 0
    for node in ("gpu-01", "gpu-02"):
        assert f"warning: {node}: its MAC address 02:00:00:00:01:00 is in" in said.err


def test_the_cluster_is_asked_whether_it_would_mint(typed: Type, site: Callable[..., None], tmp_path: Path) -> None:
    certificate = sites.certificate(tmp_path, "cluster")
    with api_server(certificate) as api:
        site(boot_join=sites.kubernetes(tmp_path, api.url, certificate))
        assert typed("boot", "check", "--ask-cluster").code == 0
        assert api.asked == ["POST /api/v1/namespaces/kube-system/secrets?dryRun=All"]
        assert api.secrets == {}
        api.answers = [403]
        said = typed("boot", "check", "--ask-cluster")
    assert said.code == 1
    assert "let the service account create and delete secrets" in said.out


def test_without_a_cluster_none_can_be_asked(typed: Type, site: Callable[..., None]) -> None:
    assert "boot_join names no Kubernetes cluster" in typed("boot", "check", "--ask-cluster").out
