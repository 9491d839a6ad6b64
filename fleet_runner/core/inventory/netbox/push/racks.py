"""Sites, locations, racks and device types that a NetBox lacks, or has otherwise."""

from collections.abc import Iterator

from fleet_runner.core.inventory.netbox.push.step import Kind, Known, Step, changed, written
from fleet_runner.core.inventory.records import DeviceType, Fleet

RACK_FIELDS = ("u_height", "starting_unit", "location")
TYPE_FIELDS = ("manufacturer", "model", "u_height", "full_depth")
TEMPLATE_FIELDS = ("kind", "mgmt_only")


def steps(wanted: Fleet, has: Fleet, known: Known) -> Iterator[Step]:
    """Return what is missing or differs, sites first."""
    for site in wanted.sites:
        if site not in has.sites:
            yield Step(Kind.SITE, (site,), {})
    places = {(rack.site, rack.location) for rack in wanted.racks.values() if rack.location}
    for site, location in sorted(places - known.locations, key=str):
        yield Step(Kind.LOCATION, (site, str(location)), {})
    for key, rack in wanted.racks.items():
        name = (rack.site, rack.name)
        if key not in has.racks:
            yield Step(Kind.RACK, name, written(rack, RACK_FIELDS), site=rack.site)
            continue
        new, old = changed(rack, has.racks[key], RACK_FIELDS)
        if new:
            yield Step(Kind.RACK, name, new, old, site=rack.site)
    for slug, device_type in wanted.device_types.items():
        yield from _type(device_type, has.device_types.get(slug))


def _type(wanted: DeviceType, has: DeviceType | None) -> Iterator[Step]:
    key = (wanted.slug,)
    if has is None:
        yield Step(Kind.TYPE, key, written(wanted, TYPE_FIELDS))
    else:
        new, old = changed(wanted, has, TYPE_FIELDS)
        if new:
            yield Step(Kind.TYPE, key, new, old)
    there = {template.name: template for template in has.interfaces} if has else {}
    for template in wanted.interfaces:
        if template.name not in there:
            yield Step(Kind.TEMPLATE, (*key, template.name), written(template, TEMPLATE_FIELDS))
            continue
        new, old = changed(template, there[template.name], TEMPLATE_FIELDS)
        if new:
            yield Step(Kind.TEMPLATE, (*key, template.name), new, old)
