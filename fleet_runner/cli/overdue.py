"""Since when something is due that nobody does, in words."""

from datetime import UTC, datetime

DAY = 86_400.0


def words(since: float, now: float) -> str:
    """Say it, with the next step."""
    form = "%H:%M UTC" if now - since < DAY else "%Y-%m-%d %H:%M UTC"
    return f"due since {datetime.fromtimestamp(since, UTC).strftime(form)}; nobody serves: fleet-runner serve"
