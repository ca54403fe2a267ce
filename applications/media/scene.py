# SPDX-License-Identifier: GPL-2.0-or-later
"""What synthetic videos show: a test scene that behaves like a hand-held camera's."""

from __future__ import annotations


def moving_scene(width: int, height: int, frames_per_second: int) -> str:
    """ffmpeg's filters: a scene half as large again, of which a moving part is seen, with the noise of a sensor."""
    large = f"testsrc2=size={width * 3 // 2}x{height * 3 // 2}:rate={frames_per_second}"
    pan = f"crop={width}:{height}:x='(iw-ow)/2*(1+sin(t/3))':y='(ih-oh)/2*(1+cos(t/4))'"
    return f"{large},{pan},noise=alls=6:allf=t"
