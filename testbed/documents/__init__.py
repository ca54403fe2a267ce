# SPDX-License-Identifier: GPL-2.0-or-later
"""What commands print with `--json`: the shape and the version of each document (docs/json.md)."""
