# SPDX-License-Identifier: GPL-2.0-or-later
"""What `click-router --check` says about configurations: no interface, no root."""

from __future__ import annotations

import re
import socket
import subprocess
from pathlib import Path

import pytest

from contracts.errors import BadTopology
from contracts.plan import InterfacePlan, RealtimeSupport
from testbed.nodes import routers
from testbed.nodes.routers import ConfigurationError
from testbed.plans.planning import plan_file

CLICK = Path(__file__).parent
MEOC = CLICK / "meoc.click"
INTERFACES = (
    InterfacePlan("ian", "w1", "02:00:00:00:01:01", ("10.10.0.1/24",)),
    InterfacePlan("jan", "w2", "02:00:00:00:02:01", ("10.20.0.1/24",)),
)


def check(folder: Path, text: str, **defines: str) -> list[ConfigurationError]:
    configuration = folder / "some.click"
    configuration.write_text(text)
    return routers.check(configuration, text, defines)


def test_the_meoc_router_is_sound() -> None:
    assert routers.check(MEOC, MEOC.read_text(), routers.defines(INTERFACES)) == []


def test_the_meoc_router_takes_more_routes_and_another_rate() -> None:
    more = {"JAN_RATE": "300kbps", "ROUTES": "10.30.0.0/16 10.20.0.9 2, 10.40.0.0/16 10.10.0.9 1"}
    assert routers.check(MEOC, MEOC.read_text(), routers.defines(INTERFACES) | more) == []


def test_a_route_that_makes_no_sense_is_named() -> None:
    errors = routers.check(MEOC, MEOC.read_text(), routers.defines(INTERFACES) | {"ROUTES": "10.30.0.0/16 nowhere 2"})
    assert [Path(error.file).name for error in errors] == ["meoc.click"]
    assert "routes :: StaticIPLookup" in errors[0].message and errors[0].line > 0


def test_an_error_is_told_with_the_line_of_the_users_own_file(tmp_path: Path) -> None:
    (error,) = check(tmp_path, "// one\n// two\nFromDevice(ian)\n  -> Strip(abc) -> Discard;\n")
    assert error.file == str(tmp_path / "some.click")
    assert error.line == 4
    assert error.message == "While configuring 'Strip@2 :: Strip': LENGTH: invalid number"


def test_every_error_is_told_not_just_the_first(tmp_path: Path) -> None:
    errors = check(tmp_path, "Idle -> Strip(abc)\n-> Strip(14, 15)\n-> Discard;\n")
    assert [error.line for error in errors] == [1, 2]


def test_a_syntax_error_has_its_line(tmp_path: Path) -> None:
    (error,) = check(tmp_path, "Idle -> Discard;\nIdle -> ;\n")
    assert (error.line, error.message) == (2, "syntax error near ';'")


def test_what_needs_the_kernels_stack_is_refused_with_the_reason(tmp_path: Path) -> None:
    error, *_ = check(tmp_path, "Idle -> Discard;\nFromHost(fake0) -> Discard;\n")
    assert error.line == 2
    assert error.message.startswith(
        "undeclared element 'FromHost'; click-router does not share frames with the kernel's own IP stack"
    )


def test_an_interface_whose_variable_has_no_value_is_an_error(tmp_path: Path) -> None:
    (error,) = check(tmp_path, "FromDevice($IAN_DEV) -> Discard;\n")
    assert "$IAN_DEV" in error.message and "--define IAN_DEV=" in error.message


def test_the_usual_arguments_of_devices_are_understood(tmp_path: Path) -> None:
    text = """
        FromDevice(ian, SNIFFER false, PROMISC true, METHOD LINUX, BURST 8) -> Queue(10) -> ToDevice(jan, BURST 8);
        PollDevice(jan) -> ToHost;
        ControlSocket(TCP, 7777, READONLY true);
    """
    assert check(tmp_path, text) == []


def test_a_filter_that_would_be_ignored_is_refused(tmp_path: Path) -> None:
    (error,) = check(tmp_path, 'fd :: FromDevice(ian, BPF_FILTER "icmp") -> Discard;\n')
    assert "fd: BPF_FILTER is not possible here" in error.message


@pytest.mark.parametrize(("value", "sound"), [("14", True), ("abc", False)])
def test_a_given_value_wins_over_the_files_own(tmp_path: Path, value: str, sound: bool) -> None:
    assert (check(tmp_path, "define($N xyz); Idle -> Strip($N) -> Discard;", N=value) == []) is sound


def test_many_values_can_be_given(tmp_path: Path) -> None:
    values = {f"NAME_OF_VALUE_{number}": str(number) for number in range(100)}
    uses = "".join(f"Idle -> Strip($NAME_OF_VALUE_{number}) -> Discard;\n" for number in range(100))
    assert check(tmp_path, uses, **values) == []


def test_a_colleagues_configuration_writes_nothing_on_this_host_while_it_is_checked(tmp_path: Path) -> None:
    target = tmp_path / "written"
    check(tmp_path, f"FromDevice(ian) -> ToDump({target});")
    assert not target.exists()
    (error,) = check(tmp_path, f"FromDump({MEOC.parent}/no.pcap) -> Discard;")
    assert "No such file" in error.message
    secret = tmp_path / "secret.pcap"
    secret.write_bytes(b"not for everybody")
    (error,) = check(tmp_path, f"FromDump({secret}) -> Discard;")
    assert "No such file" in error.message, "it sees its own file only"


def test_a_colleagues_configuration_listens_nowhere_while_it_is_checked(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        # In this host's network the port would be in use.
        assert check(tmp_path, f"ControlSocket(tcp, {taken.getsockname()[1]});") == []


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ((), "no configuration"),
        (("a.click", "b.click"), "more than one"),
        (("--priority", "100", "a.click"), "--priority"),
        (("--define", "=3", "a.click"), "NAME=VALUE"),
        (("--define", "A=1", "--define", "A=2", "a.click"), "A is given twice"),
        (("--nonsense", "a.click"), "--nonsense"),
    ],
)
def test_a_wrong_command_line_says_which_word(words: tuple[str, ...], named: str) -> None:
    result = subprocess.run((routers.EXECUTABLE, *words), capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert named in result.stderr and "usage:" in result.stderr


def test_the_topology_of_the_readme_is_sound_and_gives_the_router_its_variables(tmp_path: Path) -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", (CLICK / "README.md").read_text(), re.DOTALL)
    (tmp_path / "office.yaml").write_text(text)
    plan = plan_file(tmp_path / "office.yaml", realtime=RealtimeSupport(False, None, ""))
    assert routers.defines_in(plan.node("edge").command)["RATE"] == "950kbps"


def test_a_variable_that_the_interfaces_tell_is_refused(tmp_path: Path) -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", (CLICK / "README.md").read_text(), re.DOTALL)
    (tmp_path / "office.yaml").write_text(text.replace("RATE:", "A_NET:"))
    with pytest.raises(BadTopology, match="told by the interfaces; leave it out"):
        plan_file(tmp_path / "office.yaml", realtime=RealtimeSupport(False, None, ""))


def test_a_configuration_that_takes_all_memory_is_told_and_the_machine_keeps_it(tmp_path: Path) -> None:
    (error,) = check(tmp_path, "Idle -> Queue(2000000000) -> Discard;\n")
    assert (error.file, error.message) == (
        str(tmp_path / "some.click"),
        "Click needs more than 1024 MiB of memory to read it",
    )
