# SPDX-License-Identifier: GPL-2.0-or-later
"""The connection with pipes in place of ssh: the agent is a process of this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT
from contracts.machines import MachineFacts
from testbed.several_hosts import connection as connections
from testbed.several_hosts import messages
from testbed.several_hosts.connection import Connection, DamagedAnswer, FailedThere, NotConnected, OtherVersion, RefusedThere
from testbed.several_hosts.machine import Machine
from testbed.several_hosts.messages import Ended, LineTooLong, Output, Ran
from testbed.several_hosts.parts_file import PartsRecord
from testbed.several_hosts.sites import facts_of
from testbed.several_hosts.version import version

BETA = Machine("beta", "/srv/netboxit")

#: An agent with methods of its own.
SERVER = """
import os, sys, threading, time
from contracts.errors import BadInput, NetBoxITError
from testbed.several_hosts.serving import Server, standard_streams

def refuse():
    raise BadInput("x.yaml", 1, 2, "no such thing", "write another")

def fail():
    raise NetBoxITError("it is broken")

def stumble():
    raise KeyError("unforeseen")

def add(a, b):
    return a if b is None else a + b

def program(number):
    for text in ("one", "\\x00\\xff two"):
        server.say({"program": number, "output": text})
    server.say({"program": number, "exit": 3})

over = threading.Event()
server = Server(*standard_streams())
print("what is printed gets in nobody's way")
os.system("echo nor does this")
server.serve({"facts": lambda lab: {"cores": "all"}, "add": add, "sleep": time.sleep,
    "refuse": refuse, "fail": fail, "stumble": stumble, "program": program, "pid": os.getpid, "die": lambda: os._exit(9)}, over)
server.close()
"""


def connected(code: str) -> Connection:
    return Connection(BETA, [sys.executable, "-c", code])


@pytest.fixture
def beta() -> Iterator[Connection]:
    with connected(SERVER) as connection:
        yield connection


def test_a_request_is_answered(beta: Connection) -> None:
    assert beta.request("add", int, a=2, b=3) == 5
    long = "x" * 3_000_000
    assert beta.request("add", str, a=long, b="y") == long + "y"


def test_requests_do_not_wait_for_each_other(beta: Connection) -> None:
    slow = beta.begin("sleep", **{"seconds": 0})  # takes no keyword: told as what went wrong there
    with pytest.raises(FailedThere, match="beta: Traceback"):
        slow.done()
    gate = threading.Event()
    waiting = beta.begin("program", number=beta.listen(lambda message: gate.set() if "exit" in message else None))
    with pytest.raises(DamagedAnswer, match=r"^beta: its answer to facts is damaged: cores: Input should be a valid"):
        facts_of(beta, "lab")
    assert beta.request("add", int, a=1, b=1) == 2
    waiting.done()
    assert gate.wait(10)


def test_errors_come_back_whole_with_the_machines_name(beta: Connection) -> None:
    with pytest.raises(RefusedThere, match=r"^beta: x.yaml:1:2: no such thing; write another$") as refused:
        beta.begin("refuse").done()
    assert refused.value.exit_status == 2
    with pytest.raises(FailedThere, match=r"^beta: it is broken$") as failed:
        beta.begin("fail").done()
    assert failed.value.exit_status == 1
    with pytest.raises(FailedThere, match=r"(?s)^beta: Traceback.*in stumble.*KeyError: 'unforeseen'"):
        beta.begin("stumble").done()


def test_what_a_program_writes_comes_byte_by_byte_before_its_end(beta: Connection) -> None:
    received: list[Output | Ended] = []
    ended = threading.Event()

    def listen(message: Output | Ended) -> None:
        received.append(message)
        if "exit" in message:
            ended.set()

    number = beta.listen(listen)
    beta.begin("program", number=number).done()
    assert ended.wait(10)
    assert received == [
        {"program": number, "output": "one"},
        {"program": number, "output": "\x00\xff two"},
        {"program": number, "exit": 3},
    ]


def test_an_answer_of_another_shape_is_told_as_damaged(beta: Connection) -> None:
    with pytest.raises(DamagedAnswer, match=r"^beta: its answer to add is damaged: all of it: Input should be a valid string"):
        beta.request("add", str, a=1, b=1)
    with pytest.raises(DamagedAnswer, match="its answer to add is damaged"):
        beta.begin("add", a=1, b=1).done()
    with pytest.raises(DamagedAnswer, match=r"beta: its answer to add is damaged: 1: Input should be a valid integer"):
        beta.request("add", list[int], a=[1], b=["2"])
    with pytest.raises(DamagedAnswer, match=r"damaged: errors: Field required"):
        beta.request("add", Ran, a={"status": 0, "output": ""}, b=None)
    with pytest.raises(DamagedAnswer, match=r"^beta: its answer to facts is damaged: cores: Input should be a valid"):
        facts_of(beta, "lab")
    assert beta.request("add", int, a=1, b=1) == 2


#: What no agent writes, but a shell's start-up file or a broken machine may.
_NO_MESSAGES = (
    *('{"id": "1", "result": 2}', '{"result": 2}', '{"id": 1}', '{"id": 1, "error": {}}', '{"program": 1}', '{"netboxit": 1}'),
    *('{"program": "x", "exit": 0}', '{"program": 1, "exit": "0"}', '{"program": 1, "output": 7}', '{"id": 99999, "result": 1}'),
    *(
        '{"program": 99999, "output": ""}',
        '{"program": 99999, "exit": 0}',
        "{}",
        "[]",
        "null",
        "7",
        '"id"',
        "{",
        "\x00",
        "welcome",
    ),
    "[" * 100_000,
)


def test_lines_that_are_no_messages_are_passed_over() -> None:
    code = f"import sys\nfor line in {_NO_MESSAGES!r}: print(line)\nsys.stdout.flush()\n{SERVER}"
    with connected(code) as connection:
        assert connection.request("add", int, a=1, b=1) == 2
        assert connection.close()


@pytest.mark.parametrize(
    "line", ["{", "7", '{"id": 1}', '{"method": "add"}', '{"id": "1", "method": "add", "parameters": {}}', "[" * 100_000]
)
def test_an_agent_passes_over_what_is_no_request(line: str, beta: Connection) -> None:
    assert beta._ssh.stdin is not None
    beta._ssh.stdin.write(line.encode() + b"\n")
    with pytest.raises(DamagedAnswer, match=r"^beta: its answer to facts is damaged: cores: Input should be a valid"):
        facts_of(beta, "lab")
    assert beta.request("add", int, a=1, b=1) == 2


def test_an_agent_that_dies_fails_what_waits_for_it_and_what_runs_there(beta: Connection) -> None:
    ends: list[object] = []
    number = beta.listen(ends.append)
    with pytest.raises(NotConnected, match=r"beta: the connection is lost; .*netboxit down"):
        beta.begin("die").done()
    with pytest.raises(NotConnected, match="beta: the connection is lost"):
        beta.request("add", int, a=1, b=1)
    assert ends == [{"program": number, "exit": None}]


@pytest.mark.timeout(30)
def test_an_agent_that_reads_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "SILENCE_S", 0.2)
    monkeypatch.setattr(connections, "_FAREWELL_S", 0.2)
    greets = f"import time\nprint('{json.dumps({'netboxit': version()})}', flush=True)\ntime.sleep(60)"
    with connected(greets) as deaf:
        for _ in range(2):
            with pytest.raises(NotConnected, match=r"beta: the connection is lost; .*netboxit down"):
                deaf.begin("add", a="x" * 1_000_000, b="y")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("piece", [1, 1 << 16])
def test_an_agent_that_never_ends_its_line_fills_no_memory(stream: str, piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In pieces of any size: small ones took 50 times their length as objects of their own."""
    longest = 2 << 20
    monkeypatch.setattr(connections, "LONGEST_FROM_AGENT", longest)
    greets = f"import os, sys\nprint('{json.dumps({'netboxit': version()})}', flush=True)\nsys.stdin.readline()\n"
    hostile = f"{greets}while True: os.write(sys.{stream}.fileno(), b'x' * {piece})"
    with connected(hostile) as connection:
        tracemalloc.start()
        try:
            with pytest.raises(
                NotConnected, match=r"beta: .* it sent a line of more than 2 MiB, .*disconnected; look after the m"
            ):
                connection.begin("add", a=1, b=1).done(30.0)
            assert tracemalloc.get_traced_memory()[1] < 2 * longest
        finally:
            tracemalloc.stop()


@pytest.mark.timeout(60)
def test_a_shell_that_never_ends_its_line_is_told_as_that() -> None:
    """The limit is the real one here."""
    with pytest.raises(NotConnected, match=r"beta cannot be reached; it sent a line of more than 64 MiB, .*`.*` must work"):
        connected("import os\nwhile True: os.write(1, b'x' * 65536)")


def test_what_is_too_long_for_one_message_is_told_by_who_would_send_it(beta: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        FailedThere, match=r"^beta: what add answers cannot be sent: the message has 70 MB, and 64 MiB is the most"
    ):
        beta.request("add", str, a="x" * 35_000_000, b="x" * 35_000_000)
    monkeypatch.setattr(beta._writer, "_longest", 1 << 20)
    with pytest.raises(LineTooLong, match=r"^beta: it cannot be asked to add: the message has 2 MB, and 1 MiB is the most; give"):
        beta.request("add", str, a="x" * 2_000_000, b="")
    with pytest.raises(DamagedAnswer, match=r"^beta: its answer to facts is damaged: cores: Input should be a valid"):
        facts_of(beta, "lab")
    assert beta.request("add", int, a=1, b=1) == 2


@pytest.mark.timeout(30)
def test_an_agent_ends_although_the_controller_reads_no_answer() -> None:
    """One that was stopped, say (SIGSTOP), while much was told to it."""
    code = f"from testbed.several_hosts import messages\nmessages.SILENCE_S = 0.5\n{SERVER}"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        request = {"id": 1, "method": "add", "parameters": {"a": "x" * 1_000_000, "b": "y"}}
        server.stdin.write(json.dumps(request).encode() + b"\n")
        server.stdin.flush()
        try:
            assert server.wait(20) == 0
        finally:
            server.kill()


def test_the_agent_ends_with_the_connection() -> None:
    connection = connected(SERVER)
    process = connection.request("pid", int)
    assert connection.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_an_agent_that_receives_nothing_ends() -> None:
    silent = "import testbed.several_hosts.serving as s; s.SILENCE_S = 0.2\n"
    with connected(silent + SERVER) as connection:
        deadline = time.monotonic() + 4.0  # before the controller says for the first time that it is there
        while connection._ssh.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        assert connection._ssh.poll() == 0


def test_another_version_is_refused() -> None:
    with pytest.raises(
        OtherVersion, match=rf"beta has another NetBoxIT \(0123\) than this machine \({version()}\); bring /srv/netbox"
    ):
        connected('import sys; print(\'{"netboxit": "0123"}\', flush=True); sys.stdin.read()')


def test_a_machine_that_refuses_is_told_with_what_ssh_said() -> None:
    with pytest.raises(NotConnected, match=r"beta cannot be reached; ssh said: Permission denied \(publickey\).; `.*` must work"):
        connected("import sys; sys.exit('Permission denied (publickey).')")


def test_a_program_that_is_not_there_is_told() -> None:
    with pytest.raises(NotConnected, match="beta: no-ssh: No such file or directory; install the package openssh-client"):
        Connection(BETA, ["no-ssh"])


def test_ssh_asks_no_questions_and_quotes_what_a_shell_reads(tmp_path: Path) -> None:
    machine = Machine("beta", "/srv/net boxit", False, "192.0.2.7", 2222, "lab", "/k", ("-o", "ProxyJump=x"), "/var/state")
    argv = machine.netboxit(["exec", "fr1", "--", "echo", "a b"], terminal=True)
    assert argv[:3] == ["ssh", "-t", "-o"]
    assert "BatchMode=yes" in argv
    assert argv[argv.index("-p") :] == [
        *("-p", "2222", "-l", "lab", "-i", "/k", "-o", "ProxyJump=x", "-o", "ConnectTimeout=10"),
        *("-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3", "--", "192.0.2.7"),
        "env NETBOXIT_STATE=/var/state '/srv/net boxit/netboxit.py' exec fr1 -- echo 'a b'",
    ]
    record = PartsRecord("alpha", "owner", (machine,), {"lab": "x"})
    record.write(tmp_path)
    assert PartsRecord.of(tmp_path) == record


def test_the_hidden_verb_is_the_agent() -> None:
    with Connection(BETA, [str(CHECKOUT / "netboxit.py"), "part"]) as connection:
        assert connection.request("environment", MachineFacts)["environment"]["kernel"]["machine"]
        with pytest.raises(FailedThere, match="no part of a lab"):
            connection.begin("status").done()
        assert connection.close()
