"""How nodes join their cluster: the file that `boot_join` names; docs/boot-templates.md describes it."""

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fleet_runner.adapters.join.kubernetes import Cluster
from fleet_runner.adapters.sitefiles.row import Row
from fleet_runner.adapters.sitefiles.tree import Map, parse
from fleet_runner.core.base.errors import JoinError, SettingsError
from fleet_runner.core.inventory.consistency import Problem, show

KUBERNETES, SLURM, NONE = "kubernetes", "slurm", "none"
GROUP = "system:bootstrappers:kubeadm:default-node-token"
"""Whom kubeadm's own cluster roles let join; every group of a token begins like it."""

CONTEXT = "boot_join"
"""The key of a node's context that says which cluster it joins."""

API_VERSION = "kubeadm.k8s.io/v1beta3"
MINUTES = 30
SLURM_PORT = 6817
HIDDEN = "hidden"
MAX_BYTES = 1_000_000

_CONTROLLER = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?")
_PEM = "-----BEGIN CERTIFICATE-----"


@dataclass(frozen=True, slots=True)
class Kubernetes:
    """A Kubernetes cluster that nodes join with kubeadm; `ca` is the PEM text of its CA."""

    cluster: Cluster
    ca: str
    api_version: str


@dataclass(frozen=True, slots=True)
class Slurm:
    """A Slurm cluster whose controllers send slurmd its configuration."""

    controllers: tuple[str, ...]
    munge_key: Path


@dataclass(frozen=True, slots=True)
class Joining:
    """The clusters there are, and which one a node joins that does not say so itself."""

    file: Path | None
    kubernetes: Kubernetes | None = None
    slurm: Slurm | None = None
    default: str = NONE

    def of(self, context: Mapping[str, Any]) -> str:
        """Return which cluster a node joins: "kubernetes", "slurm" or "none"; JoinError for another one."""
        chosen = context.get(CONTEXT, self.default)
        known = {NONE: True, KUBERNETES: self.kubernetes, SLURM: self.slurm}
        if isinstance(chosen, str) and known.get(chosen):
            return chosen
        there = ", ".join(name for name, each in known.items() if each)
        where = self.file or "the setting boot_join, which is not set,"
        raise JoinError(f"{CONTEXT} in its context is {show(chosen)}, but {where} knows {there}; correct one of them")


def read(file: Path | None) -> tuple[Joining, tuple[Path, ...]]:
    """Return what the file says and which files that rests on; SettingsError names every problem with its line."""
    if file is None:
        return Joining(None), ()
    wrong: list[Problem] = []
    tree = parse(_text(file), str(file), wrong)
    if not wrong and not isinstance(tree, Map):
        wrong.append(Problem(f"{file}:1", f"found {show(tree)}, expected kubernetes: or slurm: with its keys"))
    found = _joining(Row(tree, str(file), "boot_join", wrong), file) if isinstance(tree, Map) else Joining(file)
    if wrong:
        raise SettingsError("\n  ".join(str(each) for each in wrong))
    read_too = [found.kubernetes.cluster.ca] if found.kubernetes else []
    return found, (file, *read_too)


def names(joining: Joining, chosen: str, *, token: str = HIDDEN, key: bytes = HIDDEN.encode()) -> dict[str, Any]:
    """Return what templates see as `join`: the node's cluster with these secrets, and None for the others."""
    found: dict[str, Any] = {KUBERNETES: None, SLURM: None}
    if joining.kubernetes and chosen == KUBERNETES:
        api = joining.kubernetes
        found[KUBERNETES] = {
            "server": api.cluster.server,
            "ca": api.ca,
            "api_version": api.api_version,
            "token": token,
        }
    if joining.slurm and chosen == SLURM:
        found[SLURM] = {
            "controllers": list(joining.slurm.controllers),
            "conf_server": ",".join(joining.slurm.controllers),
            "munge_key": b64encode(key).decode("ascii"),
        }
    return found


def _joining(row: Row, file: Path) -> Joining:
    row.only((KUBERNETES, SLURM, "default"))
    kubernetes, slurm = row.row(KUBERNETES, KUBERNETES), row.row(SLURM, SLURM)
    there = [name for name, each in ((KUBERNETES, kubernetes), (SLURM, slurm)) if each]
    if len(there) > 1 and "default" not in row.tree.items:
        row.wrong(SLURM, f"there are two clusters; say `default: {KUBERNETES}`, `{SLURM}` or `{NONE}`")
    if not row.tree.items.keys() & {KUBERNETES, SLURM}:
        row.wrong("", f"there is no cluster; expected {KUBERNETES}: or {SLURM}: with its keys")
    return Joining(
        file,
        kubernetes=_kubernetes(kubernetes, file.parent) if kubernetes else None,
        slurm=_slurm(slurm, file.parent) if slurm else None,
        default=row.choice("default", (*there, NONE), there[0] if there else NONE),
    )


def _kubernetes(row: Row, folder: Path) -> Kubernetes:
    row.only(("server", "ca", "token_file", "token_minutes", "groups", "api_version"))
    server, named = row.needed("server"), row.needed("ca")
    ca = folder / named
    if server and not _is_server(server):
        row.wrong("server", f"server is {show(server)}, expected https://ADDRESS:6443 without more")
    groups = tuple(row.texts("groups")) or (GROUP,)
    for each in groups:
        if not each.startswith("system:bootstrappers:") or "," in each:
            row.wrong("groups", f"group {show(each)} is not one that a bootstrap token may have, such as {GROUP}")
    minutes = row.number("token_minutes", MINUTES) or 0
    if minutes < 1:
        row.wrong("token_minutes", f"token_minutes is {minutes:g}, expected 1 or more")
    cluster = Cluster(server.rstrip("/"), ca, folder / row.needed("token_file"), groups, minutes * 60)
    return Kubernetes(cluster, _ca(row, ca) if named else "", row.text("api_version") or API_VERSION)


def _slurm(row: Row, folder: Path) -> Slurm:
    row.only(("controllers", "munge_key"))
    found = tuple(row.texts("controllers"))
    if not found:
        row.wrong("controllers", "slurm has no controllers; give their names, such as [slurmctl-1]")
    for each in found:
        if not _CONTROLLER.fullmatch(each):
            row.wrong("controllers", f"controller {show(each)} is no name or address with a port, such as ctl-1:6817")
    ported = tuple(each if ":" in each else f"{each}:{SLURM_PORT}" for each in found)
    return Slurm(ported, folder / row.needed("munge_key"))


def _ca(row: Row, path: Path) -> str:
    try:
        found = path.read_text("utf-8") if path.is_file() else ""
    except (OSError, UnicodeDecodeError):
        found = ""
    if _PEM not in found or len(found) > MAX_BYTES:
        row.wrong(
            "ca", f"{path} is no readable PEM certificate, expected the cluster's CA (/etc/kubernetes/pki/ca.crt)"
        )
    return found


def _is_server(url: str) -> bool:
    try:
        parts = urlsplit(url)
        plain = not (parts.username or parts.query or parts.fragment or parts.path.strip("/")) and parts.port != 0
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.hostname) and plain


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except OSError as error:
        raise SettingsError(f"boot_join names {file}: {error.strerror}; expected a YAML file") from None
    except UnicodeDecodeError:
        raise SettingsError(f"boot_join names {file}, which is no text; expected a YAML file") from None
