# SPDX-License-Identifier: GPL-2.0-or-later
"""What nobody should say to a netbox's control socket, from a seed: the same every time."""

from __future__ import annotations

import json
import random
from typing import Any, Final

METHODS: Final = (
    *("status", "statistics", "set", "reset", "begin", "capture", "capture_stop", "reopen", "write_records"),
    *("shutdown", ""),
)
#: As deep as a line of 64 KiB can be.
DEEP: Final = 32_000

_NUMBERS: Final = (
    "0",
    "-0",
    "-1",
    "0.5",
    "1e308",
    "1e999",
    "-1e999",
    "NaN",
    "Infinity",
    "9" * 400,
    "0x10",
    "01",
    str(2**64),
    str(-(2**63)),
)
_TEXTS: Final = (
    "",
    "a",
    "delay",
    "rate",
    "x.y",
    "a" * 5000,
    "\0",
    "../../../etc/passwd",
    "%s%n",
    "/dev/null/x",
    "\U0001f4a9",
    "\u202e",
    "'; --",
)


def message(chance: random.Random, names: tuple[str, ...]) -> bytes:
    """One message, with its line's end or without it. `names` are parameters and ports that there are."""
    kind = chance.randrange(10)
    if kind == 0:
        return chance.randbytes(chance.randrange(400)) + b"\n"
    if kind == 1:
        return _cut(chance, _request(chance, names))
    if kind == 2:
        return b"[" + b",".join(_request(chance, names) for _ in range(chance.randrange(60))) + b"]\n"
    if kind == 3:
        return spoilt(chance, _request(chance, names)) + b"\n"
    if kind == 4:
        return value(chance, names).encode() + b"\n"
    return _request(chance, names) + b"\n"


def deep(where: str) -> bytes:
    """A request with a value in it that is nested as deeply as a line can be: `where` is a key of it or of its parameters."""
    nest = "[" * DEEP + "]" * DEEP
    request: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "set", "params": {"parameter": "delay", "value": 0}}
    if where == "port":
        request["method"] = "reopen"
    place = request if where in request else request["params"]
    place[where] = "HERE"
    return json.dumps(request).replace('"HERE"', nest).encode() + b"\n"


def _request(chance: random.Random, names: tuple[str, ...]) -> bytes:
    parts = {
        "jsonrpc": '"2.0"',
        "id": "7",
        "method": json.dumps(chance.choice(METHODS)),
        "params": _params(chance, names),
    }
    for key in tuple(parts):
        fate = chance.random()
        if fate < 0.04:
            del parts[key]
        elif fate < 0.08:
            parts[key] = value(chance, names)
    return ("{" + ", ".join(f"{json.dumps(key)}: {text}" for key, text in parts.items()) + "}").encode("utf-8", "surrogatepass")


def _params(chance: random.Random, names: tuple[str, ...]) -> str:
    keys = ("parameter", "value", "port", "file", "frames", "seconds", "interval_s")
    chosen = chance.sample(keys, chance.randrange(len(keys) + 1))
    values = [json.dumps(chance.choice(names)) if names and chance.random() < 0.5 else value(chance, names) for _ in chosen]
    return "{" + ", ".join(f"{json.dumps(key)}: {text}" for key, text in zip(chosen, values, strict=True)) + "}"


def value(chance: random.Random, names: tuple[str, ...], depth: int = 0) -> str:
    """JSON, mostly. `names` may stand in it."""
    kind = chance.randrange(8 if depth < 5 else 5)
    if kind == 0:
        return chance.choice(_NUMBERS)
    if kind == 1:
        return json.dumps(chance.choice(_TEXTS + names))
    if kind == 2:
        return chance.choice(("null", "true", "false"))
    if kind in (3, 4):
        return f"{chance.uniform(-1e3, 1e6):.6g}"
    inner = [value(chance, names, depth + 1) for _ in range(chance.randrange(4))]
    if kind == 5:
        return "{" + ", ".join(f'"{number}": {value}' for number, value in enumerate(inner)) + "}"
    return "[" + ", ".join(inner) + "]"


def _cut(chance: random.Random, text: bytes) -> bytes:
    return text[: chance.randrange(len(text))]


def spoilt(chance: random.Random, text: bytes) -> bytes:
    """The text with a few bytes of it changed."""
    bytes_ = bytearray(text)
    for _ in range(chance.randint(1, 5)):
        bytes_[chance.randrange(len(bytes_))] = chance.randrange(256)
    return bytes(bytes_)
