"""What the plugin adds to NetBox's own pages: the panel of a device."""

from netbox.plugins import PluginTemplateExtension

from netbox_fleet_runner.nodes import is_node
from netbox_fleet_runner.panel import context


class DevicePanel(PluginTemplateExtension):
    """The panel of a node: what its custom fields say; what fleet-runner says comes once a browser asks for it."""

    models = ("dcim.device",)

    def right_page(self) -> str:
        """Return the panel, for nodes alone. fleet-runner is not asked here, so the page is as quick as ever."""
        device = self.context["object"]
        if not is_node(device):
            return ""
        more = context(self.context["request"].user, device)
        return str(self.render("netbox_fleet_runner/panel.html", {**more, "device": device, "asking": True}))


template_extensions = [DevicePanel]
