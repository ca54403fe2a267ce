# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel's files say of AppArmor, each as a kernel writes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from system import apparmor

#: /sys/kernel/security/apparmor/profiles of Debian 12 with LXC and the package apparmor, in part.
LOADED = (
    "lxc-container-default-cgns (enforce)\nlxc-container-default (enforce)\n/usr/bin/lxc-start (enforce)\nlsb_release (enforce)\n"
)


@pytest.mark.parametrize(
    ("enabled", "profiles", "refused"),
    [
        (None, None, "does not have it"),
        ("N\n", None, "off in this kernel"),
        ("Y\n", "", "is not loaded"),
        ("Y\n", "lsb_release (enforce)\nnvidia_modprobe//kmod (enforce)\n", "is not loaded"),
        ("Y\n", None, "securityfs"),
        ("Y\n", LOADED.replace("cgns (enforce)", "cgns (complain)"), "in the mode complain"),
        ("Y\n", LOADED, None),
    ],
)
def test_only_a_profile_that_is_loaded_and_enforced_confines(
    tmp_path: Path, enabled: str | None, profiles: str | None, refused: str | None
) -> None:
    for name, text in (("enabled", enabled), ("profiles", profiles)):
        if text is not None:
            (tmp_path / name).write_text(text)
    found = apparmor.read(tmp_path / "enabled", tmp_path / "profiles")
    assert found.enabled is (enabled == "Y\n")
    if refused is None:
        assert found.refused is None
    else:
        assert refused in f"{found.refused} {found.remedy}" and found.remedy
