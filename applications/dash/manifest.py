# SPDX-License-Identifier: GPL-2.0-or-later
"""What a player reads of a manifest (MPD, ISO/IEC 23009-1): one period, whose segments have names with numbers."""

from __future__ import annotations

import re
import xml.etree.ElementTree as xml
from dataclasses import dataclass

_NAMESPACE = {"mpd": "urn:mpeg:dash:schema:mpd:2011"}
#: Of xs:duration what a video's length has.
_DURATION = re.compile(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?")
#: What a segment's length may differ from a whole number of times in the video's.
_TOLERANCE = 1e-6


class BadManifest(Exception):
    """A manifest that this player cannot play."""


@dataclass(frozen=True)
class Representation:
    """One quality of the video; names are relative to the manifest."""

    #: Bit/s.
    rate: float
    initialization: str
    segments: tuple[str, ...]


@dataclass(frozen=True)
class Manifest:
    #: Of a segment.
    segment_s: float
    #: In order of their rates.
    representations: tuple[Representation, ...]

    @classmethod
    def parsed(cls, text: bytes) -> Manifest:
        """Raises BadManifest."""
        try:
            return _manifest(xml.fromstring(text))
        except (xml.ParseError, LookupError, ValueError, ZeroDivisionError) as error:
            raise BadManifest(f"the manifest cannot be read: {error!r}") from None


def _manifest(root: xml.Element) -> Manifest:
    duration = _DURATION.fullmatch(root.attrib["mediaPresentationDuration"])
    if duration is None:
        raise BadManifest("the manifest does not say how long the video is")
    hours, minutes, seconds = (float(part or 0) for part in duration.groups())
    length_s = hours * 3600 + minutes * 60 + seconds
    lengths, found = set(), []
    for element in root.iterfind("mpd:Period/mpd:AdaptationSet/mpd:Representation", _NAMESPACE):
        template = element.find("mpd:SegmentTemplate", _NAMESPACE)
        if template is None:
            raise BadManifest("a representation has no SegmentTemplate")
        segment_s = float(template.attrib["duration"]) / float(template.attrib["timescale"])
        first, count = int(template.attrib["startNumber"]), int(length_s / segment_s + 1 - _TOLERANCE)
        identity = {"RepresentationID": element.attrib["id"]}
        media = template.attrib["media"]
        found.append(
            Representation(
                float(element.attrib["bandwidth"]),
                _filled(template.attrib["initialization"], identity),
                tuple(_filled(media, {**identity, "Number": str(first + number)}) for number in range(count)),
            )
        )
        lengths.add(segment_s)
    if len(lengths) != 1 or not all(one.segments for one in found):
        raise BadManifest("the manifest has no representations whose segments have one length")
    return Manifest(lengths.pop(), tuple(sorted(found, key=lambda one: one.rate)))


def _filled(template: str, values: dict[str, str]) -> str:
    """With the identifiers of ISO/IEC 23009-1, 5.3.9.4.4 replaced."""
    for name, value in values.items():
        template = template.replace(f"${name}$", value)
    return template
