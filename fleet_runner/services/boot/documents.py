"""cloud-init's four documents, rendered for one boot; only `user-data` holds secrets."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from fleet_runner.adapters.join import munge
from fleet_runner.adapters.join.kubernetes import Cluster, Timeouts
from fleet_runner.core.base.errors import DocumentError, FleetError, JoinError
from fleet_runner.core.boot.facts import Facts
from fleet_runner.services.boot import join
from fleet_runner.services.boot.checking import checked
from fleet_runner.services.boot.file_cache import Kept
from fleet_runner.services.boot.keys_file import authorized_keys
from fleet_runner.services.boot.templating import Templates
from fleet_runner.services.boot.tokens import Tokens
from fleet_runner.settings import Settings

NAMES = ("meta-data", "vendor-data", "network-config", "user-data")
"""The documents, as NoCloud asks for them."""

PLAIN = ("meta-data", "vendor-data", "network-config")
"""Those without secrets, which a boot is given as often as it asks."""

HEADED = frozenset({"vendor-data", "user-data"})
"""Those that are cloud-config, and say so in their first line."""


@dataclass(frozen=True, slots=True)
class Filled:
    """A document with secrets. `revoke` takes back what was minted for it; None where nothing was."""

    body: bytes = field(repr=False)
    revoke: Callable[[], Awaitable[None]] | None = None


class Documents:
    """Renders the documents, from files that are read again when they change.

    Each method raises DocumentError for a template, JoinError for a cluster, and SettingsError for a file that a
    setting names: all of them FleetErrors, and none of them quotes a secret.
    """

    def __init__(self, settings: Settings, patience: Timeouts | None = None) -> None:
        self._templates = Templates(settings.boot_templates)
        self._ssh_keys = Kept(lambda: authorized_keys(settings.boot_authorized_keys))
        self._joining = Kept(lambda: join.read(settings.boot_join))
        self._tokens = Tokens(patience)
        self._same: tuple[Mapping[str, Any], bytes] = ({}, b"")

    def version(self) -> tuple[object, ...]:
        """Return what is equal for as long as the same facts make the same documents without secrets."""
        return (self._templates.version(), self._ssh_keys())

    def plain(self, document: str, facts: Facts) -> bytes:
        """Return one of the documents without secrets."""
        return self._render(document, facts)

    def meta_data(self, facts: Facts) -> bytes:
        """Return the document that names the instance."""
        return self._render("meta-data", facts)

    def vendor_data(self, facts: Facts) -> bytes:
        """Return the document with ssh keys and phone-home."""
        return self._render("vendor-data", facts)

    def network_config(self, facts: Facts) -> bytes:
        """Return the document that sets up the network."""
        return self._render("network-config", facts)

    async def user_data(self, facts: Facts) -> Filled:
        """Return the document with what the node joins its cluster with; a token is minted for it alone."""
        joining, chosen = self._chosen(facts)
        if chosen == join.KUBERNETES and joining.kubernetes:
            return await self._with_token(facts, joining, joining.kubernetes.cluster)
        key = munge.key(joining.slurm.munge_key) if chosen == join.SLURM and joining.slurm else b""
        return Filled(self._shared(facts, join.names(joining, chosen, key=key)))

    def preview(self, facts: Facts) -> bytes:
        """Return user-data as it would be, with every secret hidden and nothing minted."""
        return self._render("user-data", facts, join.names(*self._chosen(facts)))

    def close(self) -> None:
        """End the connections to clusters."""
        self._tokens.close()

    def _chosen(self, facts: Facts) -> tuple[join.Joining, str]:
        joining = self._joining()
        try:
            return joining, joining.of(facts.context)
        except JoinError as error:
            raise JoinError(f"user-data of {facts.node['name']}: {error}") from None

    async def _with_token(self, facts: Facts, joining: join.Joining, cluster: Cluster) -> Filled:
        token = await self._tokens.mint(cluster, f"{facts.node['name']}, boot {facts.boot['id']}", time.time())
        revoke = partial(self._tokens.revoke, cluster, token)
        try:
            names = join.names(joining, join.KUBERNETES, token=token.text)
            return Filled(self._render("user-data", facts, names), revoke)
        except FleetError:
            await revoke()
            raise

    def _shared(self, facts: Facts, joins: Mapping[str, Any]) -> bytes:
        """Return user-data without a token: the built-in one says the same to all nodes that join the same way.

        It is rendered without the facts of any node, so that nobody's can be in it.
        """
        if not self._templates.built_in("user-data", facts.node["device_type"]):
            return self._render("user-data", facts, joins)
        said, body = self._same
        if said != joins:
            text, _ = self._templates.render("user-data", facts.node["device_type"], {"join": joins})
            body = text.encode("utf-8")
            self._same = (joins, body)
        return body

    def _render(self, document: str, facts: Facts, joins: Mapping[str, Any] | None = None) -> bytes:
        names = {
            "node": facts.node,
            "context": facts.context,
            "boot": facts.boot,
            "network": facts.network,
            "ssh_authorized_keys": self._ssh_keys(),
            **({"join": joins} if joins is not None else {}),
        }
        try:
            text, good = self._templates.render(document, facts.node["device_type"], names)
            return text.encode("utf-8") if good else checked(text, header=document in HEADED)
        except DocumentError as error:
            raise DocumentError(f"{document} of {facts.node['name']}: {error}") from None
