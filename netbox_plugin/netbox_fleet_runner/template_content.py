"""What the plugin adds to NetBox's own pages: the panel of a device."""

from django.utils.html import format_html
from netbox.plugins import PluginTemplateExtension

from netbox_fleet_runner.nodes import fields, is_node
from netbox_fleet_runner.panel import context
from netbox_fleet_runner.states import shown


class DevicePanel(PluginTemplateExtension):
    """The panel of a node: what its custom fields say; what fleet-runner says comes once a browser asks for it."""

    models = ("dcim.device",)

    def buttons(self) -> str:
        """Return the state, beside the page's own buttons, as the way down to the panel."""
        device = self.context["object"]
        held = fields(device)
        if not is_node(device) or not held.state:
            return ""
        return format_html(
            '<a href="#fleet-runner" class="btn bg-{} text-{}-fg">{}</a>',
            held.tone.badge,
            held.tone.badge,
            shown(held.state),
        )

    def right_page(self) -> str:
        """Return the panel, for nodes alone. fleet-runner is not asked here, so the page is as quick as ever."""
        device = self.context["object"]
        if not is_node(device):
            return ""
        more = context(self.context["request"].user, device)
        return str(self.render("netbox_fleet_runner/panel.html", {**more, "device": device, "asking": True}))


template_extensions = [DevicePanel]
