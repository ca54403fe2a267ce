# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands of `netboxit`, by what they are about; those not here are in netboxit.py."""
