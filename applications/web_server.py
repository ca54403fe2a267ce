# SPDX-License-Identifier: GPL-2.0-or-later
"""nginx in a host of the lab, for applications that serve files by HTTP/1.1: its configuration, its start, its log."""

from __future__ import annotations

import json
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from applications.application import Application, Running
from contracts.debian_program import DebianProgram

NGINX: Final = DebianProgram("/usr/sbin/nginx", "nginx", "pages and videos by HTTP (traffic applications web and dash)", "-v")

#: It closes a connection on which no request came for that long: the default of ngx_http_core_module's keepalive_timeout.
IDLE_S: Final = 75
#: Of a process in a container without users but root. Nothing of the machine's own configuration is read.
_CONFIGURATION: Final = """\
daemon off;
user root;
worker_processes 1;
pid nginx.pid;
events {{ worker_connections 1024; }}
http {{
  log_format times '$msec $request_time $remote_addr $remote_port $connection $status $body_bytes_sent "$request"';
  access_log access.log times;
  default_type application/octet-stream;
  sendfile on;
  tcp_nopush on;
  keepalive_timeout {idle_s}s;
  keepalive_requests 100000;
  client_body_temp_path .; proxy_temp_path .; fastcgi_temp_path .; uwsgi_temp_path .; scgi_temp_path .;
  server {{
    listen {socket};
    root .;
  }}
}}
"""
_PROGRAM: Final = Path(__file__).with_name("web_server_program.py")
_READY_DEADLINE_S: Final = 20.0


class WebServer:
    """nginx of an application, at a port of a host. It serves the application's own folder there: `/a` is the file `a`."""

    def __init__(
        self,
        application: Application,
        host: str,
        address: str,
        port: int,
        *,
        traffic_class: int = 0,
        congestion_control: str = "",
    ) -> None:
        """`traffic_class` is the octet of the IP header; `congestion_control` is named as the kernel names it, "" for its own."""
        self._application, self._host, self._address, self._port = application, host, address, port
        self._traffic_class, self._congestion_control = traffic_class, congestion_control

    @property
    def authority(self) -> str:
        """Host and port as a URL has them (RFC 3986, 3.2)."""
        return authority(self._address, self._port)

    def prepare(self, sizes: Mapping[str, int]) -> None:
        """Writes its configuration, and which files of how many bytes it will make: of zeros, without taking room on a disk.

        It serves others too that the application has there (`own_files`). A name may have folders: `pages/1`.
        """
        files = self._application.own_files(self._host)
        files.write("nginx.conf", _CONFIGURATION.format(socket=self.authority, idle_s=IDLE_S))
        files.write("sizes.json", json.dumps(sizes))
        files.write(_PROGRAM.name, _PROGRAM.read_text())

    def launch(self) -> Running:
        """Starts it, and returns when it listens. Raises ApplicationFailed."""
        inside = self._application.inside
        server = self._application.launch(
            self._host,
            "nginx",
            [
                *("/usr/bin/python3", inside(_PROGRAM.name), inside()),
                *(self._address, str(self._port), str(self._traffic_class), self._congestion_control),
            ],
        )
        self._application.wait_for_port(server, self._port, "tcp", named=f"port {self._port}", deadline_s=_READY_DEADLINE_S)
        return server

    def keep(self) -> None:
        """Moves its log of requests into the application's folder, when it has ended."""
        self._application.own_files(self._host).take("access.log", self._application.folder / "access.log")


def authority(address: str, port: int) -> str:
    """Host and port as a URL has them (RFC 3986, 3.2)."""
    return f"[{address}]:{port}" if ip_address(address).version == 6 else f"{address}:{port}"
