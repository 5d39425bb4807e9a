"""The definition of a mirror, which the TypeScript client has too: mirror.json is made from it."""

from __future__ import annotations

import json
import pkgutil
import re
from typing import Any, Dict, List

_data = pkgutil.get_data(__package__, "mirror.json")
assert _data is not None
MIRROR: Dict[str, Any] = json.loads(_data)

#: Every dataset, what others refer to first: its ``type``, and its ``pagination``, by cursor or by page.
DATASETS: Dict[str, Dict[str, Any]] = MIRROR["datasets"]

DIRECTORY = ("organizations", "locations")

_surrogates = re.compile("[\ud800-\udfff]")


def to_json(value: Any) -> str:
    """The text that the service sends for a value: without spaces, and in the order in which members came."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # Half of a character is no text of a database. Written as an escape it stays what it is.
    return text if text.isascii() else _surrogates.sub(lambda half: f"\\u{ord(half.group()):04x}", text)


def clean(text: str) -> str:
    """A text that a database can have: half of a character becomes U+FFFD."""
    return text if text.isascii() else _surrogates.sub("\ufffd", text)


def value_at(column: Dict[str, Any], attributes: Any) -> Any:
    """What a column holds of a record's attributes, as JSON has it; None where they lack it."""
    value = attributes
    for member in column["from"]:
        if not isinstance(value, dict):
            return None
        value = value.get(member)
    return value


def items_of(attributes: Dict[str, Any], name: str) -> List[Any]:
    """The items of a record's list; none where it has no list."""
    items = attributes.get(name)
    return items if isinstance(items, list) else []
