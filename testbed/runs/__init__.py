# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run does with a lab that is up; `testbed.run` is the run itself."""
