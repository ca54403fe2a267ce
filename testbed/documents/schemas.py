# SPDX-License-Identifier: GPL-2.0-or-later
"""The schemas of docs/json/, made from the types of the documents.

python -m testbed.documents.schemas     writes them anew
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import GenericAlias, new_class
from typing import Any, Final, get_args, get_type_hints

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema
from typing_extensions import TypedDict

from applications.registry import analyses
from contracts import node_status
from contracts.document import Document
from contracts.installation import CHECKOUT
from contracts.plan import EquipmentPlan, Plan
from results import metrics_document
from testbed.description.reference import comments
from testbed.documents import archive, bench, campaign, captures, changes, host, kinds, messages, plan, run, status, watch

FOLDER: Final = CHECKOUT / "docs/json"

#: Where the kinds find their shapes.
_MODULES: Final = {
    module.__name__.rpartition(".")[2]: module
    for module in (archive, bench, campaign, captures, changes, host, messages, plan, run, status, watch)
}
#: What a netbox answers has keys of its technology, too.
_OPEN: Final = (node_status.NetboxStatus, node_status.NetboxPort, node_status.Scheduler)


def documents() -> dict[Document[Any], Any]:
    """Each document with the type that it has; that of metrics.json with the keys of all applications that there are."""
    types = {
        value: get_args(get_args(hints[name])[0])[0]
        for module in (kinds, metrics_document)
        for hints in (get_type_hints(module, localns=_MODULES),)
        for name, value in vars(module).items()
        if isinstance(value, Document)
    }
    of_applications = {analysis.key: GenericAlias(list, (analysis.entry,)) for analysis in analyses().values()}
    metrics = _with(metrics_document.Metrics, (metrics_document.Metrics,), of_applications)
    return types | {
        metrics_document.METRICS: metrics,
        kinds.RUN: _with(run.Run, (run.Run,), {"metrics": metrics}),
        kinds.PLAN: _after(Plan, plan.PlanDocument),
        kinds.ATTACH: _after(EquipmentPlan, changes.Attach),
        kinds.DETACH: _after(EquipmentPlan, changes.Detach),
    }


def _after(kind: type, shape: type) -> type:
    """The TypedDict with all that a dataclass has before its own fields."""
    return _with(shape, (_with(kind, (TypedDict,), get_type_hints(kind)), shape), {})


def _with(shape: type, bases: tuple[Any, ...], fields: Mapping[str, object]) -> type:
    """A TypedDict that is called and described as `shape`, with the fields of `bases`, and these besides or in their place."""
    described = {"__annotations__": dict(fields), "__doc__": shape.__doc__, "__module__": shape.__module__}
    return new_class(shape.__name__, bases, exec_body=lambda namespace: namespace.update(described))


def schema(document: Document[Any]) -> dict[str, Any]:
    """JSON schema, draft 2020-12."""
    json_schema = TypeAdapter(documents()[document]).json_schema(mode="serialization", schema_generator=_Closed)
    parts = (
        [json_schema["$defs"][part["$ref"].rpartition("/")[2]] for part in json_schema["anyOf"]]
        if "anyOf" in json_schema
        else [json_schema]
    )
    for part in parts:
        part["properties"] = {"format": {"const": document.format}, "version": {"const": document.version}, **part["properties"]}
        part["required"] = ["format", "version", *part["required"]]
    return {"$schema": GenerateJsonSchema.schema_dialect, **json_schema, "title": document.format}


def file_name(document: Document[Any]) -> str:
    return f"{document.name}.schema.json"


def text(document: Document[Any]) -> str:
    """The file of a schema."""
    return json.dumps(schema(document), indent=1, ensure_ascii=False) + "\n"


class _Closed(GenerateJsonSchema):
    """Objects have the keys that their types name and no others; what types say in comments is in the schema."""

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        json_schema, shape = super().typed_dict_schema(schema), schema["cls"]
        if shape not in _OPEN:
            json_schema["additionalProperties"] = False
        return _described(json_schema, shape)

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        json_schema = super().dataclass_schema(schema)
        json_schema["additionalProperties"] = False
        return _described(json_schema, schema["cls"])

    def field_is_required(
        self,
        field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField,
        total: bool,
    ) -> bool:
        """What has a default is written all the same."""
        return field["type"] != "typed-dict-field" or field.get("required", total)


def _described(json_schema: JsonSchemaValue, shape: type) -> JsonSchemaValue:
    descriptions = comments(shape)
    for name, part in json_schema["properties"].items():
        part.pop("title", None)
        part.pop("default", None)
        if name in descriptions:
            part["description"] = descriptions[name]
    return json_schema


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for document in documents():
        (FOLDER / file_name(document)).write_text(text(document))
