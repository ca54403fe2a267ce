# SPDX-License-Identifier: GPL-2.0-or-later
"""A field that holds a name which a person gives: of a node, a wire, a station, a drill."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, WithJsonSchema

from contracts.names import PATTERN, check_name

Name = Annotated[str, AfterValidator(check_name), WithJsonSchema({"type": "string", "pattern": PATTERN})]
