# SPDX-License-Identifier: GPL-2.0-or-later
"""What `netboxit doctor` looks at, one module a subject; each probe tries the real thing where that is cheap."""
