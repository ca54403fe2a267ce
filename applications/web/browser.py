# SPDX-License-Identifier: GPL-2.0-or-later
"""A program that gets pages in a host as a browser does, by libcurl: a page's document, then what that refers to, in several
connections at once; then a user reads it.

    browser.py visit.json objects.jsonl

`visit.json` says what to get (applications/web/application.py, Visit). It records each object (applications/web/record.py), as
endpoints do in virtual time. A host has Python's standard library, and PycURL.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any, TextIO

import pycurl  # type: ignore[import-untyped]

#: Who cannot get a page waits before he goes on.
_PAUSE_S = 1.0


class Browser:
    def __init__(self, visit: dict[str, Any], log: TextIO) -> None:
        self._visit, self._log = visit, log
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, visit["parallel"])
        self._multi.setopt(pycurl.M_PIPELINING, 0)
        self._idle = deque(self._handle() for _ in range(visit["parallel"]))
        self._fetches: dict[pycurl.Curl, tuple[int, int, float]] = {}
        self._began = time.monotonic()
        self._opened = 0
        self._numbers: dict[int, int] = {}

    def visit(self) -> None:
        """Until the time is over, or the pages are."""
        number = 0
        while not self._is_over() and number != self._visit["count"]:
            page = self._visit["pages"][number % len(self._visit["pages"])]
            pause_s = page["think_s"]
            if not self._load(number, page):
                pause_s = max(pause_s, _PAUSE_S)
            number += 1
            if number != self._visit["count"]:
                time.sleep(max(0.0, min(pause_s, self._visit["duration_s"] - self._now())))
        for handle, fetch in self._fetches.items():
            self._write(handle, fetch, None, "the traffic ended")

    def _load(self, number: int, page: dict[str, Any]) -> bool:
        """Whether all of a page came, or at least nothing failed before the time was over."""
        self._request(number, page, 0)
        failures = self._transfer()
        if self._is_over() or failures:
            return not failures
        time.sleep(max(0.0, min(page["parse_s"], self._visit["duration_s"] - self._now())))
        asked, failed = 1, 0
        while not self._is_over() and (asked < len(page["objects"]) or self._fetches):
            while asked < len(page["objects"]) and self._idle:
                self._request(number, page, asked)
                asked += 1
            failed += self._transfer()
        return not failed

    def _request(self, number: int, page: dict[str, Any], item: int) -> None:
        handle = self._idle.popleft()
        target = f"/{number % len(self._visit['pages'])}/{item}"
        handle.setopt(pycurl.URL, f"http://{self._visit['authority']}{target}")
        headers = ["Accept: */*"]
        if not self._visit["persistent"]:
            headers.append("Connection: close")
        if cookie := page["cookies"][item]:
            headers.append(f"Cookie: {'x' * cookie}")
        handle.setopt(pycurl.HTTPHEADER, headers)
        self._fetches[handle] = (number, item, self._now())
        self._multi.add_handle(handle)
        self._multi.perform()

    def _transfer(self) -> int:
        """Waits until something is complete, or the time is over. Returns how many objects failed."""
        failures = 0
        while self._fetches and not self._is_over():
            self._multi.perform()
            _, complete, failed = self._multi.info_read()
            for handle, failure in [(one, None) for one in complete] + [(one, words) for one, _, words in failed]:
                status = handle.getinfo(pycurl.RESPONSE_CODE)
                failure = failure or (None if status == 200 else f"status {status}")
                failures += failure is not None
                number, item, asked_s = self._fetches.pop(handle)
                self._write(handle, (number, item, asked_s), asked_s + handle.getinfo(pycurl.TOTAL_TIME), failure)
                self._multi.remove_handle(handle)
                self._idle.append(handle)
            if complete or failed:
                break
            left_s = self._visit["duration_s"] - self._now()
            self._multi.select(max(0.0, min(left_s, 1.0)))
        return failures

    def _write(self, handle: pycurl.Curl, fetch: tuple[int, int, float], ended_s: float | None, failure: str | None) -> None:
        number, item, asked_s = fetch
        first_s = handle.getinfo(pycurl.STARTTRANSFER_TIME)
        port = handle.getinfo(pycurl.LOCAL_PORT)
        reused = handle.getinfo(pycurl.NUM_CONNECTS) == 0
        if not reused or port not in self._numbers:
            self._numbers[port], self._opened = self._opened, self._opened + 1
        line = {
            "record": "object",
            "flow": self._visit["name"],
            "page": number,
            "object": item,
            "asked_s": asked_s,
            "first_byte_s": asked_s + first_s if first_s > 0 else None,
            "ended_s": ended_s,
            "bytes": int(handle.getinfo(pycurl.SIZE_DOWNLOAD)),
            "connection": self._numbers[port],
            "reused": reused,
            "failure": failure,
        }
        print(json.dumps(line), file=self._log, flush=True)

    def _handle(self) -> pycurl.Curl:
        handle = pycurl.Curl()
        handle.setopt(pycurl.USERAGENT, "NetBoxIT")
        handle.setopt(pycurl.WRITEFUNCTION, lambda data: None)
        handle.setopt(pycurl.FORBID_REUSE, not self._visit["persistent"])
        handle.setopt(pycurl.SOCKOPTFUNCTION, self._mark)
        handle.setopt(pycurl.NOPROXY, "*")
        return handle

    def _mark(self, descriptor: int, _purpose: int) -> int:
        with socket.socket(fileno=descriptor) as opened:
            if opened.family == socket.AF_INET6:
                opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, self._visit["traffic_class"])
            else:
                opened.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, self._visit["traffic_class"])
            if self._visit["mss"] is not None:
                opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, self._visit["mss"])
            opened.detach()
        return int(pycurl.SOCKOPT_OK)

    def _is_over(self) -> bool:
        return bool(self._now() >= self._visit["duration_s"])

    def _now(self) -> float:
        return time.monotonic() - self._began


def main() -> None:
    visit = json.loads(Path(sys.argv[1]).read_text())
    with Path(sys.argv[2]).open("w") as log:
        Browser(visit, log).visit()


if __name__ == "__main__":
    main()
