"""What ssh says that is our side's failure: it is no word about the node."""

OUR_WAY = "that says nothing about the node: check this runner's ssh, its names and its routes"

OURS = {
    "Permission denied (": "check boot_authorized_keys and the user that plays log in as",
    "Host key verification failed": "compare the keys in known_hosts with those on its console: another machine may "
    "have its address",
    "Could not resolve hostname": OUR_WAY,
    "Network is unreachable": OUR_WAY,
}
"""Words of OpenSSH, and what to do about them. "No route to host" is none: so a node is told that is off."""


def advice(said: str) -> str:
    """Return what to do about an ssh failure that is ours; empty where it may be the node's."""
    return next((todo for words, todo in OURS.items() if words in said), "")
