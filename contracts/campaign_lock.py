# SPDX-License-Identifier: GPL-2.0-or-later
"""The lock of a campaign's folder: who makes runs is alone there, and who reads all of it has nobody change it meanwhile."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from contracts.errors import NetBoxITError, printable


class CampaignBusy(NetBoxITError):
    """Another command works at the campaign."""


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """A with block during which no other command works at the campaign, or reads all of it. Raises CampaignBusy."""
    with _locked(folder, fcntl.LOCK_EX):
        yield


@contextmanager
def unchanged(folder: Path) -> Iterator[None]:
    """A with block during which nobody works at the campaign; others may read it. Raises CampaignBusy."""
    with _locked(folder, fcntl.LOCK_SH):
        yield


@contextmanager
def _locked(folder: Path, how: int) -> Iterator[None]:
    """The lock is the folder's own: it can be read where nothing can be written."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CampaignBusy(f"another command works at the campaign in {printable(str(folder))}; wait for its end") from None
        yield
    finally:
        os.close(descriptor)
