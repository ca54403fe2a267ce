# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a command in a fresh guest: `python -m tests.guest [--kernel WORDS] 'command …'`."""

from __future__ import annotations

import argparse
import sys

from tests.guest import disks
from tests.guest.machine import Guest


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.guest", description="Runs a command as root in a fresh guest.")
    parser.add_argument("--kernel", default="", metavar="WORDS", help="more of its kernel's command line: 'apparmor=0', say")
    parser.add_argument("--within", type=float, default=1800, metavar="SECONDS", help="how long the command may take")
    parser.add_argument("command", help="a shell's command; it begins in the checkout")
    asked = parser.parse_args()
    with disks.checkout() as checkout, disks.overlays(checkout) as own, Guest(own, kernel=asked.kernel.split()) as guest:
        print(f"booted in {guest.ready:.0f} s", file=sys.stderr)
        done = guest.run(asked.command, within_s=asked.within)
        print(done.output, end="")
        return done.status


if __name__ == "__main__":
    sys.exit(main())
