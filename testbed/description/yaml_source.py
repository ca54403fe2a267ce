# SPDX-License-Identifier: GPL-2.0-or-later
"""A YAML file as plain data that remembers where each thing stands, so that an error can point at it.

Scalars are read by the core schema of YAML 1.2 (section 10.3.2): `no`, `on` and `yes` are text, 1e-6 is a number.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from contracts import permissions
from contracts.errors import BadInput, BadTopology, printable

#: A path from the top of the file to a value: keys and list indices.
Location = tuple[str | int, ...]

#: Beyond these a file is a mistake or an attack (aliases of aliases grow without bound), not a network of one PC.
LARGEST_FILE_BYTES = 256 << 10
LARGEST_DOCUMENT_NODES = 50_000
#: Brackets in brackets: the parser takes seconds for some thousands of them.
_DEEPEST = 100
#: Digits; a number with more is none that anybody means.
_LONGEST_NUMBER = 400

_SCALARS = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null", "timestamp")}
#: Of mappings that merge others.
_DEEPEST_MERGE = 50
_MERGE_TAG, _TEXT_TAG = "tag:yaml.org,2002:merge", "tag:yaml.org,2002:str"
_NULL = re.compile(r"|~|null|Null|NULL")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")

#: What the YAML parser says in its own words, and what it means for somebody who writes the file.
_PLAIN_WORDS = (
    (r"found character '\\t'", "a tab is used to indent", "indent with spaces"),
    (r"mapping values are not allowed", "a second colon on this line, or wrong indentation", "put text with a colon in quotes"),
    (r"but found '[\]}]'", "a bracket closes here that none has opened", "remove it"),
    (r"<block end>, but found '-'", "an item of a list stands among keys", "write key: value, or align it with its list"),
    (
        r"<block end>, but found '\?'",
        "a key stands among items of a list",
        "begin it with - as they do, or align it with its mapping",
    ),
    (r"could not find expected ':'", "a key without its colon", "write key: value"),
    (r"expected <block end>", "this line's indentation fits no line above it", "align it with its neighbours"),
    (r"expected a single document", "a second document starts here", "write one document a file, without ---"),
    (r"expected ',' or '([\]}])'", "a list or mapping in brackets is not closed", "add the missing comma or bracket"),
    (
        r"expected the node content, but found '<stream end>'",
        "a list or mapping in brackets is not closed",
        "add the missing bracket",
    ),
    (r"expected the node content", "a value is missing here", "write it, or take the comma out"),
    (r"cannot start any token", "a word may not start with this character", "put the text in quotes"),
    (r"found undefined alias", "an alias to an anchor that is not there", "define it before with &name"),
    (r"unexpected end of stream", "the file ends inside a quoted text", "close the quote"),
    (
        r"found unknown directive|found duplicate YAML|version",
        "a directive that is not understood",
        "remove the line that starts with %",
    ),
)


class Position(NamedTuple):
    """Line and column, both from 1."""

    line: int
    column: int


@dataclass
class Source:
    """A file that was read: its plain data, and where each value and each key of it stands."""

    path: str
    text: str
    data: Any = None
    values: dict[Location, Position] = field(default_factory=dict)
    keys: dict[Location, Position] = field(default_factory=dict)
    #: Where the command line says another value (testbed.description.settings), and in which words.
    said: dict[Location, str] = field(default_factory=dict)
    #: Defects that do not stop the reading: duplicate keys and the like.
    defects: list[BadInput] = field(default_factory=list)

    @property
    def context(self) -> dict[str, Path]:
        """Of Pydantic's validation: the folder in which files are looked for that the file names."""
        return {"folder": Path(self.path).resolve().parent}

    def keys_of(self, location: Location) -> list[str]:
        """The keys of the mapping there, as far as the file has it."""
        return [str(place[-1]) for place in self.keys if place[:-1] == location]

    def known(self, location: Location) -> Location:
        """The steps of a location that the file has; those that it lacks are left out."""
        steps: Location = ()
        for step in location:
            if (*steps, step) in self.values:
                steps = (*steps, step)
        return steps

    def bad(self, location: Location, cause: str, remedy: str = "", *, key: bool = False) -> BadInput:
        """An error at the value of `location`, or at its key; steps that the file does not have are passed over."""
        steps = self.known(location)
        for place, text in self.said.items():
            if steps[: len(place)] == place:
                return BadInput(f"--set {text}", 0, 0, _on_a_line(cause), _on_a_line(remedy))
        position = self.values.get(steps, Position(1, 1))
        if key:
            position = self.keys.get(steps, position)
        return BadInput(self.path, *position, _on_a_line(cause), _on_a_line(remedy))


def _on_a_line(message: str) -> str:
    """The message with what it quotes from the file made harmless: no line ends or control characters, no endless words."""
    return printable(re.sub(r"\S{81,}", lambda word: f"{word[0][:60]}…", message))


def read(path: Path, begin: str = "name: … and hosts: …") -> Source:
    """Reads a YAML file; `begin` is how one begins. Raises BadTopology when it cannot be read or parsed."""
    source = Source(str(path), _text(path))
    root = _compose(source)
    if not isinstance(root, MappingNode):
        what = "is empty" if root is None else "is not a mapping of keys to values at its top"
        raise BadTopology([source.bad((), f"the file {what}", f"start with {begin}")])
    source.data = _built(source, root)
    return source


def _built(source: Source, root: Node) -> Any:
    try:
        return _Builder(source).build(root, ())
    except RecursionError:
        raise BadTopology([source.bad((), "brackets or indentation are nested too deeply")]) from None


def _text(path: Path) -> str:
    def refuse(cause: str, remedy: str = "", line: int = 1, column: int = 1) -> BadTopology:
        return BadTopology([BadInput(str(path), line, column, cause, remedy)])

    try:
        if path.exists() and not path.is_file():
            raise refuse("is a directory" if path.is_dir() else "is not an ordinary file", "give the file itself")
        # Some files of the kernel's call themselves ordinary, and would be waited for for ever (/proc/kmsg): it is None that
        # comes from one which has nothing now.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            raw = file.read(LARGEST_FILE_BYTES + 1) or b""
    except PermissionError as error:
        raise refuse(f"cannot be read: {error.strerror}", permissions.remedy(path)) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise refuse(f"cannot be read: {reason}", "check the path and its permissions") from None
    if len(raw) > LARGEST_FILE_BYTES:
        raise refuse(f"is larger than {LARGEST_FILE_BYTES >> 10} KiB, so nobody has written it for this", "give another file")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start]
        line, column = before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1
        raise refuse(f"byte {raw[error.start]:#04x} is not UTF-8", "save the file in UTF-8", line, column) from None


def value(text: str) -> Any:
    """What a word on the command line means as a value in YAML, read as a file is. Raises ValueError when it is none."""
    source = Source("", text)
    try:
        root = _compose(source)
        read = None if root is None else _built(source, root)
        if source.defects:
            raise BadTopology(source.defects)
    except BadTopology as error:
        raise ValueError(f"{text[:60]!r} is not a value as in YAML: {error.errors[0].cause}") from error
    return read


def _compose(source: Source) -> Node | None:
    # By the brackets that are open at a time, wherever they stand.
    steps = (1 if bracket in "[{" else -1 for bracket in re.findall(r"[][{}]", source.text))
    if max(accumulate(steps), default=0) > _DEEPEST:
        raise BadTopology([source.bad((), "brackets or indentation are nested too deeply")])
    try:
        return _nodes(source.text)
    except MarkedYAMLError as error:
        raise BadTopology([_syntax_error(source, error)]) from None
    except ReaderError as error:
        before = source.text[: error.position]
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        cause = f"character U+{ord(source.text[error.position]):04X} may not stand in YAML"
        raise BadTopology([BadInput(source.path, line, column, cause, "remove it")]) from None
    except RecursionError:
        raise BadTopology([source.bad((), "brackets or indentation are nested too deeply")]) from None
    except (YAMLError, ValueError, OverflowError) as error:
        raise BadTopology([source.bad((), f"is not YAML: {error}")]) from None


@lru_cache(16)
def _nodes(text: str) -> Node | None:
    """What the text says, for reading alone. A campaign reads the same topologies for each of its runs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of reused anchors: permitted by YAML 1.2, section 7.1
        node: Node | None = YAML(typ="safe", pure=True).compose(text)
        return node


def _syntax_error(source: Source, error: MarkedYAMLError) -> BadInput:
    problem = error.problem or error.context or "not YAML"
    # What the end of the file cuts off is best shown where it begins.
    marks = [error.problem_mark, error.context_mark]
    # So is a key without a colon: what misses it is the next line.
    begun = re.search("stream end|end of stream|could not find expected ':'", problem)
    mark = next(filter(None, reversed(marks) if begun else marks), None)
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    if "mapping values are not allowed" in problem and (above := _line_without_colon(source.text, line, column)):
        return BadInput(source.path, above, 1, "a key without its colon", "write key: value")
    for pattern, cause, remedy in _PLAIN_WORDS:
        if re.search(pattern, f"{problem} {error.context}"):
            return BadInput(source.path, line, column, cause, remedy)
    context = f" ({error.context})" if error.context else ""
    return BadInput(source.path, line, column, f"is not YAML: {problem}{context}")


def _line_without_colon(text: str, line: int, column: int) -> int | None:
    """The line before, when it has no colon where this one has its first: the parser took both for one text."""
    lines = text.splitlines()
    before = next((number for number in range(line - 1, 0, -1) if lines[number - 1].strip()), None)
    if before is None or ":" in lines[line - 1][: column - 1] or re.search(r"[:#]|^ *-|[^ ] +- ", lines[before - 1]):
        return None
    return before


class _Builder:
    """Turns YAML nodes into dicts, lists and scalars, and writes their positions into the source."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._count = 0
        self._open: set[int] = set()

    def build(self, node: Node, location: Location) -> Any:
        self._count += 1
        if self._count > LARGEST_DOCUMENT_NODES:
            raise BadTopology([self._bad(node, f"there are more than {LARGEST_DOCUMENT_NODES} values, aliases followed")])
        if id(node) in self._open:
            raise BadTopology([self._bad(node, "an alias stands inside what it is an alias of", "write it out")])
        self._source.values[location] = _position(node)
        self._open.add(id(node))
        try:
            match node:
                case MappingNode():
                    return self._mapping(node, location)
                case SequenceNode():
                    return [self.build(item, (*location, index)) for index, item in enumerate(node.value)]
                case ScalarNode():
                    return self._scalar(node)
                case _:
                    raise TypeError(f"a YAML node of kind {type(node).__name__}")
        finally:
            self._open.discard(id(node))

    def _mapping(self, node: MappingNode, location: Location) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in self._pairs(node):
            if not isinstance(key, ScalarNode):
                self._source.defects.append(self._bad(key, "a key must be a word, not a list or mapping"))
                continue
            name, place = self._printable(key, key.value), (*location, key.value)
            if name in result:
                first = self._source.keys[place].line
                self._source.defects.append(
                    self._bad(key, f'key "{name}" is there a second time, first in line {first}', "remove one of them")
                )
                continue
            self._source.keys[place] = _position(key)
            result[name] = self.build(value, place)
            if isinstance(value, ScalarNode) and value.style is None and not value.value:
                self._source.values[place] = _position(key)  # nothing is written there, and the parser is at the next word
        return result

    def _pairs(self, node: MappingNode, merging: tuple[MappingNode, ...] = ()) -> Iterator[tuple[Node, Node]]:
        """Keys and values; `<<: *anchor` brings in those of another mapping that this one does not have itself, and what that
        one merges in turn. `merging` are the mappings whose merges lead here.
        """
        merged: list[tuple[Node, Node]] = []
        own = {key.value for key, _ in node.value if isinstance(key, ScalarNode)}
        way, merges = (*merging, node), False
        for key, value in node.value:
            if not (isinstance(key, ScalarNode) and key.tag == _MERGE_TAG):
                yield key, value
            elif merges or not isinstance(value, MappingNode) or any(value is other for other in way):
                self._source.defects.append(self._bad(value, "<< merges one other mapping", "write <<: *anchor, once"))
            elif len(way) > _DEEPEST_MERGE:
                self._source.defects.append(
                    self._bad(value, f"merges lead over more than {_DEEPEST_MERGE} mappings", "use fewer")
                )
            else:
                merges = True
                pairs = self._pairs(value, way)
                merged += [pair for pair in pairs if isinstance(pair[0], ScalarNode) and pair[0].value not in own]
        yield from merged

    def _scalar(self, node: ScalarNode) -> Any:
        text = self._printable(node, str(node.value))
        if node.tag not in _SCALARS and node.tag != _MERGE_TAG:
            self._source.defects.append(self._bad(node, f"tag {node.tag} is not used here", "remove it"))
        return text if node.style is not None or node.tag == _TEXT_TAG else plain_scalar(text)

    def _printable(self, node: Node, text: str) -> str:
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise BadTopology([self._bad(node, "an escape stands for half a character", "write the character itself")])
        return text

    def _bad(self, node: Node, cause: str, remedy: str = "") -> BadInput:
        return BadInput(self._source.path, *_position(node), cause, remedy)


def _position(node: Node) -> Position:
    return Position(node.start_mark.line + 1, node.start_mark.column + 1)


def plain_scalar(text: str) -> str | int | float | bool | None:
    """What an unquoted word means by the core schema of YAML 1.2."""
    if _NULL.fullmatch(text):
        return None
    if _BOOL.fullmatch(text):
        return text.lower() == "true"
    if len(text) > _LONGEST_NUMBER:
        return text
    if _INT.fullmatch(text):
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    return float(text) if _FLOAT.fullmatch(text) else text
