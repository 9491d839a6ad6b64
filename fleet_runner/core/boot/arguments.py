"""Kernel arguments that a config context adds: none may send a node elsewhere for what it becomes."""


def elsewhere(node: str, arguments: str, own: tuple[str, ...]) -> str:
    """Say which argument names an address that is not one of the boot service's URLs; "" where none does."""
    hosts = {_host(url) for url in own if url}
    for word in arguments.split():
        if word.startswith("ds=") or ("://" in word and _host(word) not in hosts):
            return (
                f"{node}: boot_arguments in its config context has {word[:120]!r}, which names another source of boot"
                f" data than the setting boot_url ({', '.join(sorted(hosts))}); take it out there"
            )
    return ""


def _host(url: str) -> str:
    """Return the host and port behind the last scheme of a text."""
    return url.rpartition("://")[2].partition("/")[0].partition(";")[0]
