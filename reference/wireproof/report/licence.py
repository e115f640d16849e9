"""The licence of what the suite writes for others: one line for each file, the text, and a notice."""

from pathlib import Path
from string import Template
from typing import Final

import wireproof
from wireproof.files import read_limited_text

SPDX_ID: Final = "Apache-2.0"
"""The identifier of the licence in the list of SPDX; the same as in pyproject.toml."""

SPDX_LINE: Final = f"SPDX-License-Identifier: {SPDX_ID}"

MAX_SIZE: Final = 1 << 16
"""Maximum bytes of the text."""

_NOTICE: Final = Template("""wireproof $version: cases of the message formats of Kafka, Iggy and Heka
Copyright the wireproof contributors

$spdx

Fixtures $fixtures. The field `source` of a case has the origin of its bytes. Rules and sentences are worded
anew; their sources are linked, and keep their own licences.
""")


def licence_text() -> str:
    """Return the text of the licence: of the wheel if it is there, else of the checkout."""
    package = Path(wireproof.__file__).parent
    packaged = package / "_licence" / "LICENSE"
    return read_limited_text(packaged if packaged.is_file() else package.parents[1] / "LICENSE", MAX_SIZE)


def notice(fixtures: str) -> str:
    """Return the notice that a copy of the cases has to keep; `fixtures` is their digest."""
    return _NOTICE.substitute(version=wireproof.__version__, spdx=SPDX_LINE, fixtures=fixtures)
