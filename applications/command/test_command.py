# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from pydantic import ValidationError

from applications.application import ApplicationFailed
from applications.command.application import Command, CommandOptions
from applications.conftest import NamespaceHosts, traffic_plan
from applications.registry import applications
from contracts.errors import NetBoxITError

_FETCH = "import urllib.request as r; open('got', 'wb').write(r.urlopen('http://10.98.0.2:8080/').read())"


def made(folder: Path, hosts: NamespaceHosts, **options: object) -> Command:
    said = CommandOptions.model_validate(options)
    return Command(traffic_plan("command", **said.model_dump(mode="json", exclude_unset=True)), hosts, folder)


def carry(command: Command) -> None:
    command.prepare()
    try:
        command.arrange()
        command.start()
        command.wait()
    finally:
        command.stop()


def test_it_is_found_by_its_name() -> None:
    assert applications()["command"] is Command


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"server": "iperf3 -s"}, "server and listens belong together"),
        ({"listens": 5201}, "server and listens belong together"),
        ({"ends": "duration", "status": 1}, "with ends: duration it is interrupted"),
        ({"dscp": "ef"}, "marks its packets itself"),
        ({"run": ""}, "at least 1 character"),
        ({"run": "a\0b"}, "the number 0 ends a command line"),
        ({"files": ["../x"]}, "is not the name of a file"),
        ({"files": [".."]}, "is not the name of a file"),
        ({"status": 256}, "less than or equal to 255"),
        ({"listens": 0, "server": "x"}, "greater than or equal to 1"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        CommandOptions.model_validate({"run": "true", **options})


@pytest.mark.lab
def test_a_program_and_the_one_that_answers_it(hosts: NamespaceHosts, tmp_path: Path) -> None:
    server = "echo hello > index.html; exec /usr/bin/python3 -m http.server 8080"
    command = made(
        tmp_path / "web", hosts, run=f'/usr/bin/python3 -c "{_FETCH}"', server=server, listens=8080, files=["got", "x"]
    )
    carry(command)
    # Each begins in its folder, where it may write.
    assert "GET / HTTP" in (tmp_path / "web/right-server.log").read_text()
    facts = json.loads((tmp_path / "web/flows.json").read_text())["facts"]
    assert 0 < facts["took_s"] < 60 and facts["absent"] == ["x"]
    assert (tmp_path / "web/got").read_text() == "hello\n"


@pytest.mark.lab
def test_the_application_is_over_when_its_program_is(hosts: NamespaceHosts, tmp_path: Path) -> None:
    began = time.monotonic()
    carry(made(tmp_path / "short", hosts, run="sleep 0.2", duration="60 s"))
    assert time.monotonic() - began < 30


@pytest.mark.lab
def test_the_expected_exit_status_is_no_failure_and_any_other_is_one(hosts: NamespaceHosts, tmp_path: Path) -> None:
    carry(made(tmp_path / "seven", hosts, run="exit 7", status=7))
    with pytest.raises(ApplicationFailed, match=r"(?s)run on left ended with status 7 .*what went wrong"):
        carry(made(tmp_path / "zero", hosts, run="echo what went wrong; exit 7"))
    with pytest.raises(ApplicationFailed, match=r"(?s)ended with status 127 .*no-such-program"):
        carry(made(tmp_path / "none", hosts, run="no-such-program"))


@pytest.mark.lab
def test_one_that_does_not_end_in_time_is_told_and_ended(hosts: NamespaceHosts, tmp_path: Path) -> None:
    command = made(tmp_path / "long", hosts, run="sleep 60", duration="1 s")
    with pytest.raises(ApplicationFailed, match="has not ended by itself within its duration of 1 s; give it a longer one"):
        carry(command)
    assert not command._running


@pytest.mark.lab
def test_one_that_goes_on_is_interrupted_at_the_end(hosts: NamespaceHosts, tmp_path: Path) -> None:
    began = time.monotonic()
    carry(
        made(
            tmp_path / "on",
            hosts,
            run="trap 'echo told; exit 0' INT; while :; do sleep 0.1; done",
            ends="duration",
            duration="1 s",
        )
    )
    assert 1 <= time.monotonic() - began < 20
    assert (tmp_path / "on/left-run.log").read_text() == "told\n"


@pytest.mark.lab
def test_what_it_writes_when_it_is_interrupted_is_kept_too(hosts: NamespaceHosts, tmp_path: Path) -> None:
    line = "trap 'echo last > end; exit 0' INT; while :; do sleep 0.1; done"
    carry(made(tmp_path / "on", hosts, run=line, ends="duration", duration="1 s", files=["end"]))
    assert (tmp_path / "on/end").read_text() == "last\n"
    assert json.loads((tmp_path / "on/flows.json").read_text())["facts"]["absent"] == []


@pytest.mark.lab
def test_a_server_that_does_not_listen_or_ends_is_told(hosts: NamespaceHosts, tmp_path: Path) -> None:
    with pytest.raises(ApplicationFailed, match=r"(?s)server on right ended with status 3 .*cannot"):
        carry(made(tmp_path / "dies", hosts, run="true", server="echo cannot; exit 3", listens=8080))


@pytest.mark.lab
def test_what_its_line_says_is_a_shells_in_the_host_and_nobody_elses(hosts: NamespaceHosts, tmp_path: Path) -> None:
    line = """echo "$(basename "$PWD")" 'two  words' > said; echo $HOME"""
    carry(made(tmp_path / "words", hosts, run=line))
    assert (hosts.node_folder("left") / "talk/said").read_text() == "talk two  words\n"


def test_nothing_is_started_where_programs_may_not_be(tmp_path: Path) -> None:
    class Unconfined:
        def check_confined(self, node: str) -> None:
            raise NetBoxITError(f"root of node {node} is the host's own")

    command = made(tmp_path / "operator", Unconfined(), run="true")  # type: ignore[arg-type]
    with pytest.raises(NetBoxITError, match="root of node left"):
        command.prepare()
