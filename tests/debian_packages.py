# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian packages made by hand, and a repository of them in a folder, so that tests of packages need no network."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Mapping
from pathlib import Path


class Repository:
    """`configuration` is for $APT_CONFIG: apt knows these packages and no others."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "packages").mkdir(parents=True)
        self.configuration = folder / "apt.conf"
        sources = folder / "sources.list"
        self.configuration.write_text(f'Dir::Etc::SourceList "{sources}";\nDir::Etc::SourceParts "-";\n')
        sources.write_text(f"deb [trusted=yes] file:{folder}/packages ./\n")
        (folder / "packages/Packages").touch()

    def add_source_without_anything(self) -> None:
        with (self._folder / "sources.list").open("a") as sources:
            sources.write(f"deb [trusted=yes] file:{self._folder}/no-packages ./\n")

    def add(
        self,
        name: str,
        files: Mapping[str, str],
        *,
        version: str = "1.0",
        source: str = "",
        depends: str = "",
        after: str = "",
        modes: Mapping[str, int] | None = None,
    ) -> Path:
        """`files` by where they go; `after` is what its script does then (postinst); `modes` are other than 0755.

        Those in /etc are its configuration (conffiles), as in packages that debhelper makes. Returns the .deb file.
        """
        tree = self._folder / f"{name}-{version}"
        for place, text in files.items():
            (file := tree / place[1:]).parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            file.chmod((modes or {}).get(place, 0o755))
        (tree / "DEBIAN").mkdir(parents=True)
        control = f"Package: {name}\nVersion: {version}\nArchitecture: all\nMaintainer: nobody <nobody@localhost>\n"
        control += "".join(f"{field}: {text}\n" for field, text in (("Source", source), ("Depends", depends)) if text)
        (tree / "DEBIAN/control").write_text(f"{control}Description: for tests\n")
        (tree / "DEBIAN/conffiles").write_text("".join(f"{place}\n" for place in files if place.startswith("/etc/")))
        if after:
            (script := tree / "DEBIAN/postinst").write_text(f"#!/bin/sh\n{after}\n")
            script.chmod(0o755)
        deb = self._folder / "packages" / f"{name}_{version}_all.deb"
        build = ["dpkg-deb", "--build", "--root-owner-group", str(tree), str(deb)]
        subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
        digest = hashlib.sha256(deb.read_bytes()).hexdigest()
        with (self._folder / "packages/Packages").open("a") as index:
            index.write(
                f"{control}Filename: ./{deb.name}\nSize: {deb.stat().st_size}\nSHA256: {digest}\nDescription: for tests\n\n"
            )
        return deb
