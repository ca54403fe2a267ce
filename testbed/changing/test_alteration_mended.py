# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever interrupts a change of a lab that is up: the next one mends it, and `down` removes all of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from contracts.errors import NetBoxITError
from contracts.installation import CHECKOUT
from ownership import recorded
from system import containers, cores, namespaces
from testbed.changing import alteration
from testbed.labs import lab_status
from testbed.labs.deployment import Deployment
from testbed.labs.lab import Lab
from testbed.labs.removal import container_of
from tests.altered_network import NETWORK, apply, edited, live_parameter, other_address, reaches, station_more, touched, wire_more
from tests.waiting import until

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]

#: Ends itself without notice right after a step.
KILLED = """
import os, signal, sys
from pathlib import Path
from testbed.changing import alteration

step = getattr(alteration._Alteration, sys.argv[1])
def then_killed(self):
    step(self)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(alteration._Alteration, sys.argv[1], then_killed)
alteration.apply(Path(sys.argv[2]), None)
"""


def test_one_that_is_killed_at_any_step_is_mended_by_the_next_and_down_removes_it(tmp_path: Path) -> None:
    files = {}
    for name, network in (("old", NETWORK), ("new", edited(live_parameter, station_more, other_address, wire_more))):
        files[name] = tmp_path / f"{name}.yaml"
        files[name].write_text(json.dumps(network))
    lab = alteration.apply(files["old"], None).lab

    def killed(step: str, file: Path) -> None:
        ended = subprocess.run([sys.executable, "-c", KILLED, step, str(file)], cwd=CHECKOUT, env=os.environ, check=False)
        assert ended.returncode == -signal.SIGKILL
        assert recorded.is_changing(lab.folder)

    try:
        # From the old file, from the new one, from the new one, from the old one.
        courses = (
            ("_remove", "new", "new"),
            ("_make_wires", "old", "new"),
            ("_start", "old", "old"),
            ("_release_common", "new", "old"),
        )
        for step, to, then in courses:
            killed(step, files[to])
            mended = alteration.apply(files[then], None)
            assert touched(mended)
            assert touched(alteration.apply(files[then], None)) == {}
            assert reaches(mended.lab, "a", "b")
            assert mended.lab.alive().get("c", False) == (then == "new")
        killed("_make_wires", files["new"])
    finally:
        lab.down()


def test_one_that_fails_is_told_and_leaves_what_the_next_one_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = apply(NETWORK, tmp_path).lab
    try:

        def fail(*_: object) -> None:
            raise containers.ContainerFailed("no more containers today")

        with monkeypatch.context() as patched:
            patched.setattr(Deployment, "start_containers", fail)
            with pytest.raises(containers.ContainerFailed):
                apply(edited(station_more), tmp_path)
        assert any("ended half way" in note for note in lab_status.of(Lab.open(lab.name))["notes"])
        applied = apply(edited(station_more), tmp_path)
        assert touched(applied)["c"] == "replaced"
        assert reaches(applied.lab, "a", "c")

        with monkeypatch.context() as patched:
            patched.setattr(Lab, "wait_ready", lambda *_, **__: signal.raise_signal(signal.SIGINT))
            with pytest.raises(KeyboardInterrupt):
                apply(edited(other_address), tmp_path)
        assert recorded.is_changing(lab.folder)
        mended = touched(apply(edited(station_more), tmp_path))
        assert mended == {
            "a": "changed",
            "b": "changed",
            "busy": "restarted",
            "c": "replaced",
            "c.eth0--busy.more": "replaced",
        }
        assert reaches(Lab.open(lab.name), "a", "c")

        applied = apply(edited(station_more), tmp_path)
        cores.kill_all(applied.lab.node("quiet").container)
        until(lambda: not applied.lab.alive()["quiet"])
        assert touched(apply(edited(station_more), tmp_path)) == {"quiet": "restarted"}
        assert reaches(applied.lab, "p", "10.1.0.2")

        namespaces.delete(applied.lab.node("b").namespace)
        with pytest.raises(NetBoxITError, match="the network of b is gone"):
            apply(edited(station_more, other_address), tmp_path)
        assert not recorded.is_changing(lab.folder)
        assert container_of(lab.folder, "b", applied.lab.node("b").container).folder.exists()
    finally:
        lab.down()
