# SPDX-License-Identifier: GPL-2.0-or-later
"""The JSON schema of campaign files, with which editors complete and check them while they are written."""

from __future__ import annotations

from typing import Any

from campaigns.description import CampaignFile, Design, Repetitions
from testbed.description.topology_schema import names_only


def schema() -> dict[str, Any]:
    """JSON schema (draft 2020-12). What takes more than one key, or a topology, to be seen wrong is left to `check`."""
    json_schema: dict[str, Any] = names_only(CampaignFile.model_json_schema(by_alias=True))
    properties = json_schema["properties"]
    _also(properties["design"], {"enum": ["grid", "pairs"]}, Design.__name__)
    _also(properties["repetitions"], {"type": "integer", "minimum": 1}, Repetitions.__name__)
    return json_schema


def _also(key: dict[str, Any], word: dict[str, Any], model: str) -> None:
    """Of a key that is a word or a number for a mapping that is written often."""
    description = key.get("description", "")
    key.clear()
    key |= {"anyOf": [word, {"$ref": f"#/$defs/{model}"}], "description": description}
