#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Ansible module: writes values to files of the kernel (/proc, /sys), records what was there, and puts that back.

    settings    what each file is to say; what an earlier call set and this one does not name is put back
    record      a JSON file {path: {"before", "set"}} on the machine, written before the first change
    state       present (default), or absent: everything in the record is put back, and the record goes
    refusable   files of which the kernel may refuse the change: told in `refused`, no failure

What somebody else has changed meanwhile is not put back, but told in `left`. Knows --check and --diff.
"""

from __future__ import annotations

import json
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule


class Settings:
    """The settings that one record is about."""

    def __init__(self, record: Path, check: bool) -> None:
        self._file = record
        self._check = check
        self._record: dict[str, dict[str, str]] = json.loads(record.read_text()) if record.exists() else {}
        self.changed: dict[str, tuple[str, str]] = {}
        self.refused: list[str] = []
        self.left: list[str] = []

    def set(self, wanted: dict[str, str], refusable: list[str]) -> None:
        now = {path: _read(path) for path in wanted}
        for path in self._record.keys() - wanted.keys():
            self._put_back(path)
        new = {path: value for path, value in wanted.items() if now[path] != _normal(value)}
        for path, value in new.items():
            self._record[path] = {"before": self._record.get(path, {}).get("before", now[path]), "set": _normal(value)}
        self._save()
        for path, value in new.items():
            try:
                self._write(path, value)
                self.changed[path] = (now[path], _normal(value))
            except OSError as error:
                del self._record[path]
                if path not in refusable:
                    self._save()
                    raise
                self.refused.append(f"{path}: {error.strerror}")
        self._save()

    def put_back_all(self) -> None:
        for path in list(self._record):
            self._put_back(path)
        self._save()

    def _put_back(self, path: str) -> None:
        entry = self._record.pop(path)
        if not Path(path).exists() or (now := _read(path)) == entry["before"]:
            return
        if now != entry["set"]:
            self.left.append(f"{path} is {now} by now, not {entry['set']}: somebody else has set it")
            return
        self._write(path, entry["before"])
        self.changed[path] = (now, entry["before"])

    def _write(self, path: str, value: str) -> None:
        if not self._check:
            Path(path).write_text(f"{value}\n")

    def _save(self) -> None:
        if self._check:
            return
        if not self._record:
            self._file.unlink(missing_ok=True)
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        (new := self._file.with_suffix(".new")).write_text(json.dumps(self._record, indent=1))
        new.rename(self._file)


def _read(path: str) -> str:
    return _normal(Path(path).read_text())


def _normal(value: str) -> str:
    """The kernel separates several values by tabs, people by blanks."""
    return " ".join(value.split())


def main() -> None:
    module = AnsibleModule(
        {
            "settings": {"type": "dict", "default": {}},
            "record": {"type": "path", "required": True},
            "state": {"choices": ["present", "absent"], "default": "present"},
            "refusable": {"type": "list", "elements": "str", "default": []},
        },
        supports_check_mode=True,
    )
    settings = Settings(Path(module.params["record"]), module.check_mode)
    try:
        if module.params["state"] == "present":
            wanted = {path: str(value) for path, value in module.params["settings"].items()}
            settings.set(wanted, module.params["refusable"])
        else:
            settings.put_back_all()
    except OSError as error:
        module.fail_json(msg=f"{error.filename}: {error.strerror}; this kernel has no such setting, or does not take the value")
    lines = [[f"{path}: {values[side]}\n" for path, values in settings.changed.items()] for side in (0, 1)]
    module.exit_json(
        changed=bool(settings.changed),
        diff={"before": "".join(lines[0]), "after": "".join(lines[1])},
        refused=settings.refused,
        left=settings.left,
    )


if __name__ == "__main__":
    main()
