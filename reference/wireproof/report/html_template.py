"""The Jinja2 environment of every HTML page: it escapes each value that a template shows.

Jinja2 is imported when a page is written, not before: other commands must start without it.
"""

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from wireproof.report.sanitize import escape_unsafe

if TYPE_CHECKING:
    from jinja2 import BaseLoader, Environment
    from markupsafe import Markup

PACKAGE: Final = "wireproof.report"


def template_environment(loader: "BaseLoader") -> "Environment":
    """Return an environment that escapes every value; a name without a value is an error."""
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - see the docstring of the module

    return Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: escape_unsafe(value) if type(value) is str else value,
    )


def render_template(name: str, **values: Any) -> "Markup":  # noqa: ANN401 - the values of a template
    """Render a template of the folder `templates`. Other templates show the result without another escape."""
    return safe_html(_templates().get_template(name).render(**values))


def template_file(name: str) -> "Markup":
    """Return a file of the folder `templates` as it is: a style sheet or a script."""
    return safe_html(files(PACKAGE).joinpath("templates", name).read_text(encoding="utf-8"))


def safe_html(text: str) -> "Markup":
    """Mark text as HTML, which templates do not escape: its caller has escaped the values in it."""
    from markupsafe import Markup  # noqa: PLC0415 - it comes with Jinja2

    return Markup(text)  # noqa: S704 - used for our own files, rendered templates and escaped JSON


@cache
def _templates() -> "Environment":
    from jinja2 import PackageLoader  # noqa: PLC0415 - see the docstring of the module

    return template_environment(PackageLoader(PACKAGE, "templates"))
