"""The file that says how nodes join is read whole or not at all, and each problem has its line."""

from pathlib import Path

import pytest

from fleet_runner.core.base.errors import SettingsError
from fleet_runner.services.boot import join
from tests.services.boot import sites

PEM = "-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "ca.crt").write_text(PEM, "utf-8")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    return tmp_path / "join.yml"


def refused(file: Path, text: str) -> str:
    file.write_text(text, "utf-8")
    with pytest.raises(SettingsError) as found:
        join.read(file)
    return str(found.value)


def test_two_clusters_are_read_with_their_defaults_and_paths_beside_the_file(file: Path) -> None:
    file.write_text(
        "default: slurm\n"
        "kubernetes: {server: 'https://[2001:db8::1]:6443/', ca: ca.crt, token_file: /run/token}\n"
        "slurm: {controllers: [a, 'b:1'], munge_key: munge.key}\n",
        "utf-8",
    )
    found, files = join.read(file)
    assert found.default == "slurm"
    assert found.kubernetes is not None
    assert found.slurm is not None
    assert found.kubernetes.cluster.server == "https://[2001:db8::1]:6443"
    assert found.kubernetes.cluster.token_file == Path("/run/token")
    assert found.kubernetes.cluster.groups == ("system:bootstrappers:kubeadm:default-node-token",)
    assert found.kubernetes.cluster.seconds == 1800
    assert found.kubernetes.ca == PEM
    assert found.slurm.controllers == ("a:6817", "b:1")
    assert found.slurm.munge_key == file.parent / "munge.key"
    assert files == (file, file.parent / "ca.crt")


def test_a_single_cluster_is_the_default(file: Path) -> None:
    found, _ = join.read(sites.slurm(file.parent))
    assert found.of({}) == "slurm"
    assert found.of({"boot_join": "none"}) == "none"


def test_without_a_file_nodes_join_nothing() -> None:
    found, files = join.read(None)
    assert found.of({}) == "none"
    assert files == ()
    assert join.names(found, "none") == {"kubernetes": None, "slurm": None}


K = "kubernetes:\n  server: https://a:6443\n  ca: ca.crt\n  token_file: token\n"
S = "slurm:\n  controllers: [a]\n  munge_key: k\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "join.yml:1: found 'None', expected kubernetes: or slurm:"),
        ("[]", "expected kubernetes: or slurm:"),
        ("{}", "join.yml:1: there is no cluster"),
        ("default: slurm\n", "join.yml:1: there is no cluster"),
        ("slurm: {", "join.yml:2: invalid YAML"),
        ("slurm: 7\n", "join.yml:1: 'slurm' of boot_join is '7', expected a mapping"),
        (f"{S}slum: 1\n", "join.yml:4: boot_join has the unknown key 'slum'; did you mean 'slurm'?"),
        (f"{S}{S}", "join.yml:4: key 'slurm' is already given on line 1"),
        (f"{K}{S}", "join.yml:5: there are two clusters; say `default: kubernetes`, `slurm` or `none`"),
        (f"{S}default: kubernetes\n", "4: 'default' of boot_join is 'kubernetes', expected one of slurm, none"),
        ("slurm:\n  controllers: [a]\n", "join.yml:2: slurm has no 'munge_key'"),
        ("slurm:\n  munge_key: k\n", "join.yml:2: slurm has no controllers"),
        ("slurm:\n  munge_key: k\n  controllers: ['a b']\n", "join.yml:3: controller 'a b' is no name"),
        ('slurm:\n  munge_key: k\n  controllers: [\'a" -D\']\n', "join.yml:3: controller"),
        (f"{K}  groups: [admins]\n", "join.yml:5: group 'admins' is not one"),
        (f"{K}  groups: ['system:bootstrappers:a,b']\n", "join.yml:5: group"),
        (f"{K}  token_minutes: 0\n", "join.yml:5: token_minutes is 0, expected 1 or more"),
        (f"{K}  token_minutes: soon\n", "join.yml:5: 'token_minutes' of kubernetes is 'soon', expected"),
        (f"{K}  tokens: 1\n", "join.yml:5: kubernetes has the unknown key 'tokens'"),
        (K.replace("https", "http"), "join.yml:2: server is 'http://a:6443', expected https://"),
        (K.replace("a:6443", "a:6443/api"), "join.yml:2: server is"),
        (K.replace("a:6443", "u:p@a"), "join.yml:2: server is"),
        (K.replace("a:6443", "a:99999"), "join.yml:2: server is"),
        (K.replace("a:6443", "[a"), "join.yml:2: server is"),
        (K.replace("ca.crt", "gone"), "/gone is no readable PEM certificate, expected the cluster's CA"),
        (K.replace("ca.crt", "binary"), "/binary is no readable PEM certificate"),
        (K.replace("ca.crt", "."), "is no readable PEM certificate"),
    ],
)  # fmt: skip
def test_a_problem_is_told_by_its_line(file: Path, text: str, said: str) -> None:
    assert said in refused(file, text)


def test_all_problems_are_told_at_once(file: Path) -> None:
    said = refused(file, "kubernetes: {server: x}\nslurm: {}\n")
    assert len(said.splitlines()) == 6
    assert "PEM" not in said


def test_a_file_that_cannot_be_read_is_named(file: Path) -> None:
    with pytest.raises(SettingsError, match=r"boot_join names .*join\.yml: No such file or directory"):
        join.read(file)
    with pytest.raises(SettingsError, match="which is no text"):
        join.read(file.parent / "binary")
