"""What a booting machine may have: nothing stands in its way, or it is denied with the reason.

A denial's sentence is for the fleet's own history. Whoever asks is told what CONSOLE says: it knows of itself what it
may know, and nothing of what is expected.
"""

from dataclasses import dataclass

from fleet_runner.core.boot.boots import Boot, Identity, Milestone
from fleet_runner.core.boot.identity import contradiction, elsewhere, unsaid

STATUS = {
    "unknown": 404,
    "no_node": 403,
    "duplicate": 403,
    "mismatch": 403,
    "unarmed": 403,
    "unproved": 403,
    "address": 403,
    "unclaimed": 403,
    "key": 403,
    "plain": 403,
    "body": 400,
    "expired": 410,
    "claimed": 410,
    "closed": 410,
    "template": 503,
    "join": 503,
    "image": 503,
}
"""The HTTP status of each denial: 403 may not, 410 no longer, 503 cannot now, by no fault of the machine's."""

CONSOLE = {
    "unknown": "Nobody knows this machine. It is written down: register it in the source of truth.",
    "no_node": "This device has no lifecycle, so it is not booted.",
    "duplicate": "The source of truth has this machine more than once.",
    "mismatch": "This machine's identity differs from the expected one.",
    "unarmed": "This node is not armed for a boot. The runner arms it when it switches its power.",
    "unproved": "This boot must be proved by the BMC, and is not.",
    "address": "This boot belongs to another address.",
    "expired": "This node was armed for a boot, but asked too late. The runner arms it anew.",
    "claimed": "This boot has its data already. The runner arms the next one.",
    "template": "The documents of this node cannot be made now.",
    "image": "The image of this node cannot be served now.",
}
"""What the console of a machine shows for a denial of its script."""


@dataclass(frozen=True, slots=True)
class BootRequest:
    """Who asks, and when. `script_by` is the address that the boot's script went to, "" where it went to none yet.

    `leased` are the addresses that DHCP servers told of for this boot. `proof` is whether BMCs must prove boots.
    """

    source: str
    now: float
    script_by: str = ""
    leased: frozenset[str] = frozenset()
    proof: bool = False


@dataclass(frozen=True, slots=True)
class Denied:
    """Nothing is given. `code` is one word, and `sentence` what the fleet should know."""

    code: str
    sentence: str

    @property
    def status(self) -> int:
        """Return the HTTP status that says so."""
        return STATUS[self.code]


def script(node: str, boot: Boot | None, said: Identity, asked: BootRequest) -> Denied | None:
    """Whether a machine that is a node may have the script with its kernel."""
    if boot is None or boot.closed_at is not None:
        return unarmed(node)
    if boot.claimed_at is not None:
        return Denied("claimed", f"{node} asks for its script again, but boot {boot.id} has its boot data already")
    if asked.now >= boot.expires_at:
        return Denied(
            "expired", f"{node} asks for its script, but boot {boot.id} was armed until {boot.expires_at:.0f}"
        )
    wrong = contradiction(boot.expected, said) or unsaid(boot.expected, said)
    if wrong:
        return Denied("mismatch", f"{node} asks for the script of boot {boot.id}, but {wrong}")
    astray = "" if asked.source in asked.leased else elsewhere(boot.expected, asked.source)
    if astray:
        return Denied("address", f"{node} asks for the script of boot {boot.id}, but {astray}")
    return _place(boot, asked, "the script", asked.script_by or asked.source)


def unarmed(node: str) -> Denied:
    """Return the denial of a node that has no open boot."""
    return Denied("unarmed", f"{node} asks for a boot, but is not armed for one")


def document(boot: Boot, asked: BootRequest, what: str) -> Denied | None:
    """Whether a machine may have what holds no secrets: an image, or any document but user-data."""
    return _over(boot, asked, what, late=boot.claimed_at is None) or _place(boot, asked, what, asked.script_by)


def secrets(boot: Boot, asked: BootRequest) -> Denied | None:
    """Whether a machine may have user-data, as far as can be told before the claim."""
    if boot.closed_at is None and boot.claimed_at is not None:
        return claimed(boot)
    return _over(boot, asked, "user-data", late=True) or _place(boot, asked, "user-data", asked.script_by)


def claimed(boot: Boot) -> Denied:
    """Return the denial of secrets that were given before."""
    by = f" to {boot.claimed_by}" if boot.claimed_by else ""
    return Denied("claimed", f"{boot.node}: user-data of boot {boot.id} is asked for again; it was given once{by}")


def phone_home(boot: Boot, asked: BootRequest) -> Denied | None:
    """Whether a node may tell that it is done; whoever has told it once may tell it again."""
    told = Milestone.PHONE_HOME in boot.reached
    if boot.closed_at is not None and not told:
        return _closed(boot, "phone-home")
    if boot.claimed_at is None and not told:
        return Denied("unclaimed", f"{boot.node} phones home, but nobody has asked for user-data of boot {boot.id}")
    return _place(boot, asked, "phone-home", asked.script_by)


def _over(boot: Boot, asked: BootRequest, what: str, *, late: bool) -> Denied | None:
    if boot.closed_at is not None:
        return _closed(boot, what)
    if late and asked.now >= boot.expires_at:
        return Denied("expired", f"{boot.node}: {what} of boot {boot.id} is asked for after it expired")
    return None


def _closed(boot: Boot, what: str) -> Denied:
    return Denied("closed", f"{boot.node}: {what} of boot {boot.id}, but that is over: {boot.closed_because}")


def _place(boot: Boot, asked: BootRequest, what: str, script_by: str) -> Denied | None:
    """Hold where a request comes from against where the boot is at home.

    That is the address which proved the boot, where BMCs prove boots; else the address that the script went to, and
    the node's own: its address in the source of truth, and those that DHCP servers gave it.
    """
    if boot.nonce_hash or asked.proof:
        if not boot.proved_by:
            return Denied("unproved", f"{boot.node}: {what} of boot {boot.id} is asked for before its BMC proved it")
        home = frozenset({boot.proved_by})
    else:
        home = asked.leased | boot.expected.addresses | {script_by}
    if asked.source in home:
        return None
    where = " or ".join(sorted(filter(None, home))) or "nowhere before its script"
    return Denied(
        "address", f"{boot.node}: {what} of boot {boot.id} is asked for from {asked.source}, expected {where}"
    )
