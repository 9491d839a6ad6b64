"""A rack's elevation as NetBox draws it, coloured by the state of each node; what a user may not see is blocked."""

from typing import Any

from dcim.models import Device
from dcim.svg import RackElevationSVG
from dcim.svg.racks import truncate_text
from svgwrite.container import Hyperlink
from svgwrite.shapes import Rect
from svgwrite.text import Text
from utilities.html import foreground_color

from netbox_fleet_runner.nodes import fields, is_node
from netbox_fleet_runner.states import shown

OTHER = "ced4da"
"""The colour of what is no node: a switch, a shelf."""


class StateElevation(RackElevationSVG):
    """NetBox's drawing, in which a device's colour and words say its state."""

    def _draw_device(self, device: Device, coords: Any, size: Any, color: Any = None, image: Any = None) -> None:
        """Draw a device with its name and state; NetBox's own colour and picture of it are left out."""
        del color, image
        held = fields(device)
        node = is_node(device)
        state = shown(held.state) if held.state else "state not known"
        fill = held.tone.fill if node else OTHER
        said = f"{device}: {state}" if node else str(device)
        link = Hyperlink(href=f"{self.base_url}{device.get_absolute_url()}", target="_parent")
        since = f", since {held.since:%Y-%m-%d %H:%M} UTC" if held.since else ""
        link.set_desc(said + since)
        link.add(Rect(coords, size, style=f"fill: #{fill}", class_="slot"))
        middle = (coords[0] + size[0] / 2, coords[1] + size[1] / 2)
        link.add(Text(truncate_text(said, size[0]), insert=middle, fill=f"#{foreground_color(fill)}", class_="label"))
        self.drawing.add(link)
