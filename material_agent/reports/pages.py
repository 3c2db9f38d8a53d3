"""How templates of the product become pages: everything is escaped, and a missing value is an error."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape


def page_environment(package: str) -> Environment:
    """An environment for the folder `templates` of a package, without filters of its own."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
