"""The column of the device list that shows a node's state; NetBox's own filter of the field narrows by it."""

from typing import Any
from urllib.parse import urlencode

import django_tables2
from dcim.tables import DeviceTable
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from utilities.tables import register_table_column

from netbox_fleet_runner.brief import plain
from netbox_fleet_runner.states import STATE, shown, tone

COLUMN = "fleet_runner_state"


def listed(state: str) -> str:
    """Return the address of the devices in a state."""
    return f"{reverse('dcim:device_list')}?{urlencode({f'cf_{STATE}': state})}"


def badge(state: str) -> SafeString:
    """Return a state as a badge that leads to all devices in it."""
    return format_html(
        '<a href="{}" class="badge text-bg-{}">{}</a>', listed(state), tone(state).badge, shown(plain(state))
    )


class StateColumn(django_tables2.Column):
    """A node's state, from the custom field: a list of devices asks fleet-runner nothing."""

    def render(self, value: Any) -> Any:
        """Return the badge; a value that is no text is shown as none."""
        return badge(value) if isinstance(value, str) and value else self.default

    def value(self, value: Any) -> Any:
        """Return what an export holds."""
        return value


def register() -> None:
    """Add the column, and show it to whoever has not chosen columns."""
    column = StateColumn(
        accessor=f"custom_field_data__{STATE}",
        order_by=(f"custom_field_data__{STATE}", "name", "pk"),  # whole, or pages of equal states would overlap
        verbose_name="Fleet state",
    )
    register_table_column(column, COLUMN, DeviceTable)
    shown_first = list(DeviceTable.Meta.default_columns)
    shown_first.insert(shown_first.index("status") + 1, COLUMN)
    DeviceTable.Meta.default_columns = tuple(shown_first)
