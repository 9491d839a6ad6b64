"""What the store does about requests from NetBox's pages."""

import math
from collections.abc import Collection

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.netbox import page_intents
from fleet_runner.adapters.store.netbox.page_intents import Refused
from fleet_runner.core.inventory.netbox.page_intents import PageIntent


class PageIntentMethods:
    """Methods of the Store, which extends this. `url` is the NetBox whose pages they are."""

    _database: Database

    def take_page_intent(
        self, url: str, intent: PageIntent, now: float, *, refusal: str = "", here: bool = True
    ) -> bool:
        """Leave a request for the runner, or write down its refusal; False where it was taken before.

        The refusal is said in the node's history where it is a node's (`here`), else NetBox is to be told of it.
        """
        with self._database.write() as connection:
            return page_intents.take(connection, url, intent, (refusal, here), now)

    def page_intents_gone(self, url: str, shown: Collection[int], before: float, now: float) -> None:
        """Note that no device but those shown holds a request that was taken before a moment."""
        with self._database.read() as connection:
            over = page_intents.standing(connection, url, before) - set(shown)
        if over:
            with self._database.write() as connection:
                page_intents.gone(connection, url, sorted(over), before, now)

    def page_intent_emptied(self, url: str, device: int, now: float) -> None:
        """Note that a device's field was emptied."""
        with self._database.write() as connection:
            page_intents.gone(connection, url, [device], math.inf, now)

    def refused_page_intents(self, url: str) -> tuple[Refused, ...]:
        """Return the refusals that NetBox is still to be told of, oldest first."""
        with self._database.read() as connection:
            return page_intents.refused(connection, url)

    def begin_refusal(self, url: str, intent: PageIntent, now: float, seconds: float) -> bool:
        """Take the right to tell NetBox of a refusal for so many seconds; False where that is another's."""
        with self._database.write() as connection:
            return page_intents.begin_telling(connection, url, intent, now, seconds)

    def refusal_told(self, url: str, intent: PageIntent, now: float) -> None:
        """Note that NetBox was told of a refusal."""
        with self._database.write() as connection:
            page_intents.told(connection, url, intent, now)
