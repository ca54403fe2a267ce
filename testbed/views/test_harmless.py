# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever nodes and files say is drawn as text: it writes no colours, moves no cursor, and ends no command."""

from __future__ import annotations

import ast
import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from contracts.installation import CHECKOUT
from testbed.views import console, drawing, lab_view, result_view, watch_view

#: Rich's markup, one that closes nothing, colours of a terminal, its title, the cursor, a bell, text from right to left, half a
#: character as names of files can have it.
HOSTILE = "[bold]a[/bold][/red][link=file:///]b \x1b[31m\x1b]0;title\x07\x1b[2J\r\u202ec\u2066d\x9b1m\udcff"
#: What it may become.
HARMLESS = r"[bold]a[/bold][/red][link=file:///]b \x1b[31m\x1b]0;title\x07\x1b[2J\r\u202ec\u2066d\x9b1m\udcff"


@pytest.fixture(autouse=True)
def own_console() -> Any:
    """One that writes to where this test looks, as wide as all of it."""
    drawing.console.cache_clear()
    yield
    drawing.console.cache_clear()


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    text = capsys.readouterr().out
    assert not set(text) & set("\x1b\x07\r\u202e\u2066\x9b\udcff"), repr(text)
    return "".join(text.split())


def squeezed(text: str) -> str:
    return "".join(text.split())


def test_a_line_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    drawing.say(f"one\n{HOSTILE}")
    assert shown(capsys) == squeezed(f"one{HARMLESS}")


def test_what_a_netbox_says_of_itself_is_text_in_a_lab_s_status(capsys: pytest.CaptureFixture[str]) -> None:
    netbox: Any = {
        **{"technology": HOSTILE, "ready": True, "simulated_s": 1.0, "unlinked": {HOSTILE: HOSTILE}},
        "scheduler": {"policy": HOSTILE, "priority": 1},
    }
    event = {"node": "seg", "at_s": 1.0, "event": HOSTILE, "station": HOSTILE, "words": f"seg.{HOSTILE}: {HOSTILE}"}
    node: Any = {
        **{"name": "seg", "kind": "netbox", "alive": True, "cores": [0], "awake": False, "addresses": []},
        **{"netbox": netbox, "management": None, "switch": None},
    }
    end = {"node": "seg", "interface": "left", "port": HOSTILE, "reason": HOSTILE}
    wire = {"name": HOSTILE, "kind": "veth", "reason": HOSTILE, "ends": [end, end]}
    told: Any = {"lab": "x", "nodes": [node], "wires": [wire], "equipment": [], "events": [event], "notes": [HOSTILE]}
    lab_view.show_status([told], as_json=False)
    text = shown(capsys)
    assert text.count("[/red][link=file:///]") >= 8
    assert text.endswith(squeezed(f"note: {HARMLESS}"))


def test_what_a_node_counts_is_text_while_somebody_watches() -> None:
    unknown = dict.fromkeys(("in_bit_s", "out_bit_s", "in_frames_s", "out_frames_s", "delay_ms"))
    node = {
        **{"name": "seg", "kind": "netbox", "alive": True, "answers": True, "light": "green", "lateness": None, "cores": [0]},
        **{"lost": {HOSTILE: 3}, "ports": [unknown | {"name": HOSTILE}]},
    }
    watched: Any = SimpleNamespace(
        lab=SimpleNamespace(name="x"), interval={"nodes": [node]}, events=[{"at_s": 1.0, "words": HOSTILE}]
    )
    screen = io.StringIO()
    terminal = drawing.terminal(file=screen, width=2000, color_system=None)
    terminal.print(watch_view.picture([watched], 2000, 40, 1.0))
    text = screen.getvalue()
    assert not set(text) & set("\x1b\x07\r\u202e\u2066\x9b\udcff"), repr(text)
    assert text.count(HARMLESS) == 3


def test_reasons_of_a_verdict_and_steps_of_a_command_are_text(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics: Any = {
        "clock": "real",
        "verdict": {"status": "invalid", "reasons": [HOSTILE], "advice": [HOSTILE], "notes": [HOSTILE]},
    }
    result_view.show_outcome(Path("/x"), metrics, as_json=False)
    assert squeezed(HARMLESS) in shown(capsys)
    screen = io.StringIO()
    monkeypatch.setenv("TERM", "xterm")  # on a terminal that is called dumb, or has no name, no steps are shown
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(screen, "isatty", lambda: True)
    real = drawing.terminal
    monkeypatch.setattr(drawing, "terminal", lambda **_: real(file=screen, width=2000, force_terminal=True))
    with console.progress() as tell:
        tell(HOSTILE)
    assert HARMLESS in screen.getvalue()


def test_all_that_is_written_on_a_terminal_goes_through_one_module() -> None:
    own = {CHECKOUT / "testbed/views/drawing.py"}
    files = {*(CHECKOUT / "testbed/views").glob("*.py"), *(CHECKOUT / "testbed/commands").glob("*.py"), CHECKOUT / "netboxit.py"}
    wrong = []
    for file in (one for one in files - own if not one.name.startswith("test_")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("print", "Console", "Text"):
                wrong.append(f"{file.name}:{node.lineno}: {node.func.id}(")
    assert wrong == []


def test_the_module_would_see_it_otherwise() -> None:
    """Rich as it comes takes brackets for markup, and passes escape sequences on."""
    screen = io.StringIO()
    Console(file=screen, width=200).print("[bold]a[/bold] \x1b[2J")
    assert "[bold]" not in screen.getvalue() and "\x1b[2J" in screen.getvalue()
